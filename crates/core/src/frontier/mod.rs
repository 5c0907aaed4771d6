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
//! ```
//! use refrain_core::estimate::Answer;
//! use refrain_core::frontier::{Budget, Frontier, Learning, Manners, Outcome, Settings};
//! use refrain_core::time::{Span, Time};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two fetches a second, at least a second between two of the same host; everything else is learned.
//! let mut frontier = Frontier::new(Learning::default(), Budget::Rate(2.0), Settings::default(), Time::ZERO)?;
//! let host = frontier.add_host(Manners { gap: Span::from_whole_secs(1), ..Manners::default() });
//! for importance in [1.0, 10.0] {
//!     let page = frontier.model_mut().page(host, 0, importance)?;
//!     frontier.insert(Time::ZERO, page, host, Time::ZERO)?;
//! }
//! // A driver asks when it is told to, fetches, and says what it saw.
//! let now = frontier.next_wakeup().ok_or("nobody to fetch")?;
//! let order = frontier.poll(now)?.ok_or("nothing due")?;
//! assert_eq!(order.page.index(), 1);
//! frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), Some(Span::from_millis(80)))?;
//! # Ok(())
//! # }
//! ```
//!
//! - `race`: the exact arg max, lazily; `field`: the pages as the race sees them
//! - `model`: where values come from: [`Known`] beliefs, [`Given`] functions, [`Learning`] as the crawl goes, [`Attentive`] to
//!   signals as well, [`Hourly`] by the clocks of hosts, [`Refined`] by gaps or points; or schedules to compare with: [`Rules`], [`Shares`], [`Sequence`]
//! - `pace`: the budget; `hosts`: politeness; `rooms`: pages that wait for their host
//! - `errands`: requests beside those for pages; `orders`: fetches under way; `answers`: what comes back
//! - `hubs`, `finds`, `discover`: hubs and new pages
//! - `explain`, `snapshot`, `shards`

/// The pages and what is around them, to race: borrowed apart from the races.
macro_rules! view {
    ($self:ident) => {
        view!($self, None)
    };
    ($self:ident, $room:expr) => {
        View {
            room: $room,
            pages: &mut $self.pages,
            names: &$self.names,
            bounds: &$self.bounds,
            hubs: &$self.hubs,
            discovery: $self.settings.discovery,
            hub_price: $self.hub_price,
            model: &$self.model,
            now: $self.now,
            evaluations: &mut $self.evaluations,
        }
    };
}

mod answers;
mod attentive;
mod discover;
mod errands;
mod explain;
mod field;
mod finds;
mod given;
mod hosts;
mod hourly;
mod hubs;
mod learning;
mod model;
mod orders;
mod pace;
mod race;
mod record;
mod refined;
mod rooms;
mod rules;
mod sequence;
mod shards;
mod shares;
mod snapshot;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::estimate::Answer;
use crate::ids::IdMap;
use crate::page::{BeliefError, SinceFetch};
use crate::time::{Span, Time};
use field::{Bounds, View};
use finds::Finds;
use orders::Orders;
use race::Race;
use record::{Name, Record, Status};

pub use attentive::{Attentive, AttentivePage, AttentivePast};
pub use discover::Quota;
pub use errands::Knock;
pub use explain::{Explanation, WaitsFor};
pub use field::AgeLimits;
pub use given::Given;
pub use hosts::{Host, Manners};
pub use hourly::{Hourly, HourlyPage};
pub use hubs::{Discovery, Found, HubState};
pub use learning::{Learning, LearningPage, Risk};
pub use model::{Known, Model};
pub use orders::{Order, OrderId, OrderSnapshot};
pub use pace::{Budget, BudgetError, Pace};
pub use race::Look;
pub use refined::{GapHistory, Refined, RefinedPage, RefinedPast, Refinement};
pub use rules::{Rule, RulePage, Rules};
pub use sequence::{Sequence, SharePage};
pub use shards::{Shard, rebalance};
pub use shares::{Share, Shares};
pub use snapshot::{FoundSnapshot, PageSnapshot, Prices, Snapshot};

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

impl HostId {
    /// Its place among the hosts.
    pub fn index(self) -> u32 {
        self.0
    }
}

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
    /// A hub or a new page with impossible numbers.
    #[error(transparent)]
    Belief(#[from] BeliefError),
    /// More pages than a frontier holds.
    #[error("a frontier holds at most {} pages", u32::MAX)]
    Full,
}

