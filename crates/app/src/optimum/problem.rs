//! The pages as candidates for the budget, whatever they come with.

use refrain_core::optimum::{Allocation, Bounded, Page, SignalPage, allocate, at_price};
use refrain_core::page::Belief;

use crate::failure::Failure;
use crate::input::Pages;

/// What is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// Fetches per unit of time.
    Budget(f64),
    /// What a fetch costs, and a stale copy of a page of importance 1 per unit of time.
    Costs { fetch: f64, stale: f64 },
}

/// Pages with or without signals, with or without bounds.
pub(crate) enum Problem {
    Plain(Vec<Page>),
    Signals(Vec<SignalPage>),
    BoundedPlain(Vec<Bounded<Page>>),
    BoundedSignals(Vec<Bounded<SignalPage>>),
}

/// The same expression for whichever kind of candidates there is.
macro_rules! with_candidates {
    ($problem:expr, $candidates:ident => $body:expr) => {
        match $problem {
            $crate::optimum::problem::Problem::Plain($candidates) => $body,
            $crate::optimum::problem::Problem::Signals($candidates) => $body,
            $crate::optimum::problem::Problem::BoundedPlain($candidates) => $body,
            $crate::optimum::problem::Problem::BoundedSignals($candidates) => $body,
        }
    };
}
pub(super) use with_candidates;

impl Problem {
    pub(crate) fn new(pages: &Pages, with_signals: bool, stale_cost: f64) -> Result<Self, Failure> {
        let beliefs = || pages.beliefs.iter();
        // Importance counts in stale costs; only a product that overflows can fail.
        let weighted = |belief: &Belief| {
            Belief::new(belief.change_rate(), belief.importance() * stale_cost)
                .and_then(|page| page.with_signals(belief.recall(), belief.false_rate()))
                .map_err(|why| Failure::input(format!("--stale-cost {stale_cost}: too large ({why})")))
        };
        let bounded = pages.bounds.as_deref();
        Ok(match (with_signals, bounded) {
            (false, None) => Self::Plain(beliefs().map(|b| Ok(Page::of(&weighted(b)?))).collect::<Result<_, _>>()?),
            (true, None) => {
                Self::Signals(beliefs().map(|b| Ok(SignalPage::of(&weighted(b)?))).collect::<Result<_, _>>()?)
            }
            (false, Some(bounds)) => Self::BoundedPlain(
                beliefs().zip(bounds).map(|(b, at)| bound(Page::of(&weighted(b)?), *at)).collect::<Result<_, _>>()?,
            ),
            (true, Some(bounds)) => Self::BoundedSignals(
                beliefs()
                    .zip(bounds)
                    .map(|(b, at)| bound(SignalPage::of(&weighted(b)?), *at))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    pub(crate) fn solve(&self, goal: Goal) -> Result<Allocation, Failure> {
        with_candidates!(self, candidates => match goal {
            Goal::Budget(rate) => allocate(candidates, rate).map_err(|why| {
                Failure::input(format!("--rate {rate}: too small: {why}; raise it, or lower min_rate"))
            }),
            Goal::Costs { fetch, .. } => Ok(at_price(candidates, fetch)),
        })
    }
}

fn bound<C: refrain_core::optimum::Candidate>(page: C, (least, most): (f64, f64)) -> Result<Bounded<C>, Failure> {
    Bounded::new(page, least, most)
        .ok_or_else(|| Failure::input(format!("min_rate {least} and max_rate {most} leave no rate between them")))
}
