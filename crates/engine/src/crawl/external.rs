//! Work for other fetchers. A grant is on the disk before it is given, so that a host's place is taken for as long as somebody may be asking it,
//! whatever happens to this process; what comes back is taken in as visits of our own are.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

use refrain_core::frontier::{self, HostId, Order, OrderId};
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use refrain_store::{GrantFacts, Leased, PageId, Reader};
use tokio::sync::oneshot;

use super::Crawl;
use super::asked::tell;
use super::digest::Then;
use super::left::{Kept, Left};
use super::shown::Shown;
use crate::CrawlError;
use crate::handle::{
    Done, Given, Grant, LONGEST_LEASE, LeaseId, Looked, MOST_AT_A_TIME, Prepared, Receipt, WorkWanted,
};
use crate::restore::Scheduler;
use crate::rules::{HostRules, Verdict};
use crate::settings::host_name;
use crate::visit::Seen;

/// Who has not asked for so long is not there.
const AWAY: Span = Span::from_whole_secs(60);

/// The work of other fetchers.
#[derive(Default)]
pub(super) struct External {
    open: IdMap<u64, Open>,
    /// Grants by what their fetchers call them.
    keys: HashMap<String, u64>,
    /// The last number that was used.
    last: u64,
    due: BinaryHeap<Reverse<(Time, u64)>>,
    seekers: VecDeque<Seeker>,
    /// When somebody asked for work last.
    asked: Option<Time>,
    /// Grants that were over when the crawl began.
    stale: Vec<u64>,
    /// Where fetchers are whose page was forgotten meanwhile.
    left: Left,
    /// Results of which some looks are not taken in, by number; and the last number that was used.
    calls: IdMap<u64, Call>,
    last_call: u64,
}

/// Results that came together. They are answered, and count as answers to their grants, once all of them are taken in.
struct Call {
    /// Looks that wait until all that they announce was taken up.
    waiting: usize,
    /// The grants that they answer.
    grants: Vec<u64>,
    receipts: Vec<Receipt>,
    reply: oneshot::Sender<Vec<Receipt>>,
}

/// A grant that was not answered in full.
struct Open {
    until: Time,
    key: Option<String>,
    fetches: Vec<Fetch>,
    left: usize,
}

struct Fetch {
    lease: LeaseId,
    /// `None` once it is answered.
    held: Option<Held>,
    value: f64,
}

/// What a fetcher that is at work keeps from others.
#[derive(Clone, Copy)]
pub(super) enum Held {
    /// The page, and a place at its host.
    Order(OrderId),
    /// A place at the host, since the page is not crawled any more.
    Place(HostId),
}

/// A fetcher that waits for work.
struct Seeker {
    wanted: WorkWanted,
    until: Time,
    reply: oneshot::Sender<Grant>,
}

impl Open {
    fn facts(&self, id: u64) -> GrantFacts {
        let leased = |fetch: &Fetch| match (fetch.held, fetch.lease.is_robots) {
            (None, _) => Leased::Answered,
            (Some(_), false) => Leased::Page(fetch.lease.page),
            (Some(_), true) => Leased::Robots(fetch.lease.page),
        };
        let (until, key) = (self.until, self.key.clone());
        GrantFacts { id, until, key, pages: self.fetches.iter().map(leased).collect() }
    }
}

impl External {
    /// What fetchers were given before the process was started anew: they are still at it.
    pub(super) fn restore(reader: &Reader, scheduler: &mut Scheduler, now: Time) -> Result<Self, CrawlError> {
        let left = Left::recall(reader)?;
        let mut external = Self { last: reader.last_grant()?, left, ..Self::default() };
        for GrantFacts { id, until, key, pages } in reader.grants()? {
            // A longer one was given by a clock that was ahead.
            let until = until.min(now + LONGEST_LEASE);
            if until <= now {
                external.stale.push(id);
                continue;
            }
            let mut fetches = Vec::with_capacity(pages.len());
            for (place, leased) in pages.into_iter().enumerate() {
                let (page, is_robots) = match leased {
                    Leased::Answered => (PageId(0), false),
                    Leased::Page(page) => (page, false),
                    Leased::Robots(page) => (page, true),
                };
                let held = match (leased, scheduler.pages.scheduled(page)) {
                    (Leased::Answered, _) => None,
                    (_, Some(page)) => Some(Held::Order(scheduler.frontier.resume(now, page)?.id)),
                    (_, None) => host_of(reader, page)?
                        .or_else(|| external.left.host(id, place as u32).map(str::to_owned))
                        .map(|host| scheduler.host(&host))
                        .map(|host| scheduler.frontier.occupy(now, host).map(|()| Held::Place(host)))
                        .transpose()?,
                };
                let lease = LeaseId { grant: id, place: place as u32, page, is_robots };
                fetches.push(Fetch { lease, held, value: 0.0 });
            }
            external.add(id, Open { until, key, left: 0, fetches });
        }
        Ok(external)
    }

