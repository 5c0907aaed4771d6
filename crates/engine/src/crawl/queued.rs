//! Pages that other crawlers fetch by themselves, while their values decide when: an order for one of them makes it due in its queue, and what
//! its crawler tells of it is the answer.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc;

use refrain_core::frontier::{Budget, Order, OrderId};
use refrain_core::time::{Span, Time};
use refrain_store::{Edit, NewPage, Origin, PageId, Role};
use tokio::sync::oneshot;

use super::Crawl;
use super::asked::tell;
use super::led::Led;
use super::shown::Shown;
use super::shown::worth;
use crate::CrawlError;
use crate::handle::{Done, Entered, Looked, Saw, looked};
use crate::hubs::Yield;
use crate::index::Place;
use crate::memo::Memo;
pub(super) use crate::queues::FOUND;
use crate::queues::{Keeper, Note};
use crate::scope::Way;
use crate::seeds;
use crate::settings::host_name;
use crate::visit::Seen;

/// So many are due in their queues at most: who does not come for them gets no more.
const MOST_DUE: usize = 20_000;
/// So many orders for pages of others are kept for whoever asks next.
const MOST_UNCLAIMED: usize = 64;
/// Pages of others for which nobody asks are not thought of for so long; so many of them at a time.
const ASIDE: Span = Span::from_whole_secs(60);
const MOST_ASIDE: usize = 1000;
/// A page of which nothing can be learned is looked at again after this at the soonest, and at the latest.
const UNKNOWN: (Span, Span) = (Span::from_whole_secs(1), Span::from_whole_secs(86_400));

/// Pages that other crawlers fetch by themselves.
#[derive(Default)]
pub(super) struct Queued {
    pages: HashSet<PageId>,
    /// Those that are due in their queues, or being fetched.
    orders: HashMap<PageId, (OrderId, Time)>,
    /// Orders for other pages, which came up while nobody asked for any.
    unclaimed: VecDeque<(Order, PageId)>,
    /// What its pages led to.
    led: Box<Led>,
    to: Option<mpsc::Sender<Note>>,
}

impl Queued {
    /// The queues are open, with these pages in them.
    pub(super) fn open(&mut self, keeper: &Keeper, pages: Vec<PageId>) {
        self.to = Some(keeper.notes());
        self.pages.extend(pages);
    }

    /// Whether a page is in a queue.
    pub(super) fn has(&self, page: PageId) -> bool {
        self.pages.contains(&page)
    }

    pub(super) fn add(&mut self, page: PageId) {
        self.pages.insert(page);
    }

    pub(super) fn forget(&mut self, page: PageId) {
        self.pages.remove(&page);
        self.orders.remove(&page);
        self.led.forget(page);
    }

    /// A page is looked at: what it led to since the look before, as its crawlers tell.
    pub(super) fn led_to(&mut self, now: Time, page: PageId, is_first: bool) -> Yield {
        if self.pages.contains(&page) { self.led.looked(now, page, is_first) } else { Yield::default() }
    }

    /// Pages are forgotten, whoever wants that: they leave their queues.
    pub(super) fn leave(&mut self, pages: &[PageId]) {
        let left: Vec<PageId> = pages.iter().filter(|page| self.pages.contains(page)).copied().collect();
        for page in &left {
            self.forget(*page);
        }
        if let Some(to) = self.to.as_ref().filter(|_| !left.is_empty()) {
            // If nobody hears it, it is over.
            let _ = to.send(Note::Gone(left));
        }
    }

    /// Whether more pages may become due.
    pub(super) fn has_room(&self) -> bool {
        self.to.is_some() && !self.pages.is_empty() && self.orders.len() < MOST_DUE
    }

    /// The page of an order is due in its queue, if it is in one.
    pub(super) fn give(&mut self, order: &Order, page: PageId) -> bool {
        let Some(to) = self.to.as_ref().filter(|_| self.pages.contains(&page)) else { return false };
        self.orders.insert(page, (order.id, order.expires));
        // If nobody hears it, it is over.
        let _ = to.send(Note::Due(page));
        true
    }

    /// Somebody looked at a page, whether it was told to or not: what was due before is over.
    fn looked(&self, page: PageId) {
        if let Some(to) = &self.to {
            // If nobody hears it, it is over.
            let _ = to.send(Note::Looked(page));
        }
    }

    /// An order that came up while nobody asked for one, if it still stands.
    pub(super) fn unclaimed(&mut self, now: Time) -> Option<(Order, PageId)> {
        while let Some((order, page)) = self.unclaimed.pop_front() {
            if order.expires > now {
                return Some((order, page));
            }
        }
        None
    }
}

impl Crawl {
    /// Pages become due in their queues. What comes up for others waits for them, if somebody is there to fetch it, and does not wait for long:
    /// crawlers that come for their pages do not wait for fetchers that do not.
    pub(super) fn fill_queues(&mut self, now: Time) -> Result<(), CrawlError> {
        if self.queued.orders.len() >= MOST_DUE {
            self.queued.orders.retain(|_, (_, expires)| *expires > now);
        }
        self.queued.unclaimed.retain(|(order, _)| order.expires > now);
        let mut aside = 0;
        while self.fills_queues() && aside < MOST_ASIDE {
            let Some((order, stored)) = self.poll(now)? else { break };
            let is_claimed = self.queued.pages.contains(&stored);
            let is_kept = self.queued.unclaimed.len() < MOST_UNCLAIMED
                && (self.settings.fetches || self.external.is_there(now));
            if !is_claimed && !is_kept {
                self.scheduler.frontier.set_aside(now, order.id, ASIDE)?;
                aside += 1;
                continue;
            }
            self.is_made(now, &order, stored)?;
            if !self.queued.give(&order, stored) {
                self.queued.unclaimed.push_back((order, stored));
            }
        }
        Ok(())
    }

