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

/// The budgets that buy these shares of freshness, which should rise: `None` if no budget does, because of maximum
/// rates. `progress` hears of every pass.
pub fn rates_for_freshness<C: Candidate>(
    candidates: &[C],
    targets: &[f64],
    mut progress: impl FnMut(),
) -> Vec<Option<CurvePoint>> {
    let mut hints = vec![C::Hint::default(); candidates.len()];
    let mut at = |price| {
        progress();
        point(candidates, &mut hints, price)
    };
    let ceiling = candidates.iter().map(Candidate::ceiling).fold(0.0, f64::max).min(f64::MAX);
    let least = at(ceiling);
    let most = at(f64::MIN_POSITIVE);
    // The fresh share per stale share falls with the price, and goes with 1/√price as rates do.
    let odds = |freshness: f64| 1.0 / (1.0 - freshness);
    let mut guess = Guess::blind(0.1 * ceiling);
    let mut search = |target: &f64| {
        if least.freshness >= *target {
            return Some(least);
        }
        if most.freshness < *target {
            return None;
        }
        let end = (ceiling, odds(least.freshness));
        let found = price::find(odds(*target), CLOSE, end, guess, |price| odds(at(price).freshness));
        guess = Guess { price: found.low, slope: found.slope };
        Some(at(found.low))
    };
    targets.iter().map(&mut search).collect()
}

/// How close to a freshness is close enough for people, in the odds.
const CLOSE: f64 = 1e-7;

fn point<C: Candidate>(candidates: &[C], hints: &mut [C::Hint], price: f64) -> CurvePoint {
    let totals = totals(candidates, hints, price);
    CurvePoint { price, rate: totals.rate, freshness: totals.freshness(candidates.len()) }
}
