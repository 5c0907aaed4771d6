//! Looks of other crawlers: observations like ours, but that nothing was fetched, and nobody is told.

use rusqlite::{Connection, params};

use crate::batch::Committed;
use crate::facts::{IMPORTED, Outcome, PastLooks};
use crate::millis;

pub(super) fn add(
    connection: &Connection,
    pages: &[PastLooks],
    done: &mut Committed,
) -> rusqlite::Result<()> {
    let mut learn = connection.prepare_cached("UPDATE pages SET history = ?2 WHERE id = ?1")?;
    let mut observe = connection.prepare_cached(
        "INSERT INTO observations (page, time, elapsed, outcome, counted, bytes, duration) VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)",
    )?;
    for past in pages {
        if learn.execute(params![past.page.0, past.history])? == 0 {
            done.unknown.push(past.page);
            continue;
        }
        for (time, elapsed, changed) in &past.looks {
            let outcome = if *changed { Outcome::Changed } else { Outcome::Unchanged };
            observe.execute(params![
                past.page.0,
                millis::happened(*time),
                elapsed.map(millis::took),
                outcome.as_str(),
                IMPORTED
            ])?;
        }
    }
    Ok(())
}
