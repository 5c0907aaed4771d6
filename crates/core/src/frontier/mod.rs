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
//! - `terms`: the words between it and its driver; `pages`: they come and go; `turns`: whose turn it is
//! - `race`: the exact arg max, lazily; `field`: the pages as the race sees them
//! - `model`: where values come from: [`Known`] beliefs, [`Given`] functions, [`Learning`] as the crawl goes, [`Attentive`] to
//!   signals as well, [`Hourly`] by the clocks of hosts, [`Refined`] by gaps or points; or schedules to compare with: [`Rules`], [`Shares`], [`Sequence`]
//! - `pace`: the budget; `hosts`: politeness; `groups`: hosts that share a gap; `rooms`: pages that wait for their host
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
mod groups;
mod hosts;
mod hourly;
mod hubs;
mod learning;
mod model;
mod orders;
mod pace;
mod pages;
mod race;
mod record;
mod refined;
mod rooms;
mod rules;
mod sequence;
mod shards;
mod shares;
mod snapshot;
mod terms;
#[cfg(test)]
mod tests;
mod turns;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::ids::IdMap;
use crate::page::SinceFetch;
use crate::time::Time;
use field::{Bounds, View};
use finds::Finds;
use groups::Hosts;
use orders::Orders;
use race::Race;
use record::{Name, Record, Status};
use rooms::Door;

pub use attentive::{Attentive, AttentivePage, AttentivePast};
pub use discover::Quota;
pub use errands::Knock;
pub use explain::{Explanation, WaitsFor};
pub use field::AgeLimits;
pub use given::Given;
pub use groups::{GroupId, Groups};
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
pub use terms::{FrontierError, HostId, Outcome, PageId, Settings};

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
    hosts: Hosts,
    pace: Pace,
    orders: Orders,
    race: Race,
    /// The pages that wait for their host, by host.
    rooms: IdMap<u32, Race>,
    /// Rooms of hosts that may be visited.
    open: Vec<u32>,
    /// When the hosts of the other rooms may be, and groups of hosts.
    doors: BinaryHeap<Reverse<(Time, Door)>>,
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
            hosts: Hosts::default(),
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
        HostId(self.hosts.push(Host::new(manners)))
    }

    /// A new host that was last visited then, as far as is known.
    pub fn add_host_visited(&mut self, manners: Manners, at: Time) -> HostId {
        HostId(self.hosts.push(Host { last_start: Some(at), ..Host::new(manners) }))
    }

    /// From now on so many other pages are valued anew with every fetch; see [`Settings::refresh`].
    pub fn set_refresh(&mut self, pages: u32) {
        self.settings.refresh = pages;
    }

    /// The budget.
    pub fn budget(&self) -> Budget {
        self.pace.budget()
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
        self.watch_host(host.0);
        Ok(())
    }

    /// Leaves a host alone until a moment; one in the past takes it back.
    ///
    /// # Errors
    /// If the host is unknown, or time went backwards.
    pub fn back_off(&mut self, now: Time, host: HostId, until: Time) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.host(host)?.back_off(until);
        self.watch_host(host.0);
        Ok(())
    }

    /// The latest moment so far.
    pub fn now(&self) -> Time {
        self.now
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
        self.hosts.get_mut(host.0).ok_or(FrontierError::UnknownHost(host))
    }
}