    fn add(&mut self, id: u64, mut open: Open) {
        open.left = open.fetches.iter().filter(|fetch| fetch.held.is_some()).count();
        if let Some(key) = &open.key {
            self.keys.insert(key.clone(), id);
        }
        self.due.push(Reverse((open.until, id)));
        self.open.insert(id, open);
    }

    fn remove(&mut self, id: u64) -> Option<Open> {
        let open = self.open.remove(&id)?;
        if let Some(key) = &open.key
            && self.keys.get(key) == Some(&id)
        {
            self.keys.remove(key);
        }
        Some(open)
    }

    /// A page is about to be forgotten: what to keep of its host, if somebody has it.
    pub(super) fn forget(&mut self, page: PageId, host: &str) -> Kept {
        let mut kept = Vec::new();
        for (id, open) in &self.open {
            let held = open.fetches.iter().filter(|fetch| fetch.lease.page == page && fetch.held.is_some());
            kept.extend(held.map(|fetch| self.left.leave(*id, fetch.lease.place, host)));
        }
        kept
    }

    /// Nobody gets any more work.
    pub(super) fn close(&mut self) {
        self.seekers.clear();
    }

    /// Whether somebody fetches what it is told to: it waits for work, or asked for some lately.
    pub(super) fn is_there(&self, now: Time) -> bool {
        self.waits() || self.asked.is_some_and(|asked| now.since(asked) < AWAY)
    }

    /// Whether somebody waits for work.
    pub(super) fn waits(&self) -> bool {
        !self.seekers.is_empty()
    }

    /// Fetches that others were given and have not answered.
    pub(super) fn under_way(&self) -> usize {
        self.open.values().map(|open| open.left).sum()
    }
}

impl Crawl {
    /// A fetcher wants work.
    pub(super) fn seek(&mut self, now: Time, wanted: WorkWanted, reply: oneshot::Sender<Grant>) {
        self.external.asked = Some(now);
        // Who got no answer asks again with the same words, and gets the same.
        if let Some(open) = wanted.key.as_ref().and_then(|key| self.external.keys.get(key))
            && let Some(grant) = self.again_given(now, *open, wanted.knows_robots)
        {
            self.hand_over(now, grant, reply);
            return;
        }
        let until = now + wanted.wait;
        self.external.seekers.push_back(Seeker { wanted, until, reply });
    }

    fn again_given(&self, now: Time, id: u64, knows_robots: bool) -> Option<Grant> {
        let open = self.external.open.get(&id)?;
        let mut fetches = Vec::new();
        for fetch in open.fetches.iter().filter(|fetch| fetch.held.is_some()) {
            // What is forbidden may be among them: whoever asked first was gone before that was found out.
            let page = self.scheduler.pages.scheduled(fetch.lease.page).filter(|_| !knows_robots);
            let host = page.and_then(|page| self.scheduler.frontier.host_of(page).ok());
            let rules = host.and_then(|host| self.rules_of(now, host));
            fetches.push(Given { lease: fetch.lease, value: fetch.value, rules, head: None });
        }
        Some(Grant { id, until: open.until, fetches })
    }

    /// What a host asks of crawlers, if that is still believed.
    fn rules_of(&self, now: Time, host: HostId) -> Option<Arc<HostRules>> {
        let rules = self.scheduler.hosts.with_id(host).and_then(|(_, host)| host.rules.clone());
        rules.filter(|rules| rules.hold(now, self.settings.robots_for))
    }

    /// Gives work to those who wait for it, and takes back what was not answered in time; says when to look again.
    pub(super) fn serve_fetchers(&mut self, now: Time) -> Result<Time, CrawlError> {
        for id in std::mem::take(&mut self.external.stale) {
            self.settle(now, id);
        }
        while let Some(Reverse((until, id))) = self.external.due.peek().copied() {
            if until > now {
                break;
            }
            self.external.due.pop();
            self.give_up(now, id)?;
        }
        for _ in 0..self.external.seekers.len() {
            let Some(seeker) = self.external.seekers.pop_front() else { break };
            if seeker.reply.is_closed() {
                continue;
            }
            let orders = self.orders_for(now, seeker.wanted.most)?;
            if !orders.is_empty() {
                self.give(now, seeker, &orders);
                self.keep_store_busy(now)?;
            } else if seeker.until <= now {
                tell(seeker.reply, Grant::default());
            } else {
                self.external.seekers.push_back(seeker);
            }
        }
        let waits = self.external.seekers.iter().map(|seeker| seeker.until);
        let due = self.external.due.peek().map(|Reverse((until, _))| *until);
        Ok(waits.chain(due).min().unwrap_or(Time::MAX))
    }

