//! `pages.csv`: pages and what is believed about them. One table for `refrain export --beliefs`, `optimum`, `plan`, `estimate --csv` and `lab simulate`.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::optimum::{Candidate, Page};
use refrain_core::page::{Belief, BeliefError};
use refrain_core::plan::PlanPage;
use refrain_core::time::Span;

use super::ids::Ids;
use super::source::Source;
use super::table::{Columns, Row, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns {
    required: &["page_id", "change_rate", "importance"],
    optional: &["recall", "false_rate", "host", "min_rate", "max_rate", "age", "gap"],
    rates: &["change_rate", "false_rate", "min_rate", "max_rate"],
    times: &["age", "gap"],
};
const PAGE_ID: usize = 0;
const CHANGE_RATE: usize = 1;
const IMPORTANCE: usize = 2;
const RECALL: usize = 3;
const FALSE_RATE: usize = 4;
const HOST: usize = 5;
const MIN_RATE: usize = 6;
const MAX_RATE: usize = 7;
const AGE: usize = 8;
const GAP: usize = 9;
/// Those with a unit of time.
const TIMED: [usize; 6] = [CHANGE_RATE, FALSE_RATE, MIN_RATE, MAX_RATE, AGE, GAP];

/// Units of time by their seconds.
const PER: [(f64, &str); 4] =
    [(1.0, "per second"), (60.0, "per minute"), (3600.0, "per hour"), (86_400.0, "per day")];

const A_SHARE: &str = "a number from 0 to 1";
const A_CAP: &str = "a number that is not negative (or nothing: no maximum)";
const AN_AGE: &str = "a number that is not negative (or 'never': it was never fetched)";

/// The pages of a table. Rates and ages are in the unit of the column `change_rate`.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) ids: Ids,
    /// The unit of time in seconds, if the header says it.
    pub(crate) unit: Option<f64>,
    pub(crate) pages: Vec<Page>,
    /// How good each page's signals are, if the table says so.
    pub(crate) signals: Option<Vec<Signals>>,
    /// Least and greatest rate of each page, if the table says so.
    pub(crate) bounds: Option<Vec<(f64, f64)>>,
    pub(crate) hosts: Option<Hosts>,
    /// How old the copy of each page is, if the table says so; infinite if there is none.
    pub(crate) ages: Option<Vec<f64>>,
}

/// How good a page's signals are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals {
    pub(crate) recall: f64,
    pub(crate) false_rate: f64,
}

impl Signals {
    /// Everything that is believed about a page with these signals, its importance times `factor`.
    pub(crate) fn belief(self, page: &Page, factor: f64) -> Result<Belief, BeliefError> {
        Belief::new(page.change_rate(), factor * page.importance())?
            .with_signals(self.recall, self.false_rate)
    }
}

/// Which host each page is on.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    pub(crate) names: Vec<String>,
    pub(crate) of_page: Vec<u32>,
    /// The least time between two requests to each host, in the unit of the table, as far as it says so.
    gaps: Vec<Option<f64>>,
    numbers: HashMap<String, u32>,
}

impl Hosts {
    /// The number of a host.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The gap of each host: that of the table, or else the usual one. `unit` is that of the table, in seconds.
    pub(crate) fn gaps(&self, unit: f64, usual: Span) -> Vec<Span> {
        self.gaps.iter().map(|gap| gap.map_or(usual, |gap| Span::from_secs(gap * unit))).collect()
    }

    /// The next page is on this host. A host whose pages have several gaps has the longest.
    fn push(&mut self, name: &str, gap: Option<f64>) {
        let number = self.number(name).unwrap_or_else(|| {
            let number = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.gaps.push(None);
            self.numbers.insert(name.to_owned(), number);
            number
        });
        self.of_page.push(number);
        let longest = &mut self.gaps[number as usize];
        *longest = match (*longest, gap) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        };
    }
}

