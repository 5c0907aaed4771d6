//! Hubs: pages that show links to new ones, and are worth a visit for that.
//!
//! A hub shows new links at rate λ, each worth P e^{-δ·age} when it is fetched. What one more visit earns after τ is the
//! GREEDY value with μ = λP and Δ = δ, as long as the oldest of the links found is still worth the price Λ of its own fetch. Older
//! ones are not fetched, so waiting longer than a* = ln(P/Λ)/δ earns nothing more: the value stops growing there, and a hub
//! whose links are not worth Λ when they are new is worth nothing.

use super::HostId;
use crate::estimate::interest::clicks::Interest;
use crate::estimate::interest::links::LinkCounts;
use crate::optimum::hubs::{Hub, open_and_visit};
use crate::page::{Belief, BeliefError};
use crate::value::{CrawlValue, Greedy};

/// How hubs and the pages they lead to share the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discovery {
    /// All in one currency: pages, hubs and new pages, whatever is worth most.
    #[default]
    OneCurrency,
    /// Hubs at the intervals of the optimum, the one most behind first; new pages, the latest first, when no hub is due.
    EchoSchedule,
    /// New pages first; then the hub that is most behind its interval.
    EchoNewPages,
    /// New pages first; then the hub of the greatest λPτ.
    EchoGreedy,
    /// As [`Discovery::EchoSchedule`], with half of the budget for hubs and half for new pages.
    FixedQuota,
    /// As [`Discovery::EchoSchedule`], as if all links were worth the same.
    Frequency,
    /// New pages first, in the order in which they were found; then the hub that was visited least recently.
    BreadthFirst,
}

/// In policies that put hubs before all others: they are worth at least this.
pub(super) const HUB_FIRST: f64 = 1e100;

/// What a page that was never fetched is worth to somebody who wants it at once: more than all that goes first by rule.
pub(super) const AT_ONCE: Interest = Interest { profit: 1e150, decay: 1e-30 };

impl Discovery {
    /// Whether hubs have intervals that are planned.
    pub(super) fn is_planned(self) -> bool {
        matches!(self, Self::EchoSchedule | Self::EchoNewPages | Self::FixedQuota | Self::Frequency)
    }

    /// Whether a visit is worth nothing before its interval is over.
    fn waits_until_due(self) -> bool {
        matches!(self, Self::EchoSchedule | Self::FixedQuota | Self::Frequency)
    }

    /// Whether new pages go before hubs.
    pub(super) fn new_pages_first(self) -> bool {
        matches!(self, Self::EchoNewPages | Self::EchoGreedy | Self::BreadthFirst)
    }
}

/// A bound, and a little more: for rounding.
const ROUNDED: f64 = 1.0 + 1e-9;

/// What one look at a hub tells of what visits will be worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HubLook {
    /// The value now.
    pub(super) value: f64,
    /// The most that it grows per second now,
    pub(super) growth: f64,
    /// and how much more that may be with every second.
    pub(super) bend: f64,
    /// Whether it grows just so.
    pub(super) evenly: bool,
    /// The seconds after a visit at which it jumps, if it will.
    pub(super) due: Option<f64>,
}

/// What is known of a hub.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HubState {
    /// λ before anything was seen: new links per second.
    expected: f64,
    links: LinkCounts,
    interest: Interest,
    /// λ now.
    link_rate: f64,
    /// The planned interval, in seconds; infinite if it is not visited.
    interval: f64,
}

impl HubState {
    /// A hub that is expected to show so many new links per second, of this worth and decay.
    ///
    /// # Errors
    /// Unless all numbers are finite and not negative, and the decay is positive.
    pub fn new(link_rate: f64, interest: Interest) -> Result<Self, BeliefError> {
        Hub::new(link_rate, interest.profit, interest.decay)?;
        let links = LinkCounts::default();
        Ok(Self { expected: link_rate, links, interest, link_rate, interval: f64::INFINITY })
    }

    /// The same, with what its visits have shown.
    #[must_use]
    pub fn with_links(self, links: LinkCounts) -> Self {
        Self { links, link_rate: links.rate(self.expected), ..self }
    }

    /// What its visits have shown.
    pub fn links(&self) -> LinkCounts {
        self.links
    }

    /// New links per second, as learned from its visits.
    pub fn link_rate(&self) -> f64 {
        self.link_rate
    }

    /// What a new link is worth, and how fast that falls.
    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// What to expect of it until its own visits tell, learned anew from others.
    pub(super) fn expect(&mut self, link_rate: f64) -> Result<(), BeliefError> {
        Hub::new(link_rate, self.interest.profit, self.interest.decay)?;
        self.expected = link_rate;
        self.link_rate = self.links.rate(link_rate);
        Ok(())
    }

    pub(super) fn set_interest(&mut self, interest: Interest) -> Result<(), BeliefError> {
        Hub::new(self.link_rate, interest.profit, interest.decay)?;
        self.interest = interest;
        Ok(())
    }

