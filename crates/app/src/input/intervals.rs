//! `intervals.csv`: what fetches of pages saw, one interval a line.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::estimate::observation::{LONGEST, SHORTEST};
use refrain_core::estimate::{Answer, Observation};

use super::table::{Columns, Row, Table};
use crate::failure::Failure;

const COLUMNS: Columns =
    Columns { required: &["elapsed", "changed"], optional: &["signals", "page_id"], ..Columns::NONE };
const ELAPSED: usize = 0;
const CHANGED: usize = 1;
const SIGNALS: usize = 2;
const PAGE_ID: usize = 3;

const A_FLAG: &str = "0 or 1";

/// The intervals of one page, in the order of the file.
#[derive(Debug, Default)]
pub(crate) struct PageIntervals {
    pub(crate) id: String,
    pub(crate) seen: Vec<Observation>,
}

/// What a file of intervals holds.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    /// In the order in which they first appear; a single one without a name if the file does not name pages.
    pub(crate) pages: Vec<PageIntervals>,
    /// Whether the file has the column `page_id`.
    pub(crate) named: bool,
    /// Whether it has the column `signals`.
    pub(crate) signals: bool,
}

impl Intervals {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let mut intervals =
            Self { named: table.has(PAGE_ID), signals: table.has(SIGNALS), ..Self::default() };
        let mut numbers: HashMap<String, usize> = HashMap::new();
        while let Some(row) = table.next_row()? {
            let seen = read_interval(&row, intervals.signals)?;
            let id = if intervals.named { row.text(PAGE_ID)? } else { "" };
            let number = numbers.get(id).copied().unwrap_or_else(|| {
                numbers.insert(id.to_owned(), intervals.pages.len());
                intervals.pages.push(PageIntervals { id: id.to_owned(), seen: Vec::new() });
                intervals.pages.len() - 1
            });
            intervals.pages[number].seen.push(seen);
        }
        if intervals.pages.is_empty() {
            return Err(
                table.complain("there is a header, but no intervals; expected at least one line after it")
            );
        }
        Ok(intervals)
    }

    /// All intervals, page after page.
    pub(crate) fn all(&self) -> Vec<Observation> {
        self.pages.iter().flat_map(|page| page.seen.iter().copied()).collect()
    }
}

fn read_interval(row: &Row<'_>, has_signals: bool) -> Result<Observation, Failure> {
    let expected = format!("a time between two fetches, from {SHORTEST:e} to {LONGEST:e}");
    let elapsed = row.number(ELAPSED, &expected)?;
    let answer = match row.bytes(CHANGED).trim_ascii() {
        b"1" => Answer::Changed,
        b"0" => Answer::Unchanged,
        _ => return Err(row.not_what_was_expected(CHANGED, A_FLAG)),
    };
    let signals = if has_signals { read_signals(row)? } else { 0 };
    Observation::new(elapsed, signals, answer).map_err(|_| row.not_what_was_expected(ELAPSED, &expected))
}

fn read_signals(row: &Row<'_>) -> Result<u32, Failure> {
    let text = std::str::from_utf8(row.bytes(SIGNALS)).ok().map(str::trim);
    text.and_then(|text| text.parse().ok()).ok_or_else(|| {
        row.not_what_was_expected(SIGNALS, &format!("a whole number of signals, from 0 to {}", u32::MAX))
    })
}
