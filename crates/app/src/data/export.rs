//! `refrain export`: what is kept, for other programs. Everything goes out as it is read.

mod archive;
mod lines;
mod tables;

use std::io::{self, BufWriter, Write};
use std::path::Path;

use refrain_core::time::Time;
use refrain_store::Reader;

use super::chosen::Chosen;
use crate::cli::ExportArgs;
use crate::failure::Failure;
use crate::output::to_file;

/// What is exported.
struct Export<'a> {
    reader: &'a Reader,
    chosen: Chosen,
    /// Looks from this moment on,
    since: Time,
    /// and before this one.
    until: Time,
}

pub(crate) fn run(args: &ExportArgs) -> Result<(), Failure> {
    if args.all && args.warc.is_none() {
        return Err(Failure::input("--all: only bodies have versions; expected --warc as well"));
    }
    let reader = Reader::open(&args.place.data)?;
    let chosen = Chosen::new(&reader, args.host.as_deref(), args.prefix.as_deref())?;
    let (since, until) = (args.since.unwrap_or(Time::MIN), args.until.unwrap_or(Time::MAX));
    if since >= until {
        return Err(Failure::input("--until: is not after --since; expected a later moment"));
    }
    let export = Export { reader: &reader, chosen, since, until };
    if let Some(file) = &args.warc {
        return archive::write(&export, file, args.all);
    }
    filled(&args.out, |out| match (args.pages, args.observations, args.beliefs) {
        (true, ..) => lines::pages(&export, out),
        (_, true, _) => lines::observations(&export, out),
        (.., true) => tables::beliefs(&export, out),
        _ => tables::crawl_log(&export, out),
    })
}

/// The table of pages that `--beliefs` writes.
pub(super) fn beliefs(data: &Path) -> Result<Vec<u8>, Failure> {
    let reader = Reader::open(data)?;
    let chosen = Chosen::new(&reader, None, None)?;
    let mut table = Vec::new();
    let export = Export { reader: &reader, chosen, since: Time::MIN, until: Time::MAX };
    tables::beliefs(&export, &mut table)?;
    Ok(table)
}

/// Creates a file (or takes standard output) and lets `write` fill it.
fn filled(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    let mut result = Ok(());
    to_file(path, |out| {
        // What compresses takes large pieces more quickly than small ones.
        let mut out = BufWriter::with_capacity(1 << 16, out);
        result = write(&mut out);
        out.flush()
    })?;
    result
}

/// What went wrong while writing.
fn unwritten(why: io::Error) -> Failure {
    Failure::system("what is exported cannot be written", why)
}
