//! What people decide about pages while a crawl runs. They are told once it is on the disk.

use std::collections::HashSet;
use std::sync::Arc;

use refrain_core::frontier::{AgeLimits, OrderId};
use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use refrain_store::{Added, Committed, Edit, PageId, PageState};
use tokio::sync::oneshot;

use super::Crawl;
use super::asked::tell;
use super::enter::Refused;
use crate::CrawlError;
use crate::index::Place;
use crate::once::{Once, Reused};
use crate::restore::is_crawled;
use crate::scope::Way;
use crate::seeds::{self, Seed};
use crate::settings::host_name;

/// A robots.txt that was read so lately is not read again because a person asks for a page that it forbids.
const RULES_ARE_NEW: Span = Span::from_whole_secs(300);

/// A page that was to be added.
enum Slot {
    Known(PageId),
    /// Its place among the new pages of the batch.
    New(usize),
    /// There are as many pages as there may be, or its address is none.
    Full,
}

impl Crawl {
    /// Pages, to be crawled from now on; what is said of those that are known holds from now on.
    pub(super) fn add_pages(
        &mut self,
        now: Time,
        pages: &[Seed],
        found: &'static str,
        reply: oneshot::Sender<Vec<Option<Added>>>,
    ) -> Result<(), CrawlError> {
        let mut slots = Vec::with_capacity(pages.len());
        for seed in pages {
            slots.push(self.add_page(now, seed, found)?);
        }
        self.journal.when_written(now, move |done| {
            let added = |slot: Slot| match slot {
                Slot::Known(page) => Some(Added { page, new: false }),
                Slot::New(place) => done.pages.get(place).copied().flatten(),
                Slot::Full => None,
            };
            tell(reply, slots.into_iter().map(added).collect());
        });
        Ok(())
    }

    fn add_page(&mut self, now: Time, seed: &Seed, found: &'static str) -> Result<Slot, CrawlError> {
        if let Place::Page(page) = self.scheduler.pages.index.page(seed.url.as_str()) {
            if let Some(edit) = seeds::edit(seed, page) {
                self.edit_page(now, edit)?;
            }
            return Ok(Slot::Known(page));
        }
        let (importance, max_age) = (seed.importance.unwrap_or(1.0), seed.max_age);
        let Ok(page) = seeds::new_page(&seed.url, importance, max_age, now, found) else {
            return Ok(Slot::Full);
        };
        Ok(match self.enter(now, Way::Chosen, None, &seed.url, page.clone()) {
            Ok(place) => Slot::New(place),
            // Another page of this address is on its way into the store: it says which number both have.
            Err(Refused::Known) => Slot::New(self.journal.page(now, page)),
            Err(_) => Slot::Full,
        })
    }

    /// Decisions about pages.
    pub(super) fn edit_pages(
        &mut self,
        now: Time,
        edits: Vec<Edit>,
        reply: oneshot::Sender<Vec<PageId>>,
    ) -> Result<(), CrawlError> {
        let pages: Vec<PageId> = edits.iter().map(|edit| edit.page).collect();
        for edit in edits {
            self.edit_page(now, edit)?;
        }
        self.reply_unknown(now, pages, reply);
        Ok(())
    }

    /// Tells who is not there, once the rest is written.
    fn reply_unknown(&mut self, now: Time, pages: Vec<PageId>, reply: oneshot::Sender<Vec<PageId>>) {
        self.journal.when_written(now, move |done: &mut Committed| {
            tell(reply, pages.into_iter().filter(|page| done.unknown.contains(page)).collect());
        });
    }

    fn edit_page(&mut self, now: Time, edit: Edit) -> Result<(), CrawlError> {
        let stored = edit.page;
        if let Some(page) = self.scheduler.pages.scheduled(stored) {
            let frontier = &mut self.scheduler.frontier;
            if let Some(importance) = edit.importance {
                self.scheduler.fadings.weigh(stored, importance);
                frontier.update(now, page, |page| {
                    // The store refuses what is no importance.
                    let _ = page.inner_mut().set_importance(importance as f32);
                })?;
            }
            if let Some(max_age) = edit.max_age {
                let most = max_age.unwrap_or(refrain_core::time::Span::MAX);
                frontier.limit_age(now, page, AgeLimits { most, ..AgeLimits::default() })?;
                self.hurried.remove(&stored);
            }
        }
        match edit.state {
            Some(PageState::Active) => {
                self.paused.remove(&stored);
                if self.scheduler.pages.scheduled(stored).is_none() {
                    self.journal.take_up(stored);
                }
            }
            Some(_) => {
                self.paused.insert(stored);
                if let Some(page) = self.scheduler.pages.scheduled(stored) {
                    self.scheduler.frontier.remove(now, page)?;
                    self.scheduler.pages.remove(page);
                }
            }
            None => {}
        }
        self.journal.edit(now, edit);
        Ok(())
    }