    /// A visit after so many seconds found so many new links.
    pub(super) fn visited(&mut self, elapsed: f64, links: u32) {
        if self.links.visit(elapsed, links) {
            self.link_rate = self.links.rate(self.expected);
        }
    }

    /// When fetches cost `price`: the seconds after which a visit is worth `level`, if it ever is.
    pub(super) fn reaches(&self, level: f64, policy: Discovery, price: f64) -> Option<f64> {
        if policy == Discovery::OneCurrency {
            if self.value(f64::MAX, policy, price) < level {
                return None;
            }
            let belief = Belief::new(self.interest.decay, self.link_rate * self.interest.profit).ok()?;
            return Greedy::new(&belief).moment(level, 0);
        }
        // All others grow evenly.
        let evenly = level / self.steepness(policy);
        let seconds = if policy.waits_until_due() { evenly.max(self.interval) } else { evenly };
        let reached = seconds < f64::INFINITY || self.value(0.0, policy, price) >= level;
        reached.then_some(if seconds < f64::INFINITY { seconds } else { 0.0 })
    }

    /// How fast the value grows where it grows evenly, per second.
    fn steepness(&self, policy: Discovery) -> f64 {
        match policy {
            Discovery::EchoGreedy => HUB_FIRST * self.link_rate * self.interest.profit,
            Discovery::BreadthFirst => HUB_FIRST,
            _ => HUB_FIRST / self.interval,
        }
    }

    /// A look after so many seconds. What it says holds for ever; where a visit is worth nothing until it is due, until then.
    pub(super) fn look(&self, elapsed: f64, policy: Discovery, price: f64) -> HubLook {
        let value = self.value(elapsed, policy, price);
        if policy == Discovery::OneCurrency {
            // V' = λP x e^{-x} with x = δτ, and V'' = λPδ (1 - x) e^{-x}; from some age on the value stays as it is.
            let Interest { profit, decay } = self.interest;
            let x = decay * elapsed;
            let falls = self.link_rate * profit * (-x).exp() * ROUNDED;
            return HubLook { value, growth: falls * x, bend: falls * decay, evenly: false, due: None };
        }
        let due = (policy.waits_until_due() && value == 0.0).then_some(self.interval);
        let growth = if due.is_some() { 0.0 } else { self.steepness(policy) * ROUNDED };
        HubLook { value, growth, bend: 0.0, evenly: due.is_none(), due }
    }

    /// What a visit is worth after so many seconds, when a fetch costs `price`.
    pub(super) fn value(&self, elapsed: f64, policy: Discovery, price: f64) -> f64 {
        let Interest { profit, decay } = self.interest;
        let behind = elapsed / self.interval;
        match policy {
            Discovery::OneCurrency => {
                let oldest = if price > 0.0 { (profit / price).ln() / decay } else { f64::INFINITY };
                if !(oldest > 0.0) {
                    return 0.0;
                }
                Belief::new(decay, self.link_rate * profit)
                    .map_or(0.0, |belief| Greedy::new(&belief).value(elapsed.min(oldest), 0))
            }
            Discovery::EchoSchedule | Discovery::FixedQuota | Discovery::Frequency => {
                if behind >= 1.0 {
                    HUB_FIRST * behind
                } else {
                    0.0
                }
            }
            Discovery::EchoNewPages => HUB_FIRST * behind,
            Discovery::EchoGreedy => HUB_FIRST * (self.link_rate * profit * elapsed).max(f64::MIN_POSITIVE),
            Discovery::BreadthFirst => HUB_FIRST * elapsed,
        }
    }
}

/// Intervals for all hubs, as the optimum has them for so many fetches per second.
pub(super) fn plan(hubs: &mut [&mut HubState], policy: Discovery, rate: f64) {
    let known: Vec<Hub> = hubs
        .iter()
        .filter_map(|hub| {
            let profit = if policy == Discovery::Frequency { 1.0 } else { hub.interest.profit };
            Hub::new(hub.link_rate, profit, hub.interest.decay).ok()
        })
        .collect();
    if known.len() < hubs.len() {
        return;
    }
    let plan = open_and_visit(&known, rate);
    // With a quota, visits get half of the budget, whatever the links need.
    let visits: f64 = plan.hubs.iter().map(|hub| hub.rate).sum();
    let factor = if policy == Discovery::FixedQuota && visits > 0.0 { 0.5 * rate / visits } else { 1.0 };
    for (hub, visit) in hubs.iter_mut().zip(&plan.hubs) {
        hub.interval = 1.0 / (visit.rate * factor);
    }
}

/// A link to a new page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<P> {
    /// What is believed of the page.
    pub page: P,
    /// Where it is.
    pub host: HostId,
    /// When it appeared.
    pub born: crate::time::Time,
    /// What it is worth when it is new, and how fast that falls.
    pub interest: Interest,
}
