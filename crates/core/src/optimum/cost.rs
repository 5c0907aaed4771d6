//! The price fixed by costs (the refresh-cost paper): a fetch costs so much, a stale copy so much per unit of time.

use crate::page::{Belief, BeliefError};
use crate::value::{CrawlValue, Greedy};

/// The cheapest way to keep one page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostOptimum {
    /// Time between fetches; `None` if a fetch is never worth its cost.
    pub interval: Option<f64>,
    /// Fetches and staleness together, per unit of time.
    pub cost_rate: f64,
}

/// The interval that minimises fetch_cost/t + stale_cost · staleness(t) for a page of this change rate.
///
/// This is GREEDY at a fixed price: V(t) = fetch_cost with μ = stale_cost. A page whose mean time between changes is
/// at most fetch_cost/stale_cost is never worth a fetch, and costs stale_cost all the time.
///
/// # Errors
/// If a number is negative, infinite or not a number.
pub fn cost_optimum(change_rate: f64, fetch_cost: f64, stale_cost: f64) -> Result<CostOptimum, BeliefError> {
    let page = Belief::new(change_rate, stale_cost)?;
    if !(fetch_cost.is_finite() && fetch_cost >= 0.0) {
        return Err(BeliefError::NotARate { name: "fetch_cost", value: fetch_cost });
    }
    if change_rate == 0.0 {
        return Ok(CostOptimum { interval: None, cost_rate: 0.0 });
    }
    let interval = Greedy::new(&page).moment(fetch_cost, 0);
    let cost_rate = match interval {
        None => stale_cost,
        Some(0.0) => 0.0,
        Some(t) => {
            let x = change_rate * t;
            // 1 - (1 - e^{-x})/x
            fetch_cost / t + stale_cost * (1.0 + (-x).exp_m1() / x)
        }
    };
    Ok(CostOptimum { interval, cost_rate })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Golden figures: D hours between changes, costs, r = t/D.
    #[test]
    fn golden_intervals() {
        let known = [
            (24.0, 1.0, 1.0, 0.320_789, 1e-6),
            (24.0, 4.0, 1.0, 0.731, 1e-4),
            (24.0, 1.0, 4.0, 0.1518, 1e-4),
            (2.0, 1.0, 1.0, 1.678_35, 1e-5),
            (1.01, 1.0, 1.0, 6.6498, 1e-4),
        ];
        for (mean, fetch, stale, r, tolerance) in known {
            let optimum = cost_optimum(1.0 / mean, fetch, stale).unwrap();
            let found = optimum.interval.unwrap() / mean;
            assert!((found - r).abs() < tolerance, "D={mean}: {found}");
        }
        let day = cost_optimum(1.0 / 24.0, 1.0, 1.0).unwrap();
        assert!((day.cost_rate - 0.274_423).abs() < 1e-6);
        assert_eq!(cost_optimum(1.0, 1.0, 1.0).unwrap().interval, None);
    }

    #[test]
    fn no_other_interval_is_cheaper() {
        for (rate, fetch, stale) in [(0.04, 1.0, 1.0), (2.0, 0.1, 3.0), (1e-3, 5.0, 0.2)] {
            let best = cost_optimum(rate, fetch, stale).unwrap();
            let t = best.interval.unwrap();
            for factor in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
                let (t, x) = (t * factor, rate * t * factor);
                let cost = fetch / t + stale * (1.0 - (1.0 - (-x).exp()) / x);
                assert!(cost >= best.cost_rate);
            }
        }
    }

    #[test]
    fn nothing_is_free_to_be_wrong() {
        assert!(cost_optimum(1.0, -1.0, 1.0).is_err());
        assert!(cost_optimum(1.0, f64::NAN, 1.0).is_err());
        assert_eq!(cost_optimum(0.0, 1.0, 1.0).unwrap(), CostOptimum { interval: None, cost_rate: 0.0 });
        assert_eq!(cost_optimum(1.0, 1.0, 0.0).unwrap(), CostOptimum { interval: None, cost_rate: 0.0 });
    }
}
