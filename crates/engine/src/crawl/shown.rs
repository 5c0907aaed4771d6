//! What visits show beside the page itself: links to new pages, and what is announced.

use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::frontier::{self, Outcome};
use refrain_core::time::{Span, Time};
use refrain_fetch::announce::sitemap::{Scope, scope};
use refrain_fetch::change::SECOND_LOOK;
use refrain_fetch::url::PageUrl;
use refrain_store::{Origin, PageId, Role};

use super::Crawl;
use crate::CrawlError;
use crate::hint::Hint;
use crate::hubs::{Yield, lasting};
use crate::index::Place;
use crate::links::Sorted;
use crate::read::{Answer, Read};
use crate::scope::Way;
use crate::seeds::new_page;
use crate::visit::{Seen, Visited};

/// What a visit showed that was not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shown {
    yields: Yield,
    /// How long after the visit before.
    elapsed: Option<Span>,
    /// It is there for what it shows.
    is_source: bool,
    /// It may be a hub: it is a front page, or showed something new when it was visited again.
    is_promising: bool,
}

impl Shown {
    /// What an earlier look of the same visit showed.
    pub(super) fn add(&mut self, earlier: Self) {
        self.yields.add(earlier.yields);
        self.is_source |= earlier.is_source;
        self.is_promising |= earlier.is_promising;
    }
}

/// Something that leads to a page.
pub(super) struct Lead<'a> {
    pub(super) url: PageUrl,
    /// How it was found.
    pub(super) way: Way,
    pub(super) how: &'static str,
    /// Where, and the address of that.
    pub(super) hub: PageId,
    pub(super) from: &'a PageUrl,
    /// When the page appeared, if that is known.
    pub(super) born: Option<Time>,
    /// How much it matters, beside others that were found.
    pub(super) importance: f64,
    pub(super) hint: Option<Hint>,
}

impl Crawl {
    /// Takes up what a visit showed.
    pub(super) fn show(&mut self, now: Time, visited: &mut Visited) -> Result<Shown, CrawlError> {
        let stored = visited.stored;
        let url = visited.memo.url.clone();
        // A crawler that fetches by itself says which pages it found, those behind redirects among them.
        if let Seen::Redirected(Some(target)) = &visited.seen
            && !self.queued.has(stored)
        {
            self.led_elsewhere(now, stored, target)?;
        }
        let Seen::Read(read) = &mut visited.seen else { return Ok(Shown::default()) };
        let is_first = read.answer == Answer::First;
        // A sitemap that says nothing new is one all the same.
        let is_source = visited.memo.role != Role::Page || read.announced.is_some();
        let mut shown = Shown { elapsed: read.elapsed, is_source, ..Shown::default() };
        self.hubs_named(now, stored, &url, &read.places, read.announced.as_deref());
        for place in std::mem::take(&mut read.places) {
            self.outlet_named(now, &url, &place);
        }
        if let Some(announced) = read.announced.take() {
            shown.yields.add(self.announced(now, stored, &visited.memo, announced)?);
        }
        if let Some(links) = read.links.take() {
            if self.follows_anew {
                self.scheduler.pages.read_links(stored);
            }
            let new = self.new_links(now, stored, &links);
            // A page that was found by the crawl speaks for its own address; what was chosen, for wherever it leads.
            let from = if visited.memo.chosen { PageUrl::parse(visited.memo.answered()).ok() } else { None };
            shown.yields.add(self.follow(now, &new, stored, from.as_ref().unwrap_or(&url)));
            shown.is_promising = is_first && url.path_and_query() == "/";
        }
        // What others fetch is read by them, and they say where it leads.
        let led = self.queued.led_to(now, stored, is_first);
        shown.yields.add(led);
        shown.is_promising |= shown.is_source || (!is_first && shown.yields.news > 0.0);
        shown.is_promising &= shown.is_source || self.settings.follow.is_some() || led.news > 0.0;
        Ok(shown)
    }

    /// Of the links that a page shows, those that are new indeed.
    fn new_links(&mut self, now: Time, stored: PageId, links: &[PageUrl]) -> Vec<PageUrl> {
        let index = &self.scheduler.pages.index;
        let unknown: Vec<PageUrl> =
            links.iter().filter(|url| index.page(url.as_str()) == Place::Unknown).cloned().collect();
        let Some(hub) = self.scheduler.hubs.get_mut(stored) else {
            return unknown.into_iter().filter(|url| !self.forms.is_noise(url)).collect();
        };
        let settled = self.forms.settle(hub.memory.doubted(now), links);
        let Sorted { mut new, doubtful } = self.forms.sort(&hub.memory, links, unknown);
        hub.memory.show(links);
        if hub.memory.doubt(doubtful, now) {
            self.again.push((now + SECOND_LOOK, stored));
        }
        new.extend(settled);
        new
    }

