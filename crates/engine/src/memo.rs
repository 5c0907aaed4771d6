//! What a visit needs to know of a page: as the store has it, or as the last visit left it.

use refrain_core::time::Time;
use refrain_fetch::change::Kept;
use refrain_fetch::client::Response;
use refrain_fetch::url::PageUrl;
use refrain_store::{Digest, PageHead, PageRecord, PageState, Reader, Role, StoreError};

use crate::crawl::BELOW;
use crate::scope::is_chosen;
use crate::sources::Announced;

/// What a visit needs to know of a page.
#[derive(Clone, Debug)]
pub(crate) struct Memo {
    pub(crate) url: PageUrl,
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    pub(crate) redirect: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) kept: Option<Kept>,
    /// Of the body seen last, and when that was.
    pub(crate) digest: Option<Digest>,
    pub(crate) fetched: Option<Time>,
    /// The state after the last fetch, and how many fetches in a row have failed, fetches that found the page missing included.
    pub(crate) state: PageState,
    pub(crate) failures: u32,
    /// What it is there for.
    pub(crate) role: Role,
    /// Whether somebody chose it; if not, the crawl found it.
    pub(crate) chosen: bool,
    /// For a sitemap: how many indexes led to it.
    pub(crate) depth: usize,
    /// The version that has that body, if it is still there: its address and time.
    pub(crate) version: Option<(String, Time)>,
}

impl Memo {
    /// As the store has it; `None` if the address cannot be crawled.
    pub(crate) fn of(record: PageRecord, reader: &Reader) -> Result<Option<Self>, StoreError> {
        let version = match &record.digest {
            Some(digest) => reader.version_with(record.id, digest)?,
            None => None,
        };
        let version = version.map(|version| (version.url, version.time));
        // What cannot be read is compared anew.
        let kept = record.kept.as_deref().and_then(|bytes| Kept::from_bytes(bytes).ok());
        let head = PageHead {
            url: record.url,
            found: record.found,
            role: record.origin.role,
            fetched: record.fetched,
            state: record.state,
            failures: record.failures,
            digest: record.digest,
            etag: record.etag,
            last_modified: record.last_modified,
            redirect: record.redirect,
            title: record.title,
        };
        Ok(Self::of_head(head).map(|memo| Self { kept, version, ..memo }))
    }

    /// The same, for those who have no body to compare and keep.
    pub(crate) fn of_head(head: PageHead) -> Option<Self> {
        let url = PageUrl::parse(&head.url).ok()?;
        Some(Self {
            url,
            etag: head.etag,
            last_modified: head.last_modified,
            redirect: head.redirect,
            title: head.title,
            kept: None,
            digest: head.digest,
            fetched: head.fetched,
            state: head.state,
            failures: head.failures,
            role: head.role,
            chosen: is_chosen(&head.found, head.role),
            depth: BELOW.iter().position(|found| *found == head.found).map_or(0, |below| below + 1),
            version: None,
        })
    }

    /// An answer came from this address.
    pub(crate) fn seen(&mut self, url: &PageUrl, answer: &Response, time: Time) {
        self.etag = answer.headers.text("etag").map(str::to_owned);
        self.last_modified = answer.headers.text("last-modified").map(str::to_owned);
        self.redirect = (url.as_str() != self.url.as_str()).then(|| url.as_str().to_owned());
        self.fetched = Some(time);
        self.failures = 0;
    }

    /// What the page announces was read. If some of it is left for the next reading, that must get a body.
    pub(crate) fn read_to_its_end(&mut self, announced: Option<&Announced>) {
        if announced.is_some_and(|announced| announced.left_out > 0) {
            (self.etag, self.last_modified) = (None, None);
        }
    }

    /// The page leads elsewhere, if it is known where. What was known of the answer that had its copy is nothing to ask with any more.
    pub(crate) fn led_to(&mut self, target: Option<&PageUrl>) {
        (self.etag, self.last_modified) = (None, None);
        self.redirect = target.map(|target| target.as_str().to_owned());
    }

    /// The address that gave the last answer.
    pub(crate) fn answered(&self) -> &str {
        self.redirect.as_deref().unwrap_or(self.url.as_str())
    }
}
