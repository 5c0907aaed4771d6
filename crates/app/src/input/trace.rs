//! A recorded history: a directory with `pages.csv`, `changes.csv` and, if there are any, `signals.csv` and `outages.csv`, each
//! plain or gzip'ed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use refrain_core::time::Time;
use refrain_lab::trace::{Announcement, Clock, Trace, TracePage, unix};

use super::ids::Ids;
use super::source::Source;
use super::table::{Columns, Row, Table};
use crate::failure::Failure;

/// A trace with the names of its pages.
pub(crate) struct NamedTrace {
    pub(crate) ids: Ids,
    pub(crate) trace: Trace,
}

/// What a trace is read from.
struct Files {
    pages: Source,
    changes: Source,
    signals: Option<Source>,
    outages: Option<Source>,
}

/// Things by name, numbered as they come.
#[derive(Default)]
struct Numbers(HashMap<String, u32>);

impl Numbers {
    fn of(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }
}

const PAGES: Columns = Columns {
    required: &["page_id", "importance", "first_seen", "last_seen"],
    optional: &["source", "host_group", "name", "signals_from"],
    ..Columns::NONE
};
const CHANGES: Columns = Columns { required: &["page_id", "timestamp_seconds"], ..Columns::NONE };
const SIGNALS: Columns = Columns {
    required: &["page_id", "timestamp_seconds"],
    optional: &["kind", "is_change"],
    ..Columns::NONE
};
const OUTAGES: Columns = Columns { required: &["source", "start", "end"], ..Columns::NONE };
/// More kinds of signals than anyone has.
const MOST_KINDS: u32 = 64;

impl NamedTrace {
    pub(crate) fn read(folder: &Path) -> Result<Self, Failure> {
        if !folder.is_dir() {
            return Err(Failure::input(format!(
                "{}: is no directory; expected one with pages.csv and changes.csv",
                folder.display()
            )));
        }
        let optional = |name| found(folder, name).map(|path| Source::open(&path)).transpose();
        Self::of(Files {
            pages: Source::open(&required(folder, "pages")?)?,
            changes: Source::open(&required(folder, "changes")?)?,
            signals: optional("signals")?,
            outages: optional("outages")?,
        })
    }

    /// The small real history of the examples, which is in the binary.
    pub(crate) fn example() -> Result<Self, Failure> {
        macro_rules! file {
            ($name:literal) => {
                Source::within(
                    concat!("examples/scoop/", $name),
                    include_bytes!(concat!("../../../../examples/scoop/", $name)),
                )
            };
        }
        Self::of(Files {
            pages: file!("pages.csv"),
            changes: file!("changes.csv"),
            signals: Some(file!("signals.csv")),
            outages: Some(file!("outages.csv")),
        })
    }

    fn of(files: Files) -> Result<Self, Failure> {
        let mut reader = Reader::default();
        reader.pages(files.pages)?;
        let numbers: HashMap<String, u32> =
            (0..reader.ids.len()).map(|page| (reader.ids.get(page).to_owned(), page as u32)).collect();
        reader.changes(files.changes, &numbers)?;
        let mut kinds = Numbers::default();
        if let Some(signals) = files.signals {
            reader.signals(signals, &numbers, &mut kinds)?;
        }
        let mut outages: Vec<Vec<(Time, Time)>> = vec![Vec::new(); reader.sources.0.len()];
        if let Some(file) = files.outages {
            reader.outages(file, &mut outages)?;
        }
        let mut named: Vec<(String, u32)> = kinds.0.into_iter().collect();
        named.sort_by_key(|(_, number)| *number);
        let trace = Trace {
            pages: reader.pages,
            sources: outages.into_iter().map(Clock::new).collect(),
            groups: reader.groups.0.len() as u32,
            kinds: named.into_iter().map(|(name, _)| name).collect(),
            announcements: reader.announcements,
        };
        Ok(Self { ids: reader.ids, trace })
    }
}

