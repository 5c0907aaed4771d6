//! `signals.csv`: signals as they came.

use std::collections::HashMap;
use std::path::Path;

use refrain_core::time::{Span, Time};

use super::ids::Ids;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["time", "page_id"], ..Columns::NONE };
const TIME: usize = 0;
const PAGE_ID: usize = 1;

/// Signals with the numbers of their pages; times are in units of so many seconds, in order.
pub(crate) fn read_signals(path: &Path, ids: &Ids, unit: f64) -> Result<Vec<(Time, u32)>, Failure> {
    let numbers: HashMap<&str, u32> = (0..ids.len()).map(|page| (ids.get(page), page as u32)).collect();
    let mut table = Table::open(path, COLUMNS)?;
    let mut signals: Vec<(Time, u32)> = Vec::new();
    while let Some(row) = table.next_row()? {
        let time = Time::ZERO + Span::from_secs(row.not_negative(TIME)? * unit);
        let id = row.text(PAGE_ID)?;
        let page =
            numbers.get(id).ok_or_else(|| row.complain(PAGE_ID, format!("there is no page '{id}'")))?;
        if signals.last().is_some_and(|(before, _)| *before > time) {
            return Err(row.complain(TIME, "is before that of the line before; expected the order of time"));
        }
        signals.push((time, *page));
    }
    Ok(signals)
}