    fn orders_for(&mut self, now: Time, most: usize) -> Result<Vec<(Order, PageId)>, CrawlError> {
        let mut orders = Vec::new();
        while orders.len() < most.min(MOST_AT_A_TIME) && !self.journal.is_full() {
            let Some(order) = self.next_order(now)? else { break };
            orders.push(order);
        }
        Ok(orders)
    }

    fn give(&mut self, now: Time, seeker: Seeker, orders: &[(Order, PageId)]) {
        let Seeker { wanted, reply, .. } = seeker;
        self.external.last += 1;
        let (id, until) = (self.external.last, now + wanted.lease.min(LONGEST_LEASE));
        let mut grant = Grant { id, until, fetches: Vec::with_capacity(orders.len()) };
        let mut fetches = Vec::with_capacity(orders.len());
        for (place, (order, page)) in (0..).zip(orders) {
            let rules = self.rules_of(now, order.host);
            let is_robots = !wanted.knows_robots && rules.is_none();
            let lease = LeaseId { grant: id, place, page: *page, is_robots };
            let rules = rules.filter(|_| !wanted.knows_robots);
            grant.fetches.push(Given { lease, value: order.value, rules, head: None });
            fetches.push(Fetch { lease, held: Some(Held::Order(order.id)), value: order.value });
        }
        let open = Open { until, key: wanted.key, fetches, left: 0 };
        self.journal.grant(now, open.facts(id));
        self.external.add(id, open);
        self.summary.given += grant.fetches.len() as u64;
        self.hand_over(now, grant, reply);
    }

    /// Gives a grant to whoever asked, once it is on the disk, with what is known of its pages. If they are gone, the leases end by themselves.
    fn hand_over(&mut self, now: Time, mut grant: Grant, reply: oneshot::Sender<Grant>) {
        let places = self.journal.ask(grant.fetches.iter().map(|given| given.lease.page));
        self.journal.when_written(now, move |done| {
            for (given, head) in
                grant.fetches.iter_mut().zip(done.heads.get_mut(places).into_iter().flatten())
            {
                given.head = head.take();
            }
            tell(reply, grant);
        });
    }

    /// What was not answered in time is somebody else's.
    fn give_up(&mut self, now: Time, id: u64) -> Result<(), CrawlError> {
        let Some(open) = self.external.remove(id) else { return Ok(()) };
        for fetch in open.fetches {
            if let Some(held) = fetch.held {
                self.summary.given_up += 1;
                self.give_back(now, held, None)?;
            }
        }
        self.settle(now, id);
        Ok(())
    }

    fn settle(&mut self, now: Time, id: u64) {
        self.journal.settle(now, id);
        let kept = self.external.left.settle(id);
        self.journal.keep(now, kept);
    }

    /// Nobody looked at the page: it is due again, and its host free.
    fn give_back(&mut self, now: Time, held: Held, response: Option<Span>) -> Result<(), CrawlError> {
        let frontier = &mut self.scheduler.frontier;
        let done = match held {
            Held::Place(host) => frontier.leave(now, host, response),
            Held::Order(order) => {
                let outcome = frontier::Outcome::Failed { retry_after: Span::ZERO };
                frontier.answer(now, order, outcome, response)
            }
        };
        match done {
            Ok(()) | Err(frontier::FrontierError::UnknownOrder(_)) => Ok(()),
            Err(why) => Err(why.into()),
        }
    }

    /// What other fetchers saw.
    pub(super) fn take_results(
        &mut self,
        now: Time,
        results: Vec<Prepared>,
        reply: oneshot::Sender<Vec<Receipt>>,
    ) -> Result<(), CrawlError> {
        self.external.last_call += 1;
        let number = self.external.last_call;
        // It ends with itself, if nothing else has to wait.
        let receipts = Vec::with_capacity(results.len());
        self.external.calls.insert(number, Call { waiting: 1, grants: Vec::new(), receipts, reply });
        for Prepared { lease, done } in results {
            let receipt = self.take_result(now, lease, done, number)?;
            let Some(call) = self.external.calls.get_mut(&number) else { continue };
            if receipt == Receipt::Taken && !call.grants.contains(&lease.grant) {
                call.grants.push(lease.grant);
            }
            call.receipts.push(receipt);
        }
        self.look_of_call_ended(now, number);
        Ok(())
    }

