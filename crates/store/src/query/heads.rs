//! What a visit to a page needs to know of it: little, since every fetch asks for it.

use refrain_core::time::Time;
use rusqlite::{Connection, OptionalExtension, Row};

use super::text;
use crate::digest::Digest;
use crate::error::StoreError;
use crate::facts::{PageId, PageState, Role};
use crate::reader::Reader;

/// What a visit to a page needs to know, but for what its body is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHead {
    /// Its address.
    pub url: String,
    /// How it was found.
    pub found: String,
    /// What it is there for.
    pub role: Role,
    /// The last look that confirmed or replaced the copy.
    pub fetched: Option<Time>,
    /// Whether it is crawled.
    pub state: PageState,
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
}

const HEAD: &str =
    "SELECT url, found, role, fetched, state, failures, digest, etag, last_modified, redirect, title
     FROM pages WHERE id = ?1";

impl Reader {
    /// What a visit to the page with this number needs to know.
    pub fn page_head(&self, id: PageId) -> Result<Option<PageHead>, StoreError> {
        self.one(HEAD, (id.0,), head)
    }
}

/// The same of several pages, as whoever writes sees them.
pub(crate) fn heads(connection: &Connection, pages: &[PageId]) -> rusqlite::Result<Vec<Option<PageHead>>> {
    let mut read = connection.prepare_cached(HEAD)?;
    pages.iter().map(|page| read.query_row((page.0,), head).optional()).collect()
}

fn head(row: &Row<'_>) -> rusqlite::Result<PageHead> {
    Ok(PageHead {
        url: row.get(0)?,
        found: row.get(1)?,
        role: row.get(2)?,
        fetched: text::moment(row, 3)?,
        state: row.get(4)?,
        failures: row.get(5)?,
        digest: row.get(6)?,
        etag: row.get(7)?,
        last_modified: row.get(8)?,
        redirect: row.get(9)?,
        title: row.get(10)?,
    })
}
