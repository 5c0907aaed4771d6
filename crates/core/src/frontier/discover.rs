//! Finding pages: hubs are visited for the links they show, new pages fetched for what they are worth while new.

use super::hubs::{self, Discovery, Found, HUB_FIRST, HubState};
use super::record::Status;
use super::turns::PRICE_SHARE;
use super::{Frontier, FrontierError, Model, PageId};
use crate::estimate::interest::clicks::Interest;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// Hubs are valued anew when the price has moved by this share.
const PRICE_MOVED: f64 = 0.05;

/// Fetches that hubs and new pages have coming, if each has its quota.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quota {
    /// Visits to hubs.
    pub hubs: f64,
    /// New pages.
    pub new: f64,
    /// When that was counted.
    pub counted: Time,
}

impl Quota {
    pub(super) fn new(start: Time) -> Self {
        Self { hubs: 1.0, new: 1.0, counted: start }
    }

    /// Each side earns half of the budget, and saves up two fetches at most.
    fn earn(&mut self, now: Time, rate: f64) {
        let earned = 0.5 * rate * now.since(self.counted).as_secs();
        self.counted = now;
        for side in [&mut self.hubs, &mut self.new] {
            *side = (*side + earned).min(2.0);
        }
    }
}

impl<M: Model> Frontier<M> {
    /// How many pages were never fetched.
    pub fn new_pages(&self) -> usize {
        self.finds.len()
    }

