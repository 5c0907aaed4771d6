//! The frontier: at every moment, the fetch that is worth most, among the hosts that may be visited.
//!
//! A state machine without a clock: `now` is an argument and never goes backwards, everything learned comes back as an
//! outcome. The same calls give the same orders.
//!
//! The life of a page: [`Frontier::insert`] puts it in; its value grows with time and with every [`Frontier::signal`]; when it
//! is the greatest, the budget has a fetch to spend and its host may be visited, [`Frontier::poll`] makes it an [`Order`]; the
//! driver looks, and tells with [`Frontier::answer`] what it saw; the belief is learned anew and the page waits again. An order
//! that gets no answer within its lease is due again.
//!
//! - `race`: the exact arg max, lazily
//! - `model`: where values come from
//! - `pace`: the budget; `hosts`: politeness
//!
//! Pages whose host may not be visited when their turn comes wait in the host's own room, where they race each other; the
//! room competes again when the host is ready. So a host that is the bottleneck costs others nothing.

mod field;
mod hosts;
mod learning;
mod model;
mod orders;
mod pace;
mod race;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::estimate::Answer;
use crate::page::SinceFetch;
use crate::time::{Span, Time};
use field::{Bounds, Record, Status, View};
use hosts::Host;
use orders::Orders;
use pace::Pace;
use race::Race;

pub use field::AgeLimits;
pub use hosts::Manners;
pub use learning::{Learning, LearningPage};
pub use model::{Known, Model};
pub use orders::{Order, OrderId};
pub use pace::{Budget, BudgetError};
pub use race::Look;

/// A page of a frontier. One that was removed is never taken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    index: u32,
    generation: u32,
}

impl PageId {
    /// Its place among the pages; of equal values the lowest goes first. Used again after the page is removed.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A host of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(u32);

/// What cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FrontierError {
    /// Time went backwards.
    #[error("{now:?} is before {last:?}; time does not go backwards")]
    Backwards {
        /// What was given.
        now: Time,
        /// The latest moment so far.
        last: Time,
    },
    /// A page that is not there, or not any more.
    #[error("no such page: {0:?}")]
    UnknownPage(PageId),
    /// A host that is not there.
    #[error("no such host: {0:?}")]
    UnknownHost(HostId),
    /// An answer to an order that was never made, was answered before, or was overtaken by a later one.
    #[error("no such order, or answered already: {0:?}")]
    UnknownOrder(OrderId),
    /// A budget that is none.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// More pages than a frontier holds.
    #[error("a frontier holds at most {} pages", u32::MAX)]
    Full,
}

/// What came of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page was seen.
    Seen(Answer),
    /// It could not be fetched; it may be tried again after this time.
    Failed {
        /// Not before this long from now.
        retry_after: Span,
    },
}

/// The settings of a frontier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// An order without an answer is due again after this time.
    pub lease: Span,
    /// Signals that come within this time after a fetch announce what the fetch saw, and do not count.
    pub ignore_signals_within: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self { lease: Span::from_whole_secs(300), ignore_signals_within: Span::ZERO }
    }
}

/// Rooms of up to so many pages are given up when the host is ready.
const SMALL_ROOM: usize = 16;

/// The scheduler of one machine.
#[derive(Clone, Debug)]
pub struct Frontier<M: Model> {
    model: M,
    settings: Settings,
    now: Time,
    pages: Vec<Record<M::Page>>,
    vacant: Vec<u32>,
    bounds: HashMap<u32, Bounds>,
    hosts: Vec<Host>,
    pace: Pace,
    orders: Orders,
    race: Race,
    /// The pages that wait for their host, by host.
    rooms: HashMap<u32, Race>,
    /// Rooms of hosts that may be visited.
    open: Vec<u32>,
    /// When the hosts of the other rooms may be.
    doors: BinaryHeap<Reverse<(Time, u32)>>,
    evaluations: u64,
    decisions: u64,
    /// The value of the last fetch.
    price: f64,
}

/// The pages and what is around them, to race: borrowed apart from the races.
macro_rules! view {
    ($self:ident) => {
        view!($self, false)
    };
    ($self:ident, $room:expr) => {
        View {
            room: $room,
            pages: &mut $self.pages,
            bounds: &$self.bounds,
            model: &$self.model,
            now: $self.now,
            evaluations: &mut $self.evaluations,
        }
    };
}

