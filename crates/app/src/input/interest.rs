//! `interest.csv`: what had been counted of items by certain ages.

use super::source::Source;
use super::table::{Columns, Table};
use crate::failure::Failure;

const COLUMNS: Columns = Columns { required: &["item_id", "age", "total"], ..Columns::NONE };
const ITEM: usize = 0;
const AGE: usize = 1;
const TOTAL: usize = 2;

/// Ages in seconds and what had been counted by then, item by item, of a file in the binary. The lines of an item stand together, in the
/// order of time, and counts do not fall.
pub(crate) fn interest_within(name: &str, bytes: &'static [u8]) -> Result<Vec<Vec<(f64, f64)>>, Failure> {
    let mut table = Table::over(Source::within(name, bytes), COLUMNS)?;
    let mut curves: Vec<Vec<(f64, f64)>> = Vec::new();
    let mut last: Option<String> = None;
    while let Some(row) = table.next_row()? {
        let item = row.text(ITEM)?;
        if last.as_deref() != Some(item) {
            last = Some(item.to_owned());
            curves.push(Vec::new());
        }
        let (age, total) = (row.not_negative(AGE)?, row.not_negative(TOTAL)?);
        if let Some(curve) = curves.last_mut() {
            if curve.last().is_some_and(|(before, _)| *before >= age) {
                return Err(row.not_what_was_expected(AGE, "more than in the line before"));
            }
            if curve.last().is_some_and(|(_, before)| *before > total) {
                return Err(row.not_what_was_expected(TOTAL, "at least that of the line before"));
            }
            curve.push((age, total));
        }
    }
    Ok(curves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_read_item_by_item() {
        let read = |bytes| interest_within("test", bytes);
        let curves = read(b"item_id,age,total\na,1,2\na,3,2\nb,1,5\n").unwrap();
        assert_eq!(curves, [vec![(1.0, 2.0), (3.0, 2.0)], vec![(1.0, 5.0)]]);
        let wrong = read(b"item_id,age,total\na,3,2\na,3,4\n").unwrap_err().to_string();
        assert!(wrong.contains("line 3") && wrong.contains("more than in the line before"), "{wrong}");
        assert!(read(b"item_id,age,total\na,3,2\na,4,1\n").is_err());
    }
}
