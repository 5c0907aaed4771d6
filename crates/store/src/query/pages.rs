//! Pages: all of them for the crawler that starts, one of them, or a list for people.

use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use rusqlite::Row;

use super::text;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{HostId, Origin, PageId, PageState};
use crate::millis;
use crate::reader::Reader;

/// What a crawler needs of a page to start with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageRow<'a> {
    /// Its number.
    pub id: PageId,
    /// Its address.
    pub url: &'a str,
    /// Its host.
    pub host: HostId,
    /// Whether it is crawled.
    pub state: PageState,
    /// How much it matters.
    pub importance: f64,
    /// How old its copy may be.
    pub max_age: Option<Span>,
    /// When it was added.
    pub added: Time,
    /// The last look, whatever came of it.
    pub looked: Option<Time>,
    /// The last look that confirmed or replaced the copy.
    pub fetched: Option<Time>,
    /// The last look that saw a change; a first copy is none.
    pub changed: Option<Time>,
    /// Failed looks in a row.
    pub failures: u32,
    /// The learned history.
    pub history: Option<&'a [u8]>,
    /// Where it comes from.
    pub origin: Origin,
    /// How it was found.
    pub found: &'a str,
}

impl PageRow<'_> {
    /// Whether its last fetches failed; a page that is gone is not failing.
    pub fn is_failing(&self) -> bool {
        self.failures > 0 && self.state != PageState::Gone
    }

    /// When it appeared.
    pub fn born(&self) -> Time {
        self.origin.born.unwrap_or(self.added)
    }

    /// How much it matters at a moment: what is new may matter less with every hour.
    pub fn importance_at(&self, now: Time) -> f64 {
        let lost = self.origin.decay.map_or(0.0, |decay| decay * now.since(self.born()).as_secs());
        self.importance * (-lost).exp()
    }
}

/// All that is known of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRecord {
    /// Its number.
    pub id: PageId,
    /// Its address.
    pub url: String,
    /// Its host.
    pub host: HostId,
    /// Whether it is crawled.
    pub state: PageState,
    /// How much it matters.
    pub importance: f64,
    /// How old its copy may be.
    pub max_age: Option<Span>,
    /// When it was added.
    pub added: Time,
    /// How it was found.
    pub found: String,
    /// The last look, whatever came of it.
    pub looked: Option<Time>,
    /// The last look that confirmed or replaced the copy.
    pub fetched: Option<Time>,
    /// The last look that saw a change; a first copy is none.
    pub changed: Option<Time>,
    /// The HTTP status of the last look.
    pub status: Option<u16>,
    /// Failed looks in a row.
    pub failures: u32,
    /// The digest of the body seen last.
    pub digest: Option<Digest>,
    /// `ETag` of the last answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the last answer.
    pub last_modified: Option<String>,
    /// Where it leads.
    pub redirect: Option<String>,
    /// What it calls itself.
    pub title: Option<String>,
    /// The learned history.
    pub history: Option<Vec<u8>>,
    /// What the next body is compared with.
    pub kept: Option<Vec<u8>>,
    /// Where it comes from.
    pub origin: Origin,
}

impl PageRecord {
    /// The same, as whoever scans all pages sees it.
    pub fn row(&self) -> PageRow<'_> {
        PageRow {
            id: self.id,
            url: &self.url,
            host: self.host,
            state: self.state,
            importance: self.importance,
            max_age: self.max_age,
            added: self.added,
            looked: self.looked,
            fetched: self.fetched,
            changed: self.changed,
            failures: self.failures,
            history: self.history.as_deref(),
            origin: self.origin,
            found: &self.found,
        }
    }
}

/// Which pages to list.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// Only those in this state.
    pub state: Option<PageState>,
    /// Only those of this host.
    pub host: Option<HostId>,
    /// Only those whose address starts with this.
    pub prefix: Option<String>,
    /// Only those that were not fetched at or after this moment, or never.
    pub fetched_before: Option<Time>,
    /// Only those with at least so many failed looks in a row.
    pub failures: u32,
    /// In which order.
    pub order: Order,
    /// At most so many.
    pub limit: usize,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were added.
    #[default]
    Added,
    /// The oldest copies first; pages without one before all.
    Stalest,
    /// What changed last first.
    LastChanged,
    /// What matters most first.
    Importance,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            state: None,
            host: None,
            prefix: None,
            fetched_before: None,
            failures: 0,
            order: Order::Added,
            limit: usize::MAX,
        }
    }
}

/// The column `changed` has the time of the first copy as well, which is no change: a page changed if it had several bodies, or is gone.
const SCANNED: &str = "id, url, host, state, importance, max_age, added, looked, fetched,
     CASE WHEN bodies > 1 OR digest IS NULL THEN changed END AS last_change, failures, history, role, hub, born, decay, hint, found";
/// The columns of a page record, after those of [`SCANNED`].
const RECORD: &str = "status, digest, etag, last_modified, redirect, title, kept";

