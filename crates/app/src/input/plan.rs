//! `pages.csv` and `gaps.csv` of a plan: pages on hosts, and how often a host may be asked.

use std::path::Path;

use refrain_core::plan::PlanPage;
use refrain_core::time::Span;

use super::ids::Ids;
use super::pages::Hosts;
use super::table::{Columns, Row, Table};
use crate::failure::Failure;
use crate::units;

const COLUMNS: Columns =
    Columns { required: &["page_id", "host", "change_rate", "importance"], optional: &["age"] };
const PAGE_ID: usize = 0;
const HOST: usize = 1;
const CHANGE_RATE: usize = 2;
const IMPORTANCE: usize = 3;
const AGE: usize = 4;

const AN_AGE: &str = "a number that is not negative (or 'never': it was never fetched)";

/// The pages of a file.
#[derive(Debug, Default)]
pub(crate) struct PlanPages {
    pub(crate) ids: Ids,
    pub(crate) pages: Vec<PlanPage>,
    pub(crate) hosts: Hosts,
}

impl PlanPages {
    /// Rates are per unit of so many seconds, and ages in that unit.
    pub(crate) fn read(path: &Path, unit: f64) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let mut pages = Self::default();
        while let Some(row) = table.next_row()? {
            pages.pages.push(read_page(&row, unit)?);
            pages.hosts.push(row.text(HOST)?);
            pages.ids.push(row.text(PAGE_ID)?, row.line());
        }
        table.check_ids(&pages.ids, PAGE_ID, "page")?;
        Ok(pages)
    }
}

fn read_page(row: &Row<'_>, unit: f64) -> Result<PlanPage, Failure> {
    let page = PlanPage::new(row.not_negative(CHANGE_RATE)? / unit, row.not_negative(IMPORTANCE)?);
    let page = page.map_err(|why| row.complain(CHANGE_RATE, why))?;
    let age = match row.bytes(AGE).trim_ascii() {
        b"" => 0.0,
        b"never" => f64::INFINITY,
        _ => row.number(AGE, AN_AGE)? * unit,
    };
    page.fetched_before(age).map_err(|_| row.not_what_was_expected(AGE, AN_AGE))
}

const GAPS: Columns = Columns { required: &["host", "gap"], optional: &[] };
const A_GAP: &str = "a time like 15s or 500ms";

/// The gap of each host: that of the file, or else the usual one.
pub(crate) fn read_gaps(path: Option<&Path>, hosts: &Hosts, usual: Span) -> Result<Vec<Span>, Failure> {
    let mut gaps = vec![usual; hosts.names.len()];
    let Some(path) = path else { return Ok(gaps) };
    let mut table = Table::open(path, GAPS)?;
    while let Some(row) = table.next_row()? {
        let gap = units::span(&String::from_utf8_lossy(row.bytes(1)));
        let gap = gap.map_err(|_| row.not_what_was_expected(1, A_GAP))?;
        // Hosts without pages need no gap.
        if let Some(host) = hosts.number(row.text(0)?) {
            gaps[host as usize] = gap;
        }
    }
    Ok(gaps)
}
