//! Pages that other crawlers fetch by themselves, while their values decide when: an order for one of them makes it due in its queue, and what
//! its crawler tells of it is the answer.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc;

use refrain_core::frontier::{Budget, HostId, Order, OrderId};
use refrain_core::time::{Span, Time};
use refrain_store::{Edit, NewPage, Origin, PageId, Role};
use tokio::sync::oneshot;

use super::Crawl;
use super::asked::tell;
use super::led::Led;
use super::shown::Shown;
use super::shown::worth;
use crate::CrawlError;
use crate::handle::{Done, Entered, FetchFacts, Looked, Saw, looked};
use crate::hubs::Yield;
use crate::index::Place;
use crate::memo::Memo;
pub(super) use crate::queues::FOUND;
use crate::queues::{Keeper, Note};
use crate::restore::LEASE;
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

/// A host is to blame for pages without an answer when so many of its pages in a row had none.
const SILENT: usize = 3;

/// A page that is due in its queue, or being fetched.
struct Due {
    order: OrderId,
    host: HostId,
    expires: Time,
}

/// Pages that other crawlers fetch by themselves.
pub(super) struct Queued {
    pages: HashSet<PageId>,
    /// Those that are due in their queues, or being fetched.
    due: HashMap<PageId, Due>,
    /// The same by their hosts.
    at_host: HashMap<HostId, HashSet<PageId>>,
    /// So many pages of a host are due at a time: while there are fewer, orders do not keep the host's place.
    at_a_time: usize,
    /// Pages without an answer since their hosts answered last, by host; at most [`SILENT`] of each.
    silent: HashMap<String, Vec<PageId>>,
    /// Orders for other pages, which came up while nobody asked for any.
    unclaimed: VecDeque<(Order, PageId)>,
    /// What its pages led to.
    led: Led,
    to: Option<mpsc::Sender<Note>>,
}

