//! How many fetches each page gets: the most valuable ones, as far as hosts and the budget allow.
//!
//! Gains fall with every fetch of a page, so the best allocation takes every fetch that gains at least some price: the budget's,
//! or a higher one at a host that is full. Prices are searched for, which costs a few passes over the pages; the last few
//! fetches go to the highest bidders one by one, so that the result is that of taking the greatest gain every time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::problem::{PlanHost, PlanPage, Problem};
use super::programme::Programme;
use crate::math::sum::Sum;

/// Fetches per page.
#[derive(Clone, Debug)]
pub struct Allocation {
    pub(super) counts: Vec<u32>,
    total: u64,
    /// What the last fetch gained: seconds times importance, in units of the greatest one.
    price: f64,
}

impl Problem {
    /// The best allocation in which no host gets more requests than fit into the horizon. Its staleness is a lower bound for every
    /// polite plan (weak politeness).
    pub fn allocate(&self) -> Allocation {
        self.allocate_within(|host| host.most(self.horizon()))
    }

    /// The best allocation in which no host gets more than the polite-policy paper's ⌊T/P⌋ requests.
    pub fn allocate_by_paper(&self) -> Allocation {
        self.allocate_within(|host| host.most_by_paper(self.horizon()))
    }

    /// The best allocation without politeness.
    pub fn allocate_impolitely(&self) -> Allocation {
        self.allocate_within(|_| u64::MAX)
    }

    fn allocate_within(&self, most: impl Fn(&PlanHost) -> u64 + Sync) -> Allocation {
        let mut counts = vec![0u32; self.pages().len()];
        let mut hosts: Vec<Bidders<'_>> = Vec::with_capacity(self.hosts().len());
        let mut rest = counts.as_mut_slice();
        for host in self.hosts() {
            let (own, others) = std::mem::take(&mut rest).split_at_mut(host.pages().len());
            rest = others;
            let most = most(host).min(self.budget()).min(u64::from(u32::MAX));
            hosts.push(Bidders {
                pages: &self.pages()[host.pages()],
                horizon: self.seconds(),
                most,
                counts: own,
            });
        }
        let budget = self.budget().min(hosts.iter().map(|host| host.most).sum());
        // A sample says where to search.
        let sampled = price_for(budget, Search::ANYWHERE, |price| {
            hosts.par_iter().map(|host| host.sample_bid(price).min(host.most)).sum()
        });
        let price = price_for(budget, Search::near(sampled), |price| {
            hosts.par_iter_mut().map(|host| host.bid(price).min(host.most)).sum()
        });
        // Hosts that are full at this price: their own is higher.
        hosts.par_iter_mut().for_each(|host| {
            if host.bid(price) >= host.most {
                host.fill();
            }
        });
        let total: u64 = hosts.iter().map(Bidders::total).sum();
        let (more, last) = take_best(&mut hosts, budget.saturating_sub(total));
        Allocation { counts, total: total + more, price: last.unwrap_or(price) }
    }
}

impl Allocation {
    /// The fetches that a programme makes, for the same price.
    pub(super) fn made(self, problem: &Problem, programme: &Programme) -> Self {
        Self { counts: programme.made(problem), total: programme.len(), price: self.price }
    }

    /// How many fetches there are in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many a page gets, in the order of [`Problem::pages`].
    pub fn fetches(&self, page: usize) -> u32 {
        self.counts[page]
    }

    /// Whether a page that gets nothing would have got a fetch if its host had room for more.
    pub fn is_crowded_out(&self, problem: &Problem, page: usize) -> bool {
        let gain = gain(&problem.pages()[page], problem.seconds(), 0);
        self.counts[page] == 0 && gain > 0.0 && gain >= self.price
    }

    /// Whether a page is worth any fetch at all.
    pub fn is_worth_something(problem: &Problem, page: usize) -> bool {
        gain(&problem.pages()[page], problem.seconds(), 0) > 0.0
    }

    /// The mean staleness if every page is fetched at its best moments: a bound, since two pages of a host may want the same.
    pub fn staleness(&self, problem: &Problem) -> f64 {
        let stale: Sum = self
            .counts
            .iter()
            .zip(problem.pages())
            .map(|(count, page)| {
                page.importance() * page.stale_time(problem.seconds()).least(u64::from(*count))
            })
            .collect();
        problem.mean(stale.get())
    }
}

fn gain(page: &PlanPage, horizon: f64, fetches: u32) -> f64 {
    page.importance() * page.stale_time(horizon).gain(u64::from(fetches))
}

