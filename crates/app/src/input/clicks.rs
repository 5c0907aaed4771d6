//! `clicks.csv`: how many clicks pages of a hub had gathered by a certain age.

use std::path::Path;

use refrain_core::estimate::interest::clicks::Clicks;

use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["age", "clicks"], ..Columns::NONE };
const EXPECTED: &str = "a finite number that is not negative";

pub(crate) fn read_clicks(path: &Path) -> Result<Vec<Clicks>, Failure> {
    let mut table = Table::open(path, COLUMNS)?;
    let mut points = Vec::new();
    while let Some(row) = table.next_row()? {
        let (age, total) = (row.number(0, EXPECTED)?, row.number(1, EXPECTED)?);
        let wrong = usize::from(age.is_finite() && age >= 0.0);
        points.push(Clicks::new(age, total).map_err(|_| row.not_what_was_expected(wrong, EXPECTED))?);
    }
    if points.is_empty() {
        return Err(table.complain("there is a header, but no points; expected at least one line after it"));
    }
    if points.iter().all(|point| point.age() == 0.0) {
        return Err(table.complain("no point has an age greater than 0; expected at least one"));
    }
    Ok(points)
}