impl Reader {
    /// Every page, in the order of their numbers, for as long as `each` wants more.
    pub fn pages(&self, each: impl FnMut(PageRow<'_>) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.pages_after(PageId(0), each)
    }

    /// Every page with a greater number, in their order, for as long as `each` wants more: whoever stops and goes on later holds up
    /// nobody in between.
    pub fn pages_after(
        &self,
        after: PageId,
        mut each: impl FnMut(PageRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SCANNED} FROM pages WHERE id > ?1 ORDER BY id");
        self.each_row(&sql, (after.0,), |row| Ok(each(scanned(row)?)))
    }

    /// Every page whose address is this one or comes after it, in the order of addresses, for as long as `each` wants more.
    pub fn pages_by_address(
        &self,
        from: &str,
        mut each: impl FnMut(PageRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SCANNED} FROM pages WHERE url >= ?1 ORDER BY url");
        self.each_row(&sql, (from,), |row| Ok(each(scanned(row)?)))
    }
    /// The numbers of the pages with these addresses, at one moment; `None` where there is no such page.
    pub fn ids_of<'a>(
        &self,
        urls: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Option<PageId>>, StoreError> {
        let sql = "SELECT id FROM pages WHERE url = ?1";
        self.at_one_moment(|reader| {
            urls.into_iter().map(|url| reader.one(sql, (url,), |row| row.get(0).map(PageId))).collect()
        })
    }

    /// Every page of a host with a greater number, in their order, for as long as `each` wants more.
    pub fn pages_of_host(
        &self,
        host: HostId,
        after: PageId,
        mut each: impl FnMut(PageRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT {SCANNED} FROM pages WHERE host = ?1 AND id > ?2 ORDER BY id");
        self.each_row(&sql, (host.0, after.0), |row| Ok(each(scanned(row)?)))
    }

    /// How many pages that are crawled were never fetched.
    pub fn unfetched(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM pages WHERE fetched IS NULL AND state = 'active'";
        Ok(self.one(sql, (), |row| row.get::<_, i64>(0))?.unwrap_or(0).cast_unsigned())
    }

    /// The page with this address.
    pub fn page(&self, url: &str) -> Result<Option<PageRecord>, StoreError> {
        self.one(&format!("SELECT {SCANNED}, {RECORD} FROM pages WHERE url = ?1"), (url,), record)
    }

    /// The page with this number.
    pub fn page_by_id(&self, id: PageId) -> Result<Option<PageRecord>, StoreError> {
        self.one(&format!("SELECT {SCANNED}, {RECORD} FROM pages WHERE id = ?1"), (id.0,), record)
    }

    /// The pages that pass a filter, for as long as `each` wants more.
    pub fn list(
        &self,
        filter: &Filter,
        mut each: impl FnMut(PageRow<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let order = match filter.order {
            Order::Added => "id",
            Order::Stalest => "fetched, id",
            Order::LastChanged => "last_change DESC, id",
            Order::Importance => "importance DESC, id",
        };
        let sql = format!(
            "SELECT {SCANNED} FROM pages
             WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR host = ?2)
               AND (?3 IS NULL OR substr(url, 1, length(?3)) = ?3)
               AND (?4 IS NULL OR fetched IS NULL OR fetched < ?4) AND failures >= ?5
             ORDER BY {order} LIMIT ?6"
        );
        let params = (
            filter.state.map(PageState::as_str),
            filter.host.map(|host| host.0),
            filter.prefix.as_deref(),
            filter.fetched_before.map(millis::deadline),
            filter.failures,
            i64::try_from(filter.limit).unwrap_or(i64::MAX),
        );
        self.each_row(&sql, params, |row| Ok(each(scanned(row)?)))
    }
}

fn scanned<'a>(row: &'a Row<'_>) -> rusqlite::Result<PageRow<'a>> {
    Ok(PageRow {
        id: PageId(row.get(0)?),
        url: text::text(row, 1)?,
        host: HostId(row.get(2)?),
        state: row.get(3)?,
        importance: row.get(4)?,
        max_age: text::span(row, 5)?,
        added: text::time(row, 6)?,
        looked: text::moment(row, 7)?,
        fetched: text::moment(row, 8)?,
        changed: text::moment(row, 9)?,
        failures: row.get(10)?,
        history: text::bytes(row, 11)?,
        origin: Origin {
            role: row.get(12)?,
            hub: row.get::<_, Option<i64>>(13)?.map(PageId),
            born: text::moment(row, 14)?,
            decay: row.get(15)?,
            hint: row.get(16)?,
        },
        found: text::text(row, 17)?,
    })
}

fn record(row: &Row<'_>) -> rusqlite::Result<PageRecord> {
    let scanned = scanned(row)?;
    Ok(PageRecord {
        id: scanned.id,
        url: scanned.url.to_owned(),
        host: scanned.host,
        state: scanned.state,
        importance: scanned.importance,
        max_age: scanned.max_age,
        added: scanned.added,
        looked: scanned.looked,
        fetched: scanned.fetched,
        changed: scanned.changed,
        failures: scanned.failures,
        history: scanned.history.map(<[u8]>::to_vec),
        found: scanned.found.to_owned(),
        status: row.get(18)?,
        digest: row.get(19)?,
        etag: row.get(20)?,
        last_modified: row.get(21)?,
        redirect: row.get(22)?,
        title: row.get(23)?,
        kept: row.get(24)?,
        origin: scanned.origin,
    })
}
