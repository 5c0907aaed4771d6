use super::allocate::totals;
use super::candidate::Candidate;

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
    let mut high = candidates.iter().map(Candidate::ceiling).fold(0.0, f64::max);
    let at_least = at(high);
    if at_least.freshness >= freshness {
        return Some(at_least);
    }
    // Freshness falls with the price. Divide by more and more until it is reached.
    let mut low = high;
    let mut found = at_least;
    let mut factor = 2.0;
    while found.freshness < freshness {
        high = low;
        low /= factor;
        factor *= 2.0;
        if low == 0.0 {
            return None;
        }
        found = at(low);
    }
    // To a relative 1e-6 of the price: the curve is flat here, so freshness and rate are better than that.
    while high > low * (1.0 + 1e-6) {
        let middle = low.sqrt() * high.sqrt();
        let here = at(middle);
        if here.freshness >= freshness {
            (low, found) = (middle, here);
        } else {
            high = middle;
        }
    }
    Some(found)
}

fn point<C: Candidate>(candidates: &[C], hints: &mut [C::Hint], price: f64) -> CurvePoint {
    let totals = totals(candidates, hints, price);
    CurvePoint { price, rate: totals.rate, freshness: totals.freshness(candidates.len()) }
}
