//! `pages.csv`: pages and what is believed about them.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::optimum::{Candidate, Page};
use refrain_core::page::{Belief, BeliefError};

use super::ids::Ids;
use super::table::{Columns, Row, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns {
    required: &["page_id", "change_rate", "importance"],
    optional: &["recall", "false_rate", "host", "min_rate", "max_rate"],
};
const PAGE_ID: usize = 0;
const CHANGE_RATE: usize = 1;
const IMPORTANCE: usize = 2;
const RECALL: usize = 3;
const FALSE_RATE: usize = 4;
const HOST: usize = 5;
const MIN_RATE: usize = 6;
const MAX_RATE: usize = 7;

const A_SHARE: &str = "a number from 0 to 1";
const A_CAP: &str = "a number that is not negative (or nothing: no maximum)";

/// The pages of a file.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    pub(crate) ids: Ids,
    pub(crate) pages: Vec<Page>,
    /// How good each page's signals are, if the file says so.
    pub(crate) signals: Option<Vec<Signals>>,
    /// Least and greatest rate of each page, if the file says so.
    pub(crate) bounds: Option<Vec<(f64, f64)>>,
    pub(crate) hosts: Option<Hosts>,
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
    numbers: HashMap<String, u32>,
}

impl Hosts {
    /// The number of a host.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The next page is on this host.
    pub(super) fn push(&mut self, name: &str) {
        let number = self.number(name).unwrap_or_else(|| {
            let number = self.names.len() as u32;
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
            number
        });
        self.of_page.push(number);
    }
}

impl Pages {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let has_signals = table.has(RECALL);
        if has_signals != table.has(FALSE_RATE) {
            let (there, missing) =
                if has_signals { ("recall", "false_rate") } else { ("false_rate", "recall") };
            return Err(table.complain(format!(
                "line 1: the column {there} is there, but {missing} is missing; expected both or neither"
            )));
        }
        let mut pages = Self {
            signals: has_signals.then(Vec::new),
            bounds: (table.has(MIN_RATE) || table.has(MAX_RATE)).then(Vec::new),
            hosts: table.has(HOST).then(Hosts::default),
            ..Self::default()
        };
        while let Some(row) = table.next_row()? {
            pages.push(&row)?;
        }
        table.check_ids(&pages.ids, PAGE_ID, "page")?;
        Ok(pages)
    }

    fn push(&mut self, row: &Row<'_>) -> Result<(), Failure> {
        let page = Page::new(row.not_negative(CHANGE_RATE)?, row.not_negative(IMPORTANCE)?);
        self.pages.push(page.map_err(|why| row.complain(CHANGE_RATE, why))?);
        if let Some(signals) = &mut self.signals {
            let recall = row.number(RECALL, A_SHARE)?;
            if !(0.0..=1.0).contains(&recall) {
                return Err(row.not_what_was_expected(RECALL, A_SHARE));
            }
            signals.push(Signals { recall, false_rate: row.not_negative(FALSE_RATE)? });
        }
        if let Some(bounds) = &mut self.bounds {
            bounds.push(read_bounds(row)?);
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.push(row.text(HOST)?);
        }
        self.ids.push(row.text(PAGE_ID)?, row.line());
        Ok(())
    }
}

/// An empty field is no bound.
fn read_bounds(row: &Row<'_>) -> Result<(f64, f64), Failure> {
    let given = |column: usize| !row.bytes(column).trim_ascii().is_empty();
    let least = if given(MIN_RATE) { row.not_negative(MIN_RATE)? } else { 0.0 };
    let most = if given(MAX_RATE) { row.number(MAX_RATE, A_CAP)? } else { f64::INFINITY };
    if !(most >= 0.0) {
        return Err(row.not_what_was_expected(MAX_RATE, A_CAP));
    }
    if most < least {
        return Err(row.complain(MAX_RATE, format!("{most} is less than the min_rate of {least}")));
    }
    Ok((least, most))
}
