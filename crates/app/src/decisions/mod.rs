//! The log of every decision of a crawl, for `refrain lab replay --log`: lines of JSON in files that are rotated by size.
//!
//! - [`Line`]: a line, as it is written and as it is read
//! - `files`: which file is written to, which are closed, which are given up
//! - `writer`: from what the engine tells to lines; it introduces pages, so that every file stands alone
//!
//! The writer has a thread of its own, as the disk may be slow and the crawl shall not wait for it; what does not fit in between is left out, and
//! the log says how much that is.

mod files;
mod line;
mod writer;

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use refrain_engine::{Decision, Told, ToldSender};
use refrain_store::Reader;
use tokio::sync::mpsc::{Sender, channel};

use crate::failure::Failure;
use files::Files;
pub(crate) use files::listed;
pub(crate) use line::Line;
use writer::Writer;

/// Where decisions are logged if only that they are is said: a folder inside the data directory.
pub(crate) const USUAL_FOLDER: &str = "decisions";

/// So many decisions wait to be written, some ten megabytes of them. What comes while there are as many is left out, and the log says so.
const MOST_WAITING: usize = 100_000;

/// Which log is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Where.
    pub(crate) folder: PathBuf,
    /// A file of about this size, in bytes, is closed and gzip'ed.
    pub(crate) file_size: u64,
    /// The oldest go so that there are no more files than this.
    pub(crate) files: usize,
}

impl Wanted {
    /// With the usual sizes.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, file_size: 64_000_000, files: 100 }
    }
}

/// A log that is being written.
#[derive(Debug)]
pub(crate) struct Log {
    thread: JoinHandle<Result<(), Failure>>,
}

impl Log {
    /// Continues the log in a folder, which may be new, of the crawl in a data directory. What is sent becomes lines, until all who send are gone; if
    /// that fails `told` hears of it at once, and the crawl goes on without.
    pub(crate) fn open(
        wanted: &Wanted,
        data: &Path,
        told: ToldSender,
    ) -> Result<(Sender<Decision>, Self), Failure> {
        let reader = Reader::open(data).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        let mut writer = Writer::new(Files::open(wanted)?, reader);
        let (to, decisions) = channel(MOST_WAITING);
        let write = move || {
            let written = writer.write_all(decisions);
            if let Err(why) = &written {
                told.send(Told::Warning(format!("{why}; the crawl goes on, its decisions are not logged")));
            }
            written
        };
        let thread = std::thread::Builder::new().name("decisions".to_owned()).spawn(write);
        let thread = thread.map_err(|why| Failure::system("cannot start a thread", why))?;
        Ok((to, Self { thread }))
    }

    /// Waits until all that was sent is written: when all who send are gone. What went wrong.
    pub(crate) fn close(self) -> Result<(), Failure> {
        self.thread
            .join()
            .map_err(|_| Failure::OnTheWay("decisions that were not logged are lost".to_owned()))?
    }
}