/// What came of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page was seen.
    Seen(Answer),
    /// The page was seen, and says when it was last changed.
    Dated {
        /// What was seen.
        answer: Answer,
        /// When the content was made, as its server has it.
        modified: Time,
    },
    /// A hub was seen, with so many links that were not there before.
    Links {
        /// What was seen.
        answer: Answer,
        /// New links; each may be given to [`Frontier::discover`].
        new: u32,
    },
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
    /// With every fetch so many other pages are valued anew by what was learned since, unless they were seen so often that nothing
    /// new follows: priors are up to date many times sooner. Each costs about as much as the decision itself.
    pub refresh: u32,
    /// How hubs and new pages share the budget with the others.
    pub discovery: Discovery,
    /// Where hubs have planned intervals: how often those are planned anew.
    pub plan_hubs_every: Span,
    /// What of a budget was not spent for so long may be spent at once: for those who ask for many fetches at a time.
    pub burst: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Span::from_whole_secs(300),
            ignore_signals_within: Span::ZERO,
            refresh: 8,
            discovery: Discovery::default(),
            plan_hubs_every: discover::PLAN_EVERY,
            burst: Span::ZERO,
        }
    }
}

/// What the last fetch counts in the mean price.
const PRICE_SHARE: f64 = 1.0 / 64.0;

/// The scheduler of one machine.
#[derive(Clone, Debug)]
pub struct Frontier<M: Model> {
    model: M,
    settings: Settings,
    now: Time,
    pages: Vec<Record<M::Page>>,
    names: Vec<Name>,
    /// What is needed of them only when they are fetched.
    pasts: Vec<M::Past>,
    vacant: Vec<u32>,
    bounds: IdMap<u32, Bounds>,
    hubs: BTreeMap<u32, HubState>,
    /// What the last fetches were worth that were just worth making, the price as hubs see it, and when their intervals are planned
    /// next.
    margin: f64,
    hub_price: f64,
    next_plan: Time,
    finds: Finds,
    quota: Quota,
    hosts: Vec<Host>,
    pace: Pace,
    orders: Orders,
    race: Race,
    /// The pages that wait for their host, by host.
    rooms: IdMap<u32, Race>,
    /// Rooms of hosts that may be visited.
    open: Vec<u32>,
    /// When the hosts of the other rooms may be.
    doors: BinaryHeap<Reverse<(Time, u32)>>,
    evaluations: u64,
    decisions: u64,
    /// The value of the last fetch, and of the last few dozen.
    price: f64,
    mean_price: f64,
    /// When nobody was worth a fetch, last.
    idle: Option<Time>,
    /// The next page that learns from the others.
    refreshed: u32,
}

impl<M: Model> Frontier<M> {
    /// An empty frontier.
    ///
    /// # Errors
    /// If the budget is none.
    pub fn new(model: M, budget: Budget, settings: Settings, start: Time) -> Result<Self, FrontierError> {
        let pace = Pace { burst: settings.burst, ..Pace::new(budget, start)? };
        Ok(Self {
            model,
            settings,
            now: start,
            pages: Vec::new(),
            names: Vec::new(),
            pasts: Vec::new(),
            vacant: Vec::new(),
            bounds: IdMap::default(),
            hubs: BTreeMap::new(),
            margin: 0.0,
            hub_price: 0.0,
            next_plan: start,
            finds: Finds::default(),
            quota: Quota::new(start),
            hosts: Vec::new(),
            pace,
            orders: Orders::default(),
            race: Race::large(pace.period(), start),
            rooms: IdMap::default(),
            open: Vec::new(),
            doors: BinaryHeap::new(),
            evaluations: 0,
            decisions: 0,
            price: 0.0,
            mean_price: 0.0,
            idle: None,
            refreshed: 0,
        })
    }

    /// Room for so many more pages.
    pub fn reserve(&mut self, pages: usize) {
        self.pages.reserve_exact(pages);
        self.names.reserve_exact(pages);
        self.pasts.reserve_exact(pages);
    }

    /// A new host.
    pub fn add_host(&mut self, manners: Manners) -> HostId {
        self.hosts.push(Host::new(manners));
        HostId((self.hosts.len() - 1) as u32)
    }

