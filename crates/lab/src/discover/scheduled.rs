//! The frontier as a crawler of hubs.

use std::collections::BTreeSet;

use refrain_core::estimate::Answer;
use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::frontier::{
    Budget, Discovery, Found, Frontier, HostId, HubState, Known, Manners, OrderId, Outcome, PageId, Settings,
};
use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};
use refrain_core::value::ValueFunction;

use super::beliefs::{LinkRates, Profits, has_moved};
use super::drive::{Crawler, Fetch};
use super::world::HubWorld;
use super::{DiscoverError, Plans, Setting};

/// Intervals are planned at most so often where parameters are learned: as in the paper.
const PLAN_EVERY: Span = Span::from_whole_secs(1800);
/// Plans that are made less and less often are made at least so often: hubs change.
const AT_LEAST_EVERY: Span = Span::from_whole_secs(86_400);

/// A frontier, and who its pages are.
pub(super) struct Scheduled {
    frontier: Frontier<Known>,
    discovery: Discovery,
    /// Where new pages are: nobody is polite here.
    host: HostId,
    hubs: Vec<Hub>,
    /// What each page of the frontier is, by its number there.
    pages: Vec<Fetch>,
    order: Option<(OrderId, PageId)>,
    /// `None` if everything is known from the start.
    learning: Option<Learning>,
}

/// A hub as the frontier has it.
struct Hub {
    page: PageId,
    interest: Interest,
    visited: Time,
    /// Its links that are not fetched, and some that are.
    waiting: Vec<PageId>,
    /// What those were told to be worth.
    told: f64,
}

struct Learning {
    profits: Profits,
    rates: LinkRates,
    /// What all hubs were told of the others.
    profit_told: f64,
    rate_told: f64,
    plans: Planning,
}

/// When intervals are planned anew.
struct Planning {
    start: Time,
    next: Time,
    least: Span,
    growth: f64,
}

impl Planning {
    fn new(world: &HubWorld, plans: Plans) -> Self {
        let (least, growth) = match plans {
            Plans::Regular(count) => (Span::from_nanos(world.horizon.as_nanos() / count.max(1)), 0.0),
            Plans::Growing(growth) => (Span::ZERO, growth),
        };
        Self { start: world.start, next: world.start, least: least.max(PLAN_EVERY), growth }
    }

    /// Whether it is time; the next time is later then.
    fn is_due(&mut self, now: Time) -> bool {
        let due = now >= self.next;
        if due {
            let grown = Span::from_secs(self.growth * now.since(self.start).as_secs());
            self.next = now + self.least.max(grown.min(AT_LEAST_EVERY));
        }
        due
    }
}

impl Scheduled {
    pub(super) fn new(
        discovery: Discovery,
        world: &HubWorld,
        setting: &Setting,
    ) -> Result<Self, DiscoverError> {
        let rate = setting.rate;
        // What is known does not change: one plan will do. What is learned does, and says when.
        let settings = Settings { refresh: 0, discovery, plan_hubs_every: Span::MAX, ..Settings::default() };
        // Slots are given by the clock; the frontier, a hair faster, is always ready for the next.
        let budget = Budget::Rate(rate * (1.0 + 1e-9));
        let mut frontier = Frontier::new(Known::new(ValueFunction::Greedy), budget, settings, world.start)?;
        let host = frontier.add_host(Manners { in_flight: u16::MAX, ..Manners::default() });
        let learning = world.known.is_none().then(|| {
            let (profits, rates) =
                (Profits::new(world.hubs.len(), setting.unknown), LinkRates::new(world.hubs.len(), rate));
            Learning {
                profit_told: profits.prior(),
                rate_told: rates.prior(),
                profits,
                rates,
                plans: Planning::new(world, setting.plans),
            }
        });
        let mut hubs = Vec::with_capacity(world.hubs.len());
        let mut pages = Vec::with_capacity(world.hubs.len());
        for (number, items) in world.hubs.iter().enumerate() {
            let page = frontier.insert(world.start, nothing(), host, world.start)?;
            let (link_rate, profit) = match (&world.known, &learning) {
                (Some(known), _) => (known[number].link_rate(), known[number].profit()),
                (None, Some(learning)) => (learning.rate_told, learning.profit_told),
                (None, None) => (0.0, 0.0),
            };
            let interest = Interest { profit, decay: items.decay };
            frontier.make_hub(world.start, page, HubState::new(link_rate, interest)?)?;
            hubs.push(Hub { page, interest, visited: world.start, waiting: Vec::new(), told: profit });
            pages.push(Fetch::Hub(number as u32));
        }
        Ok(Self { frontier, discovery, host, hubs, pages, order: None, learning })
    }

