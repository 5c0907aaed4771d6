use rayon::prelude::*;

use super::candidate::{Candidate, Visit};
use super::price::{self, EXACT, Found, Guess, ROUGH};
use crate::math::sum::Sum;

/// Work is cut into pieces of this many candidates whatever the number of threads, so that sums do not depend on it.
const PIECE: usize = 4096;
/// The first guess of the price comes from about this many candidates.
const SAMPLE: usize = 4096;

/// What the optimum gives to everyone.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// Λ: what the last fetch worth making is worth. 0 if more budget than can be used.
    pub price: f64,
    /// Fetches per unit of time, all candidates together.
    pub rate: f64,
    /// Share of requests that find a fresh copy: freshness weighted by importance (plain mean if nothing has any).
    pub freshness: f64,
    /// Each candidate's part, in their order.
    pub visits: Vec<Visit>,
}

/// The minimum rates of all candidates exceed the budget.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the minimum rates add up to {needed}, more than the budget of {budget}")]
pub struct Infeasible {
    /// The sum of the minimum rates.
    pub needed: f64,
    /// What there is.
    pub budget: f64,
}

/// Sums over all candidates at one price.
#[derive(Clone, Copy, Debug)]
pub(super) struct Totals {
    /// Fetches per unit of time.
    pub(super) rate: f64,
    /// Σ importance · freshness
    pub(super) gain: f64,
    /// Σ importance
    pub(super) weight: f64,
    /// Σ freshness
    pub(super) plain: f64,
}

impl Totals {
    /// Importance-weighted freshness of `count` candidates.
    pub(super) fn freshness(&self, count: usize) -> f64 {
        let share =
            if self.weight > 0.0 { self.gain / self.weight } else { self.plain / count.max(1) as f64 };
        share.clamp(0.0, 1.0)
    }
}

/// The best way to spend `budget` fetches per unit of time. `budget` must be positive.
///
/// Work is one pass over the candidates per price that is tried, six or so; passes run on all cores.
///
/// # Errors
/// If the minimum rates alone exceed the budget.
pub fn allocate<C: Candidate>(candidates: &[C], budget: f64) -> Result<Allocation, Infeasible> {
    let needed = bound_total(candidates, |candidate| candidate.bounds().0);
    if needed > budget {
        return Err(Infeasible { needed, budget });
    }
    let ceiling = candidates.par_iter().map(Candidate::ceiling).reduce(|| 0.0, f64::max).min(f64::MAX);
    let usable = bound_total(candidates, |c| if c.ceiling() > 0.0 { c.bounds().1 } else { c.bounds().0 });
    // Nothing gains from another fetch, or every one has all it may get.
    if ceiling == 0.0 || usable <= budget {
        return Ok(at_price(candidates, 0.0));
    }
    let mut hints = vec![C::Hint::default(); candidates.len()];
    let guess = guess(candidates, budget, (ceiling, needed));
    let found = price::find(budget, EXACT, (ceiling, needed), guess, |price| {
        total_rate(candidates, &mut hints, price)
    });
    Ok(finish(candidates, hints, found))
}

/// What everyone gets when a fetch costs `price`: the price is fixed, the rate comes out.
///
/// A price of 0 gives every candidate its greatest rate, if it has one and gains anything by it.
pub fn at_price<C: Candidate>(candidates: &[C], price: f64) -> Allocation {
    let hints = vec![C::Hint::default(); candidates.len()];
    finish(candidates, hints, Found { low: price, high: price, share_of_low: 1.0, slope: 0.0 })
}