impl Default for Queued {
    fn default() -> Self {
        Self {
            pages: HashSet::new(),
            due: HashMap::new(),
            at_host: HashMap::new(),
            at_a_time: 1,
            silent: HashMap::new(),
            unclaimed: VecDeque::new(),
            led: Led::default(),
            to: None,
        }
    }
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
        self.take_due(page);
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
            // Without a receiver the queues are over.
            let _ = to.send(Note::Gone(left));
        }
    }

    /// Whether more pages may become due.
    pub(super) fn has_room(&self) -> bool {
        self.to.is_some() && !self.pages.is_empty() && self.due.len() < MOST_DUE
    }

    /// The page of an order is due in its queue, if it is in one.
    fn give(&mut self, order: &Order, page: PageId) -> bool {
        let Some(to) = self.to.as_ref().filter(|_| self.pages.contains(&page)) else { return false };
        // Without a receiver the queues are over.
        let _ = to.send(Note::Due(page));
        self.take_due(page);
        self.due.insert(page, Due { order: order.id, host: order.host, expires: order.expires });
        self.at_host.entry(order.host).or_default().insert(page);
        true
    }

    /// A page is not due any more.
    fn take_due(&mut self, page: PageId) -> Option<Due> {
        let due = self.due.remove(&page)?;
        if let Some(pages) = self.at_host.get_mut(&due.host) {
            pages.remove(&page);
            if pages.is_empty() {
                self.at_host.remove(&due.host);
            }
        }
        Some(due)
    }

    /// Returns the orders of a host, if more of its pages may be due.
    fn orders_with_room(&mut self, now: Time, host: HostId) -> Vec<OrderId> {
        let Some(pages) = self.at_host.get(&host) else { return Vec::new() };
        let (due, expired): (Vec<PageId>, Vec<PageId>) =
            pages.iter().partition(|page| self.due.get(page).is_some_and(|due| due.expires > now));
        for page in &expired {
            self.take_due(*page);
        }
        if due.len() >= self.at_a_time {
            return Vec::new();
        }
        due.iter().filter_map(|page| self.due.get(page)).map(|due| due.order).collect()
    }

    /// Returns whether what came of a page says nothing of its host: its crawler got no answer, as for fewer than [`SILENT`] pages of the host in a
    /// row. A page that never answers is one of most hosts, and its crawler does not tell it from a host that is down.
    pub(super) fn hides_host(&mut self, host: &str, page: PageId, seen: &Seen) -> bool {
        match seen {
            Seen::Unreachable(_) if self.pages.contains(&page) => {
                let silent = self.silent.entry(host.to_owned()).or_default();
                if silent.len() < SILENT && !silent.contains(&page) {
                    silent.push(page);
                }
                silent.len() < SILENT
            }
            Seen::Unreachable(_) | Seen::Disallowed | Seen::NoRules | Seen::Postponed(_) | Seen::Over => {
                false
            }
            Seen::Read(_) | Seen::Gone | Seen::Redirected(_) | Seen::SlowDown(_) | Seen::Failed(_) => {
                self.silent.remove(host);
                false
            }
        }
    }

    /// A host is not asked before this time; [`Time::MIN`]: that is over. What is due of it waits as well.
    pub(super) fn rest(&self, host: HostId, until: Time) {
        if let (Some(to), Some(pages)) = (&self.to, self.at_host.get(&host)) {
            // Without a receiver the queues are over.
            let _ = to.send(Note::Rest(pages.iter().copied().collect(), until));
        }
    }

    /// Somebody looked at a page, whether it was told to or not: what was due before is over.
    fn looked(&self, page: PageId) {
        if let Some(to) = &self.to {
            // Without a receiver the queues are over.
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
        if self.queued.due.len() >= MOST_DUE {
            let expired = self.queued.due.iter().filter(|(_, due)| due.expires <= now);
            for page in expired.map(|(page, _)| *page).collect::<Vec<_>>() {
                self.queued.take_due(page);
            }
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
            if !self.give_to_queue(now, &order, stored)? {
                self.queued.unclaimed.push_back((order, stored));
            }
        }
        Ok(())
    }

    /// The page of an order is due in its queue, if it is in one.
    pub(super) fn give_to_queue(
        &mut self,
        now: Time,
        order: &Order,
        stored: PageId,
    ) -> Result<bool, CrawlError> {
        let is_given = self.queued.give(order, stored);
        if is_given {
            self.make_room(now, order.host)?;
        }
        Ok(is_given)
    }

    /// While few pages of a host are due in queues, another one may be due after the host's gap: crawlers take several at a time, and keep the gap
    /// between them.
    fn make_room(&mut self, now: Time, host: HostId) -> Result<(), CrawlError> {
        for order in self.queued.orders_with_room(now, host) {
            self.scheduler.frontier.free_place(now, order)?;
        }
        Ok(())
    }

    /// Crawlers take so many pages of a host at a time from now on.
    pub(super) fn serve_at_a_time(
        &mut self,
        now: Time,
        most: usize,
        reply: oneshot::Sender<()>,
    ) -> Result<(), CrawlError> {
        self.queued.at_a_time = self.queued.at_a_time.max(most);
        for host in self.queued.at_host.keys().copied().collect::<Vec<_>>() {
            self.make_room(now, host)?;
        }
        tell(reply, ());
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
            let due = self.queued.take_due(stored).filter(|due| due.expires > now);
            let host = due.as_ref().map(|due| due.host);
            // It may have been fetched as soon as it was due; by a crawler that was not told to, at any time.
            let asked = due.as_ref().map_or(now, |due| due.expires - LEASE);
            let order = match due {
                Some(due) => due.order,
                // Nobody told it to look, and it did: that counts all the same.
                None => self.scheduler.frontier.resume(now, page)?.id,
            };
            let looked = self.judge_look((now, asked), memo, saw);
            let name = looked.host.clone();
            self.take_in(now, looked.into_visit(order, page, stored), Shown::default())?;
            self.answered(now, &name)?;
            if let Some(host) = host {
                self.make_room(now, host)?;
            }
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
    fn judge_look(&self, (now, asked): (Time, Time), memo: Memo, saw: Saw) -> Looked {
        let says_nothing =
            matches!(&saw, Saw::Told { changed: None, digest: None, .. }) && memo.digest.is_some();
        let unknown = |memo: Memo| Looked {
            host: host_name(&memo.url),
            time: now,
            asked,
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
        let facts = FetchFacts { time: now, asked, response: None, took: Span::ZERO, bytes: 0 };
        match looked(&self.kit, memo.clone(), facts, saw, |_| None) {
            Ok(Done::Looked(looked)) => *looked,
            _ => unknown(memo),
        }
    }
}
