//! A plan in numbers.

use std::io::{self, Write};

use refrain_core::plan::{Allocation, Assigned, Problem};
use serde::Serialize;

use super::Plan;
use crate::cli::PlanMethod;

/// What came of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figures {
    pub(crate) staleness: f64,
    pub(crate) bounds: Bounds,
    pub(crate) allocated: u64,
    pub(crate) executed: u64,
    pub(crate) dropped: u64,
    pub(crate) staleness_at_start: f64,
    pub(crate) staleness_without_fetches: f64,
    /// By how much politeness raises the bound.
    pub(crate) price_of_politeness: f64,
    pub(crate) hosts: usize,
    pub(crate) saturated_hosts: usize,
    pub(crate) pages: usize,
    pub(crate) pages_without: Without,
}

/// The staleness that no plan is below with the fetches that the budget pays for and crawlers can make.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Bounds {
    pub(crate) weak_politeness: f64,
    pub(crate) non_polite: f64,
    /// Not a bound for every plan, but for the paper's: its times, kept exactly.
    pub(crate) inf_crawlers: f64,
}

/// Pages of which no fetch is made, and why.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Without {
    /// Their host is full.
    pub(crate) host: usize,
    /// Other fetches are worth more.
    pub(crate) budget: usize,
    /// They do not matter, or never change.
    pub(crate) worthless: usize,
    /// Their fetches did not fit before the end.
    pub(crate) dropped: usize,
}

impl Without {
    pub(crate) fn all(&self) -> usize {
        self.host + self.budget + self.worthless + self.dropped
    }
}

impl Figures {
    pub(crate) fn new(problem: &Problem, plan: &Plan, assigned: Assigned) -> Self {
        let bounds = Bounds {
            weak_politeness: plan.polite.staleness(problem),
            non_polite: plan.impolite.staleness(problem),
            inf_crawlers: plan.merged_staleness,
        };
        let mut without = Without::default();
        let made = plan.programme.made(problem);
        for host in problem.hosts() {
            let requests: u64 = host.pages().map(|page| u64::from(plan.allocation.fetches(page))).sum();
            // The paper's methods use ⌊T/P⌋ requests, where one more may fit.
            let full = requests.saturating_add(1) >= host.most(problem.horizon());
            for page in host.pages().filter(|page| made[*page] == 0) {
                if plan.allocation.fetches(page) > 0 {
                    without.dropped += 1;
                } else if !Allocation::is_worth_something(problem, page) {
                    without.worthless += 1;
                } else if full && plan.allocation.is_crowded_out(problem, page) {
                    without.host += 1;
                } else {
                    without.budget += 1;
                }
            }
        }
        // Refrain keeps one of several plans: those of its own fetches that this one leaves out did not fit.
        let allocated = match plan.method {
            PlanMethod::Refrain => plan.polite.total(),
            _ => plan.allocation.total(),
        };
        let price = bounds.weak_politeness / bounds.non_polite - 1.0;
        Self {
            staleness: plan.programme.staleness(problem),
            price_of_politeness: if price.is_finite() { price } else { 0.0 },
            bounds,
            allocated,
            executed: assigned.executed,
            dropped: allocated.saturating_sub(assigned.executed),
            staleness_at_start: problem.staleness_at_start(),
            staleness_without_fetches: problem.staleness_without(),
            hosts: problem.hosts().len(),
            saturated_hosts: saturated(problem, &plan.polite).len(),
            pages: problem.pages().len(),
            pages_without: without,
        }
    }

    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }
}

/// The hosts that get as many requests as fit.
pub(super) fn saturated(problem: &Problem, allocation: &Allocation) -> Vec<usize> {
    let requests = |host: usize| -> u64 {
        problem.hosts()[host].pages().map(|page| u64::from(allocation.fetches(page))).sum()
    };
    let hosts = problem.hosts().iter().enumerate();
    hosts
        .filter(|(host, limits)| requests(*host) >= limits.most(problem.horizon()))
        .map(|(host, _)| host)
        .collect()
}