/// A file of a trace, plain or gzip'ed.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    ["csv", "csv.gz"].map(|end| folder.join(format!("{name}.{end}"))).into_iter().find(|path| path.exists())
}

fn required(folder: &Path, name: &str) -> Result<PathBuf, Failure> {
    found(folder, name).ok_or_else(|| {
        Failure::input(format!("{}: there is no {name}.csv or {name}.csv.gz", folder.display()))
    })
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    ids: Ids,
    pages: Vec<TracePage>,
    sources: Numbers,
    groups: Numbers,
    directories: Numbers,
    announcements: Vec<Announcement>,
}

fn moment(row: &Row<'_>, column: usize) -> Result<Time, Failure> {
    const EXPECTED: &str = "a time in seconds since 1970";
    unix(row.number(column, EXPECTED)?).ok_or_else(|| row.not_what_was_expected(column, EXPECTED))
}

/// What is before the last slash of a URL's path, or of a name like one. A URL without a path is in none.
fn directory(name: &str) -> Option<&str> {
    let (host_at, end) = match name.find("://") {
        Some(scheme) => (scheme + 3, name.find(['?', '#']).unwrap_or(name.len())),
        None => (0, name.len()),
    };
    let path = name.get(host_at..end)?;
    path.rfind('/').map(|slash| &path[..slash])
}

/// The page of a row of another file.
fn page_of(row: &Row<'_>, column: usize, numbers: &HashMap<String, u32>) -> Result<u32, Failure> {
    let id = row.text(column)?;
    let unknown = || row.complain(column, format!("there is no page '{id}' in the trace's pages"));
    numbers.get(id).copied().ok_or_else(unknown)
}

const UNORDERED: &str = "is before that of an earlier line of the same page; expected the order of time";

impl Reader {
    fn pages(&mut self, file: Source) -> Result<(), Failure> {
        const ID: usize = 0;
        const IMPORTANCE: usize = 1;
        const FIRST: usize = 2;
        const LAST: usize = 3;
        const SOURCE: usize = 4;
        const GROUP: usize = 5;
        const NAME: usize = 6;
        const SIGNALS_FROM: usize = 7;
        let mut table = Table::over(file, PAGES)?;
        while let Some(row) = table.next_row()? {
            let (first, last) = (moment(&row, FIRST)?, moment(&row, LAST)?);
            if last < first {
                return Err(row.complain(LAST, "is before first_seen; expected it not to be"));
            }
            let name = |column: usize| if row.bytes(column).is_empty() { Ok("") } else { row.text(column) };
            let covered = !row.bytes(SIGNALS_FROM).trim_ascii().is_empty();
            let heard_from = if covered { Some(moment(&row, SIGNALS_FROM)?) } else { None };
            let (source, group) = (name(SOURCE)?, name(GROUP)?);
            let own = if row.bytes(NAME).is_empty() { row.bytes(ID) } else { row.bytes(NAME) };
            let own = String::from_utf8_lossy(own);
            let directory = directory(&own).map(|path| format!("{source}\n{group}\n{path}"));
            self.pages.push(TracePage {
                number: self.pages.len() as u32,
                importance: row.not_negative(IMPORTANCE)?,
                source: self.sources.of(source),
                group: self.groups.of(group),
                directory: directory.map(|name| self.directories.of(&name)),
                first,
                last,
                heard_from,
                changes: Vec::new(),
            });
            let (id, line) = (row.text(ID)?, row.line());
            self.ids.push(id, line);
        }
        table.check_ids(&self.ids, ID, "page")?;
        if !table.has(SIGNALS_FROM) {
            // Nothing is said: signals may come from the start.
            self.pages.iter_mut().for_each(|page| page.heard_from = Some(page.first));
        }
        Ok(())
    }

