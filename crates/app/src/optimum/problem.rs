//! The pages as candidates for the budget, whatever they come with.

use std::borrow::Cow;

use refrain_core::optimum::{Allocation, Bounded, Candidate, Page, SignalPage, allocate, at_price};
use refrain_core::page::BeliefError;

use crate::failure::Failure;
use crate::input::{Pages, Signals};

/// What is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Goal {
    /// Fetches per unit of time.
    Budget(f64),
    /// What a fetch costs, and a stale copy of a page of importance 1 per unit of time.
    Costs { fetch: f64, stale: f64 },
}

/// Pages with or without signals, with or without bounds.
pub(crate) enum Problem<'a> {
    Plain(Cow<'a, [Page]>),
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

impl<'a> Problem<'a> {
    /// The pages, their signals used or not, their importance counted in stale costs (1 if there are none).
    pub(crate) fn new(pages: &'a Pages, with_signals: bool, stale_cost: f64) -> Result<Self, Failure> {
        let signals = pages.signals.as_deref().filter(|_| with_signals);
        Ok(match (signals, pages.bounds.as_deref()) {
            (None, None) => Self::Plain(weighted(&pages.pages, stale_cost)?),
            (None, Some(bounds)) => {
                let plain = weighted(&pages.pages, stale_cost)?;
                Self::BoundedPlain(bound(plain.iter().copied(), bounds)?)
            }
            (Some(signals), None) => Self::Signals(listening(&pages.pages, signals, stale_cost)?),
            (Some(signals), Some(bounds)) => {
                let listening = listening(&pages.pages, signals, stale_cost)?;
                Self::BoundedSignals(bound(listening.into_iter(), bounds)?)
            }
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

fn weighted(pages: &[Page], stale_cost: f64) -> Result<Cow<'_, [Page]>, Failure> {
    if stale_cost == 1.0 {
        return Ok(Cow::Borrowed(pages));
    }
    let heavier = |page: &Page| Page::new(page.change_rate(), stale_cost * page.importance());
    let pages = pages.iter().map(heavier).collect::<Result<Vec<_>, _>>();
    pages.map(Cow::Owned).map_err(|why| too_much(stale_cost, why))
}

fn listening(pages: &[Page], signals: &[Signals], stale_cost: f64) -> Result<Vec<SignalPage>, Failure> {
    let beliefs = pages.iter().zip(signals).map(|(page, signals)| signals.belief(page, stale_cost));
    let pages = beliefs.map(|belief| belief.map(|belief| SignalPage::of(&belief))).collect::<Result<_, _>>();
    pages.map_err(|why| too_much(stale_cost, why))
}

/// The numbers are usable as they are; only a product with the cost may not be.
fn too_much(stale_cost: f64, why: BeliefError) -> Failure {
    Failure::input(format!("--stale-cost {stale_cost}: too large for these pages: {why}"))
}

fn bound<C: Candidate>(
    pages: impl Iterator<Item = C>,
    bounds: &[(f64, f64)],
) -> Result<Vec<Bounded<C>>, Failure> {
    let bounded = pages.zip(bounds).map(|(page, (least, most))| {
        Bounded::new(page, *least, *most).ok_or_else(|| {
            Failure::input(format!("min_rate {least} and max_rate {most} leave no rate between them"))
        })
    });
    bounded.collect()
}
