//! The database rebuilt from the archive, and what pages learn again from the observations in it.

use std::path::{Path, PathBuf};

use refrain_fetch::change::{Kept, Look};
use refrain_fetch::client::ContentType;
use refrain_fetch::url::PageUrl;
use refrain_store::warc::Record;
use refrain_store::{Address, Batch, Interpret, PageId, Recovered, Recovery, StoreError};

use crate::inherit::relearned;
use crate::settings::{Settings, host_name};

/// So many pages are committed at a time.
const AT_A_TIME: usize = 20_000;

/// Rebuilds the database of a data directory from its archive. What was recovered, and where the old database is now, if there was one; `None` if
/// nothing was missing. `progress` hears which file is read.
///
/// # Errors
/// If there is no archive, a crawl is running, or the disk fails: everything is as it was then.
pub fn recover(
    directory: &Path,
    settings: &Settings,
    progress: impl FnMut(&str),
) -> Result<Option<(Recovered, Option<PathBuf>)>, StoreError> {
    let Some(mut recovery) = Recovery::begin(directory)? else { return Ok(None) };
    recovery.read(&Answers { settings }, progress)?;
    let touched: Vec<PageId> = recovery.touched().iter().copied().collect();
    for pages in touched.chunks(AT_A_TIME) {
        let store = recovery.store();
        let past: Result<Vec<_>, StoreError> =
            pages.iter().map(|page| relearned(store.read(), *page)).collect();
        store.commit(&Batch { past: past?, ..Batch::default() })?;
    }
    recovery.finish().map(Some)
}

/// Reads addresses and answers as a crawl does.
struct Answers<'a> {
    settings: &'a Settings,
}

impl Interpret for Answers<'_> {
    fn page(&self, url: &str) -> Option<(Address, String)> {
        let url = PageUrl::parse(url).ok()?;
        Some((Address::new(url.as_str()).ok()?, host_name(&url)))
    }

    fn copy(&self, page: &Address, answer: &Record) -> (Option<String>, Option<Vec<u8>>) {
        let Ok(page) = PageUrl::parse(page.as_str()) else { return (None, None) };
        let content = answer.headers().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content = content.and_then(|(_, value)| ContentType::parse(value));
        let url = answer.url().and_then(|url| PageUrl::parse(url).ok()).unwrap_or_else(|| page.clone());
        let rules = self.settings.rules_for(&page);
        let (look, found) =
            Look::with_links(&answer.body, content.as_ref(), &rules, (&url, &self.settings.agent));
        (found.and_then(|found| found.title), Some(Kept::first(&look).to_bytes()))
    }
}
