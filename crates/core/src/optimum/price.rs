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
}

/// How close to the budget is exact: a few roundings.
const EXACT: f64 = 1e-14;
const MAX_STEPS: u32 = 400;

/// Finds the price at which a total rate that never rises with the price meets the budget.
///
/// `total` may jump (pages fetched only at signals) and may be steep enough that neighbouring floats lie on both
/// sides of the budget; then both are returned, to be mixed. Secant steps in log-log coordinates, where the rate is
/// nearly a straight line (it goes with 1/√price as long as nobody drops out); bisection whenever two steps have not
/// halved the bracket. `ceiling` is a price and its rate, which must not exceed the budget; 0 < guess.
pub(super) fn find(budget: f64, ceiling: (f64, f64), guess: f64, mut total: impl FnMut(f64) -> f64) -> Found {
    let mut low = (0.0, f64::INFINITY);
    let mut high = ceiling;
    let mut previous: Option<(f64, f64)> = None;
    let mut price = guess.min(ceiling.0);
    let mut stale = 0;
    for _ in 0..MAX_STEPS {
        let rate = total(price);
        if (rate / budget - 1.0).abs() <= EXACT {
            return Found { low: price, high: price, share_of_low: 1.0 };
        }
        let width = high.0 / low.0;
        if rate > budget {
            low = (price, rate);
        } else {
            high = (price, rate);
        }
        if high.0 - low.0 <= 2.0 * f64::EPSILON * high.0 {
            break;
        }
        // A bracket is "halved" if its width in the exponent is.
        stale = if (high.0 / low.0).ln() <= 0.5 * width.ln() { 0 } else { stale + 1 };
        let secant = secant_step(budget, (price, rate), previous);
        previous = Some((price, rate));
        price = match secant {
            Some(next) if stale < 3 && next > low.0 && next < high.0 => next,
            _ => middle(low.0, high.0),
        };
    }
    let share_of_low =
        if low.1.is_finite() && low.1 > high.1 { (budget - high.1) / (low.1 - high.1) } else { 1.0 };
    if low.0 == 0.0 {
        return Found { low: high.0, high: high.0, share_of_low: 1.0 };
    }
    Found { low: low.0, high: high.0, share_of_low }
}

/// The price at which the line through the last two points in log-log coordinates meets the budget; with one point,
/// the line of slope -1/2 through it.
fn secant_step(budget: f64, at: (f64, f64), before: Option<(f64, f64)>) -> Option<f64> {
    let miss = (at.1 / budget).ln();
    let slope = match before {
        Some(before) if before.1 > 0.0 && before.0 != at.0 => {
            (at.1 / before.1).ln() / (at.0 / before.0).ln()
        }
        _ => -0.5,
    };
    let next = at.0 * (-miss / slope).exp();
    (slope < 0.0 && next.is_finite() && next != at.0).then_some(next)
}

fn middle(low: f64, high: f64) -> f64 {
    if low == 0.0 {
        return high * 1e-3;
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
            let found = find(7.0, (1e30, 0.0), guess, |price| {
                steps += 1;
                scale * price.powf(-power)
            });
            let expected = (scale / 7.0).powf(1.0 / power);
            prop_assert!((found.low / expected - 1.0).abs() < 1e-12);
            prop_assert!(steps <= 12, "{steps}");
        }

        #[test]
        fn jumps_are_shared(at in 1e-6f64..1e6, low in 0.0f64..5.0, high in 6.0f64..20.0) {
            let found = find(5.5, (1e9, low), 1.0, |price| if price < at { high } else { low });
            prop_assert!(found.low <= at && at <= found.high * (1.0 + 1e-15));
            let mixed = found.share_of_low * high + (1.0 - found.share_of_low) * low;
            prop_assert!((mixed - 5.5).abs() < 1e-12);
        }
    }
}
