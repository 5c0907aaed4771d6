//! What is to be planned.

use std::ops::Range;

use super::staleness::StaleTime;
use crate::math::sum::Sum;
use crate::time::Span;

/// What cannot be planned.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A rate, an importance or an age is not a number, or negative, or infinite where it must not be.
    #[error("{name} is {value}; expected a finite number that is not negative")]
    NotANumber {
        /// What it is.
        name: &'static str,
        /// What was given.
        value: f64,
    },
    /// Nothing can happen in no time, and nanoseconds end after some centuries.
    #[error("the horizon is {0} s; expected more than 0, and less than 290 years")]
    Horizon(f64),
    /// A page names a host that is not there.
    #[error("page {page} is on host {host}, but there are {hosts} hosts")]
    NoHost {
        /// Which page.
        page: usize,
        /// Its host.
        host: u32,
        /// How many there are.
        hosts: usize,
    },
    /// Each page has a host.
    #[error("{pages} pages, but the hosts of {hosts}")]
    Lengths {
        /// How many pages.
        pages: usize,
        /// How many of them have a host.
        hosts: usize,
    },
}

/// A page: how often it changes, how much it matters, how old its copy is at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanPage {
    rate: f64,
    importance: f64,
    age: f64,
}

impl PlanPage {
    /// A page that changes so often a second, whose copy is fresh at the start.
    ///
    /// # Errors
    /// Unless both are finite and not negative.
    pub fn new(rate: f64, importance: f64) -> Result<Self, PlanError> {
        for (name, value) in [("the change rate", rate), ("the importance", importance)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(PlanError::NotANumber { name, value });
            }
        }
        Ok(Self { rate, importance, age: 0.0 })
    }

    /// Last fetched so many seconds before the start; infinite if never.
    ///
    /// # Errors
    /// Unless it is not negative.
    pub fn fetched_before(self, age: f64) -> Result<Self, PlanError> {
        // Also for NaN.
        if !(age >= 0.0) {
            return Err(PlanError::NotANumber { name: "the age", value: age });
        }
        Ok(Self { age, ..self })
    }

    /// Changes per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// How much it matters.
    pub fn importance(&self) -> f64 {
        self.importance
    }

    /// Seconds from the last fetch to the start; infinite if there was none.
    pub(super) fn age(&self) -> f64 {
        self.age
    }

    /// The chance that the copy is fresh at the start. A page that was never fetched has none, even if it never changes.
    pub(super) fn fresh_at_start(&self) -> f64 {
        if self.age == f64::INFINITY { 0.0 } else { (-self.rate * self.age).exp() }
    }

    pub(super) fn stale_time(&self, horizon: f64) -> StaleTime {
        StaleTime { rate: self.rate, age: self.age, horizon }
    }
}

/// A host: the least time between two requests, and which pages are on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanHost {
    gap: Span,
    pages: Range<usize>,
}

impl PlanHost {
    /// The least time between two requests.
    pub fn gap(&self) -> Span {
        self.gap
    }

    /// Its pages, in the order of [`Problem::pages`].
    pub fn pages(&self) -> Range<usize> {
        self.pages.clone()
    }

    /// The most requests that fit into the horizon: the first at once, the others a gap apart.
    pub fn most(&self, horizon: Span) -> u64 {
        if self.gap == Span::ZERO { u64::MAX } else { horizon.as_nanos().div_ceil(self.gap.as_nanos()) }
    }

