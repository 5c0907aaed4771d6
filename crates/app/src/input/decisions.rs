//! The log of a crawl's decisions, as a history: what was looked at and seen, and what was announced. A file, or a folder of them.
//!
//! Looks that saw the page count, whatever they were made for. The first makes the copy. What lies between the end of one run of the crawler and
//! the start of the next is an outage: nobody was looking. So is what was decided too fast to be logged.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use refrain_core::time::{Span, Time};
use refrain_lab::trace::{Announcement, Clock, LookedAt, Trace, from_looks, unix};
use refrain_store::{Outcome, Role};

use super::ids::Ids;
use super::lines::Lines;
use super::source::Source;
use crate::decisions::{Line, listed};
use crate::failure::Failure;

/// What was recorded, and the fetches that were really made.
pub(crate) struct Recorded {
    pub(crate) ids: Ids,
    pub(crate) trace: Trace,
    /// Moments, and pages by number, in the order of time; without the first of each page, which makes the copy.
    pub(crate) fetches: Vec<(Time, u32)>,
    /// Pages that were seen only once, of which a history says nothing.
    pub(crate) once: usize,
}

/// More kinds of signals than anyone has.
const MOST_KINDS: usize = 64;

/// The data directory has times in whole milliseconds, rounded down.
const ROUNDED: Span = Span::from_millis(2);

/// A page as the log has it.
struct Page {
    url: String,
    host: u32,
    importance: f64,
    is_page: bool,
    /// Looks that saw it.
    looks: Vec<Look>,
    /// When it was said to have changed, and by whom.
    signals: Vec<(Time, u8)>,
}

/// A look that saw the page.
struct Look {
    time: Time,
    /// Whether it had changed since the look that made or confirmed the copy: this one.
    changed: bool,
    since: Option<Time>,
}

#[derive(Default)]
struct Reading {
    pages: Vec<Page>,
    /// By number, which is said anew in each file, and by address.
    places: HashMap<i64, usize>,
    urls: HashMap<String, usize>,
    hosts: HashMap<String, u32>,
    kinds: Vec<String>,
    /// The latest moment so far.
    latest: Option<Time>,
    outages: Vec<(Time, Time)>,
}

/// What is wrong with a line: what, and what was expected.
type Wrong = String;

impl Recorded {
    /// Reads a file or a folder of files. Chance, which puts changes between two looks, starts from a seed.
    pub(crate) fn read(path: &Path, seed: u64) -> Result<Self, Failure> {
        let mut reading = Reading::default();
        for file in files(path)? {
            // Pages are introduced anew in each file: numbers are those of a data directory, and there may be another.
            reading.places.clear();
            reading.file(&file)?;
        }
        let recorded = reading.history(seed);
        if recorded.trace.pages.is_empty() || recorded.trace.seconds() <= 0.0 {
            return Err(Failure::input(format!(
                "{}: no page was looked at twice; expected at least one",
                path.display()
            )));
        }
        Ok(recorded)
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let name = path.display();
    let files = listed(path).map_err(|why| Failure::input(format!("{name}: cannot be read ({why})")))?;
    if files.is_empty() {
        return Err(Failure::input(format!(
            "{name}: there is no log of decisions in it; expected files like decisions-000001.jsonl, as --decisions writes them"
        )));
    }
    Ok(files)
}

impl Reading {
    fn file(&mut self, path: &Path) -> Result<(), Failure> {
        let mut lines = Lines::new(Source::open(path)?);
        while let Some(text) = lines.next()? {
            let wrong = match serde_json::from_slice::<Line>(text) {
                Ok(line) => self.line(line).err(),
                Err(why) => Some(format!("{}; expected a line of a log of decisions", said(&why))),
            };
            let Some(wrong) = wrong else { continue };
            if lines.is_cut_short() {
                // It is being written just now, or was when the crawler was killed.
                break;
            }
            return Err(Failure::input(format!("{}, line {}: {wrong}", lines.name(), lines.number())));
        }
        Ok(())
    }

