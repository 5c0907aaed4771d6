//! Lines of bounded length, from any source.

use std::io::{self, ErrorKind, Read};

/// No request is longer; what is, is passed over.
pub const LONGEST_LINE: usize = 64 * 1024;

const BUFFER: usize = 2 * LONGEST_LINE;

pub(super) struct Lines<'a> {
    source: Box<dyn Read + 'a>,
    buffer: Vec<u8>,
    /// Unread bytes are `buffer[start..end]`.
    start: usize,
    end: usize,
    number: u64,
    finished: bool,
    /// The rest of a line that is too long, to be passed over.
    in_monster: bool,
}

/// A line and its number, from 1; without its bytes if it is too long.
pub(super) struct Line<'a> {
    pub(super) number: u64,
    pub(super) bytes: Option<&'a [u8]>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(source: Box<dyn Read + 'a>) -> Self {
        let buffer = vec![0; BUFFER];
        Self { source, buffer, start: 0, end: 0, number: 0, finished: false, in_monster: false }
    }

    /// The next line; `None` at the end. After an error there are no more.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            let found = memchr::memchr(b'\n', unread);
            if found.is_none() && !self.finished {
                if unread.len() > LONGEST_LINE || self.in_monster {
                    self.in_monster = true;
                    self.start = self.end;
                }
                self.fill()?;
                continue;
            }
            if found.is_none() && unread.is_empty() && !self.in_monster {
                return Ok(None);
            }
            let from = self.start;
            let to = found.map_or(self.end, |at| from + at);
            self.start = (to + 1).min(self.end);
            self.number += 1;
            let is_monster = std::mem::take(&mut self.in_monster) || to - from > LONGEST_LINE;
            let bytes = (!is_monster).then_some(&self.buffer[from..to]);
            return Ok(Some(Line { number: self.number, bytes }));
        }
    }

    /// Moves what is unread to the front, and reads more after it.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.finished = count == 0;
                    return Ok(());
                }
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) => {
                    // Half a line is none.
                    (self.finished, self.start) = (true, self.end);
                    return Err(why);
                }
            }
        }
    }
}