impl<M: Model> Frontier<M> {
    /// An empty frontier.
    ///
    /// # Errors
    /// If the budget is none.
    pub fn new(model: M, budget: Budget, settings: Settings, start: Time) -> Result<Self, FrontierError> {
        let pace = Pace::new(budget, start)?;
        Ok(Self {
            model,
            settings,
            now: start,
            pages: Vec::new(),
            vacant: Vec::new(),
            bounds: HashMap::new(),
            hosts: Vec::new(),
            pace,
            orders: Orders::default(),
            race: Race::large(pace.period(), start),
            rooms: HashMap::new(),
            open: Vec::new(),
            doors: BinaryHeap::new(),
            evaluations: 0,
            decisions: 0,
            price: 0.0,
        })
    }

    /// Room for so many more pages.
    pub fn reserve(&mut self, pages: usize) {
        self.pages.reserve_exact(pages);
    }

    /// A new host.
    pub fn add_host(&mut self, manners: Manners) -> HostId {
        self.hosts.push(Host::new(manners));
        HostId((self.hosts.len() - 1) as u32)
    }

    /// A new page, last fetched at `fetched`.
    ///
    /// # Errors
    /// If the host is unknown, time went backwards, or there is no room for more pages.
    pub fn insert(
        &mut self,
        now: Time,
        page: M::Page,
        host: HostId,
        fetched: Time,
    ) -> Result<PageId, FrontierError> {
        self.advance(now)?;
        self.host(host)?;
        let record = Record::new(page, host.0, SinceFetch::fetched_at(fetched));
        let index = if let Some(index) = self.vacant.pop() {
            let generation = self.pages[index as usize].generation;
            self.pages[index as usize] = Record { generation, ..record };
            index
        } else {
            let index = u32::try_from(self.pages.len()).map_err(|_| FrontierError::Full)?;
            self.pages.push(record);
            index
        };
        self.race.enter(&mut view!(self), index);
        Ok(PageId { index, generation: self.pages[index as usize].generation })
    }