    fn line(&mut self, line: Line) -> Result<(), Wrong> {
        match line {
            Line::Begins { time, .. } => {
                let time = moment(time)?;
                self.outages.extend(self.latest.map(|latest| (latest, time)));
                self.latest = self.latest.max(Some(time));
            }
            Line::Missed { since, time, .. } => {
                let (since, time) = (moment(since)?, moment(time)?);
                self.outages.push((since, time.max(since)));
                self.latest = self.latest.max(Some(time));
            }
            Line::Budget { .. } => {}
            Line::Page { page, url, host, importance, role } => {
                self.introduce(page, url, host, importance, &role)?;
            }
            Line::Fetch { time, page, importance, .. } => {
                self.at(time)?;
                // What matters for a while is taken as it was when it was wanted last.
                self.page(page)?.importance = not_negative(importance)?;
            }
            Line::Look { time, page, outcome, elapsed } => {
                let since = elapsed.map(|elapsed| moment(time - elapsed)).transpose()?;
                let time = self.at(time)?;
                let outcome = Outcome::from_name(&outcome).ok_or_else(|| {
                    format!("'{outcome}' is no outcome; expected one like changed or unchanged")
                })?;
                let page = self.page(page)?;
                if outcome.is_fresh() {
                    // A first look has nothing to compare with, also where the one before it was lost.
                    let changed = outcome == Outcome::Changed;
                    page.looks.push(Look { time, changed, since });
                }
            }
            Line::Signal { time, page, kind, .. } => {
                let time = self.at(time)?;
                let kind = self.kind(kind)?;
                self.page(page)?.signals.push((time, kind));
            }
        }
        Ok(())
    }

    fn at(&mut self, seconds: f64) -> Result<Time, Wrong> {
        let time = moment(seconds)?;
        self.latest = self.latest.max(Some(time));
        Ok(time)
    }

    fn kind(&mut self, name: String) -> Result<u8, Wrong> {
        if let Some(known) = self.kinds.iter().position(|kind| *kind == name) {
            return Ok(known as u8);
        }
        if self.kinds.len() >= MOST_KINDS {
            return Err(format!("'{name}' is one kind of signals too many; expected at most {MOST_KINDS}"));
        }
        self.kinds.push(name);
        Ok(self.kinds.len() as u8 - 1)
    }

    fn page(&mut self, number: i64) -> Result<&mut Page, Wrong> {
        let place = self.places.get(&number);
        let place = place
            .ok_or_else(|| format!("there is no page {number}; expected a line before that introduces it"))?;
        Ok(&mut self.pages[*place])
    }

    fn introduce(
        &mut self,
        number: i64,
        url: String,
        host: String,
        importance: f64,
        role: &str,
    ) -> Result<(), Wrong> {
        let importance = not_negative(importance)?;
        let role = Role::from_name(role)
            .ok_or_else(|| format!("'{role}' is no role; expected page, sitemap or feed"))?;
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(host).or_insert(next);
        let place = *self.urls.entry(url.clone()).or_insert(self.pages.len());
        self.places.insert(number, place);
        if place == self.pages.len() {
            let is_page = role == Role::Page;
            self.pages.push(Page { url, host, importance, is_page, looks: Vec::new(), signals: Vec::new() });
        }
        Ok(())
    }

