//! Leases, cursors, and what belongs to the whole crawl.

use rusqlite::Connection;

use crate::batch::{Batch, Committed};
use crate::facts::{Leased, ReadsFacts, Seq};
use crate::millis;

pub(super) fn leases(connection: &Connection, batch: &Batch, done: &mut Committed) -> rusqlite::Result<()> {
    let mut take = connection.prepare_cached(
        "INSERT OR REPLACE INTO leases (page, \"order\", until) SELECT id, ?2, ?3 FROM pages WHERE id = ?1",
    )?;
    for lease in &batch.leases {
        let order = lease.order.cast_signed();
        if take.execute((lease.page.0, order, millis::deadline(lease.until)))? == 0 {
            done.unknown.push(lease.page);
        }
    }
    let mut release = connection.prepare_cached("DELETE FROM leases WHERE page = ?1")?;
    for page in &batch.released {
        // A lease that is not there has been released.
        release.execute((page.0,))?;
    }
    Ok(())
}

pub(super) fn grants(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let mut write = connection
        .prepare_cached("INSERT OR REPLACE INTO grants (id, until, key, pages) VALUES (?1, ?2, ?3, ?4)")?;
    for grant in &batch.grants {
        let pages: Vec<u8> = grant.pages.iter().flat_map(|page| number(*page).to_le_bytes()).collect();
        write.execute((grant.id.cast_signed(), millis::deadline(grant.until), &grant.key, pages))?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM grants WHERE id = ?1")?;
    for id in &batch.settled {
        remove.execute((id.cast_signed(),))?;
    }
    Ok(())
}

fn number(leased: Leased) -> i64 {
    match leased {
        Leased::Answered => 0,
        Leased::Page(page) => page.0,
        Leased::Robots(page) => -page.0,
    }
}

pub(super) fn reads(connection: &Connection, reads: &[ReadsFacts]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO reads (page, count, time) SELECT id, ?2, ?3 FROM pages WHERE id = ?1",
    )?;
    for read in reads {
        // A page that is gone is not read any more.
        write.execute((read.page.0, read.count, millis::happened(read.time)))?;
    }
    Ok(())
}

/// A cursor never goes back: what was delivered stays delivered.
pub(super) fn delivered(connection: &Connection, delivered: &[(String, Seq)]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT INTO consumers (name, delivered) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET delivered = max(delivered, ?2)",
    )?;
    for (name, seq) in delivered {
        write.execute((name, seq.0))?;
    }
    Ok(())
}

pub(crate) fn meta(connection: &Connection, values: &[(String, Vec<u8>)]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
    let mut remove = connection.prepare_cached("DELETE FROM meta WHERE key = ?1")?;
    for (key, value) in values {
        if value.is_empty() {
            remove.execute((key,))?;
        } else {
            write.execute((key, value))?;
        }
    }
    Ok(())
}
