//! Lines of bounded length, numbered.

use std::io::Read;

use super::source::Source;
use crate::failure::Failure;

/// No line of a table is this long; a file without line ends is not a table.
const LONGEST: usize = 1 << 20;
const READ_AHEAD: usize = 1 << 18;

/// A source cut into lines.
pub(super) struct Lines {
    source: Source,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    number: u64,
    finished: bool,
    /// The line read last has no end.
    cut_short: bool,
}

impl Lines {
    pub(super) fn new(source: Source) -> Self {
        Self {
            source,
            buffer: vec![0; READ_AHEAD],
            start: 0,
            end: 0,
            number: 0,
            finished: false,
            cut_short: false,
        }
    }

    /// The name of the source.
    pub(super) fn name(&self) -> &str {
        &self.source.name
    }

    /// The number of the line read last, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line read last, the last there is, had no end.
    pub(super) fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// The next line without its end (a last line need not have one), or `None` at the end of the source.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, Failure> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (from, to) = (self.start, searched + found);
                self.start = to + 1;
                self.number += 1;
                return Ok(Some(without_return(&self.buffer[from..to])));
            }
            if self.finished {
                if self.start == self.end {
                    return Ok(None);
                }
                let (from, to) = (self.start, self.end);
                self.start = to;
                self.number += 1;
                self.cut_short = true;
                return Ok(Some(without_return(&self.buffer[from..to])));
            }
            if self.end - self.start > LONGEST {
                return Err(Failure::input(format!(
                    "{}: line {}: longer than {LONGEST} bytes; expected a line of comma-separated fields",
                    self.source.name,
                    self.number + 1
                )));
            }
            searched = self.end - self.start;
            self.fill()?;
        }
    }

    /// Moves what is unread to the front and reads more after it.
    fn fill(&mut self) -> Result<(), Failure> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() - self.end < READ_AHEAD {
            self.buffer.resize(self.end + READ_AHEAD, 0);
        }
        match self.source.bytes.read(&mut self.buffer[self.end..]) {
            Ok(count) => {
                self.finished = count == 0;
                self.end += count;
                Ok(())
            }
            Err(why) => {
                let line = self.number + 1;
                Err(Failure::input(format!("{}: line {line}: cannot be read on ({why})", self.source.name)))
            }
        }
    }
}

fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
