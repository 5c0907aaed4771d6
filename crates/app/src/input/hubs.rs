//! `hubs.csv`: hubs and what they show.

use std::path::Path;

use refrain_core::optimum::hubs::Hub;

use super::ids::Ids;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["hub_id", "link_rate", "profit", "decay"], optional: &[] };
const A_RATE: &str = "a finite number that is not negative";

/// The hubs of a file.
#[derive(Debug, Default)]
pub(crate) struct Hubs {
    pub(crate) ids: Ids,
    pub(crate) hubs: Vec<Hub>,
}

impl Hubs {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let mut table = Table::open(path, COLUMNS)?;
        let mut hubs = Self::default();
        while let Some(row) = table.next_row()? {
            let mut numbers = [0.0; 3];
            for (column, number) in (1..).zip(&mut numbers) {
                *number = row.number(column, A_RATE)?;
                if !(number.is_finite() && *number >= 0.0) {
                    return Err(row.not_what_was_expected(column, A_RATE));
                }
            }
            let [link_rate, profit, decay] = numbers;
            hubs.hubs.push(Hub::new(link_rate, profit, decay).map_err(|why| row.complain(1, why))?);
            hubs.ids.push(row.text(0)?, row.line());
        }
        if hubs.hubs.is_empty() {
            return Err(table.complain("there is a header, but no hubs; expected at least one line after it"));
        }
        if let Some((id, first, again)) = hubs.ids.duplicate() {
            return Err(table.complain(format!(
                "line {again}, column hub_id: '{id}' is on line {first} already; expected each hub once"
            )));
        }
        Ok(hubs)
    }
}
