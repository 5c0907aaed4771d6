//! How it went over time: a row a minute, and of what is older than a few days a row an hour.

use rusqlite::Connection;

use crate::facts::Sample;
use crate::millis;
use crate::query::{SAMPLE_COLUMNS, sample};

const HOUR: i64 = 3_600_000;
/// So long rows stay as they were written.
const DETAILED: i64 = 7 * 24 * HOUR;
/// So many hours are gathered with one row at most: after a long time without a crawl there are many, and nobody waits for them.
const AT_A_TIME: usize = 8;

pub(super) fn add(connection: &Connection, samples: &[Sample]) -> rusqlite::Result<()> {
    for sample in samples {
        put(connection, sample)?;
        thin(connection, millis::happened(sample.time) - DETAILED)?;
    }
    Ok(())
}

fn put(connection: &Connection, sample: &Sample) -> rusqlite::Result<()> {
    let sql = format!(
        "INSERT OR REPLACE INTO samples ({SAMPLE_COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)"
    );
    connection.prepare_cached(&sql)?.execute((
        millis::happened(sample.time),
        millis::took(sample.span),
        sample.freshness,
        sample.fresh,
        sample.foretold,
        sample.rate,
        sample.price.unwrap_or(0.0),
        sample.requests.cast_signed(),
        sample.looks.cast_signed(),
        sample.changed.cast_signed(),
        sample.unchanged.cast_signed(),
        sample.failed.cast_signed(),
    ))?;
    Ok(())
}

/// Of hours that ended before, one row each.
fn thin(connection: &Connection, before: i64) -> rusqlite::Result<()> {
    let before = before.div_euclid(HOUR) * HOUR;
    // A row for each hour that was gathered: a few thousand in a year, which takes a millisecond a minute.
    let hours = "SELECT (time - 1) / 3600000 FROM samples WHERE time <= ?1
                 GROUP BY (time - 1) / 3600000 HAVING count(*) > 1 LIMIT ?2";
    let hours: Vec<i64> = connection
        .prepare_cached(hours)?
        .query_map((before, AT_A_TIME as i64), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for hour in hours {
        let (start, end) = (hour * HOUR, (hour + 1) * HOUR);
        let sql =
            format!("SELECT {SAMPLE_COLUMNS} FROM samples WHERE time > ?1 AND time <= ?2 ORDER BY time");
        let rows: Vec<Sample> =
            connection.prepare_cached(&sql)?.query_map((start, end), sample)?.collect::<Result<_, _>>()?;
        let Some(whole) = rows.into_iter().reduce(|before, later| before.and(&later)) else { continue };
        connection
            .prepare_cached("DELETE FROM samples WHERE time > ?1 AND time <= ?2")?
            .execute((start, end))?;
        put(connection, &whole)?;
    }
    Ok(())
}
