//! The change feed, and the little that the crawler keeps for itself.

use std::ops::ControlFlow;

use refrain_core::time::Time;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};

use super::text;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{Lease, PageId, Role, Seq};
use crate::millis;
use crate::reader::Reader;

/// What kind of news a line of the feed is. Only `Changed` counts as a change: a first copy is new, not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The first copy of the page.
    First,
    /// Another body than the one before.
    Changed,
    /// The page no longer exists.
    Gone,
    /// The page exists again after it was gone.
    Back,
}

impl ChangeKind {
    const ALL: [Self; 4] = [Self::First, Self::Changed, Self::Gone, Self::Back];

    /// The name for people and programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Back => "back",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

impl FromSql for ChangeKind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::from_name(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// The roles of the pages whose changes are wanted. The default is pages to be read: sitemaps and feeds only say what is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roles([bool; 3]);

impl Roles {
    /// Pages, sitemaps and feeds.
    pub const ALL: Self = Self([true; 3]);

    /// Whether a role is among them.
    pub fn contains(self, role: Role) -> bool {
        Role::ALL.into_iter().zip(self.0).any(|(own, wanted)| wanted && own == role)
    }

    /// The condition on `pages` (as `p`) in SQL.
    fn condition(self) -> String {
        let wanted = Role::ALL.into_iter().filter(|role| self.contains(*role));
        let names: Vec<String> = wanted.map(|role| format!("'{}'", role.as_str())).collect();
        format!("p.role IN ({})", names.join(", "))
    }
}

impl Default for Roles {
    fn default() -> Self {
        [Role::Page].into_iter().collect()
    }
}

impl FromIterator<Role> for Roles {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        let roles: Vec<Role> = roles.into_iter().collect();
        Self(Role::ALL.map(|role| roles.contains(&role)))
    }
}

/// A line of the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its place in the feed.
    pub seq: Seq,
    /// What kind of news it is.
    pub kind: ChangeKind,
    /// The page.
    pub page: PageId,
    /// Its address.
    pub url: String,
    /// What the page is there for.
    pub role: Role,
    /// The title of the page, as of the last fetch.
    pub title: Option<String>,
    /// When the change was seen.
    pub time: Time,
    /// The digest before; `None`: there was nothing.
    pub old: Option<Digest>,
    /// The digest after; `None`: the page is gone.
    pub new: Option<Digest>,
    /// The number of the observation that saw it.
    pub observation: i64,
    /// What counted as the change, as in [`crate::Observation`].
    pub counted: Option<String>,
}

/// A part of the change feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The wanted changes, in order.
    pub changes: Vec<Change>,
    /// The cursor to go on with: the last change that was considered, wanted or not.
    pub end: Seq,
}

/// The kind of change `c` of page `p`, seen by observation `o`. A page without a body before is back if an earlier observation put a
/// line into the feed: the search goes from observation to observation, and only for pages that had several bodies.
const KIND: &str = "CASE WHEN c.new IS NULL THEN 'gone' WHEN c.old IS NOT NULL THEN 'changed'
         WHEN p.bodies > 1 AND EXISTS (
             WITH RECURSIVE earlier (before, change) AS (
                 SELECT e.before, e.change FROM observations e WHERE e.id = o.before
                 UNION ALL
                 SELECT e.before, e.change FROM earlier JOIN observations e ON e.id = earlier.before WHERE earlier.change IS NULL
             ) SELECT 1 FROM earlier WHERE change IS NOT NULL) THEN 'back'
         ELSE 'first' END";

/// Changes with the observations that saw them and their pages.
const FEED: &str =
    "FROM changes c JOIN pages p ON p.id = c.page LEFT JOIN observations o ON o.id = c.observation";

impl Reader {
    /// The changes after `seq` of pages with these roles, in order, at most `limit`. A consumer that goes on with [`Changes::end`] sees every
    /// wanted change once, however fast the crawl goes on: there is one writer, so a lower number never appears after a higher one.
    pub fn changes_since(&self, seq: Seq, limit: usize, roles: Roles) -> Result<Changes, StoreError> {
        let sql = format!(
            "SELECT c.seq, c.page, p.url, c.time, c.old, c.new, c.observation, p.role, p.title, o.counted, {KIND}
             {FEED} WHERE c.seq > ?1 AND {} ORDER BY c.seq LIMIT ?2",
            roles.condition()
        );
        self.at_one_moment(|reader| {
            let changes = reader.all(&sql, (seq.0, i64::try_from(limit).unwrap_or(i64::MAX)), change)?;
            let end = match changes.last() {
                Some(last) if changes.len() >= limit => last.seq,
                _ if limit == 0 => seq,
                // What comes after the last wanted change is not wanted.
                _ => reader.last_seq()?.max(seq),
            };
            Ok(Changes { changes, end })
        })
    }

    /// The last changes of pages with these roles, the latest first, first copies left out, at most `limit`. No more than `among` lines of the
    /// feed are considered.
    pub fn last_changes(&self, limit: usize, among: u32, roles: Roles) -> Result<Vec<Change>, StoreError> {
        let sql = format!(
            "SELECT * FROM (
                 SELECT c.seq, c.page, p.url, c.time, c.old, c.new, c.observation, p.role, p.title, o.counted, {KIND} AS kind
                 {FEED} WHERE c.seq > (SELECT max(seq) FROM changes) - ?2 AND {})
             WHERE kind <> 'first' ORDER BY seq DESC LIMIT ?1",
            roles.condition()
        );
        self.all(&sql, (i64::try_from(limit).unwrap_or(i64::MAX), among), change)
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
        role: row.get(7)?,
        title: row.get(8)?,
        counted: row.get(9)?,
        kind: row.get(10)?,
    })
}
