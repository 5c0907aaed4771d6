//! Looks of other crawlers: observations like ours, but that nothing was fetched, and nobody is told.

use rusqlite::{Connection, params};

use crate::batch::Committed;
use crate::facts::{IMPORTED, Outcome, PageId, PastLooks};
use crate::millis;
use crate::query::CHAIN;

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
        let mut looks = chain(connection, past.page)?;
        for (time, elapsed, changed) in &past.looks {
            let outcome = if *changed { Outcome::Changed } else { Outcome::Unchanged };
            let time = millis::happened(*time);
            let row = params![past.page.0, time, elapsed.map(millis::took), outcome.as_str(), IMPORTED];
            looks.push(Link { time, id: observe.insert(row)?, before: None });
        }
        link(connection, past.page, looks)?;
    }
    Ok(())
}

/// A look in the chain of its page.
struct Link {
    time: i64,
    id: i64,
    before: Option<i64>,
}

fn chain(connection: &Connection, page: PageId) -> rusqlite::Result<Vec<Link>> {
    let sql = format!("{CHAIN} SELECT o.time, o.id, o.before FROM chain JOIN observations o USING (id)");
    let mut chain = connection.prepare_cached(&sql)?;
    let rows = chain.query_map((page.0, i64::MAX), |row| {
        Ok(Link { time: row.get(0)?, id: row.get(1)?, before: row.get(2)? })
    })?;
    rows.collect()
}

/// Puts all looks at a page into the order of time.
fn link(connection: &Connection, page: PageId, mut looks: Vec<Link>) -> rusqlite::Result<()> {
    looks.sort_unstable_by_key(|look| (look.time, look.id));
    let mut write = connection.prepare_cached("UPDATE observations SET before = ?2 WHERE id = ?1")?;
    let mut last = None;
    for look in looks {
        if look.before != last {
            write.execute((look.id, last))?;
        }
        last = Some(look.id);
    }
    connection.prepare_cached("UPDATE pages SET observation = ?2 WHERE id = ?1")?.execute((page.0, last))?;
    Ok(())
}