impl Pages {
    /// Reads a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        Self::of(Table::open(path, COLUMNS)?)
    }

    /// Reads a table that another part of the program wrote; it goes by `name` in complaints.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, Failure> {
        Self::of(Table::over(Source::of(name, bytes), COLUMNS)?)
    }

    fn of(mut table: Table) -> Result<Self, Failure> {
        let has_signals = table.has(RECALL);
        if has_signals != table.has(FALSE_RATE) {
            let (there, missing) =
                if has_signals { ("recall", "false_rate") } else { ("false_rate", "recall") };
            return Err(table.complain(format!(
                "line 1: the column {there} is there, but {missing} is missing; expected both or neither"
            )));
        }
        table.check_units(&TIMED)?;
        let mut pages = Self {
            unit: table.unit(CHANGE_RATE),
            signals: has_signals.then(Vec::new),
            bounds: (table.has(MIN_RATE) || table.has(MAX_RATE)).then(Vec::new),
            hosts: table.has(HOST).then(Hosts::default),
            ages: table.has(AGE).then(Vec::new),
            ..Self::default()
        };
        let units = Units::of(&table);
        while let Some(row) = table.next_row()? {
            pages.push(&row, &units)?;
        }
        table.check_ids(&pages.ids, PAGE_ID, "page")?;
        Ok(pages)
    }

    fn push(&mut self, row: &Row<'_>, units: &Units) -> Result<(), Failure> {
        let page = Page::new(row.not_negative(CHANGE_RATE)?, row.not_negative(IMPORTANCE)?);
        self.pages.push(page.map_err(|why| row.complain(CHANGE_RATE, why))?);
        if let Some(signals) = &mut self.signals {
            let recall = row.number(RECALL, A_SHARE)?;
            if !(0.0..=1.0).contains(&recall) {
                return Err(row.not_what_was_expected(RECALL, A_SHARE));
            }
            let false_rate = units.rate(FALSE_RATE, row.not_negative(FALSE_RATE)?);
            signals.push(Signals { recall, false_rate });
        }
        if let Some(bounds) = &mut self.bounds {
            bounds.push(read_bounds(row, units)?);
        }
        if let Some(ages) = &mut self.ages {
            ages.push(match row.bytes(AGE).trim_ascii() {
                b"" => 0.0,
                b"never" => f64::INFINITY,
                _ => units.time(AGE, row.number(AGE, AN_AGE)?),
            });
            if !ages.last().is_some_and(|age| *age >= 0.0) {
                return Err(row.not_what_was_expected(AGE, AN_AGE));
            }
        }
        if let Some(hosts) = &mut self.hosts {
            let has_gap = !row.bytes(GAP).trim_ascii().is_empty();
            let gap = if has_gap { Some(units.time(GAP, row.not_negative(GAP)?)) } else { None };
            hosts.push(row.text(HOST)?, gap);
        }
        self.ids.push(row.text(PAGE_ID)?, row.line());
        Ok(())
    }

    /// "per day" if that is the unit of time, "per unit of time" if it is not known.
    pub(crate) fn per(&self) -> &'static str {
        let known = PER.into_iter().find(|(seconds, _)| self.unit == Some(*seconds));
        known.map_or("per unit of time", |(_, name)| name)
    }

    /// The pages as a plan takes them, where the table's unit of time has so many seconds.
    pub(crate) fn plan_pages(&self, unit: f64) -> Result<Vec<PlanPage>, Failure> {
        let page = |(number, page): (usize, &Page)| {
            let age = self.ages.as_ref().map_or(0.0, |ages| ages[number]);
            let planned = PlanPage::new(page.change_rate() / unit, page.importance());
            planned
                .and_then(|planned| planned.fetched_before(age * unit))
                .map_err(|why| Failure::input(format!("page '{}': {why}", self.ids.get(number))))
        };
        self.pages.iter().enumerate().map(page).collect()
    }
}

/// What a number of each column is worth in the unit of the column `change_rate`.
struct Units([f64; TIMED.len()]);

impl Units {
    fn of(table: &Table) -> Self {
        let own = table.unit(CHANGE_RATE).unwrap_or(1.0);
        Self(TIMED.map(|column| table.unit(column).map_or(1.0, |unit| unit / own)))
    }

    fn factor(&self, column: usize) -> f64 {
        TIMED.iter().zip(self.0).find(|(timed, _)| **timed == column).map_or(1.0, |(_, factor)| factor)
    }

    fn time(&self, column: usize, number: f64) -> f64 {
        number * self.factor(column)
    }

    fn rate(&self, column: usize, number: f64) -> f64 {
        number / self.factor(column)
    }
}

/// An empty field is no bound.
fn read_bounds(row: &Row<'_>, units: &Units) -> Result<(f64, f64), Failure> {
    let given = |column: usize| !row.bytes(column).trim_ascii().is_empty();
    let least = if given(MIN_RATE) { units.rate(MIN_RATE, row.not_negative(MIN_RATE)?) } else { 0.0 };
    let most =
        if given(MAX_RATE) { units.rate(MAX_RATE, row.number(MAX_RATE, A_CAP)?) } else { f64::INFINITY };
    if !(most >= 0.0) {
        return Err(row.not_what_was_expected(MAX_RATE, A_CAP));
    }
    if most < least {
        return Err(row.complain(MAX_RATE, format!("{most} is less than the min_rate of {least}")));
    }
    Ok((least, most))
}
