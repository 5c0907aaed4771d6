//! Crawls in which values decide when to come back: what is in their queues are pages like all others, but that somebody else fetches them.

use refrain_fetch::url::PageUrl;
use refrain_store::{Role, Schedule};

use super::{Ask, Put, Queues, Said, SeenByOthers, Took};
use crate::handle::{self, Entered, Over};
use crate::kinds::Kind;

impl Queues {
    /// What is said of addresses, some of them in crawls in which values decide: what was seen first, then the rest.
    pub(super) async fn put_by_value(&self, items: Vec<Put>) -> Result<Vec<Took>, Over> {
        let urls: Vec<Option<PageUrl>> = items.iter().map(|item| self.url_of(item)).collect();
        let wanted: Vec<Entered> =
            items.iter().zip(&urls).filter_map(|(item, url)| Some(entered(url.clone()?, item))).collect();
        let pages = self.crawl.ask(|reply| handle::Ask::Enqueue { pages: wanted, reply }).await?;
        let (mut pages, mut looks, mut said) = (pages.into_iter(), Vec::new(), Vec::new());
        let (mut asked, mut answers) = (Vec::new(), Vec::with_capacity(items.len()));
        for (item, url) in items.into_iter().zip(urls) {
            let by_value = self.schedule(&item.crawl, item.schedule) == Schedule::Server;
            let page = url.as_ref().and_then(|_| pages.next().flatten());
            let answer = match (by_value, &url, page) {
                (false, ..) | (true, Some(_), Some(_)) => None,
                (true, None, _) => Some(Took::Refused),
                (true, Some(_), None) => Some(Took::Full),
            };
            answers.push(answer);
            if answer.is_some() {
                continue;
            }
            if let (Some(page), Some(url), Some(seen)) = (page, url, &item.seen) {
                if matches!(item.said, Said::Known(_)) {
                    looks.push((page, seen.saw()));
                }
                if seen.announced.is_some() {
                    said.push(handle::Said { url, changed: seen.announced, adds: false });
                }
            } else if let (Some(page), Said::Known(_)) = (page, item.said) {
                looks.push((page, SeenByOthers::default().saw()));
            }
            asked.push((item, page));
        }
        if !said.is_empty() {
            // A name is not needed: what was said before is not news.
            let _ = self.crawl.signal(Kind::Sitemap, said, None).await?;
        }
        if !looks.is_empty() {
            self.crawl.ask(|reply| handle::Ask::Looked { looks, reply }).await?;
        }
        let mut took =
            self.ask(|reply| Ask::Put { items: asked, is_patient: false, reply }).await?.into_iter();
        Ok(answers.into_iter().map(|answer| answer.or_else(|| took.next()).unwrap_or(Took::Full)).collect())
    }

    /// The page of an item, if values decide about it and there can be one.
    fn url_of(&self, item: &Put) -> Option<PageUrl> {
        let by_value = self.schedule(&item.crawl, item.schedule) == Schedule::Server;
        by_value.then(|| PageUrl::parse(&item.url).ok()).flatten()
    }
}

fn entered(url: PageUrl, item: &Put) -> Entered {
    // Whoever looked at it knows no more of who led there than was said when it was found.
    let shown_by = item.seen.as_ref().filter(|_| item.said == Said::Discovered);
    let shown_by = shown_by.and_then(|seen| PageUrl::parse(seen.shown_by.as_deref()?).ok());
    Entered { role: role(item), shown_by: shown_by.filter(|by| *by != url), url }
}

fn role(item: &Put) -> Role {
    match &item.seen {
        Some(seen) if seen.is_sitemap => Role::Sitemap,
        Some(seen) if seen.is_feed => Role::Feed,
        _ => Role::Page,
    }
}