    /// Pages to be forgotten, with all that is known of them.
    pub(super) fn remove_pages(
        &mut self,
        now: Time,
        pages: &[PageId],
        reply: oneshot::Sender<Vec<PageId>>,
    ) -> Result<(), CrawlError> {
        for stored in pages {
            let Some(record) = self.reader.page_by_id(*stored)? else { continue };
            // The store forgets it with the next batch.
            if self.scheduler.pages.index.page(&record.url) != Place::Page(*stored) {
                continue;
            }
            if let Some(page) = self.scheduler.pages.scheduled(*stored) {
                self.scheduler.frontier.remove(now, page)?;
                self.scheduler.pages.remove(page);
            }
            if let Ok(url) = PageUrl::parse(&record.url) {
                let kept = self.external.forget(*stored, &host_name(&url));
                self.journal.keep(now, kept);
            }
            self.scheduler.hubs.remove(*stored);
            self.scheduler.listening.forget(*stored);
            self.reads.forget(*stored);
            self.paused.remove(stored);
            self.hurried.remove(stored);
            self.scheduler.forget(&record.url, *stored, record.origin.role);
            self.journal.forget(now, *stored);
        }
        self.queued.leave(pages);
        // Those that nothing was found of are not there.
        let missing: Vec<PageId> = {
            let gone: HashSet<&PageId> = self.journal.forgets().iter().collect();
            pages.iter().filter(|page| !gone.contains(page)).copied().collect()
        };
        self.journal.when_written(now, move |_| tell(reply, missing));
        Ok(())
    }

    /// Pages to be fetched next, once. Nothing of that is on the disk: who was not answered before the process ended asks again, and is heard.
    pub(super) fn hurry_once(
        &mut self,
        now: Time,
        pages: Vec<PageId>,
        once: Option<Once>,
    ) -> Result<Result<Vec<PageId>, Reused>, CrawlError> {
        match once.map(|once| self.once.came(once, now)).transpose() {
            Ok(Some(true)) => {
                let pages = pages.into_iter();
                Ok(Ok(pages.filter(|page| self.scheduler.pages.scheduled(*page).is_none()).collect()))
            }
            Ok(_) => {
                let refused = self.hurry_pages(now, pages)?;
                if let Some(once) = once.filter(|_| refused.is_empty()) {
                    self.once.remember(once, now);
                }
                Ok(Ok(refused))
            }
            Err(reused) => Ok(Err(reused)),
        }
    }

    /// Pages to be fetched next. Those that cannot be.
    pub(super) fn hurry_pages(&mut self, now: Time, pages: Vec<PageId>) -> Result<Vec<PageId>, CrawlError> {
        let mut refused = Vec::new();
        for stored in pages {
            if self.scheduler.pages.scheduled(stored).is_none() && !self.paused.contains(&stored) {
                self.take_up_at_once(now, stored)?;
            }
            match self.scheduler.pages.scheduled(stored) {
                Some(page) => {
                    self.scheduler.frontier.hurry(now, page)?;
                    // A visit that is under way began before somebody asked: it is not the one that is wanted.
                    self.hurried.insert(stored, None);
                }
                None => refused.push(stored),
            }
        }
        Ok(refused)
    }

    /// A page that waits because it failed, was gone or is forbidden is scheduled. If robots.txt forbids it, that is read again, unless it was read a
    /// moment ago.
    fn take_up_at_once(&mut self, now: Time, stored: PageId) -> Result<(), CrawlError> {
        let Some(record) = self.reader.page_by_id(stored)? else { return Ok(()) };
        if !is_crawled(record.state) && record.state != PageState::Gone {
            return Ok(());
        }
        let Ok(url) = PageUrl::parse(&record.url) else { return Ok(()) };
        let name = host_name(&url);
        let host = self.scheduler.host(&name);
        self.scheduler.forbidden.forget(host, stored);
        if record.state == PageState::Disallowed
            && let Some(rules) = self.scheduler.hosts.get_mut(&name).and_then(|entry| entry.rules.as_mut())
            && now.since(rules.asked) >= RULES_ARE_NEW
        {
            *rules = Arc::new(rules.outdated());
        }
        Ok(self.scheduler.take_up(&record.row(), host, now)?)
    }

    /// If somebody wanted a page at once and this look is what came of it, it is like others from now on. If it was under way before, another one
    /// follows as soon as the host allows it.
    pub(super) fn was_hurried(
        &mut self,
        now: Time,
        stored: PageId,
        order: Option<OrderId>,
    ) -> Result<(), CrawlError> {
        let Some(wanted) = self.hurried.get(&stored).copied() else { return Ok(()) };
        let Some(page) = self.scheduler.pages.scheduled(stored) else {
            self.hurried.remove(&stored);
            return Ok(());
        };
        if wanted.is_none() || wanted != order {
            // Whatever came of the look: a failure is no reason to wait.
            return Ok(self.scheduler.frontier.hurry(now, page)?);
        }
        self.hurried.remove(&stored);
        let most = self.reader.page_by_id(stored)?.and_then(|record| record.max_age);
        let most = most.unwrap_or(refrain_core::time::Span::MAX);
        self.scheduler.frontier.limit_age(now, page, AgeLimits { most, ..AgeLimits::default() })?;
        Ok(())
    }

    /// What people read matters, from time to time.
    pub(super) fn weigh_reads(&mut self, now: Time) -> Result<(), CrawlError> {
        let Some(weighed) = self.reads.weigh(now) else { return Ok(()) };
        for (page, importance) in weighed.importance {
            self.edit_page(now, Edit { importance: Some(importance), ..Edit::of(page) })?;
        }
        self.journal.reads(now, weighed.facts);
        self.journal.keep(now, weighed.meta);
        Ok(())
    }
}