fn finish<C: Candidate>(candidates: &[C], mut hints: Vec<C::Hint>, found: Found) -> Allocation {
    let visits: Vec<Visit> = candidates
        .par_iter()
        .zip(&mut hints)
        .with_min_len(PIECE)
        .map(|(candidate, hint)| {
            let low = candidate.visit(found.low, hint);
            if found.low == found.high {
                return low;
            }
            Visit::mix(low, candidate.visit(found.high, hint), found.share_of_low)
        })
        .collect();
    let totals =
        reduce(candidates.par_chunks(PIECE).zip(visits.par_chunks(PIECE)).map(|(candidates, visits)| {
            PieceSums::of(
                candidates.iter().zip(visits).map(|(candidate, visit)| (candidate.importance(), *visit)),
            )
        }));
    Allocation { price: found.low, rate: totals.rate, freshness: totals.freshness(candidates.len()), visits }
}

/// One pass that only adds up the rates, which is what a search for the price needs.
fn total_rate<C: Candidate>(candidates: &[C], hints: &mut [C::Hint], price: f64) -> f64 {
    let pieces: Vec<f64> = candidates
        .par_chunks(PIECE)
        .zip(hints.par_chunks_mut(PIECE))
        .map(|(candidates, hints)| {
            let rates =
                candidates.iter().zip(hints).map(|(candidate, hint)| candidate.visit(price, hint).rate);
            rates.collect::<Sum>().get()
        })
        .collect();
    pieces.into_iter().collect::<Sum>().get()
}

/// One pass: the sums at this price.
pub(super) fn totals<C: Candidate>(candidates: &[C], hints: &mut [C::Hint], price: f64) -> Totals {
    reduce(candidates.par_chunks(PIECE).zip(hints.par_chunks_mut(PIECE)).map(|(candidates, hints)| {
        PieceSums::of(
            candidates
                .iter()
                .zip(hints)
                .map(|(candidate, hint)| (candidate.importance(), candidate.visit(price, hint))),
        )
    }))
}

/// The price for every k-th candidate with their part of the budget.
fn guess<C: Candidate>(candidates: &[C], budget: f64, ceiling: (f64, f64)) -> Guess {
    // Without a sample, a price in the range where pages live.
    let blind = Guess::blind(ceiling.0 * 0.1);
    let stride = candidates.len() / SAMPLE;
    if stride < 2 {
        return blind;
    }
    let sample: Vec<&C> = candidates.iter().step_by(stride).collect();
    let mut hints = vec![C::Hint::default(); sample.len()];
    let part = sample.len() as f64 / candidates.len() as f64;
    let found = price::find(budget * part, ROUGH, (ceiling.0, ceiling.1 * part), blind, |price| {
        let sums = sample.iter().zip(&mut hints).map(|(candidate, hint)| candidate.visit(price, hint).rate);
        sums.collect::<Sum>().get()
    });
    Guess { price: found.low, slope: found.slope }
}

fn bound_total<C: Candidate>(candidates: &[C], bound: impl Fn(&C) -> f64 + Sync) -> f64 {
    let piece = |candidates: &[C]| candidates.iter().map(&bound).collect::<Sum>().get();
    let pieces: Vec<f64> = candidates.par_chunks(PIECE).map(piece).collect();
    pieces.into_iter().collect::<Sum>().get()
}

#[derive(Clone, Copy, Default)]
struct PieceSums {
    rate: Sum,
    gain: Sum,
    weight: Sum,
    plain: Sum,
}

impl PieceSums {
    fn of(visits: impl Iterator<Item = (f64, Visit)>) -> Self {
        let mut sums = Self::default();
        for (importance, visit) in visits {
            sums.rate.add(visit.rate);
            sums.gain.add(importance * visit.freshness);
            sums.weight.add(importance);
            sums.plain.add(visit.freshness);
        }
        sums
    }
}

/// Adds up the pieces in their order.
fn reduce(pieces: impl IndexedParallelIterator<Item = PieceSums>) -> Totals {
    let pieces: Vec<PieceSums> = pieces.collect();
    let add =
        |part: fn(&PieceSums) -> Sum| pieces.iter().map(|piece| part(piece).get()).collect::<Sum>().get();
    Totals {
        rate: add(|piece| piece.rate),
        gain: add(|piece| piece.gain),
        weight: add(|piece| piece.weight),
        plain: add(|piece| piece.plain),
    }
}