    /// Puts it all together.
    fn history(mut self, seed: u64) -> Recorded {
        // What sitemaps and feeds say is in the signals; they are no pages to keep fresh.
        self.pages.retain(|page| page.is_page);
        let mut ids = Ids::default();
        for (number, page) in self.pages.iter().enumerate() {
            ids.push(&page.url, number as u64 + 1);
        }
        let looks: Vec<Vec<(Time, bool)>> = self.pages.iter_mut().map(|page| kept(&mut page.looks)).collect();
        let looked_at: Vec<LookedAt> =
            self.pages.iter().zip(&looks).map(|(page, looks)| looked_at(page, looks)).collect();
        let mut trace = from_looks(&looked_at, self.hosts.len() as u32, seed);
        trace.sources = vec![Clock::new(self.outages)];
        trace.kinds = self.kinds;
        let mut fetches = Vec::new();
        for (place, page) in trace.pages.iter_mut().enumerate() {
            let (seen, looks) = (&self.pages[page.number as usize], &looks[page.number as usize]);
            fetches.extend(looks.iter().skip(1).map(|(time, _)| (*time, page.number)));
            // Nobody knew before the first that there would be any.
            page.heard_from = seen.signals.iter().map(|(time, _)| *time).min();
            let announced = seen.signals.iter().filter(|(time, _)| (page.first..=page.last).contains(time));
            trace.announcements.extend(announced.map(|(time, kind)| Announcement {
                time: *time,
                page: place as u32,
                kind: *kind,
                is_change: is_true(looks, *time),
            }));
        }
        trace.announcements.sort_by_key(|told| (told.time, told.page));
        fetches.sort_unstable();
        let once = looks.iter().filter(|looks| looks.len() == 1).count();
        Recorded { ids, trace, fetches, once }
    }
}

/// Looks in the order of time, each with whether the page had changed since the one before.
///
/// A look is logged when it is over, and counts for the crawler when it is on the disk. One that a kill came before was made in vain: the next look compares
/// with the copy from before it, and would see its change once more.
fn kept(looks: &mut [Look]) -> Vec<(Time, bool)> {
    looks.sort_by_key(|look| look.time);
    let mut kept: Vec<(Time, bool)> = Vec::with_capacity(looks.len());
    for Look { time, changed, since } in looks {
        if let Some(since) = since {
            let made_in_vain = |before: Time| before > *since + ROUNDED;
            while kept.last().is_some_and(|(before, _)| made_in_vain(*before)) {
                kept.pop();
            }
        }
        kept.push((*time, *changed));
    }
    kept.dedup_by_key(|(time, _)| *time);
    kept
}

/// Whether the next look after a signal saw a change.
fn is_true(looks: &[(Time, bool)], signal: Time) -> bool {
    let next = looks.partition_point(|(look, _)| *look <= signal);
    looks.get(next).is_some_and(|(_, changed)| *changed)
}

/// Who was never seen has no looks at all, and is left out like who was seen once.
fn looked_at(page: &Page, looks: &[(Time, bool)]) -> LookedAt {
    let (first, looks) = match looks.split_first() {
        Some(((first, _), rest)) => (*first, rest.to_vec()),
        None => (Time::MAX, Vec::new()),
    };
    LookedAt { importance: page.importance, group: page.host, first, looks }
}

fn moment(seconds: f64) -> Result<Time, Wrong> {
    unix(seconds).ok_or_else(|| format!("the time is {seconds}; expected seconds since 1970"))
}

fn not_negative(importance: f64) -> Result<f64, Wrong> {
    if importance.is_finite() && importance >= 0.0 {
        return Ok(importance);
    }
    Err(format!("the importance is {importance}; expected a number that is not negative"))
}

/// What JSON says, without its own idea of where.
fn said(why: &serde_json::Error) -> String {
    let said = why.to_string();
    said.split(" at line ").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"is":"begins","time":1000,"rate":2.0}
{"is":"page","page":1,"url":"http://a/","host":"http://a","importance":1.0,"role":"page"}
{"is":"fetch","time":1000,"page":1,"value":9.0,"price":0.0,"first":true,"importance":3.0}
{"is":"look","time":1001,"page":1,"outcome":"first","elapsed":null}
{"is":"page","page":2,"url":"http://a/map","host":"http://a","importance":0.0,"role":"sitemap"}
{"is":"look","time":1002,"page":2,"outcome":"first","elapsed":null}
{"is":"look","time":1003,"page":2,"outcome":"changed","elapsed":1.0}
{"is":"signal","time":1050,"page":1,"kind":"sitemap","counts":true}
{"is":"look","time":1100,"page":1,"outcome":"changed","elapsed":99.0}
{"is":"budget","time":1100,"rate":4.0,"price":2.0}
{"is":"signal","time":1150,"page":1,"kind":"feed","counts":false}
{"is":"begins","time":1500,"rate":2.0}
{"is":"page","page":1,"url":"http://a/","host":"http://a","importance":1.0,"role":"page"}
{"is":"look","time":1600,"page":1,"outcome":"failed","elapsed":null}
{"is":"look","time":1601,"page":1,"outcome":"not modified","elapsed":501.0}
{"is":"page","page":3,"url":"http://b/","host":"http://b","importance":2.0,"role":"page"}
{"is":"look","time":1700,"page":3,"outcome":"first","elapsed":null}
"#;

