//! Regular intervals, bias reduced: -ln((k - S + ½)/(k + ½))/C. (Cho and Garcia-Molina.)
//!
//! For fetches exactly C apart; the halves take the first-order bias out and keep the estimate finite. Where intervals
//! differ, C is their mean, and the estimate is biased low.
//! Domain: k ≥ 1 (0 before). Nothing changed: 0. Everything changed: ln(2k + 1)/C.

use super::counts::Counts;
use super::interval::{Confidence, Estimate};

/// The estimate.
pub fn regular(seen: &Counts) -> f64 {
    at(seen, seen.changed)
}

fn at(seen: &Counts, changed: f64) -> f64 {
    // -0.0 is not a rate that anyone wants to read.
    (-((seen.all - changed + 0.5) / (seen.all + 0.5)).ln() * seen.fetch_rate()).max(0.0)
}

/// The same with an interval: Wilson's, for the share of intervals with a change.
pub fn regular_interval(seen: &Counts, confidence: Confidence) -> Estimate {
    let (low, high) = confidence.of_share(seen.changed, seen.all);
    let bound = |share: f64| at(seen, share * seen.all);
    Estimate { rate: regular(seen), low: bound(low), high: (seen.all > 0.0).then(|| bound(high)) }
}