/// A price at which no more than the budget is asked for, and nearly that.
fn price_for(budget: u64, search: Search, mut demand: impl FnMut(f64) -> u64) -> f64 {
    let budget = budget as f64;
    // In logarithms: demand falls about like a power of the price.
    let wanted = (budget * (1.0 - 0.5 * CLOSE)).max(1.0).ln();
    // Prices at which too much is asked for and too little, with the logarithm of how much, once they are known.
    let mut bracket: [Option<(f64, f64)>; 2] = [None, None];
    let (mut guess, mut step, mut halve) = (search.start, search.step, true);
    for _ in 0..SEARCHES {
        let asked = demand(guess.exp()) as f64;
        if asked <= budget && budget - asked <= 1.0 + budget * CLOSE {
            return guess.exp();
        }
        let too_many = asked > budget;
        bracket[usize::from(!too_many)] = Some((guess, asked.max(0.5).ln()));
        guess = if let [Some(low), Some(high)] = bracket {
            if high.0 - low.0 < 1e-12 {
                break;
            }
            // Along the secant and halfway in turns: the one is fast, the other never stuck.
            halve = !halve;
            let share = if halve { 0.5 } else { (low.1 - wanted) / (low.1 - high.1) };
            low.0 + (high.0 - low.0) * share.clamp(0.01, 0.99)
        } else {
            // Ever further, until it is between.
            step *= 2.0;
            (if too_many { guess + step } else { guess - step }).clamp(LOWEST.ln(), HIGHEST.ln())
        };
    }
    bracket[1].map_or(HIGHEST, |(at, _)| at.exp())
}

/// Where a search begins and how long its first step is, in logarithms.
#[derive(Clone, Copy)]
struct Search {
    start: f64,
    step: f64,
}

impl Search {
    const ANYWHERE: Self = Self { start: 0.0, step: 1.0 };

    fn near(price: f64) -> Self {
        Self { start: price.ln(), step: 0.005 }
    }
}

const LOWEST: f64 = 1e-290;
const HIGHEST: f64 = 1e290;
const SEARCHES: u32 = 300;
/// Every so manieth page is in a sample, if there are many.
const SAMPLE: usize = 16;
/// The share of the budget that is given away one by one.
const CLOSE: f64 = 0.004;

/// The pages of a host.
struct Bidders<'a> {
    pages: &'a [PlanPage],
    horizon: f64,
    most: u64,
    counts: &'a mut [u32],
}

impl Bidders<'_> {
    /// Every fetch that gains at least the price, though no more than `most` of one page.
    fn bid(&mut self, price: f64) -> u64 {
        let mut total = 0;
        for (page, count) in self.pages.iter().zip(&mut *self.counts) {
            let price = price / page.importance();
            *count = if price < f64::INFINITY {
                page.stale_time(self.horizon).worth(price, self.most) as u32
            } else {
                0
            };
            total += u64::from(*count);
        }
        total
    }

    /// About the same, from a few of the pages.
    fn sample_bid(&self, price: f64) -> u64 {
        let every = if self.pages.len() > 8 * SAMPLE { SAMPLE } else { 1 };
        let mut total = 0.0;
        for page in self.pages.iter().step_by(every) {
            let price = price / page.importance();
            if price < f64::INFINITY {
                total += page.stale_time(self.horizon).about(price).min(self.most) as f64;
            }
        }
        let part = self.pages.len().div_ceil(every) as f64 / self.pages.len().max(1) as f64;
        if total > 0.0 { (total / part) as u64 } else { 0 }
    }

    fn total(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// As many as fit, the greatest gains.
    fn fill(&mut self) {
        let sampled = price_for(self.most, Search::ANYWHERE, |price| self.sample_bid(price));
        let price = price_for(self.most, Search::near(sampled), |price| self.bid(price));
        let room = self.most.saturating_sub(self.bid(price));
        take_best(std::slice::from_mut(self), room);
    }
}

/// So many more of the greatest gains, where hosts have room. Says how many there were, and what the last one gained.
fn take_best(hosts: &mut [Bidders<'_>], fetches: u64) -> (u64, Option<f64>) {
    if fetches == 0 {
        return (0, None);
    }
    let mut rooms: Vec<u64> = hosts.iter().map(|host| host.most - host.total()).collect();
    let bids = hosts.iter().enumerate().filter(|(host, _)| rooms[*host] > 0).flat_map(|(host, bidders)| {
        let gains = bidders.pages.iter().zip(&*bidders.counts).enumerate();
        gains.map(move |(page, (belief, count))| Bid {
            gain: gain(belief, bidders.horizon, *count),
            host: host as u32,
            page: page as u32,
        })
    });
    let mut heap: BinaryHeap<Bid> = bids.filter(|bid| bid.gain > 0.0).collect();
    let (mut taken, mut last) = (0, None);
    while taken < fetches
        && let Some(mut bid) = heap.pop()
    {
        let room = &mut rooms[bid.host as usize];
        if *room == 0 {
            continue;
        }
        *room -= 1;
        taken += 1;
        last = Some(bid.gain);
        let bidders = &mut hosts[bid.host as usize];
        let count = &mut bidders.counts[bid.page as usize];
        *count += 1;
        bid.gain = gain(&bidders.pages[bid.page as usize], bidders.horizon, *count);
        if bid.gain > 0.0 {
            heap.push(bid);
        }
    }
    (taken, last)
}

/// The next fetch of a page. The greatest gain first, of equal ones the first page.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bid {
    gain: f64,
    host: u32,
    page: u32,
}

impl Eq for Bid {}

impl Ord for Bid {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then_with(|| (other.host, other.page).cmp(&(self.host, self.page)))
    }
}

impl PartialOrd for Bid {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
