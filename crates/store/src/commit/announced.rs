//! What sites announce: signals, how far they can be believed, and who shows what is new.

use rusqlite::{CachedStatement, Connection, params};

use crate::batch::{Batch, Committed};
use crate::facts::{Announcement, Signal, Voice};
use crate::millis;

/// So many signals of a page are kept once it is known what became of them.
const KEPT: i64 = 200;

pub(super) fn signals(
    connection: &Connection,
    signals: &[Signal],
    done: &mut Committed,
) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT INTO signals (page, kind, time, said, worth, came_true)
         SELECT id, ?2, ?3, ?4, ?5, ?6 FROM pages WHERE id = ?1",
    )?;
    for signal in signals {
        let (time, said) = (millis::happened(signal.time), signal.said.map(millis::happened));
        let row = params![signal.page.0, &signal.kind, time, said, signal.worth, signal.came_true];
        if write.execute(row)? == 0 {
            done.unknown.push(signal.page);
        }
    }
    Ok(())
}

/// What looks say of the signals before them.
pub(super) struct Judge<'a> {
    judge: CachedStatement<'a>,
    forget: CachedStatement<'a>,
    drop_old: CachedStatement<'a>,
}

impl<'a> Judge<'a> {
    pub(super) fn prepare(connection: &'a Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            judge: connection.prepare_cached(
                "UPDATE signals SET came_true = ?2 WHERE page = ?1 AND came_true IS NULL AND time <= ?3",
            )?,
            forget: connection
                .prepare_cached("DELETE FROM signals WHERE page = ?1 AND came_true IS NULL AND time <= ?2")?,
            drop_old: connection.prepare_cached(
                "DELETE FROM signals WHERE page = ?1 AND time < (
                     SELECT time FROM signals WHERE page = ?1 ORDER BY time DESC LIMIT 1 OFFSET ?2)",
            )?,
        })
    }

    /// Whether any signal waits to be judged.
    pub(super) fn has_work(connection: &Connection) -> rusqlite::Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM signals WHERE came_true IS NULL)";
        connection.prepare_cached(sql)?.query_row((), |row| row.get(0))
    }

    /// A page was fetched for the first time: what was announced before that request says nothing.
    pub(super) fn forget(&mut self, page: i64, asked: i64) -> rusqlite::Result<()> {
        self.forget.execute((page, asked)).map(drop)
    }

    /// A page was looked at: had it changed? Signals that came after `time`, when the request was sent, stay open.
    pub(super) fn judge(&mut self, page: i64, changed: bool, time: i64) -> rusqlite::Result<()> {
        if self.judge.execute((page, changed, time))? > 0 {
            self.drop_old.execute((page, KEPT))?;
        }
        Ok(())
    }
}

pub(super) fn last(connection: &Connection, announced: &[Announcement]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO announced (page, kind, said) SELECT id, ?2, ?3 FROM pages WHERE id = ?1",
    )?;
    for one in announced {
        // A page that is gone needs none.
        write.execute((one.page.0, one.kind, millis::happened(one.said)))?;
    }
    Ok(())
}

pub(super) fn voices(connection: &Connection, voices: &[Voice]) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO voices (host, kind, intervals, precision, recall, heard, learned)
         SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM hosts WHERE name = ?1",
    )?;
    for voice in voices {
        write.execute(params![
            voice.host,
            voice.kind,
            voice.intervals,
            voice.precision,
            voice.recall,
            voice.heard,
            voice.learned
        ])?;
    }
    Ok(())
}

pub(super) fn hubs(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    let mut write = connection.prepare_cached(
        "INSERT OR REPLACE INTO hubs (page, visits, news, rate, profit, decay, learned)
         SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM pages WHERE id = ?1",
    )?;
    for hub in &batch.hubs {
        let (visits, news) = (hub.visits.cast_signed(), hub.news.cast_signed());
        write.execute(params![hub.page.0, visits, news, hub.rate, hub.profit, hub.decay, hub.learned])?;
    }
    let mut remove = connection.prepare_cached("DELETE FROM hubs WHERE page = ?1")?;
    for page in &batch.no_hubs {
        remove.execute((page.0,))?;
    }
    Ok(())
}
