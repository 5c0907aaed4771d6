//! Reads a WARC file from end to end, however damaged: what cannot be read is named, and reading goes on at the next gzip member.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{Context, StoreError};
use crate::warc::{Record, read_record};

/// The first bytes of a gzip member (RFC 1952; 8 is the only method there is).
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];
const BUFFER: usize = 1 << 18;

/// A part of a file.
pub(super) enum Part {
    /// A whole record.
    Record(Record),
    /// No record; why the one that should be here cannot be read.
    Gap(String),
}

/// Calls `each` with the parts of a file from an offset on: where each begins and how long it is. Gives the end of the last whole record.
pub(super) fn scan(
    path: &Path,
    from: u64,
    mut each: impl FnMut(Part, u64, u64) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let mut file = Members::open(path, from).at(path, "open the segment")?;
    let mut whole = from;
    loop {
        let start = file.position;
        match read_record(&mut file) {
            Ok(None) => return Ok(whole),
            Ok(Some(record)) => {
                whole = file.position;
                each(Part::Record(record), start, whole - start)?;
            }
            Err(why) => {
                let next = file.next_record(start + 1).at(path, "read the segment")?;
                each(Part::Gap(why.to_string()), start, next - start)?;
            }
        }
    }
}

/// A file of gzip members, and how far it was read.
struct Members {
    inner: BufReader<File>,
    position: u64,
}

impl Members {
    fn open(path: &Path, from: u64) -> io::Result<Self> {
        let mut members = Self { inner: BufReader::with_capacity(BUFFER, File::open(path)?), position: 0 };
        members.go_to(from)?;
        Ok(members)
    }

    fn go_to(&mut self, position: u64) -> io::Result<()> {
        self.position = self.inner.seek(SeekFrom::Start(position))?;
        Ok(())
    }

    /// Goes to the next record that can be read, at an offset or later; or to the end. Gives where that is.
    fn next_record(&mut self, from: u64) -> io::Result<u64> {
        let mut from = from;
        loop {
            self.go_to(from)?;
            let Some(candidate) = self.next_magic()? else { return Ok(self.position) };
            self.go_to(candidate)?;
            if matches!(read_record(self), Ok(Some(_))) {
                self.go_to(candidate)?;
                return Ok(candidate);
            }
            from = candidate + 1;
        }
    }

    /// Where the first bytes of a gzip member come next; `None` at the end.
    fn next_magic(&mut self) -> io::Result<Option<u64>> {
        let mut last = [0; MAGIC.len()];
        let mut found = None;
        while found.is_none() {
            let buffer = self.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let mut used = 0;
            for byte in buffer {
                used += 1;
                last = [last[1], last[2], *byte];
                if last == MAGIC {
                    found = Some(used);
                    break;
                }
            }
            self.consume(used);
        }
        Ok(found.map(|_| self.position - MAGIC.len() as u64))
    }
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl BufRead for Members {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.position += amount as u64;
    }
}