    fn follow(&mut self, now: Time, links: &[PageUrl], hub: PageId, from: &PageUrl) -> Yield {
        let mut yields = Yield::default();
        for url in links {
            let (way, how, url) = (Way::Link, "link", url.clone());
            let lead = Lead { url, way, how, hub, from, born: None, importance: 1.0, hint: None };
            if let Some(interest) = self.find(now, &lead) {
                yields.add(Yield::one(interest));
            }
        }
        yields
    }

    /// Something leads to a page. What it is worth, if it is new.
    pub(super) fn find(&mut self, now: Time, lead: &Lead<'_>) -> Option<Interest> {
        if self.scheduler.pages.index.is_known(lead.url.as_str()) || self.forms.is_noise(&lead.url) {
            return None;
        }
        let (importance, decay) = self.matters(&lead.url, lead.hub);
        let importance = importance * lead.importance;
        let mut page = new_page(&lead.url, importance, None, now, lead.how).ok()?;
        let hint = lead.hint.map(|hint| hint.0);
        page.origin = Origin { role: Role::Page, hub: Some(lead.hub), born: lead.born, decay, hint };
        self.enter(now, lead.way, Some(lead.from), &lead.url, page).ok()?;
        Some(worth(importance, decay))
    }

    /// How much a page matters that a hub led to, and how fast that fades, if it does.
    pub(super) fn matters(&self, url: &PageUrl, hub: PageId) -> (f64, Option<f64>) {
        match self.settings.news_at(url) {
            Some(news) => (news.importance, Some(news.decay())),
            None => match self.scheduler.hubs.asked(hub) {
                Some(asked) => (asked.profit * asked.decay, Some(asked.decay)),
                None => (1.0, None),
            },
        }
    }

    /// As the frontier wants to hear it, if the page is a hub.
    pub(super) fn as_hub(
        &self,
        page: frontier::PageId,
        seen: Outcome,
        shown: &Shown,
    ) -> Result<Outcome, CrawlError> {
        let is_hub =
            self.scheduler.frontier.page(page).is_ok() && self.scheduler.frontier.hub(page)?.is_some();
        Ok(match seen {
            Outcome::Seen(answer) | Outcome::Dated { answer, .. } if is_hub => {
                Outcome::Links { answer, new: shown.yields.news as u32 }
            }
            other => other,
        })
    }

    /// What a hub showed, or that a page is one, is learned. The frontier has been told of the visit.
    pub(super) fn learn_hub(
        &mut self,
        now: Time,
        stored: PageId,
        page: frontier::PageId,
        shown: &Shown,
    ) -> Result<(), CrawlError> {
        let scheduler = &mut self.scheduler;
        if scheduler.frontier.page(page).is_err() || scheduler.frontier.is_new(page)? {
            return Ok(());
        }
        if scheduler.hubs.get(stored).is_none() {
            if shown.is_promising && scheduler.hubs.add(stored) {
                if let Some(elapsed) = shown.elapsed {
                    scheduler.hubs.visited(stored, elapsed.as_secs(), shown.yields, shown.is_source);
                }
                scheduler.make_hub(stored, page, shown.is_source, now)?;
            }
            return Ok(());
        }
        let elapsed = shown.elapsed.map_or(0.0, Span::as_secs);
        if !scheduler.hubs.visited(stored, elapsed, shown.yields, shown.is_source) {
            scheduler.hubs.remove(stored);
            scheduler.frontier.unmake_hub(now, page)?;
            self.journal.no_hub(now, stored);
            return Ok(());
        }
        if scheduler.frontier.hub(page)?.is_none() {
            scheduler.make_hub(stored, page, shown.is_source, now)?;
        } else if let Some(interest) = scheduler.hubs.news_are_worth(stored) {
            scheduler.frontier.set_interest(now, page, interest)?;
        }
        Ok(())
    }

    /// Whether what is found at `source` may speak for a page.
    pub(super) fn may_speak(&self, source: &PageUrl, page: &PageUrl) -> bool {
        if scope(source, page) <= Scope::Host {
            return true;
        }
        let rules = self.scheduler.hosts.get(page.origin()).and_then(|entry| entry.rules.as_ref());
        rules.is_some_and(|rules| rules.vouch_for(source))
    }
}

/// What a new page is worth that matters so much, and fades so fast.
pub(super) fn worth(importance: f64, decay: Option<f64>) -> Interest {
    decay.map_or(lasting(importance), |decay| Interest { profit: importance / decay, decay })
}

/// What a visit saw of changes.
pub(super) fn is_change(read: &Read) -> Option<bool> {
    match read.answer {
        Answer::First => None,
        Answer::Changed => Some(true),
        Answer::Unchanged | Answer::NotModified => Some(false),
    }
}
