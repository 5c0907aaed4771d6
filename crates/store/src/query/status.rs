//! How much there is.

use crate::error::StoreError;
use crate::facts::PageState;
use crate::reader::Reader;

/// How much there is of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Hosts.
    pub hosts: u64,
    /// Pages by their state, in the order of [`PageState`].
    pub pages: Vec<(PageState, u64)>,
    /// Pages of which there is a copy.
    pub fetched: u64,
    /// Pages whose last look failed.
    pub failing: u64,
    /// Looks.
    pub observations: u64,
    /// Versions that are kept.
    pub versions: u64,
    /// Changes of pages, as they are in the change feed: without first copies, and without sitemaps and feeds.
    pub changes: u64,
    /// Fetches under way.
    pub leases: u64,
    /// WARC files,
    pub segments: u64,
    /// and their bytes.
    pub segment_bytes: u64,
}

impl Reader {
    /// How much there is of everything; reads all pages, which takes a second per million.
    pub fn status(&self) -> Result<Status, StoreError> {
        // One statement, one moment.
        let sql = "SELECT (SELECT count(*) FROM hosts), (SELECT count(*) FROM observations), (SELECT count(*) FROM versions),
                          (SELECT count(*) FROM changes c JOIN pages p ON p.id = c.page
                           WHERE c.old IS NOT NULL AND c.new IS NOT NULL AND p.role = 'page'), (SELECT count(*) FROM leases), count(*), ifnull(sum(length), 0)
                   FROM segments WHERE retired IS NULL";
        let mut status = self
            .one(sql, (), |row| {
                let count = |column| row.get::<_, i64>(column).map(i64::cast_unsigned);
                Ok(Status {
                    hosts: count(0)?,
                    observations: count(1)?,
                    versions: count(2)?,
                    changes: count(3)?,
                    leases: count(4)?,
                    segments: count(5)?,
                    segment_bytes: count(6)?,
                    ..Status::default()
                })
            })?
            .unwrap_or_default();
        let sql = "SELECT state, count(*), count(fetched), sum(failures > 0 AND state <> 'gone') FROM pages GROUP BY state";
        let rows = self.all(sql, (), |row| {
            Ok((
                row.get::<_, PageState>(0)?,
                row.get::<_, i64>(1)?,
                row.get::<_, i64>(2)?,
                row.get::<_, i64>(3)?,
            ))
        })?;
        for state in PageState::ALL {
            let found = rows.iter().find(|(own, ..)| *own == state);
            status.pages.push((state, found.map_or(0, |(_, count, ..)| count.cast_unsigned())));
        }
        status.fetched = rows.iter().map(|(.., fetched, _)| fetched.cast_unsigned()).sum();
        status.failing = rows.iter().map(|(.., failing)| failing.cast_unsigned()).sum();
        Ok(status)
    }
}