    /// A new host that was last visited then, as far as is known.
    pub fn add_host_visited(&mut self, manners: Manners, at: Time) -> HostId {
        self.hosts.push(Host { last_start: Some(at), ..Host::new(manners) });
        HostId((self.hosts.len() - 1) as u32)
    }

    /// A new page of which nothing is remembered, last fetched at `fetched`.
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
        self.insert_with_past(now, page, M::Past::default(), host, fetched)
    }

    /// A page with what is remembered of it, last fetched at `fetched`.
    ///
    /// # Errors
    /// As [`Frontier::insert`].
    pub fn insert_with_past(
        &mut self,
        now: Time,
        page: M::Page,
        past: M::Past,
        host: HostId,
        fetched: Time,
    ) -> Result<PageId, FrontierError> {
        self.advance(now)?;
        let index = self.put(page, past, host, fetched.min(now))?;
        self.race.enter(&mut view!(self), index);
        Ok(self.id(index))
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
        self.hubs.remove(&index);
        self.finds.remove(index);
        let name = &mut self.names[index as usize];
        name.generation = name.generation.wrapping_add(1);
        let record = &mut self.pages[index as usize];
        record.set_status(Status::Vacant);
        self.model.forget(&record.page, &self.pasts[index as usize], HostId(name.host));
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
        if record.status() != Status::Waiting {
            return Ok(true);
        }
        let sooner = self.model.sooner(&record.page);
        let room = record.is_in_room().then_some(self.names[index as usize].host);
        match sooner {
            Some(sooner) => {
                let race = room.and_then(|host| self.rooms.get_mut(&host)).unwrap_or(&mut self.race);
                race.hurry(&mut view!(self, room), index, sooner);
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

    /// A page is valued anew by what was learned since it was last fetched.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn refresh(&mut self, now: Time, page: PageId) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if self.pages[index as usize].status() == Status::Waiting {
            self.refresh_one(index);
        }
        Ok(())
    }

    /// The host of a page.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn host_of(&self, page: PageId) -> Result<HostId, FrontierError> {
        Ok(HostId(self.names[self.known(page)? as usize].host))
    }

    /// So much of the time since the last fetch of a page does not count: nothing could change, or nobody could have seen it.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn skip_time(&mut self, now: Time, page: PageId, span: Span) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let since = self.pages[index as usize].since();
        let waiting = self.pages[index as usize].status() == Status::Waiting;
        if waiting {
            // Out of the race before its place, which is kept relative to the fetch, changes.
            self.withdraw(index);
        }
        let fetched = (since.fetched() + span).min(now.max(since.fetched()));
        self.pages[index as usize].set_since(SinceFetch::with_signals(fetched, since.signals()));
        if waiting {
            self.race.enter(&mut view!(self), index);
        }
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

    /// A page is fetched before all others, whatever it is worth and even if it failed a moment ago, as soon as its host may be visited. Until
    /// [`Frontier::limit_age`] says otherwise.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn hurry(&mut self, now: Time, page: PageId) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if self.finds.contains(index) {
            self.finds.hurry(index, hubs::AT_ONCE);
        }
        let limits = AgeLimits { most: Span::ZERO, ..AgeLimits::default() };
        self.bound(index, Bounds { limits, ..Bounds::default() });
        self.reenter(index);
        Ok(())
    }

    /// From now on so many other pages are valued anew with every fetch; see [`Settings::refresh`].
    pub fn set_refresh(&mut self, pages: u32) {
        self.settings.refresh = pages;
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        self.pace.budget()
    }

    /// A page is being fetched already, by somebody who was told to before this frontier was made: an order like others, but nobody pays for it
    /// again.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn resume(&mut self, now: Time, page: PageId) -> Result<Order, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        Ok(self.order(index, 0.0))
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
        // Who is worth nothing (too young, failed a moment ago) is not fetched even if nobody else is.
        let price = self.pace.budget().price();
        let Some((index, value)) = self.choose().filter(|(_, value)| *value >= price && *value > 0.0) else {
            self.idle = Some(now);
            return Ok(None);
        };
        self.decisions += 1;
        // Who must be fetched, or goes first by rule, says nothing about what a fetch is worth.
        if value < hubs::HUB_FIRST {
            self.price = value;
            let share = if self.mean_price > 0.0 { PRICE_SHARE } else { 1.0 };
            self.mean_price += share * (value - self.mean_price);
            self.weigh(index, value);
        }
        self.pace.spend(now);
        Ok(Some(self.order(index, value)))
    }

    /// A moment not after the next one at which [`Frontier::poll`] may give an order, if nothing happens before.
    pub fn next_wakeup(&mut self) -> Option<Time> {
        let (due, price) = (self.pace.next(), self.pace.budget().price());
        let mut worth = self.race.next_worth(&mut view!(self), price);
        for host in &self.open {
            if let Some(room) = self.rooms.get(host) {
                worth = worth.min(room.next_worth(&mut view!(self, Some(*host)), price));
            }
        }
        if let Some(Reverse((ready, _))) = self.doors.peek() {
            worth = worth.min(*ready);
        }
        worth = worth.min(self.next_discovery(price));
        // Nobody is fetched before the budget allows; a lease may end before.
        let mut next = self.orders.next_expiry().unwrap_or(Time::MAX).min(worth.max(due)).max(self.now);
        if self.idle == Some(self.now) {
            // Nobody was worth it just now. Moments are early by a little: who asks again at once asks in vain.
            next = next.max(self.now + Span::from_nanos(self.pace.period().as_nanos() / 4 + 1));
        }
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

    /// The value of the last few dozen fetches: what to report where frontiers share a budget.
    pub fn mean_price(&self) -> f64 {
        self.mean_price
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

    /// What is remembered of a page.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn past(&self, page: PageId) -> Result<&M::Past, FrontierError> {
        Ok(&self.pasts[self.known(page)? as usize])
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model, to make pages with.
    pub fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }

    /// A place for a page, in no race yet.
    fn put(
        &mut self,
        page: M::Page,
        past: M::Past,
        host: HostId,
        fetched: Time,
    ) -> Result<u32, FrontierError> {
        self.host(host)?;
        let record = Record::new(page, fetched);
        if let Some(index) = self.vacant.pop() {
            self.pages[index as usize] = record;
            self.names[index as usize].host = host.0;
            self.pasts[index as usize] = past;
            return Ok(index);
        }
        let index = u32::try_from(self.pages.len()).map_err(|_| FrontierError::Full)?;
        push(&mut self.pages, record);
        push(&mut self.names, Name { host: host.0, generation: 0 });
        push(&mut self.pasts, past);
        Ok(index)
    }

    fn advance(&mut self, now: Time) -> Result<(), FrontierError> {
        if now < self.now {
            return Err(FrontierError::Backwards { now, last: self.now });
        }
        self.now = now;
        Ok(())
    }

    fn known(&self, page: PageId) -> Result<u32, FrontierError> {
        // Generations change when a page is removed.
        let known =
            self.names.get(page.index as usize).is_some_and(|name| name.generation == page.generation);
        if known && self.pages[page.index as usize].status() != Status::Vacant {
            Ok(page.index)
        } else {
            Err(FrontierError::UnknownPage(page))
        }
    }

    fn id(&self, index: u32) -> PageId {
        PageId { index, generation: self.names[index as usize].generation }
    }

    fn host(&mut self, host: HostId) -> Result<&mut Host, FrontierError> {
        self.hosts.get_mut(host.0 as usize).ok_or(FrontierError::UnknownHost(host))
    }

    fn bound(&mut self, index: u32, bounds: Bounds) {
        if bounds == Bounds::default() {
            self.bounds.remove(&index);
        } else {
            self.bounds.insert(index, bounds);
        }
        self.mark_special(index);
    }

    /// A page with limits, or a hub, is more than its value.
    fn mark_special(&mut self, index: u32) {
        let special = self.bounds.contains_key(&index) || self.hubs.contains_key(&index);
        self.pages[index as usize].set_special(special);
    }

    fn order(&mut self, index: u32, value: f64) -> Order {
        self.withdraw(index);
        self.take_new(index);
        self.pages[index as usize].set_status(Status::Ordered);
        let host = self.names[index as usize].host;
        let page = self.id(index);
        self.hosts[host as usize].start(self.now);
        self.watch_door(host);
        let expires = self.now + self.settings.lease;
        let id = self.orders.make(page, host, expires);
        Order { id, page, host: HostId(host), value, expires }
    }
}

/// Like `Vec::push`, but grows by an eighth: of tens of millions, half would be too much to keep in reserve.
fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 64);
    }
    all.push(one);
}
