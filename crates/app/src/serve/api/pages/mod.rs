//! Pages: all of them, one of them, what was seen of it, and its copies.

pub(super) mod add;
pub(crate) mod copy;
pub(crate) mod diff;
pub(super) mod edit;
pub(super) mod explanation;
pub(super) mod history;
pub(crate) mod list;
pub(super) mod one;
pub(super) mod versions;

use refrain_fetch::url::PageUrl;
use refrain_store::{PageId, PageRecord, Reader};

use crate::serve::problem::{Answer, Problem};

/// The page of this number.
pub(crate) fn known(reader: &Reader, id: i64) -> Answer<PageRecord> {
    reader.page_by_id(PageId(id))?.ok_or_else(|| Problem::no_page(id))
}

/// The page with this address, in whatever spelling.
pub(super) fn at(reader: &Reader, typed: &str) -> Answer<PageRecord> {
    let url = address(typed)?;
    reader
        .page(url.as_str())?
        .ok_or_else(|| Problem::missing("no-such-page", format!("{url}: there is no such page")))
}

/// An address that somebody typed.
pub(super) fn address(typed: &str) -> Answer<PageUrl> {
    PageUrl::parse(typed).map_err(|why| {
        let shown: String = typed.chars().take(200).collect();
        Problem::bad(format!("`{shown}`: {why}; expected an address like https://example.org/news"))
    })
}
