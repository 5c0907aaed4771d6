//! The whole state of a frontier as plain data, to keep and to start from again.
//!
//! What is derived is not in it: queues and levels are built anew, and a frontier that was restored makes the same decisions
//! as the one it was taken from. Pages come one by one, so that tens of millions need not be in memory twice.

use super::discover::Quota;
use super::field::{AgeLimits, Bounds};
use super::finds::{Find, Finds};
use super::groups::{Groups, Hosts};
use super::hosts::Host;
use super::hubs::HubState;
use super::orders::{OrderSnapshot, Orders};
use super::pace::Pace;
use super::pages::push;
use super::record::{Name, Record, Status};
use super::{Frontier, FrontierError, HostId, Model, PageId, Settings};
use crate::estimate::interest::clicks::Interest;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// A frontier at some moment, without its pages.
#[derive(Clone, Debug)]
pub struct Snapshot<M> {
    /// The model, with all it has learned beside the pages.
    pub model: M,
    /// The settings.
    pub settings: Settings,
    /// The moment.
    pub now: Time,
    /// The budget, and how much of it is spent.
    pub pace: Pace,
    /// All hosts, in the order of their numbers.
    pub hosts: Vec<Host>,
    /// Which of them share a gap.
    pub groups: Groups,
    /// Numbers of pages that were removed, the next to be used last.
    pub vacant: Vec<u32>,
    /// Fetches under way, and those whose answer is late.
    pub orders: Vec<OrderSnapshot>,
    /// The number of the next order.
    pub next_order: u64,
    /// Everything else.
    pub prices: Prices,
}

/// What a frontier has come to, beside its pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// The value of the last fetch,
    pub last: f64,
    /// of the last few dozen,
    pub mean: f64,
    /// of those among them that were just worth making,
    pub margin: f64,
    /// and as hubs see it.
    pub hubs: f64,
    /// When hubs are planned next.
    pub next_plan: Time,
    /// What hubs and new pages have coming, if they have quotas.
    pub quota: Quota,
    /// Orders made so far.
    pub decisions: u64,
    /// Pages found so far.
    pub found: u64,
    /// The next page that learns from the others.
    pub refreshed: u32,
}

/// A page at some moment.
#[derive(Clone, Debug)]
pub struct PageSnapshot<M: Model> {
    /// Who it is.
    pub id: PageId,
    /// Where it is.
    pub host: HostId,
    /// What its value needs.
    pub page: M::Page,
    /// What else is remembered.
    pub past: M::Past,
    /// When it was last fetched, and the signals since.
    pub since: SinceFetch,
    /// Its least and greatest age.
    pub limits: AgeLimits,
    /// When it may be tried again after a failure.
    pub not_before: Time,
    /// The greatest age that is safe while little is known of it.
    pub careful: Span,
    /// What is known of it as a hub.
    pub hub: Option<HubState>,
    /// If it was never fetched.
    pub found: Option<FoundSnapshot>,
    /// Whether it is being fetched.
    pub is_ordered: bool,
    /// Whether it was removed: only its number is still there.
    pub is_removed: bool,
}

/// A page that was never fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundSnapshot {
    /// When it appeared.
    pub born: Time,
    /// What it is worth when new.
    pub interest: Interest,
    /// The how manieth it was.
    pub number: u64,
    /// Not before this moment.
    pub from: Time,
}

impl<M: Model> Frontier<M> {
    /// The whole state but the pages; those are [`Frontier::page_snapshots`].
    pub fn snapshot(&self) -> Snapshot<M>
    where
        M: Clone,
    {
        let (orders, next_order) = self.orders.snapshot();
        let (hosts, groups) = self.hosts.snapshot();
        Snapshot {
            model: self.model.clone(),
            settings: self.settings,
            now: self.now,
            pace: self.pace,
            hosts,
            groups,
            vacant: self.vacant.clone(),
            orders,
            next_order,
            prices: Prices {
                last: self.price,
                mean: self.mean_price,
                margin: self.margin,
                hubs: self.hub_price,
                next_plan: self.next_plan,
                quota: self.quota,
                decisions: self.decisions,
                found: self.finds.found(),
                refreshed: self.refreshed,
            },
        }
    }

    /// All pages, in the order of their numbers, those that were removed among them.
    pub fn page_snapshots(&self) -> impl Iterator<Item = PageSnapshot<M>> {
        (0..self.pages.len() as u32).map(|index| self.page_snapshot(index))
    }

    fn page_snapshot(&self, index: u32) -> PageSnapshot<M> {
        let record = &self.pages[index as usize];
        let bounds = self.bounds.get(&index).copied().unwrap_or_default();
        let found = self.finds.get(index).map(|find| FoundSnapshot {
            born: find.born,
            interest: find.interest,
            number: find.number,
            from: find.from,
        });
        PageSnapshot {
            id: self.id(index),
            host: HostId(self.names[index as usize].host),
            page: record.page.clone(),
            past: self.pasts[index as usize].clone(),
            since: record.since(),
            limits: bounds.limits,
            not_before: bounds.not_before,
            careful: bounds.careful,
            hub: self.hubs.get(&index).copied(),
            found,
            is_ordered: record.status() == Status::Ordered,
            is_removed: record.status() == Status::Vacant,
        }
    }

    /// A frontier in this state.
    ///
    /// # Errors
    /// If pages are missing or not in the order of their numbers, or one is of no host.
    pub fn restore(
        snapshot: Snapshot<M>,
        pages: impl IntoIterator<Item = PageSnapshot<M>>,
    ) -> Result<Self, FrontierError> {
        let Snapshot { model, settings, now, pace, hosts, groups, vacant, orders, next_order, prices } =
            snapshot;
        let mut frontier = Self::new(model, pace.budget(), settings, now)?;
        frontier.pace = pace;
        frontier.hosts = Hosts::restore(hosts, groups);
        frontier.vacant = vacant;
        frontier.orders = Orders::restore(orders, next_order);
        (frontier.price, frontier.mean_price) = (prices.last, prices.mean);
        (frontier.margin, frontier.hub_price) = (prices.margin, prices.hubs);
        (frontier.next_plan, frontier.quota) = (prices.next_plan, prices.quota);
        (frontier.decisions, frontier.refreshed) = (prices.decisions, prices.refreshed);
        frontier.finds = Finds::after(prices.found);
        for page in pages {
            let in_order = page.id.index as usize == frontier.pages.len();
            if !in_order || page.host.0 as usize >= frontier.hosts.len() {
                return Err(FrontierError::UnknownPage(page.id));
            }
            frontier.place(page);
        }
        Ok(frontier)
    }

    /// Puts a page where it was.
    fn place(&mut self, page: PageSnapshot<M>) {
        let index = page.id.index;
        let mut record = Record::new(page.page, page.since.fetched());
        record.set_since(page.since);
        record.set_status(match (page.is_removed, page.is_ordered, page.found) {
            (true, ..) => Status::Vacant,
            (_, true, _) => Status::Ordered,
            (.., Some(_)) => Status::New,
            _ => Status::Waiting,
        });
        push(&mut self.pages, record);
        push(&mut self.names, Name { host: page.host.0, generation: page.id.generation });
        push(&mut self.pasts, page.past);
        if let Some(FoundSnapshot { born, interest, number, from }) = page.found {
            let find = Find { born, interest, number, host: page.host.0, waits: !page.is_ordered, from };
            self.finds.put(index, find);
        }
        self.hubs.extend(page.hub.map(|hub| (index, hub)));
        let bounds = Bounds { limits: page.limits, not_before: page.not_before, careful: page.careful };
        self.bound(index, bounds);
        self.reenter(index);
    }
}
