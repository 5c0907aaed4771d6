//! What a person sees of a crawl: a line for each visit, and what came of it all.

use std::io::{self, Write};
use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use refrain_core::time::Time;
use refrain_engine::{Missed, Summary, Told, ToldReceiver};
use refrain_store::{Outcome, Role};

use super::feed::Feed;
use crate::chart::{grouped, short};
use crate::failure::Failure;
use crate::units;

/// Lines on standard output, or on standard error if that is taken by changes.
pub(crate) struct Lines {
    quiet: bool,
    aside: bool,
}

impl Lines {
    pub(crate) fn new(quiet: bool, aside: bool) -> Self {
        Self { quiet, aside }
    }

    /// Before the first visit.
    pub(crate) fn begin(&self, pages: u64, new: u64, data: &Path) {
        self.say(&format!("{pages} pages, {new} of them new; everything is kept in {}", data.display()));
    }

    /// Says what happens until all is over.
    pub(crate) fn watch(&self, mut told: ToldReceiver, mut feed: Option<Feed>) -> Result<(), Failure> {
        let mut result = feed.as_mut().map_or(Ok(()), Feed::catch_up);
        warn(&result);
        while let Some(told) = told.blocking_recv() {
            if let Told::Missed(Missed { events, .. }) = told {
                let _ = writeln!(
                    io::stderr(),
                    "refrain: {} lines were left out: they came faster than they were read",
                    grouped(events as usize)
                );
            }
            match (told, &mut feed) {
                (Told::Changes(_) | Told::Missed(_), Some(feed)) if result.is_ok() => {
                    result = feed.catch_up();
                    warn(&result);
                }
                (Told::Changes(_) | Told::Missed(_) | Told::Pulse(_) | Told::Hub { .. }, _) => {}
                (Told::Warning(sentence), _) => drop(writeln!(io::stderr(), "refrain: {sentence}")),
                (Told::Announced { time, url, kind, signals, found }, _) if signals + found > 0 => {
                    self.say(&format!(
                        "{}  heard      {}: {} changed, {} new  {url}",
                        of_day(time),
                        kind.as_str(),
                        grouped(signals as usize),
                        grouped(found as usize)
                    ));
                }
                (looked, _) => self.say_look(&looked),
            }
        }
        result
    }

    fn say_look(&self, told: &Told) {
        let Told::Looked { time, url, role, outcome, note, status, bytes, took } = told else { return };
        let status = status.map_or("---".to_owned(), |status| status.to_string());
        let note = note.as_ref().map(|note| format!("  ({note})")).unwrap_or_default();
        let outcome = spoken_outcome(*outcome, *role);
        self.say(&format!(
            "{}  {outcome:<10} {status}  {:>7}  {:>7}  {url}{note}",
            of_day(*time),
            size(*bytes),
            units::spoken(*took)
        ));
    }

    /// After the last visit.
    pub(crate) fn end(&self, summary: &Summary) {
        let Summary { looks, first, changed, unchanged, outlets, gone, failed, found, bytes, .. } = summary;
        let outlets = if *outlets > 0 { format!(", {outlets} to sitemaps and feeds") } else { String::new() };
        self.say(&format!(
            "{looks} visits, {}: {first} new copies, {changed} changes, {unchanged} unchanged{outlets}, {gone} gone or not allowed, {failed} failed; {found} pages found",
            size(*bytes)
        ));
    }

    /// A pipe that nobody reads any more does not end a crawl.
    fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        let _ = if self.aside { writeln!(io::stderr(), "{line}") } else { writeln!(io::stdout(), "{line}") };
    }
}

/// Who waits for changes hears at once that none will come.
fn warn(fed: &Result<(), Failure>) {
    if let Some(sentence) = lost(fed) {
        let _ = writeln!(io::stderr(), "refrain: {sentence}");
    }
}

/// What to say if changes cannot be written.
pub(super) fn lost(fed: &Result<(), Failure>) -> Option<String> {
    let why = fed.as_ref().err()?;
    Some(format!("{why}; the crawl goes on, and `refrain changes` will have them all"))
}

/// What came of a visit, in a word. A sitemap or a feed that could be read is called that: whether it changed is no news of a page.
pub(super) fn spoken_outcome(outcome: Outcome, role: Role) -> &'static str {
    match outcome {
        _ if outcome.is_fresh() && role != Role::Page => role.as_str(),
        Outcome::NotModified => "unchanged",
        other => other.as_str(),
    }
}

/// The time of day, in UTC.
pub(super) fn of_day(time: Time) -> String {
    let moment = Timestamp::from_nanosecond(i128::from(time.as_nanos())).unwrap_or_default();
    moment.to_zoned(TimeZone::UTC).strftime("%H:%M:%S").to_string()
}

pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", short(bytes as f64 / 1e3)),
        _ => format!("{} MB", short(bytes as f64 / 1e6)),
    }
}
