//! The change feed, and the little that the crawler keeps for itself.

use std::ops::ControlFlow;

use refrain_core::time::Time;
use rusqlite::Row;

use super::text;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{Lease, PageId, Seq};
use crate::millis;
use crate::reader::Reader;

/// A page changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its place in the feed.
    pub seq: Seq,
    /// The page.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// When the change was seen.
    pub time: Time,
    /// The digest before; `None`: there was nothing.
    pub old: Option<Digest>,
    /// The digest after; `None`: the page is gone.
    pub new: Option<Digest>,
    /// The number of the look that saw it.
    pub observation: i64,
}

impl Reader {
    /// The changes after `seq`, in order, at most `limit`. Whoever goes on with the last one it got sees every change once,
    /// however fast the crawl goes on: there is one writer, so a lower number never appears after a higher one.
    pub fn changes_since(&self, seq: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        let sql = "SELECT c.seq, c.page, p.url, c.time, c.old, c.new, c.observation
                   FROM changes c JOIN pages p ON p.id = c.page WHERE c.seq > ?1 ORDER BY c.seq LIMIT ?2";
        self.all(sql, (seq.0, i64::try_from(limit).unwrap_or(i64::MAX)), change)
    }

    /// Where to start reading for the changes that were seen at or after a moment: before the first of them.
    pub fn seq_before(&self, time: Time) -> Result<Seq, StoreError> {
        let sql = "SELECT min(seq) - 1 FROM changes WHERE time >= ?1";
        let first: Option<i64> = self.one(sql, (millis::deadline(time),), |row| row.get(0))?.flatten();
        first.map_or_else(|| self.last_seq(), |seq| Ok(Seq(seq)))
    }

    /// The last change so far.
    pub fn last_seq(&self) -> Result<Seq, StoreError> {
        let sql = "SELECT max(seq) FROM changes";
        let last: Option<i64> = self.one(sql, (), |row| row.get(0))?.flatten();
        Ok(Seq(last.unwrap_or(0)))
    }

    /// How far a reader of the feed has come; 0 if it never got anything.
    pub fn delivered(&self, consumer: &str) -> Result<Seq, StoreError> {
        let found =
            self.one("SELECT delivered FROM consumers WHERE name = ?1", (consumer,), |row| row.get(0))?;
        Ok(Seq(found.unwrap_or(0)))
    }

    /// Fetches that were under way when the crawl last committed.
    pub fn leases(&self) -> Result<Vec<Lease>, StoreError> {
        self.all("SELECT page, \"order\", until FROM leases ORDER BY \"order\"", (), |row| {
            Ok(Lease {
                page: PageId(row.get(0)?),
                order: row.get::<_, i64>(1)?.cast_unsigned(),
                until: text::time(row, 2)?,
            })
        })
    }

    /// How many bodies of a page were seen, kept or not: its first, and one for each change.
    pub fn bodies_seen(&self, page: PageId) -> Result<u64, StoreError> {
        let sql = "SELECT bodies FROM pages WHERE id = ?1";
        Ok(self.one(sql, (page.0,), |row| row.get::<_, i64>(0))?.unwrap_or(0).cast_unsigned())
    }

    /// Whether a page is being fetched.
    pub fn is_under_way(&self, page: PageId) -> Result<bool, StoreError> {
        Ok(self.one("SELECT 1 FROM leases WHERE page = ?1", (page.0,), |_| Ok(()))?.is_some())
    }

    /// What belongs to the whole crawl, all whose names begin like this.
    pub fn metas(
        &self,
        start: &str,
        mut each: impl FnMut(&str, &[u8]) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = "SELECT key, value FROM meta WHERE key >= ?1 ORDER BY key";
        self.each_row(sql, (start,), |row| {
            let (key, value) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_bytes()?);
            Ok(if key.starts_with(start) { each(key, value) } else { ControlFlow::Break(()) })
        })
    }

    /// What belongs to the whole crawl, by name.
    pub fn meta(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.one("SELECT value FROM meta WHERE key = ?1", (key,), |row| row.get(0))
    }
}

fn change(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        seq: Seq(row.get(0)?),
        page: PageId(row.get(1)?),
        url: row.get(2)?,
        time: text::time(row, 3)?,
        old: row.get(4)?,
        new: row.get(5)?,
        observation: row.get(6)?,
    })
}
