//! Finding the price at which the rates add up to the budget.

/// Two prices, as close as floats get or as close as it takes, with the budget between their rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// Its rate is not below the budget.
    pub(super) low: f64,
    /// Its rate is not above the budget.
    pub(super) high: f64,
    /// Which share of the time to live at the lower price so that the budget is met exactly.
    pub(super) share_of_low: f64,
    /// d ln rate / d ln price around it, as far as it is known.
    pub(super) slope: f64,
}

/// How close to the budget is exact: what the rates of pages with signals are known to.
pub(super) const EXACT: f64 = 1e-11;
/// How close is close enough for a first guess: closer, and the sample shows its own steps, not the slope of all.
pub(super) const ROUGH: f64 = 1e-3;
const MAX_STEPS: u32 = 400;
/// As long as nobody drops out, the rate goes with 1/√price.
const USUAL_SLOPE: f64 = -0.5;
const STEEP: f64 = 1e3;

/// Where to start looking.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    pub(super) price: f64,
    /// d ln rate / d ln price around it.
    pub(super) slope: f64,
}

impl Guess {
    pub(super) fn blind(price: f64) -> Self {
        Self { price, slope: USUAL_SLOPE }
    }
}

/// Finds the price at which a total rate that never rises with the price meets the budget.
///
/// `total` may jump (pages fetched only at signals) and may be steep enough that neighbouring floats lie on both
/// sides of the budget; then both are returned, to be mixed. Secant steps in log-log coordinates, where the rate is
/// nearly a straight line; bisection whenever a step has not at least halved the distance to the budget. `ceiling`
/// is a price and its rate, which must not exceed the budget; 0 < guess; a rate within `tolerance` of the budget will
/// do.
pub(super) fn find(
    budget: f64,
    tolerance: f64,
    ceiling: (f64, f64),
    guess: Guess,
    mut total: impl FnMut(f64) -> f64,
) -> Found {
    let mut low = (0.0, f64::INFINITY);
    let mut high = ceiling;
    let mut price = guess.price.min(ceiling.0);
    let mut slope = guess.slope;
    let mut before: Option<(f64, f64)> = None;
    for _ in 0..MAX_STEPS {
        let rate = total(price);
        let miss = (rate / budget).ln();
        if miss.abs() <= tolerance {
            return Found { low: price, high: price, share_of_low: 1.0, slope };
        }
        if rate > budget {
            low = (price, rate);
        } else {
            high = (price, rate);
        }
        if high.0 - low.0 <= 2.0 * f64::EPSILON * high.0 {
            break;
        }
        let mut shrinks = true;
        if let Some((last_price, last_miss)) = before {
            let chord = (miss - last_miss) / (price / last_price).ln();
            // A chord over a jump is no slope.
            if chord < 0.0 && chord > -STEEP {
                slope = chord;
            }
            shrinks = miss.abs() <= 0.5 * last_miss.abs();
        }
        before = Some((price, miss));
        let secant = price * (-miss / slope).exp();
        let usable = shrinks && secant > low.0 && secant < high.0;
        price = if usable { secant } else { middle(low.0, high.0) };
    }
    if low.0 == 0.0 {
        return Found { low: high.0, high: high.0, share_of_low: 1.0, slope };
    }
    let share_of_low =
        if low.1.is_finite() && low.1 > high.1 { (budget - high.1) / (low.1 - high.1) } else { 1.0 };
    Found { low: low.0, high: high.0, share_of_low, slope }
}

fn middle(low: f64, high: f64) -> f64 {
    if low == 0.0 {
        return high * 0.1;
    }
    if high > 2.0 * low { low.sqrt() * high.sqrt() } else { low + 0.5 * (high - low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn smooth_curves_take_few_steps(scale in 1e-9f64..1e9, power in 0.3f64..1.5, guess in 1e-6f64..1e6) {
            let mut steps = 0;
            let found = find(7.0, EXACT, (1e30, 0.0), Guess::blind(guess), |price| {
                steps += 1;
                scale * price.powf(-power)
            });
            let expected = (scale / 7.0).powf(1.0 / power);
            prop_assert!((found.low / expected - 1.0).abs() < 1e-10);
            prop_assert!(steps <= 12, "{steps}");
        }

        #[test]
        fn jumps_are_shared(at in 1e-6f64..1e6, low in 0.0f64..5.0, high in 6.0f64..20.0) {
            let found = find(5.5, EXACT, (1e9, low), Guess::blind(1.0), |price| if price < at { high } else { low });
            prop_assert!(found.low <= at && at <= found.high * (1.0 + 1e-15));
            let mixed = found.share_of_low * high + (1.0 - found.share_of_low) * low;
            prop_assert!((mixed - 5.5).abs() < 1e-12);
        }
    }
}