    /// A page is gone.
    ///
    /// # Errors
    /// If it is unknown, or time went backwards.
    pub fn remove(&mut self, now: Time, page: PageId) -> Result<M::Page, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        self.withdraw(index);
        self.bounds.remove(&index);
        let record = &mut self.pages[index as usize];
        record.generation = record.generation.wrapping_add(1);
        record.status = Status::Vacant;
        self.model.forget(&record.page);
        self.vacant.push(index);
        Ok(record.page.clone())
    }

    /// A change signal for a page. Whether it counted: one that comes too soon after a fetch does not.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn signal(&mut self, now: Time, page: PageId) -> Result<bool, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let record = &mut self.pages[index as usize];
        let mut since = record.since();
        if !since.signal(now, self.settings.ignore_signals_within) {
            return Ok(false);
        }
        record.set_since(since);
        if record.status != Status::Waiting {
            return Ok(true);
        }
        let sooner = self.model.sooner(&record.page);
        let room = record.in_room.then_some(record.host);
        match sooner {
            Some(sooner) => {
                let race = room.and_then(|host| self.rooms.get_mut(&host)).unwrap_or(&mut self.race);
                race.hurry(&mut view!(self, room.is_some()), index, sooner);
            }
            None => self.reenter(index),
        }
        Ok(true)
    }

    /// Changes what is known of a page: its importance, its belief.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn update(
        &mut self,
        now: Time,
        page: PageId,
        change: impl FnOnce(&mut M::Page),
    ) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        change(&mut self.pages[index as usize].page);
        self.reenter(index);
        Ok(())
    }

    /// The least and the greatest age at which a page is fetched.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn limit_age(&mut self, now: Time, page: PageId, limits: AgeLimits) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let bounds = Bounds { limits, ..self.bounds.get(&index).copied().unwrap_or_default() };
        self.bound(index, bounds);
        self.reenter(index);
        Ok(())
    }

    /// Another budget from now on.
    ///
    /// # Errors
    /// If it is none, or time went backwards.
    pub fn set_budget(&mut self, now: Time, budget: Budget) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.pace.change(budget, now)?;
        self.race.set_period(&view!(self), self.pace.period());
        Ok(())
    }

    /// Other manners for a host, from now on.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn set_manners(&mut self, now: Time, host: HostId, manners: Manners) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?.set_manners(manners);
        self.watch_door(host.0);
        Ok(())
    }

    /// Leaves a host alone until a moment; one in the past takes it back.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn back_off(&mut self, now: Time, host: HostId, until: Time) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?.back_off(until);
        self.watch_door(host.0);
        Ok(())
    }

    /// The next fetch, if one is due now.
    ///
    /// # Errors
    /// If time went backwards.
    pub fn poll(&mut self, now: Time) -> Result<Option<Order>, FrontierError> {
        self.advance(now)?;
        self.expire();
        if now < self.pace.next() {
            return Ok(None);
        }
        self.open_doors();
        let Some((index, value)) = self.best() else { return Ok(None) };
        if value < self.pace.budget().price() {
            return Ok(None);
        }
        self.decisions += 1;
        self.price = value;
        self.pace.spend(now);
        Ok(Some(self.order(index, value)))
    }

    /// What came of an order, and how long the host took to answer.
    ///
    /// # Errors
    /// If there is no such order, it was answered before, or time went backwards. A late answer, after the lease has ended,
    /// is as good as any other, once.
    pub fn answer(
        &mut self,
        now: Time,
        order: OrderId,
        outcome: Outcome,
        response: Option<Span>,
    ) -> Result<(), FrontierError> {
        self.advance(now)?;
        let taken = self.orders.take(order).ok_or(FrontierError::UnknownOrder(order))?;
        let host = taken.host;
        if taken.leased {
            self.hosts[host as usize].finish(response);
            self.watch_door(host);
        }
        let index = taken.page.index;
        // The page may be gone by now.
        if self.known(taken.page).is_err() {
            return Ok(());
        }
        match outcome {
            Outcome::Seen(answer) => {
                self.seen(index, answer);
                if taken.leased && !self.pages[index as usize].bounded {
                    self.pages[index as usize].status = Status::Waiting;
                    self.race.enter_fresh(&mut view!(self), index);
                    return Ok(());
                }
            }
            Outcome::Failed { retry_after } => {
                self.model.fail(&mut self.pages[index as usize].page);
                let bounds = self.bounds.get(&index).copied().unwrap_or_default();
                self.bound(index, Bounds { not_before: now + retry_after, ..bounds });
            }
        }
        if taken.leased {
            self.pages[index as usize].status = Status::Waiting;
        }
        // If the answer was late, another order for the page may be under way.
        self.reenter(index);
        Ok(())
    }

    /// A moment not after the next one at which [`Frontier::poll`] may give an order, if nothing happens before.
    pub fn next_wakeup(&mut self) -> Option<Time> {
        let (due, price) = (self.pace.next(), self.pace.budget().price());
        let mut worth = self.race.next_worth(&mut view!(self), price);
        for host in &self.open {
            if let Some(room) = self.rooms.get(host) {
                worth = worth.min(room.next_worth(&mut view!(self, true), price));
            }
        }
        if let Some(Reverse((ready, _))) = self.doors.peek() {
            worth = worth.min(*ready);
        }
        // Nobody is fetched before the budget allows; a lease may end before.
        let next = self.orders.next_expiry().unwrap_or(Time::MAX).min(worth.max(due)).max(self.now);
        (next < Time::MAX).then_some(next)
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        self.pages.len() - self.vacant.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of the last fetch: what the budget makes a fetch cost.
    pub fn price(&self) -> f64 {
        self.price
    }

    /// Values and moments computed so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Orders made so far.
    pub fn decisions(&self) -> u64 {
        self.decisions
    }

    /// What is known of a page, and what happened since its last fetch.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn page(&self, page: PageId) -> Result<(&M::Page, SinceFetch), FrontierError> {
        let record = &self.pages[self.known(page)? as usize];
        Ok((&record.page, record.since()))
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model, to make pages with.
    pub fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }

    fn advance(&mut self, now: Time) -> Result<(), FrontierError> {
        if now < self.now {
            return Err(FrontierError::Backwards { now, last: self.now });
        }
        self.now = now;
        Ok(())
    }

    fn known(&self, page: PageId) -> Result<u32, FrontierError> {
        match self.pages.get(page.index as usize) {
            Some(record) if record.generation == page.generation && record.status != Status::Vacant => {
                Ok(page.index)
            }
            _ => Err(FrontierError::UnknownPage(page)),
        }
    }

    fn host(&mut self, host: HostId) -> Result<&mut Host, FrontierError> {
        self.hosts.get_mut(host.0 as usize).ok_or(FrontierError::UnknownHost(host))
    }

    fn bound(&mut self, index: u32, bounds: Bounds) {
        let bounded = bounds != Bounds::default();
        self.pages[index as usize].bounded = bounded;
        if bounded {
            self.bounds.insert(index, bounds);
        } else {
            self.bounds.remove(&index);
        }
    }

    /// A page takes part in no race.
    fn withdraw(&mut self, index: u32) {
        let record = &self.pages[index as usize];
        if !record.in_room {
            self.race.leave(&mut view!(self), index);
            return;
        }
        let host = record.host;
        if let Some(room) = self.rooms.get_mut(&host) {
            room.leave(&mut view!(self, true), index);
        }
        self.pages[index as usize].in_room = false;
        self.close_if_empty(host);
    }

    /// A page takes part anew, with the value that it has now. One that is being fetched waits for its answer.
    fn reenter(&mut self, index: u32) {
        if self.pages[index as usize].status == Status::Waiting {
            self.withdraw(index);
            self.race.enter(&mut view!(self), index);
        }
    }

    fn seen(&mut self, index: u32, answer: Answer) {
        let record = &mut self.pages[index as usize];
        // A clock that stood still makes no interval; the page was seen all the same.
        if let Ok(seen) =
            crate::estimate::Observation::between(record.fetched, self.now, record.signals, answer)
        {
            self.model.observe(&mut record.page, &seen);
        }
        record.set_since(SinceFetch::fetched_at(self.now));
        if let Some(bounds) = self.bounds.get(&index).copied() {
            self.bound(index, Bounds { not_before: Time::MIN, ..bounds });
        }
    }

    /// The greatest value among the hosts that may be visited.
    fn best(&mut self) -> Option<(u32, f64)> {
        let mut best = loop {
            let Some((index, value)) = self.race.best(&mut view!(self)) else { break None };
            let host = self.pages[index as usize].host;
            if self.hosts[host as usize].ready_at() <= self.now {
                break Some((index, value));
            }
            self.race.leave(&mut view!(self), index);
            self.pages[index as usize].in_room = true;
            let room = self.rooms.entry(host).or_insert_with(Race::small);
            let first = room.len() == 0;
            room.enter(&mut view!(self, true), index);
            if first {
                self.watch_door(host);
            }
        };
        for host in &self.open {
            let Some(room) = self.rooms.get_mut(host) else { continue };
            if let Some((index, value)) = room.best(&mut view!(self, true))
                && best.is_none_or(|(id, most)| value > most || (value == most && index < id))
            {
                best = Some((index, value));
            }
        }
        best
    }

    fn order(&mut self, index: u32, value: f64) -> Order {
        self.withdraw(index);
        let record = &mut self.pages[index as usize];
        record.status = Status::Ordered;
        let host = record.host;
        let page = PageId { index, generation: record.generation };
        self.hosts[host as usize].start(self.now);
        self.watch_door(host);
        let expires = self.now + self.settings.lease;
        let id = self.orders.make(page, host, expires);
        Order { id, page, host: HostId(host), value, expires }
    }

    /// Orders without an answer: their pages are due again, their hosts free.
    fn expire(&mut self) {
        while let Some((page, host)) = self.orders.expire(self.now) {
            self.hosts[host as usize].finish(None);
            self.watch_door(host);
            if let Ok(index) = self.known(page) {
                self.pages[index as usize].status = Status::Waiting;
                self.reenter(index);
            }
        }
    }

    /// When the host of a room may be visited has changed.
    fn watch_door(&mut self, host: u32) {
        if self.rooms.is_empty() || !self.rooms.contains_key(&host) {
            return;
        }
        let ready = self.hosts[host as usize].ready_at();
        if ready > self.now {
            self.open.retain(|open| *open != host);
        }
        if ready < Time::MAX {
            self.doors.push(Reverse((ready, host)));
        }
    }

    /// Rooms whose hosts may be visited take part again.
    fn open_doors(&mut self) {
        while let Some(Reverse((ready, host))) = self.doors.peek().copied() {
            if ready > self.now {
                return;
            }
            self.doors.pop();
            let Some(room) = self.rooms.get(&host) else { continue };
            // It may have been asked since; there is a later entry then.
            if self.hosts[host as usize].ready_at() > self.now || self.open.contains(&host) {
                continue;
            }
            if room.len() > SMALL_ROOM {
                self.open.push(host);
                continue;
            }
            let Some(room) = self.rooms.remove(&host) else { continue };
            for index in room.everyone(&view!(self, true)) {
                let record = &mut self.pages[index as usize];
                record.in_room = false;
                record.place = race::Place::Out;
                self.race.enter(&mut view!(self), index);
            }
        }
    }

    fn close_if_empty(&mut self, host: u32) {
        if self.rooms.get(&host).is_some_and(|room| room.len() == 0) {
            self.rooms.remove(&host);
            self.open.retain(|open| *open != host);
        }
    }
}
