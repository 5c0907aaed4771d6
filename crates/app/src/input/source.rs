//! Opening a file or standard input, plain or gzip'ed (told apart by the first two bytes, not by the name).

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::ahead::ReadAhead;
use crate::failure::Failure;
use crate::progress::Progress;

/// How gzip'ed bytes begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A stream of bytes with the name it goes by in messages.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) bytes: ReadAhead,
}

impl Source {
    /// What is in the binary itself, plain or gzip'ed.
    pub(super) fn within(name: &str, bytes: &'static [u8]) -> Self {
        let is_gzip = bytes.starts_with(&GZIP);
        let bytes = if is_gzip { ReadAhead::new(MultiGzDecoder::new(bytes)) } else { ReadAhead::new(bytes) };
        Self { name: name.to_owned(), bytes }
    }

    /// What another part of this program wrote.
    pub(super) fn of(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: name.to_owned(), bytes: ReadAhead::new(Cursor::new(bytes)) }
    }

    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let (name, size, mut raw): (_, _, Box<dyn Read + Send>) = if path == Path::new("-") {
            ("standard input".to_owned(), None, Box::new(io::stdin()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|why| cannot_read(&name, &why))?;
            let meta = file.metadata().map_err(|why| cannot_read(&name, &why))?;
            if meta.is_dir() {
                return Err(Failure::input(format!("{name}: is a directory; expected a CSV file")));
            }
            (name, Some(meta.len()), Box::new(file))
        };
        let mut magic = Vec::new();
        (&mut raw).take(2).read_to_end(&mut magic).map_err(|why| cannot_read(&name, &why))?;
        let is_gzip = magic == GZIP;
        let raw = Watched::new(Cursor::new(magic).chain(raw), size);
        let bytes = if is_gzip { ReadAhead::new(MultiGzDecoder::new(raw)) } else { ReadAhead::new(raw) };
        Ok(Self { name, bytes })
    }
}

fn cannot_read(name: &str, why: &io::Error) -> Failure {
    Failure::input(format!("{name}: cannot be read ({why})"))
}

/// Shows how much of a file of known size has been read.
struct Watched<R> {
    inner: R,
    read: u64,
    progress: Option<Progress>,
}

impl<R> Watched<R> {
    fn new(inner: R, size: Option<u64>) -> Self {
        // A spinner for what has no size; nothing at all for what is read at once.
        let progress = match size {
            Some(size) if size < 8 << 20 => None,
            Some(size) => Some(Progress::steps("reading", size)),
            None => Some(Progress::spinner("reading")),
        };
        Self { inner, read: 0, progress }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read += count as u64;
        if let Some(progress) = &self.progress {
            progress.set_position(self.read);
        }
        Ok(count)
    }
}