    fn read(text: &str) -> Result<Recorded, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("decisions-000001.jsonl");
        std::fs::write(&path, text).unwrap();
        Recorded::read(&path, 1)
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    #[test]
    fn a_log_becomes_a_history() {
        for text in [LOG.to_owned(), format!("{LOG}{{\"is\":\"lo")] {
            let recorded = read(&text).unwrap();
            let trace = &recorded.trace;
            let [page] = &trace.pages[..] else { panic!("{:?}", trace.pages) };
            assert_eq!((page.first, page.last, page.importance), (at(1001), at(1601), 3.0));
            assert!(page.changes.len() == 1 && page.changes[0] <= at(1100));
            assert_eq!((recorded.once, trace.groups), (1, 2));
            assert_eq!(recorded.fetches, [(at(1100), 0), (at(1601), 0)]);
            assert_eq!(trace.sources[0].outages(), [(at(1150), at(1500))]);
            assert_eq!(trace.kinds, ["sitemap", "feed"]);
            let told: Vec<_> = trace.announcements.iter().map(|told| (told.time, told.is_change)).collect();
            assert_eq!(told, [(at(1050), true), (at(1150), false)]);
            assert_eq!(page.heard_from, Some(at(1050)));
            assert_eq!(recorded.ids.get(0), "http://a/");
        }
    }

    /// What the crawler saw and lost it sees once more: that is one change.
    #[test]
    fn looks_that_a_kill_made_vain_do_not_count() {
        let again = r#"{"is":"look","time":1602.5,"page":1,"outcome":"changed","elapsed":601.5004}"#;
        let log: Vec<&str> =
            LOG.lines().map(|line| if line.contains("not modified") { again } else { line }).collect();
        let recorded = read(&(log.join("\n") + "\n")).unwrap();
        let page = &recorded.trace.pages[0];
        assert_eq!(page.changes.len(), 1);
        assert_eq!(recorded.fetches, [(Time::ZERO + Span::from_millis(1_602_500), 0)]);
        let again = again.replace("changed", "first").replace("601.5004", "null");
        let log = LOG.replace(LOG.lines().find(|line| line.contains("not modified")).unwrap(), &again);
        assert_eq!(read(&log).unwrap().trace.pages[0].changes.len(), 1, "only what was compared is a change");
    }

    #[test]
    fn mistakes_are_named() {
        let first = LOG.lines().next().unwrap();
        for (line, says) in [
            ("dear diary", "line 2: expected value; expected a line of a log of decisions"),
            (r#"{"is":"diary"}"#, "line 2: unknown variant `diary`"),
            (
                r#"{"is":"look","time":5,"page":7,"outcome":"first"}"#,
                "line 2: there is no page 7; expected a line before",
            ),
            (
                r#"{"is":"begins","time":-5,"rate":2.0}"#,
                "line 2: the time is -5; expected seconds since 1970",
            ),
            (
                r#"{"is":"page","page":1,"url":"http://a/","host":"","importance":-1.0,"role":"page"}"#,
                "line 2: the importance is -1; expected",
            ),
            (
                r#"{"is":"page","page":1,"url":"http://a/","host":"","importance":1.0,"role":"king"}"#,
                "line 2: 'king' is no role; expected page, sitemap or feed",
            ),
        ] {
            let said = read(&format!("{first}\n{line}\n")).map(drop).unwrap_err().to_string();
            assert!(said.contains("decisions-000001.jsonl, ") && said.contains(says), "{said}");
        }
        let said = read(first).map(drop).unwrap_err().to_string();
        assert!(said.contains("no page was looked at twice"), "{said}");
    }
}
