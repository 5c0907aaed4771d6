//! Pages that lead elsewhere. Our own visits go there at once; another fetcher has leave for one host only, so where a page leads becomes a page of
//! its own, which is fetched when its host allows it.

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Origin, PageId};

use super::Crawl;
use crate::CrawlError;
use crate::scope::{Way, is_chosen};
use crate::seeds::new_page;

/// How such pages were found.
const HOW: &str = "redirect";

impl Crawl {
    /// A page leads to another one, which matters as much.
    pub(super) fn led_elsewhere(
        &mut self,
        now: Time,
        stored: PageId,
        target: &PageUrl,
    ) -> Result<(), CrawlError> {
        if self.scheduler.pages.index.is_known(target.as_str()) || self.is_led_on_and_on(stored)? {
            return Ok(());
        }
        let Some(from) = self.reader.page_by_id(stored)? else { return Ok(()) };
        let way = Way::Redirect { chosen: is_chosen(&from.found, from.origin.role) };
        // An address that no page can have leads nowhere.
        let (Ok(url), Ok(mut page)) =
            (PageUrl::parse(&from.url), new_page(target, from.importance, from.max_age, now, HOW))
        else {
            return Ok(());
        };
        page.origin = Origin { hub: Some(stored), decay: from.origin.decay, ..Origin::default() };
        // If it is out of scope it is left where it is.
        let _ = self.enter(now, way, Some(&url), target, page);
        Ok(())
    }

    /// Whether as many pages led here, one to the next, as a visit of our own would have followed.
    fn is_led_on_and_on(&self, stored: PageId) -> Result<bool, CrawlError> {
        let mut page = stored;
        for _ in 0..self.settings.redirects {
            let record = self.reader.page_by_id(page)?.filter(|record| record.found == HOW);
            match record.and_then(|record| record.origin.hub) {
                Some(before) => page = before,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}
