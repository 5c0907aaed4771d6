//! Looks as they were written down.

use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use rusqlite::Row;

use super::text;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{HostId, IMPORTED, Outcome, PageId};
use crate::millis;
use crate::reader::Reader;

/// A look at a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Its number: looks are numbered in the order in which they were committed.
    pub id: i64,
    /// The page.
    pub page: PageId,
    /// When.
    pub time: Time,
    /// How long before there was the look that the outcome is relative to.
    pub elapsed: Option<Span>,
    /// What came of it.
    pub outcome: Outcome,
    /// What counted as the change.
    pub counted: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Bytes received.
    pub bytes: u64,
    /// How long it took.
    pub duration: Span,
    /// The digest of the body, if there was one.
    pub digest: Option<Digest>,
}

impl Observation {
    /// Whether another crawler made it.
    pub fn is_imported(&self) -> bool {
        self.counted.as_deref() == Some(IMPORTED)
    }
}

/// A look with the page it was a look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<'a> {
    /// The look.
    pub look: Observation,
    /// The address of the page.
    pub url: &'a str,
    /// How much the page matters.
    pub importance: f64,
    /// Its host,
    pub host: HostId,
    /// by name.
    pub host_name: &'a str,
}

const SEEN: &str =
    "o.id, o.page, o.time, o.elapsed, o.outcome, o.counted, o.status, o.bytes, o.duration, o.digest,
                    p.url, p.importance, p.host, h.name
                    FROM observations o JOIN pages p ON p.id = o.page JOIN hosts h ON h.id = p.host";
const COLUMNS: &str = "id, page, time, elapsed, outcome, counted, status, bytes, duration, digest";

/// The numbers of the looks at page `?1`, the latest first, at most `?2`.
pub(crate) const CHAIN: &str = "WITH RECURSIVE chain (id, place) AS (
        SELECT observation, 1 FROM pages WHERE id = ?1 AND observation IS NOT NULL AND ?2 > 0
        UNION ALL
        SELECT o.before, chain.place + 1 FROM chain JOIN observations o USING (id)
        WHERE o.before IS NOT NULL AND chain.place < ?2
    )";

impl Reader {
    /// The last looks at a page, the latest first, at most `limit`.
    pub fn observations_of(&self, page: PageId, limit: usize) -> Result<Vec<Observation>, StoreError> {
        let sql = format!("{CHAIN} SELECT {COLUMNS} FROM chain JOIN observations USING (id)");
        self.all(&sql, (page.0, i64::try_from(limit).unwrap_or(i64::MAX)), observation)
    }

    /// Every look after the one with number `after` (0: all), in the order of their numbers, for as long as `each` wants more.
    pub fn observations(
        &self,
        after: i64,
        mut each: impl FnMut(Observation) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM observations WHERE id > ?1 ORDER BY id");
        self.each_row(&sql, (after,), |row| Ok(each(observation(row)?)))
    }

    /// The same, with the pages.
    pub fn looks(
        &self,
        after: i64,
        mut each: impl FnMut(Seen<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SEEN} WHERE o.id > ?1 ORDER BY o.id");
        self.each_row(&sql, (after,), |row| Ok(each(seen(row)?)))
    }

    /// Looks in the order of time, from a moment on and before another, for as long as `each` wants more. They are sorted first, on
    /// the disk if they are many.
    pub fn looks_by_time(
        &self,
        from: Time,
        before: Time,
        mut each: impl FnMut(Seen<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SEEN} WHERE o.time >= ?1 AND o.time < ?2 ORDER BY o.time, o.id");
        let params = (millis::deadline(from), millis::deadline(before));
        self.each_row(&sql, params, |row| Ok(each(seen(row)?)))
    }
}

fn seen<'a>(row: &'a Row<'_>) -> rusqlite::Result<Seen<'a>> {
    Ok(Seen {
        look: observation(row)?,
        url: text::text(row, 10)?,
        importance: row.get(11)?,
        host: HostId(row.get(12)?),
        host_name: text::text(row, 13)?,
    })
}

fn observation(row: &Row<'_>) -> rusqlite::Result<Observation> {
    Ok(Observation {
        id: row.get(0)?,
        page: PageId(row.get(1)?),
        time: text::time(row, 2)?,
        elapsed: text::span(row, 3)?,
        outcome: row.get(4)?,
        counted: row.get(5)?,
        status: row.get(6)?,
        bytes: row.get::<_, i64>(7)?.cast_unsigned(),
        duration: text::span(row, 8)?.unwrap_or_default(),
        digest: row.get(9)?,
    })
}
