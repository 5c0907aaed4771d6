//! What sitemaps and feeds say: signals for pages that are known, leads to those that are not.

use refrain_core::frontier::{self, Model};
use refrain_core::page::SinceFetch;
use refrain_core::time::Time;
use refrain_store::{Announcement, PageId, Signal};

use super::Crawl;
use super::shown::{Lead, is_change};
use crate::CrawlError;
use crate::decision::Decision;
use crate::hubs::Yield;
use crate::kinds::Kind;
use crate::memo::Memo;
use crate::scope::Way;
use crate::sources::{Announced, News, Unknown};
use crate::told::Told;
use crate::visit::{Seen, Visited};

impl Crawl {
    /// A sitemap or a feed was read. What its news are worth.
    pub(super) fn announced(
        &mut self,
        now: Time,
        source: PageId,
        memo: &Memo,
        mut what: Box<Announced>,
    ) -> Result<Yield, CrawlError> {
        self.take_announced(now, source, memo, &mut what, usize::MAX)?;
        let url = &memo.url;
        if let Some(complaint) = what.complaint {
            self.summary.complaints += 1;
            // Once is enough.
            if self.complained.insert(source) {
                self.tell(|| Told::Warning(format!("{url}: {complaint}")));
            }
        }
        if let Some(entry) = self.scheduler.hosts.get_mut(url.origin()) {
            match what.kind {
                Kind::Sitemap => entry.outlets.has_sitemap = true,
                _ => entry.outlets.has_feed = true,
            }
        }
        let Announced { kind, yields, signals, found, .. } = *what;
        self.tell(|| Told::Announced { time: now, url: url.to_string(), kind, signals, found });
        Ok(yields)
    }

    /// Takes up so much of what was announced, at most: how much. What it came to is added up with the rest.
    pub(super) fn take_announced(
        &mut self,
        now: Time,
        source: PageId,
        memo: &Memo,
        what: &mut Announced,
        most: usize,
    ) -> Result<usize, CrawlError> {
        let (url, kind) = (&memo.url, what.kind);
        // If everything is news nothing is: what is said of all pages alike does not tell them apart.
        let telling = 1.0 - what.in_all.saturating_sub(1) as f64 / what.named.max(1) as f64;
        for taken in 0..most {
            if let Some(child) = what.sitemaps.pop_front() {
                self.outlet_below(now, memo, source, &child);
            } else if let Some(news) = what.news.pop_front() {
                if news.elsewhere.as_ref().is_none_or(|page| self.may_speak(url, page)) {
                    let before = self.summary.signals;
                    what.yields.add(self.hear(now, kind, &news, telling)?);
                    what.signals += self.summary.signals - before;
                }
            } else if let Some(Unknown { url: page, born, importance, hint }) = what.unknown.pop_front() {
                let (way, how, hub) = (Way::Entry, kind.as_str(), source);
                let lead = Lead { url: page, way, how, hub, from: url, born, importance, hint };
                if let Some(interest) = self.find(now, &lead) {
                    what.found += 1;
                    what.yields.add(Yield::one(interest));
                }
            } else {
                return Ok(taken);
            }
        }
        Ok(most)
    }

    /// A page is said to have changed; `telling` is the share of what that is worth that it is worth to have asked.
    pub(super) fn hear(
        &mut self,
        now: Time,
        kind: Kind,
        news: &News,
        telling: f64,
    ) -> Result<Yield, CrawlError> {
        let (stored, said) = (news.page, news.said.earliest());
        self.scheduler.pages.index.say(stored, kind, said);
        self.journal.announced(now, Announcement { page: stored, kind: kind.as_str(), said });
        let Some(page) = self.scheduler.pages.scheduled(stored) else { return Ok(Yield::default()) };
        let frontier = &mut self.scheduler.frontier;
        if news.first && !frontier.page(page)?.0.inner().is_heard() {
            frontier.update(now, page, |page| page.inner_mut().set_heard(true))?;
            frontier.refresh(now, page)?;
        }
        let (believed, since) = frontier.page(page)?;
        // A page without a copy is fetched anyway, but a first fetch that is under way may have seen an earlier version; and what the copy has is no news.
        let (is_new, is_ordered) = (frontier.is_new(page)?, frontier.is_ordered(page)?);
        if if is_new { !is_ordered } else { !news.said.may_be_after(since.fetched()) } {
            return Ok(Yield::default());
        }
        let rate = believed.inner().change_rate().map_or(0.0, |rate| rate.mean());
        let host = frontier.host_of(page)?;
        let taken = self.scheduler.listening.signal(stored, kind, now, is_ordered);
        let counts = taken && self.scheduler.listening.is_heard(host, kind);
        self.decided(|| Decision::Heard { time: now, page: stored, kind, counts });
        for host in self.scheduler.listening.reconsidered() {
            self.scheduler.frontier.model_mut().inner_mut().listen_anew(host);
        }
        let worth = if counts { self.signal(now, page, since)? } else { 0.0 };
        self.summary.signals += 1;
        if taken {
            let signal =
                Signal { said: Some(said), worth: Some(worth), ..Signal::new(stored, kind.as_str(), now) };
            self.journal.signal(now, signal);
        }
        // What is announced is lost, if nobody hears it, when the next change comes.
        let profit = telling * worth;
        Ok(Yield { news: 1.0, profit, loss: profit * rate })
    }

    /// Tells the frontier. By how much a fetch is worth more than before.
    fn signal(&mut self, now: Time, page: frontier::PageId, since: SinceFetch) -> Result<f64, CrawlError> {
        let frontier = &mut self.scheduler.frontier;
        let value = |frontier: &frontier::Frontier<crate::restore::Learner>, since: &SinceFetch| {
            frontier.page(page).map(|(page, _)| frontier.model().value(page, since, now))
        };
        let before = value(frontier, &since)?;
        frontier.signal(now, page)?;
        let (_, since) = frontier.page(page)?;
        Ok((value(frontier, &since)? - before).max(0.0))
    }

    /// A page was fetched: what was announced of it before the request came true, or did not. Returns how many later signals count.
    pub(super) fn judge_signals(&mut self, visited: &Visited) -> Result<u32, CrawlError> {
        let Seen::Read(read) = &visited.seen else { return Ok(0) };
        let (stored, scheduler) = (visited.stored, &mut self.scheduler);
        if scheduler.frontier.page(visited.page).is_err() {
            scheduler.listening.forget(stored);
            return Ok(0);
        }
        let host = scheduler.frontier.host_of(visited.page)?;
        let seen = scheduler.listening.take_until(stored, visited.asked);
        if let Some(changed) = is_change(read) {
            let kinds = scheduler.pages.index.kinds_of(stored);
            let rate = scheduler.frontier.page(visited.page)?.0.inner().change_rate();
            let elapsed = read.elapsed.map_or(0.0, refrain_core::time::Span::as_secs);
            let expected = rate.map_or(0.0, |rate| rate.mean() * elapsed);
            let came_true = scheduler.listening.judge(&seen, host, &kinds, expected, changed);
            self.summary.came_true += u64::from(came_true);
        }
        Ok(self.scheduler.listening.heard_of(stored, host))
    }
}
