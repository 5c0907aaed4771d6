//! How it went over time.

use refrain_core::time::Time;
use rusqlite::Row;

use super::text;
use crate::error::StoreError;
use crate::facts::Sample;
use crate::millis;
use crate::reader::Reader;

pub(crate) const COLUMNS: &str =
    "time, span, freshness, fresh, foretold, rate, price, requests, looks, changed, unchanged, failed";

impl Reader {
    /// How it went from a moment on, in order.
    pub fn samples(&self, from: Time) -> Result<Vec<Sample>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM samples WHERE time > ?1 ORDER BY time");
        self.all(&sql, (millis::happened(from),), sample)
    }
}

pub(crate) fn sample(row: &Row<'_>) -> rusqlite::Result<Sample> {
    let count = |column| row.get::<_, i64>(column).map(|count| u64::try_from(count).unwrap_or(0));
    Ok(Sample {
        time: text::time(row, 0)?,
        span: text::span(row, 1)?.unwrap_or_default(),
        freshness: row.get(2)?,
        fresh: row.get(3)?,
        foretold: row.get(4)?,
        rate: row.get(5)?,
        price: Some(row.get(6)?).filter(|price| *price > 0.0),
        requests: count(7)?,
        looks: count(8)?,
        changed: count(9)?,
        unchanged: count(10)?,
        failed: count(11)?,
    })
}