    fn changes(&mut self, file: Source, numbers: &HashMap<String, u32>) -> Result<(), Failure> {
        const ID: usize = 0;
        const TIME: usize = 1;
        let mut table = Table::over(file, CHANGES)?;
        while let Some(row) = table.next_row()? {
            let time = moment(&row, TIME)?;
            let page = &mut self.pages[page_of(&row, ID, numbers)? as usize];
            if time <= page.first {
                return Err(row.complain(TIME, "is not after the page's first_seen; expected it to be"));
            }
            if time > page.last {
                return Err(row.complain(TIME, "is after the page's last_seen; expected it not to be"));
            }
            if page.changes.last().is_some_and(|before| *before > time) {
                return Err(row.complain(TIME, UNORDERED));
            }
            page.changes.push(time);
        }
        if self.pages.iter().all(|page| page.changes.is_empty()) {
            return Err(table.complain("there are no changes; expected at least one line after the header"));
        }
        Ok(())
    }

    fn signals(
        &mut self,
        file: Source,
        numbers: &HashMap<String, u32>,
        kinds: &mut Numbers,
    ) -> Result<(), Failure> {
        const ID: usize = 0;
        const TIME: usize = 1;
        const KIND: usize = 2;
        const IS_CHANGE: usize = 3;
        let mut table = Table::over(file, SIGNALS)?;
        let mut last = vec![Time::MIN; self.pages.len()];
        let mut outside = 0u64;
        while let Some(row) = table.next_row()? {
            let time = moment(&row, TIME)?;
            let page = page_of(&row, ID, numbers)?;
            let before = std::mem::replace(&mut last[page as usize], time);
            if before > time {
                return Err(row.complain(TIME, UNORDERED));
            }
            let kind = kinds.of(if row.bytes(KIND).is_empty() { "signal" } else { row.text(KIND)? });
            if kind >= MOST_KINDS {
                return Err(
                    row.complain(KIND, format!("is the {}th kind; expected at most {MOST_KINDS}", kind + 1))
                );
            }
            let is_change = match row.bytes(IS_CHANGE).trim_ascii() {
                b"1" => true,
                b"0" | b"" => false,
                _ => return Err(row.not_what_was_expected(IS_CHANGE, "0 or 1")),
            };
            let of = &self.pages[page as usize];
            let covered = of.heard_from.is_some_and(|from| from <= time);
            if covered && time >= of.first && time <= of.last {
                self.announcements.push(Announcement { time, page, kind: kind as u8, is_change });
            } else {
                outside += 1;
            }
        }
        self.announcements.sort_by_key(|told| (told.time, told.page));
        if outside > 0 {
            eprintln!(
                "refrain: {}: not used: {outside} signals from outside their page's life or its signals_from",
                table.name()
            );
        }
        Ok(())
    }

    fn outages(&mut self, file: Source, outages: &mut [Vec<(Time, Time)>]) -> Result<(), Failure> {
        const SOURCE: usize = 0;
        const START: usize = 1;
        const END: usize = 2;
        let mut table = Table::over(file, OUTAGES)?;
        let mut unknown = 0u64;
        while let Some(row) = table.next_row()? {
            let (start, end) = (moment(&row, START)?, moment(&row, END)?);
            if end < start {
                return Err(row.complain(END, "is before the start; expected it not to be"));
            }
            match self.sources.0.get(row.text(SOURCE)?) {
                Some(source) => outages[*source as usize].push((start, end)),
                None => unknown += 1,
            }
        }
        if unknown > 0 {
            eprintln!("refrain: {}: not used: {unknown} outages of sources without pages", table.name());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::directory;

    #[test]
    fn a_directory_ends_at_the_last_slash() {
        for (name, expected) in [
            ("aws/account/enable-region.txt", Some("aws/account")),
            ("https://a.example/news/1?of=a/b", Some("a.example/news")),
            ("http://a.example/", Some("a.example")),
            ("https://a.example", None),
            ("31352226", None),
        ] {
            assert_eq!(directory(name), expected, "{name}");
        }
    }
}