    /// A page is a hub from now on: it shows links to new pages. What it is worth as a page counts, too.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn make_hub(&mut self, now: Time, page: PageId, hub: HubState) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        self.hubs.insert(index, hub);
        self.next_plan = self.now;
        self.mark_special(index);
        self.reenter(index);
        Ok(())
    }

    /// A page is no hub any more.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn unmake_hub(&mut self, now: Time, page: PageId) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        self.hubs.remove(&index);
        self.mark_special(index);
        self.reenter(index);
        Ok(())
    }

    /// What is known of a hub; `None` if the page is none.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn hub(&self, page: PageId) -> Result<Option<&HubState>, FrontierError> {
        Ok(self.hubs.get(&self.known(page)?))
    }

    /// The intervals of hubs are planned anew before the next fetch is chosen, where they are planned at all: what is known of them has
    /// changed.
    ///
    /// # Errors
    /// If time went backwards.
    pub fn plan_hubs_anew(&mut self, now: Time) -> Result<(), FrontierError> {
        self.advance(now)?;
        self.next_plan = self.now;
        Ok(())
    }

    /// How many new links per second to expect of a hub until its own visits tell, learned anew from others. Nothing happens if
    /// the page is no hub.
    ///
    /// # Errors
    /// If the page is unknown, the number is none, or time went backwards.
    pub fn expect_links(&mut self, now: Time, page: PageId, link_rate: f64) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if let Some(hub) = self.hubs.get_mut(&index) {
            hub.expect(link_rate)?;
            self.reenter(index);
        }
        Ok(())
    }

    /// What links of a hub, or a page that was never fetched, are worth, learned anew. Nothing happens to other pages.
    ///
    /// # Errors
    /// If the page is unknown, the numbers are none, or time went backwards.
    pub fn set_interest(&mut self, now: Time, page: PageId, interest: Interest) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if let Some(hub) = self.hubs.get_mut(&index) {
            hub.set_interest(interest)?;
            self.reenter(index);
        }
        if self.finds.contains(index) {
            HubState::new(0.0, interest)?;
            self.finds.set_interest(index, interest);
        }
        Ok(())
    }

    /// The first fetch of a page is worth this share of what it was. Nothing happens to a page that was fetched.
    ///
    /// # Errors
    /// If the page is unknown, the share makes no number, or time went backwards.
    pub fn discount_first(&mut self, now: Time, page: PageId, share: f64) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if let Some(interest) = self.finds.get(index).map(|find| find.interest) {
            let interest = Interest { profit: share * interest.profit, ..interest };
            HubState::new(0.0, interest)?;
            self.finds.set_interest(index, interest);
        }
        Ok(())
    }

    /// A page was found that was never fetched. Its first fetch is worth P e^{-δ·age}; from then on it is a page like others.
    ///
    /// # Errors
    /// If the host is unknown, the numbers are none, time went backwards, or there is no room for more pages.
    pub fn discover(&mut self, now: Time, found: Found<M::Page>) -> Result<PageId, FrontierError> {
        self.discover_with_past(now, found, M::Past::default())
    }

    /// A page that was never fetched, but of which something is remembered: others have watched it.
    ///
    /// # Errors
    /// As [`Frontier::discover`].
    pub fn discover_with_past(
        &mut self,
        now: Time,
        found: Found<M::Page>,
        past: M::Past,
    ) -> Result<PageId, FrontierError> {
        self.advance(now)?;
        HubState::new(0.0, found.interest)?;
        let born = found.born.min(now);
        let index = self.put(found.page, past, found.host, born)?;
        self.pages[index as usize].set_status(Status::New);
        self.finds.add(index, found.host.0, born, found.interest);
        Ok(self.id(index))
    }

    /// The fetch to make now, if any is worth something.
    pub(super) fn choose(&mut self) -> Option<(u32, f64)> {
        if self.hubs.is_empty() && self.finds.is_empty() {
            return self.best();
        }
        self.value_hubs_anew();
        let policy = self.settings.discovery;
        let mut known = self.best();
        let hosts = &self.hosts;
        let now = self.now;
        let mut parked = Vec::new();
        let ready = |host: u32| hosts.ready_at(host) <= now;
        let new = self.finds.best(now, policy, ready, |host| parked.push(host));
        for host in parked {
            self.watch_host(host);
        }
        let anything = [known, new].into_iter().flatten().any(|(_, value)| value > 0.0);
        if policy == Discovery::OneCurrency && !anything && self.lower_hub_price() {
            known = self.best();
        }
        let hub_is_due = known.is_some_and(|(_, value)| value >= HUB_FIRST);
        match policy {
            Discovery::OneCurrency => match (known, new) {
                (Some(known), Some(new)) if new.1 > known.1 => Some(new),
                _ => known.or(new),
            },
            _ if policy.new_pages_first() => new.or(known),
            Discovery::FixedQuota => {
                self.quota.earn(now, self.pace.budget().rate());
                let (hub, new) = (
                    known.filter(|_| hub_is_due && self.quota.hubs >= 1.0),
                    new.filter(|_| self.quota.new >= 1.0),
                );
                hub.or(new).or(known.filter(|_| !hub_is_due))
            }
            _ => known.filter(|_| hub_is_due).or(new).or(known),
        }
    }

    /// A page was taken: the quotas pay, and a new page waits no more.
    pub(super) fn take_new(&mut self, index: u32) {
        if self.finds.contains(index) {
            self.finds.order(index);
            self.quota.new -= 1.0;
        } else if self.hubs.contains_key(&index) {
            self.quota.hubs -= 1.0;
        }
    }

    /// The first fetch of a new page succeeded: it is a page like others. If the answer was late, another fetch of it may be
    /// under way.
    pub(super) fn settle_new(&mut self, index: u32, leased: bool, copy: SinceFetch) {
        self.finds.remove(index);
        let copy = copy.within(Time::MIN, self.now);
        let record = &mut self.pages[index as usize];
        record.set_since(copy);
        if leased || record.status() == Status::New {
            record.set_status(Status::Waiting);
            self.reenter(index);
        }
    }

    /// A fetch was worth this. What was found is fetched at once while it is worth more than the price, and says nothing about it; all
    /// others are fetched when they have come to be worth it.
    pub(super) fn weigh(&mut self, index: u32, value: f64) {
        if self.margin > 0.0 && value > self.margin && self.finds.contains(index) {
            return;
        }
        let share = if self.margin > 0.0 { PRICE_SHARE } else { 1.0 };
        self.margin += share * (value - self.margin);
    }

    /// A price at which no hub's links are worth their fetches is too high while there is nothing else to do. Whether it was.
    fn lower_hub_price(&mut self) -> bool {
        let hubs = self.hubs.values().filter(|hub| hub.link_rate() > 0.0);
        let most = hubs.map(|hub| hub.interest().profit).fold(0.0, f64::max);
        let price = (0.5 * most).max(self.pace.budget().price());
        if self.hub_price < most || price >= most {
            return false;
        }
        (self.margin, self.hub_price) = (price, price);
        self.reenter_hubs();
        true
    }

    /// Hubs see the price, and their plan, from time to time only: in between their values just grow.
    fn value_hubs_anew(&mut self) {
        if self.hubs.is_empty() {
            return;
        }
        let policy = self.settings.discovery;
        if policy.is_planned() && self.now >= self.next_plan {
            self.next_plan = self.now + self.settings.plan_hubs_every;
            let mut all: Vec<&mut HubState> = self.hubs.values_mut().collect();
            hubs::plan(&mut all, policy, self.pace.budget().rate());
            self.reenter_hubs();
        }
        let price = self.margin.max(self.pace.budget().price());
        let moved = (price - self.hub_price).abs() > PRICE_MOVED * self.hub_price;
        if policy == Discovery::OneCurrency && moved {
            self.hub_price = price;
            self.reenter_hubs();
        }
    }

    fn reenter_hubs(&mut self) {
        let all: Vec<u32> = self.hubs.keys().copied().collect();
        for index in all {
            self.reenter(index);
        }
    }

    /// A moment not after the next one at which a new page or a plan could matter.
    pub(super) fn next_discovery(&self, price: f64) -> Time {
        if self.finds.is_empty() { Time::MAX } else { self.finds.next_worth(price.max(f64::MIN_POSITIVE)) }
    }
}

/// How often hubs are planned anew, where they are: as in the paper.
pub(super) const PLAN_EVERY: Span = Span::from_whole_secs(1800);
