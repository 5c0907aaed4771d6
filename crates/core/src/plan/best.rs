//! The plan of Refrain: the best of several, with better pages in their slots.

use super::allocate::Allocation;
use super::problem::Problem;
use super::programme::{Programme, Timing};
use crate::time::Span;

/// All candidates are improved if they have no more fetches than this, else only the best.
const FEW: u64 = 100_000;

/// A plan that crawlers carry out.
#[derive(Clone, Debug)]
pub struct BestPlan {
    /// How often each page is fetched.
    pub allocation: Allocation,
    /// When: each fetch at the moment at which it is made.
    pub programme: Programme,
    /// The mean staleness.
    pub staleness: f64,
}

impl Problem {
    /// The best plan that is known: never staler than that of any timing, for the allocation of the paper or its own.
    pub fn plan(&self, crawlers: &[Span]) -> BestPlan {
        let reachable = self.clone().within_reach(crawlers).allocate();
        let paper = self.allocate_by_paper();
        let impolite = self.allocate_impolitely();
        let mut candidates =
            vec![(&reachable, Timing::Balanced), (&reachable, Timing::Merged), (&reachable, Timing::Ideal)];
        if paper.counts != reachable.counts {
            candidates.extend([(&paper, Timing::Merged), (&paper, Timing::Ideal)]);
        }
        if impolite.counts != reachable.counts {
            candidates.push((&impolite, Timing::Ideal));
        }
        let mut best: Option<(f64, Programme)> = None;
        let mut keep = |programme: Programme| {
            let staleness = programme.staleness(self);
            if best.as_ref().is_none_or(|best| staleness < best.0) {
                best = Some((staleness, programme));
            }
        };
        for (allocation, timing) in candidates {
            let mut programme = allocation.programme(self, timing, crawlers);
            programme.assign(self, crawlers, |_| {});
            programme.forget_dropped();
            if programme.len() <= FEW {
                let mut better = programme.clone();
                better.improve(self);
                keep(better);
            }
            keep(programme);
        }
        let (mut staleness, mut programme) = best.unwrap_or_default();
        if programme.len() > FEW {
            let mut better = programme.clone();
            better.improve(self);
            let improved = better.staleness(self);
            if improved < staleness {
                (staleness, programme) = (improved, better);
            }
        }
        BestPlan { allocation: reachable.made(self, &programme), programme, staleness }
    }
}