    /// Whether more pages may become due in queues now. Who fetches here as well will soon come for what is left of others.
    pub(super) fn fills_queues(&self) -> bool {
        let waits_for_own = self.settings.fetches && self.queued.unclaimed.len() >= MOST_UNCLAIMED;
        self.queued.has_room() && !waits_for_own && !self.journal.is_full()
    }

    /// Pages are put into queues: those that are not known are added.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        pages: &[Entered],
        reply: oneshot::Sender<Vec<Option<PageId>>>,
    ) {
        let mut slots = Vec::with_capacity(pages.len());
        for Entered { url, role, shown_by } in pages {
            let index = &self.scheduler.pages.index;
            let slot = match index.page(url.as_str()) {
                Place::Page(page) => {
                    self.queued.add(page);
                    if *role != Role::Page {
                        // What a page is may be found out by fetching it.
                        self.journal.edit(now, Edit { role: Some(*role), ..Edit::of(page) });
                    }
                    Ok(page)
                }
                place => {
                    let is_new = place == Place::Unknown;
                    let hub = shown_by.as_ref().and_then(|by| match index.page(by.as_str()) {
                        Place::Page(hub) => Some(hub),
                        _ => None,
                    });
                    let (importance, decay) = hub.map_or((1.0, None), |hub| self.matters(url, hub));
                    let origin = Origin { role: *role, hub, decay, ..Origin::default() };
                    let page = seeds::new_page(url, importance, None, now, FOUND);
                    let page = page.ok().map(|page| NewPage { origin, ..page });
                    let place = page.and_then(|page| {
                        if is_new {
                            self.enter(now, Way::Chosen, shown_by.as_ref(), url, page).ok()
                        } else {
                            Some(self.journal.page(now, page))
                        }
                    });
                    if let Some(hub) = hub.filter(|_| is_new && place.is_some()) {
                        self.queued.led.found(now, hub, worth(importance, decay));
                    }
                    Err(place)
                }
            };
            slots.push(slot);
        }
        self.journal.when_written(now, move |done| {
            let number = |slot: Result<PageId, Option<usize>>| match slot {
                Ok(page) => Some(page),
                Err(place) => done.pages.get(place?).copied().flatten().map(|added| added.page),
            };
            tell(reply, slots.into_iter().map(number).collect());
        });
    }

    /// Pages are in no queue any more: those that are there for no other reason are forgotten. Those that were not there.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        pages: Vec<PageId>,
        reply: oneshot::Sender<Vec<PageId>>,
    ) -> Result<(), CrawlError> {
        let mut own = Vec::new();
        for page in pages {
            self.queued.forget(page);
            if self.reader.page_head(page)?.is_some_and(|head| head.found == FOUND) {
                own.push(page);
            }
        }
        self.remove_pages(now, &own, reply)
    }

    /// What other crawlers saw of pages in their queues, whether they were told to look or not.
    pub(super) fn take_looks(
        &mut self,
        now: Time,
        looks: Vec<(PageId, Saw)>,
        reply: oneshot::Sender<()>,
    ) -> Result<(), CrawlError> {
        for (stored, saw) in looks {
            let memo = match self.journal.memo(stored) {
                Some(memo) => Some(memo),
                None => self.reader.page_head(stored)?.and_then(Memo::of_head),
            };
            let (Some(memo), Some(page)) = (memo, self.scheduler.pages.scheduled(stored)) else { continue };
            self.queued.looked(stored);
            let ordered = self.queued.orders.remove(&stored).filter(|(_, expires)| *expires > now);
            let order = match ordered {
                Some((order, _)) => order,
                // Nobody told it to look, and it did: that counts all the same.
                None => self.scheduler.frontier.resume(now, page)?.id,
            };
            let looked = self.judge_look(now, memo, saw);
            let name = looked.host.clone();
            self.take_in(now, looked.into_visit(order, page, stored), Shown::default())?;
            self.answered(now, &name)?;
        }
        self.journal.when_written(now, move |_| tell(reply, ()));
        Ok(())
    }

    /// How long a page waits of which nothing can be learned: as long as if all took turns.
    fn turn(&self) -> Span {
        let frontier = &self.scheduler.frontier;
        let turn = match frontier.budget() {
            Budget::Rate(rate) => Span::from_secs(frontier.len() as f64 / rate),
            Budget::Price { .. } => UNKNOWN.1,
        };
        turn.clamp(UNKNOWN.0, UNKNOWN.1)
    }

    /// What a look means beside what is known of the page.
    fn judge_look(&self, now: Time, memo: Memo, saw: Saw) -> Looked {
        let says_nothing =
            matches!(&saw, Saw::Told { changed: None, digest: None, .. }) && memo.digest.is_some();
        let unknown = |memo: Memo| Looked {
            host: host_name(&memo.url),
            time: now,
            status: None,
            bytes: 0,
            response: None,
            took: Span::ZERO,
            memo,
            seen: Seen::Postponed(now + self.turn()),
        };
        if says_nothing {
            return unknown(memo);
        }
        // That there is a body at all is news of a page that nobody has seen.
        let saw = match saw {
            Saw::Told { status, url, headers, changed: None, digest: None, title } => {
                Saw::Told { status, url, headers, changed: Some(true), digest: None, title }
            }
            saw => saw,
        };
        // Queues bring no bodies.
        match looked(&self.kit, memo.clone(), (None, Span::ZERO, 0), saw, |_| None) {
            Ok(Done::Looked(looked)) => *looked,
            _ => unknown(memo),
        }
    }
}