    /// The most requests by the polite-policy paper, ⌊T/P⌋: none, if the gap is longer than the horizon.
    pub(super) fn most_by_paper(&self, horizon: Span) -> u64 {
        horizon.as_nanos().checked_div(self.gap.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Pages on hosts, a horizon, and a number of fetches.
#[derive(Clone, Debug)]
pub struct Problem {
    horizon: Span,
    budget: u64,
    pages: Vec<PlanPage>,
    hosts: Vec<PlanHost>,
    /// Which of the pages that were given each one is.
    given: Vec<u32>,
    /// The sum of importances, in units of the greatest.
    weight: f64,
}

impl Problem {
    /// Pages, the number of the host of each, and the gap of each host.
    ///
    /// # Errors
    /// If the horizon is empty or a page has no host.
    pub fn new(
        horizon: Span,
        budget: u64,
        pages: &[PlanPage],
        host_of: &[u32],
        gaps: &[Span],
    ) -> Result<Self, PlanError> {
        if horizon == Span::ZERO || horizon.as_nanos() > i64::MAX as u64 {
            return Err(PlanError::Horizon(horizon.as_secs()));
        }
        if pages.len() != host_of.len() {
            return Err(PlanError::Lengths { pages: pages.len(), hosts: host_of.len() });
        }
        let mut counts = vec![0usize; gaps.len()];
        for (page, host) in host_of.iter().enumerate() {
            let no_host = PlanError::NoHost { page, host: *host, hosts: gaps.len() };
            *counts.get_mut(*host as usize).ok_or(no_host)? += 1;
        }
        let mut first = 0;
        let mut hosts = Vec::with_capacity(gaps.len());
        for (gap, count) in gaps.iter().zip(&counts) {
            hosts.push(PlanHost { gap: *gap, pages: first..first + count });
            first += count;
        }
        let mut next: Vec<usize> = hosts.iter().map(|host| host.pages.start).collect();
        let mut given = vec![0u32; pages.len()];
        for (page, host) in host_of.iter().enumerate() {
            let place = &mut next[*host as usize];
            given[*place] = page as u32;
            *place += 1;
        }
        let unit = pages.iter().map(|page| page.importance).fold(0.0, f64::max);
        let normal = |page: &u32| {
            let page = pages[*page as usize];
            let share = if unit > 0.0 { rounded(page.importance / unit) } else { 0.0 };
            PlanPage { importance: share, ..page }
        };
        let pages: Vec<PlanPage> = given.iter().map(normal).collect();
        let weight = pages.iter().map(|page| page.importance).collect::<Sum>().get();
        Ok(Self { horizon, budget, pages, hosts, given, weight })
    }

    /// The same with another number of fetches.
    #[must_use]
    pub fn with_budget(self, budget: u64) -> Self {
        Self { budget, ..self }
    }

    /// How long the plan is.
    pub fn horizon(&self) -> Span {
        self.horizon
    }

    /// How many fetches there may be.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// The same with no more fetches than crawlers can begin, each busy for so long with a fetch.
    #[must_use]
    pub fn within_reach(self, crawlers: &[Span]) -> Self {
        let can = crawlers.iter().map(|busy| self.horizon.as_nanos().div_ceil(busy.as_nanos().max(1)));
        let can = can.fold(0, u64::saturating_add);
        Self { budget: self.budget.min(can), ..self }
    }

    /// The pages, those of a host together. Importance is in units of the greatest one, so that plans do not depend on its unit.
    pub fn pages(&self) -> &[PlanPage] {
        &self.pages
    }

    /// The hosts.
    pub fn hosts(&self) -> &[PlanHost] {
        &self.hosts
    }

    /// Which of the pages that were given this one is.
    pub fn given(&self, page: usize) -> usize {
        self.given[page] as usize
    }

    pub(super) fn seconds(&self) -> f64 {
        self.horizon.as_secs()
    }

    /// The mean over pages, by importance, of a sum over them of importance times seconds of staleness.
    pub(super) fn mean(&self, stale_seconds: f64) -> f64 {
        if self.weight > 0.0 { stale_seconds / (self.weight * self.seconds()) } else { 0.0 }
    }

    /// The mean staleness at the start.
    pub fn staleness_at_start(&self) -> f64 {
        let stale: Sum =
            self.pages.iter().map(|page| page.importance * (1.0 - page.fresh_at_start())).collect();
        self.mean(stale.get() * self.seconds())
    }

    /// The mean staleness over the horizon if nothing is fetched.
    pub fn staleness_without(&self) -> f64 {
        let horizon = self.seconds();
        let stale: Sum =
            self.pages.iter().map(|page| page.importance * page.stale_time(horizon).least(0)).collect();
        self.mean(stale.get())
    }
}

/// A share, rounded to 36 binary digits: the same pages in another unit give the same numbers, though divisions round.
fn rounded(share: f64) -> f64 {
    const LOST: u32 = 52 - 36;
    f64::from_bits((share.to_bits() + (1 << (LOST - 1))) >> LOST << LOST)
}
