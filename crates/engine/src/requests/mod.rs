//! What people asked for: access logs and tables, as a stream of moments and pages. What interest in pages is learned from.
//!
//! Lines of a log in the common or the combined format, perhaps with the virtual host before them, or `time,url`; told apart line
//! by line, so that files may be mixed. Plain or gzip'ed. Only what a person got counts: a `GET` that was answered with 2xx or
//! 304, by no obvious bot ([`is_bot`]). Nothing stops it: what makes no sense is counted, and the first of it shown.

mod bots;
mod lines;
mod log;
mod table;

pub use bots::is_bot;
pub use lines::LONGEST_LINE;

use std::fmt;
use std::io::{Cursor, Read};

use flate2::read::MultiGzDecoder;
use refrain_core::time::Time;
use refrain_fetch::announce::when::{Judgement, When};
use refrain_fetch::url::PageUrl;

use lines::{Line, Lines};

/// Somebody asked for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// When.
    pub time: Time,
    /// For what.
    pub url: PageUrl,
}

/// How logs are read.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Where paths are, if no virtual host says so.
    pub site: Option<PageUrl>,
    /// Bots count like people.
    pub bots: bool,
    /// The moment at which the log is read: nothing in it is later.
    pub now: Time,
}

/// What became of the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// All lines that say anything.
    pub lines: u64,
    /// Requests handed out.
    pub requests: u64,
    /// Requests that are no `GET`.
    pub other_methods: u64,
    /// Requests that were refused, redirected or failed.
    pub unanswered: u64,
    /// Requests of bots, if they do not count.
    pub bots: u64,
    /// Requests for a path, where nobody said of which site.
    pub homeless: u64,
    /// Lines that make no sense: garbage, no such date, no URL.
    pub bad: u64,
    /// The first of them: its number, and what is wrong.
    pub first_bad: Option<(u64, String)>,
    /// Why the source could not be read to its end.
    pub broken: Option<String>,
}

/// Why a line is no request that counts.
#[derive(Debug, PartialEq, Eq)]
enum Skip {
    Method,
    Status,
    Bot,
    Homeless,
    Bad(String),
}

/// The requests of one source, in its order. Memory is one line, at most [`LONGEST_LINE`] bytes of it.
pub struct Requests<'a> {
    lines: Lines<'a>,
    rules: &'a Rules,
    tally: Tally,
}

impl<'a> Requests<'a> {
    /// Reads a log, plain or gzip'ed (told apart by the first bytes, not by a name).
    pub fn new(mut source: impl Read + 'a, rules: &'a Rules) -> Self {
        let mut magic = Vec::new();
        // What cannot be read now cannot be read later either, and is told then.
        let _ = source.by_ref().take(2).read_to_end(&mut magic);
        let is_gzip = magic == [0x1f, 0x8b];
        let source = Cursor::new(magic).chain(source);
        let source: Box<dyn Read + 'a> =
            if is_gzip { Box::new(MultiGzDecoder::new(source)) } else { Box::new(source) };
        Self { lines: Lines::new(source), rules, tally: Tally::default() }
    }

    /// What became of the lines so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl Iterator for Requests<'_> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        loop {
            let (number, read) = match self.lines.next() {
                Ok(Some(Line { number, bytes: Some(line) })) => (number, request(line, number, self.rules)),
                Ok(Some(Line { number, bytes: None })) => (number, Some(Err(too_long()))),
                Ok(None) => return None,
                Err(why) => {
                    self.tally.broken = Some(why.to_string());
                    return None;
                }
            };
            let Some(read) = read else { continue };
            self.tally.lines += 1;
            match read {
                Ok(request) => {
                    self.tally.requests += 1;
                    return Some(request);
                }
                Err(skip) => self.tally.skip(number, skip),
            }
        }
    }
}

/// What a line says; `None` if it is blank, a comment or a header.
fn request(line: &[u8], number: u64, rules: &Rules) -> Option<Result<Request, Skip>> {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") {
        return None;
    }
    let Ok(line) = std::str::from_utf8(line) else {
        return Some(Err(Skip::Bad("it is not text".to_owned())));
    };
    if line.contains('\0') {
        return Some(Err(Skip::Bad("it is not text".to_owned())));
    }
    if table::is_row(line) {
        return table::request(line, number, rules.now);
    }
    Some(log::request(line, rules))
}

fn too_long() -> Skip {
    Skip::Bad(format!("it is longer than {LONGEST_LINE} bytes"))
}

/// A moment that can be in a log.
fn past(when: When, now: Time) -> Result<Time, Skip> {
    match when.judged(now) {
        Judgement::Plausible => Ok(when.earliest()),
        Judgement::Future => Err(Skip::Bad("its date is in the future".to_owned())),
        Judgement::Ancient => Err(Skip::Bad("its date is before there were pages".to_owned())),
    }
}

impl Tally {
    fn skip(&mut self, number: u64, skip: Skip) {
        let count = match skip {
            Skip::Method => &mut self.other_methods,
            Skip::Status => &mut self.unanswered,
            Skip::Bot => &mut self.bots,
            Skip::Homeless => &mut self.homeless,
            Skip::Bad(why) => {
                self.first_bad.get_or_insert((number, why));
                &mut self.bad
            }
        };
        *count += 1;
    }

    /// Adds the tally of another source, read after this one.
    pub fn add(&mut self, other: Self) {
        self.lines += other.lines;
        self.requests += other.requests;
        self.other_methods += other.other_methods;
        self.unanswered += other.unanswered;
        self.bots += other.bots;
        self.homeless += other.homeless;
        self.bad += other.bad;
        self.first_bad = self.first_bad.take().or(other.first_bad);
        self.broken = self.broken.take().or(other.broken);
    }
}

/// One line: what was used, and what was not and why.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} lines are requests of people for pages", self.requests, self.lines)?;
        for (count, what) in [
            (self.unanswered, "not answered with a page"),
            (self.other_methods, "no GET"),
            (self.bots, "of bots"),
            (self.homeless, "for a path of an unknown site"),
            (self.bad, "not understood"),
        ] {
            if count > 0 {
                write!(f, "; {count} {what}")?;
            }
        }
        if let Some((line, why)) = &self.first_bad {
            write!(f, " (line {line}: {why})")?;
        }
        if let Some(why) = &self.broken {
            write!(f, "; not read to its end ({why})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