    /// A look was taken in. If it was the last of those that came together they are answered.
    pub(super) fn look_of_call_ended(&mut self, now: Time, number: u64) {
        let Some(call) = self.external.calls.get_mut(&number) else { return };
        call.waiting -= 1;
        if call.waiting > 0 {
            return;
        }
        let Some(Call { grants, receipts, reply, .. }) = self.external.calls.remove(&number) else { return };
        for id in grants {
            match self.external.open.get(&id) {
                Some(open) if open.left > 0 => self.journal.grant(now, open.facts(id)),
                _ => {
                    self.external.remove(id);
                    self.settle(now, id);
                }
            }
        }
        self.journal.when_written(now, move |_| tell(reply, receipts));
    }

    fn take_result(
        &mut self,
        now: Time,
        lease: LeaseId,
        done: Done,
        call: u64,
    ) -> Result<Receipt, CrawlError> {
        let Some(open) = self.external.open.get_mut(&lease.grant) else {
            let was = (1..=self.external.last).contains(&lease.grant);
            return Ok(if was { Receipt::Over } else { Receipt::Unknown });
        };
        let Some(fetch) = open.fetches.get_mut(lease.place as usize) else { return Ok(Receipt::Unknown) };
        if fetch.held.is_none() {
            return Ok(Receipt::Over);
        }
        if fetch.lease != lease {
            return Ok(Receipt::Unknown);
        }
        if let Done::Refused(why) = done {
            // Whoever made a mistake may mend it.
            return Ok(Receipt::Refused(why));
        }
        let Some(held) = fetch.held.take() else { return Ok(Receipt::Over) };
        open.left -= 1;
        self.summary.taken += 1;
        match done {
            Done::Looked(looked) => self.take_look(now, lease.page, held, looked, call)?,
            Done::Ruled { host, rules, text, wait, response } => {
                let seen = match (&rules.verdict, wait) {
                    (Verdict::Rules(_), _) => None,
                    (Verdict::Wait, Some(wait)) => Some(Seen::SlowDown(Some(wait))),
                    (Verdict::Wait, None) => Some(Seen::NoRules),
                };
                self.ruled(now, &host, &Arc::new(rules), &text)?;
                if let Some(seen) = seen {
                    self.judge_host(now, now, &host, &seen)?;
                }
                self.give_back(now, held, response)?;
                self.answered(now, &host)?;
            }
            Done::GivenBack | Done::Refused(_) => self.give_back(now, held, None)?,
        }
        Ok(Receipt::Taken)
    }

    fn take_look(
        &mut self,
        now: Time,
        stored: PageId,
        held: Held,
        mut looked: Box<Looked>,
        call: u64,
    ) -> Result<(), CrawlError> {
        match looked.seen.take_announced() {
            Some(announced) => {
                if let Some(call) = self.external.calls.get_mut(&call) {
                    call.waiting += 1;
                }
                self.take_up_announced(now, announced, Then::Look { stored, held, looked, call })
            }
            None => self.end_look(now, stored, held, *looked),
        }
    }

    /// Everything that a look by another fetcher showed is taken up, but for what a part of a turn is enough for.
    pub(super) fn end_look(
        &mut self,
        now: Time,
        stored: PageId,
        held: Held,
        looked: Looked,
    ) -> Result<(), CrawlError> {
        let asked = !matches!(looked.seen, Seen::Disallowed);
        let (name, response) = (looked.host.clone(), looked.response);
        match (held, self.scheduler.pages.scheduled(stored)) {
            (Held::Order(order), Some(page)) => {
                self.take_in(now, looked.into_visit(order, page, stored), Shown::default())?;
            }
            // It was paused or removed meanwhile; its host is free again all the same.
            _ => self.give_back(now, held, response)?,
        }
        if asked {
            self.answered(now, &name)?;
        }
        Ok(())
    }
}

/// The host of a page that is not crawled.
fn host_of(reader: &Reader, page: PageId) -> Result<Option<String>, CrawlError> {
    let url = reader.page_head(page)?.and_then(|record| PageUrl::parse(&record.url).ok());
    Ok(url.map(|url| host_name(&url)))
}
