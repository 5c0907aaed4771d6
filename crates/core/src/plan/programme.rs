//! When each fetch should happen, and how fresh that keeps the copies.

use rayon::prelude::*;

use super::allocate::Allocation;
use super::balance;
use super::problem::{PlanHost, Problem};
use crate::math::sum::Sum;
use crate::time::Span;

/// How fetches are timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Each page at its best moments, whatever the others on its host want.
    Ideal,
    /// The fetches of a host in the order of their best moments, evenly over the horizon: the paper's MERGE.
    Merged,
    /// As close to the best moments as crawlers and hosts allow, in the order in which all pages of a host lose least by it.
    Balanced,
}

/// A fetch that was not made.
pub(super) const DROPPED: u64 = u64::MAX;

/// The fetches of a host, in the order in which they are made.
#[derive(Clone, Debug, Default)]
pub(super) struct HostProgramme {
    /// Nanoseconds from the start.
    pub(super) times: Vec<u64>,
    /// In the order of [`Problem::pages`].
    pub(super) pages: Vec<u32>,
}

/// All fetches.
#[derive(Clone, Debug, Default)]
pub struct Programme {
    pub(super) hosts: Vec<HostProgramme>,
}

impl Allocation {
    /// Times for all fetches. Each crawler is busy for so long with a fetch; only the balanced timing cares.
    pub fn programme(&self, problem: &Problem, timing: Timing, crawlers: &[Span]) -> Programme {
        let use_of_crawlers = self.total() as f64 / capacity(problem.horizon(), crawlers);
        let hosts = problem.hosts().par_iter().enumerate().map(|(number, host)| match timing {
            Timing::Ideal => in_order(&self.wishes(problem, host), |_, time| time),
            Timing::Merged => {
                let wishes = self.wishes(problem, host);
                let parts = wishes.len() as u128 + 1;
                let horizon = u128::from(problem.horizon().as_nanos());
                in_order(&wishes, |rank, _| ((rank as u128 + 1) * horizon / parts) as u64)
            }
            Timing::Balanced => balance::programme(problem, host, self, use_of_crawlers, number),
        });
        Programme { hosts: hosts.collect() }
    }

    /// The best moments of all pages of a host, in order, of equal ones the first page.
    pub(super) fn wishes(&self, problem: &Problem, host: &PlanHost) -> Vec<(f64, u32)> {
        let mut wishes =
            Vec::with_capacity(self.counts[host.pages()].iter().map(|count| *count as usize).sum());
        for page in host.pages() {
            let (stale, count) =
                (problem.pages()[page].stale_time(problem.seconds()), u64::from(self.counts[page]));
            wishes.extend((1..=count).map(|j| (stale.moment(count, j), page as u32)));
        }
        wishes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        wishes
    }
}

/// How many fetches the crawlers could make.
pub(super) fn capacity(horizon: Span, crawlers: &[Span]) -> f64 {
    crawlers.iter().map(|busy| horizon.as_secs() / busy.as_secs().max(1e-9)).sum()
}

fn in_order(wishes: &[(f64, u32)], time: impl Fn(usize, u64) -> u64) -> HostProgramme {
    let times =
        wishes.iter().enumerate().map(|(rank, (wish, _))| time(rank, Span::from_secs(*wish).as_nanos()));
    HostProgramme { times: times.collect(), pages: wishes.iter().map(|(_, page)| *page).collect() }
}

impl Programme {
    /// The mean staleness over the horizon with the fetches that are made at these times.
    pub fn staleness(&self, problem: &Problem) -> f64 {
        let hosts = self.hosts.par_iter().zip(problem.hosts());
        let stale: Vec<f64> = hosts.map(|(fetches, host)| fetches.stale_seconds(problem, host)).collect();
        problem.mean(stale.into_iter().collect::<Sum>().get())
    }

    /// How many fetches of each page are made, in the order of [`Problem::pages`].
    pub fn made(&self, problem: &Problem) -> Vec<u32> {
        let mut made = vec![0; problem.pages().len()];
        for host in &self.hosts {
            let fetches = host.times.iter().zip(&host.pages).filter(|(time, _)| **time != DROPPED);
            fetches.for_each(|(_, page)| made[*page as usize] += 1);
        }
        made
    }

    /// Leaves out the fetches that are not made.
    pub(super) fn forget_dropped(&mut self) {
        for host in &mut self.hosts {
            let made = host.times.partition_point(|time| *time != DROPPED);
            host.times.truncate(made);
            host.pages.truncate(made);
        }
    }

    /// How many fetches there are.
    pub fn len(&self) -> u64 {
        self.hosts.iter().map(|host| host.times.len() as u64).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl HostProgramme {
    /// Importance times seconds for which copies are stale.
    fn stale_seconds(&self, problem: &Problem, host: &PlanHost) -> f64 {
        let first = host.pages().start;
        let horizon = problem.seconds();
        let mut last = vec![f64::NAN; host.pages().len()];
        let mut stale = Sum::default();
        for (time, page) in self.times.iter().zip(&self.pages) {
            if *time == DROPPED {
                continue;
            }
            let now = *time as f64 * 1e-9;
            let page = *page as usize;
            let before = std::mem::replace(&mut last[page - first], now);
            let (page, importance) =
                (problem.pages()[page].stale_time(horizon), problem.pages()[page].importance());
            let part = if before.is_nan() { page.after_start(now) } else { page.after_fetch(now - before) };
            stale.add(importance * part);
        }
        for (page, last) in problem.pages()[host.pages()].iter().zip(last) {
            let (rest, importance) = (page.stale_time(horizon), page.importance());
            let part =
                if last.is_nan() { rest.after_start(horizon) } else { rest.after_fetch(horizon - last) };
            stale.add(importance * part);
        }
        stale.get()
    }
}
