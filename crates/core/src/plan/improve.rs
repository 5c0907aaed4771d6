//! Better pages for the slots of a host: exchanges and replacements until none pays, or the effort is spent.
//!
//! Slots stay where they are, so a plan that asks no host too soon and keeps no crawler too busy stays one. What is left to choose is an
//! assignment of pages to slots whose costs depend on the other slots of the same page. Each step lowers the staleness. A host
//! with few slots ends where no other page in a slot is better, and no exchange of two slots that keeps the order of each page's fetches.

use rayon::prelude::*;

use super::problem::Problem;
use super::programme::Programme;
use super::slots::SlotTable;

/// Tries for all slots of a plan, if there are few of them, and for each slot, if there are many.
const TRIES: u64 = 40_000_000;
const FEWEST_TRIES: u64 = 60;
/// Slots of a host are compared with all others if there are no more than this, else at distances that shrink by a factor.
const ALL_PAIRS: usize = 600;
const SHRINK: f64 = 1.3;
/// A round that gains a smaller share of the staleness is the last one.
const LEAST_ROUND: f64 = 1e-6;
/// Fractions of the golden ratio are spread evenly: rounds try different distances.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

impl Programme {
    /// Gives slots to the pages of their hosts that gain most there. All fetches must be at the moments at which they are made.
    pub(super) fn improve(&mut self, problem: &Problem) {
        let effort = effort(self.len());
        self.hosts.par_iter_mut().zip(problem.hosts()).for_each(|(programme, host)| {
            let first = host.pages().start as u32;
            let times = programme.times.iter().map(|time| *time as f64 * 1e-9).collect();
            let page_at = programme.pages.iter().map(|page| page - first).collect();
            let mut table = SlotTable::new(problem, &problem.pages()[host.pages()], times, page_at);
            table.improve(effort);
            for (page, better) in programme.pages.iter_mut().zip(table.page_at) {
                *page = first + better;
            }
        });
    }
}

/// Tries for each slot of a plan with so many.
pub(super) fn effort(fetches: u64) -> u64 {
    (TRIES / fetches.max(1)).max(FEWEST_TRIES)
}

impl SlotTable<'_> {
    /// Exchanges and replaces pages, with about so many tries for each slot.
    pub(super) fn improve(&mut self, effort: u64) {
        let (mut left, mut round) = (effort, 0u32);
        let enough = LEAST_ROUND * self.total();
        while left > 0 {
            let shift = (f64::from(round) * GOLDEN).fract();
            let distances = distances(self.len(), shift);
            let mut gained = 0.0;
            for distance in &distances {
                for early in 0..self.len() - distance {
                    gained += self.exchange(early, early + distance);
                }
            }
            // Offers cost about three times as much as exchanges.
            let offers = left.saturating_sub(distances.len() as u64).min(1 + distances.len() as u64 / 2);
            let stride = self.page_count().div_ceil(offers.max(1) as usize).max(1);
            if offers > 0 {
                for page in 0..self.page_count() as u32 {
                    gained += self.offer(page, stride, (page as usize + round as usize) % stride);
                }
            }
            if gained <= enough {
                break;
            }
            left = left.saturating_sub(distances.len() as u64 + 3 * offers);
            round += 1;
        }
    }
}

/// The distances at which slots are compared, long ones first.
fn distances(slots: usize, shift: f64) -> Vec<usize> {
    if slots <= ALL_PAIRS {
        return (1..slots).rev().collect();
    }
    let mut distance = (slots - 1) as f64 * SHRINK.powf(-shift);
    let mut distances = Vec::new();
    while distance >= 1.0 {
        distances.push(distance as usize);
        distance /= SHRINK;
    }
    distances
}