    fn answer(&mut self, now: Time, outcome: Outcome) -> Result<Option<PageId>, DiscoverError> {
        let Some((order, page)) = self.order.take() else { return Ok(None) };
        self.frontier.answer(now, order, outcome, None)?;
        Ok(Some(page))
    }

    /// What a hub's links are worth by now, told to the frontier. New pages have their worth from when they were found; only
    /// who compares them by that needs to hear.
    fn tell(&mut self, now: Time, number: u32, profit: f64) -> Result<(), DiscoverError> {
        let hub = &mut self.hubs[number as usize];
        hub.interest.profit = profit;
        let interest = hub.interest;
        self.frontier.set_interest(now, hub.page, interest)?;
        if self.discovery == Discovery::OneCurrency && has_moved(hub.told, profit) {
            hub.told = profit;
            // Pages that were fetched are not there any more.
            let frontier = &mut self.frontier;
            hub.waiting.retain(|page| frontier.set_interest(now, *page, interest).is_ok());
        }
        Ok(())
    }
}

/// A page that is worth nothing but for the links it shows, or for its first fetch.
fn nothing() -> Belief {
    Belief::default()
}

impl Crawler for Scheduled {
    fn choose(&mut self, now: Time) -> Result<Option<Fetch>, DiscoverError> {
        if let Some(learning) = &mut self.learning
            && learning.plans.is_due(now)
        {
            self.frontier.plan_hubs_anew(now)?;
        }
        let Some(order) = self.frontier.poll(now)? else { return Ok(None) };
        self.order = Some((order.id, order.page));
        Ok(Some(self.pages[order.page.index() as usize]))
    }

    fn visited(
        &mut self,
        now: Time,
        number: u32,
        links: impl ExactSizeIterator<Item = (u32, Time)>,
    ) -> Result<(), DiscoverError> {
        let hub = &mut self.hubs[number as usize];
        let elapsed = now.since(hub.visited).as_secs();
        (hub.visited, hub.told) = (now, hub.interest.profit);
        let interest = hub.interest;
        let answer = Answer::Changed;
        let outcome = match &mut self.learning {
            // What is known is not learned from chance.
            None => Outcome::Seen(answer),
            Some(learning) => {
                learning.rates.learn(elapsed, links.len());
                Outcome::Links { answer, new: links.len() as u32 }
            }
        };
        self.answer(now, outcome)?;
        for (place, born) in links {
            let found = Found { page: nothing(), host: self.host, born, interest };
            let page = self.frontier.discover(now, found)?;
            let (index, fetch) = (page.index() as usize, Fetch::Item(number, place));
            self.pages.resize(self.pages.len().max(index + 1), fetch);
            self.pages[index] = fetch;
            if self.learning.is_some() && self.discovery == Discovery::OneCurrency {
                self.hubs[number as usize].waiting.push(page);
            }
        }
        if let Some(learning) = &mut self.learning
            && has_moved(learning.rate_told, learning.rates.prior())
        {
            learning.rate_told = learning.rates.prior();
            for hub in &self.hubs {
                self.frontier.expect_links(now, hub.page, learning.rate_told)?;
            }
        }
        Ok(())
    }

    fn fetched(&mut self, now: Time) -> Result<(), DiscoverError> {
        if let Some(page) = self.answer(now, Outcome::Seen(Answer::Changed))? {
            // What is short-lived is not fetched again.
            self.frontier.remove(now, page)?;
        }
        Ok(())
    }

    fn learn(&mut self, now: Time, worth: &[(u32, f64)]) -> Result<(), DiscoverError> {
        let Some(learning) = &mut self.learning else { return Ok(()) };
        for (hub, profit) in worth {
            learning.profits.learn(*hub, *profit);
        }
        let heard: Vec<u32> = if has_moved(learning.profit_told, learning.profits.prior()) {
            learning.profit_told = learning.profits.prior();
            (0..self.hubs.len() as u32).collect()
        } else {
            worth.iter().map(|(hub, _)| *hub).collect::<BTreeSet<u32>>().into_iter().collect()
        };
        let told: Vec<(u32, f64)> = heard.into_iter().map(|hub| (hub, learning.profits.of(hub))).collect();
        for (hub, profit) in told {
            self.tell(now, hub, profit)?;
        }
        Ok(())
    }
}
