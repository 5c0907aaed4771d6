use super::allocate::totals;
use super::candidate::Candidate;
use super::price::{self, Guess};

/// One point of the curve of freshness against budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Λ
    pub price: f64,
    /// Fetches per unit of time.
    pub rate: f64,
    /// Importance-weighted freshness.
    pub freshness: f64,
}

/// The optimum at each of these prices, which should fall: one pass each, no search. `progress` hears of every pass.
pub fn curve<C: Candidate>(
    candidates: &[C],
    prices: impl IntoIterator<Item = f64>,
    mut progress: impl FnMut(),
) -> Vec<CurvePoint> {
    let mut hints = vec![C::Hint::default(); candidates.len()];
    let mut at = |price| {
        progress();
        point(candidates, &mut hints, price)
    };
    prices.into_iter().map(&mut at).collect()
}

/// The budget that buys this freshness: `None` if no budget does, because of maximum rates.
pub fn rate_for_freshness<C: Candidate>(
    candidates: &[C],
    freshness: f64,
    mut progress: impl FnMut(),
) -> Option<CurvePoint> {
    let mut hints = vec![C::Hint::default(); candidates.len()];
    let mut at = |price| {
        progress();
        point(candidates, &mut hints, price)
    };
    let ceiling = candidates.iter().map(Candidate::ceiling).fold(0.0, f64::max).min(f64::MAX);
    let least = at(ceiling);
    if least.freshness >= freshness {
        return Some(least);
    }
    let most = at(f64::MIN_POSITIVE);
    if most.freshness < freshness {
        return None;
    }
    // The fresh share per stale share falls with the price, and goes with 1/√price as rates do.
    let odds = |freshness: f64| 1.0 / (1.0 - freshness);
    let found = price::find(
        odds(freshness),
        1e-9,
        (ceiling, odds(least.freshness)),
        Guess::blind(0.1 * ceiling),
        |price| odds(at(price).freshness),
    );
    Some(at(found.low))
}

fn point<C: Candidate>(candidates: &[C], hints: &mut [C::Hint], price: f64) -> CurvePoint {
    let totals = totals(candidates, hints, price);
    CurvePoint { price, rate: totals.rate, freshness: totals.freshness(candidates.len()) }
}
