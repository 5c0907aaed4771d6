//! Pages that lead elsewhere. Our own visits go there at once; another fetcher has leave for one host only, so where a page leads becomes a page of
//! its own, which is fetched when its host allows it.

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Origin, PageId};

use super::Crawl;
use crate::CrawlError;
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
        let index = &self.scheduler.pages.index;
        if index.len() >= self.settings.most_pages || self.is_led_on_and_on(stored)? {
            return Ok(());
        }
        let Some(from) = self.reader.page_by_id(stored)? else { return Ok(()) };
        if !index.know(target.as_str()) {
            return Ok(());
        }
        // An address that no page can have leads nowhere.
        if let Ok(mut page) = new_page(target, from.importance, from.max_age, now, HOW) {
            page.origin = Origin { hub: Some(stored), decay: from.origin.decay, ..Origin::default() };
            self.journal.page(now, page);
        }
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
