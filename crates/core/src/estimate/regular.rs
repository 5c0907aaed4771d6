//! Regular intervals, bias reduced: -ln((k - S + ½)/(k + ½))/C. (Cho and Garcia-Molina.)
//!
//! For fetches exactly C apart; the halves take the first-order bias out and keep the estimate finite. Where intervals
//! differ, C is their mean, and the estimate is biased low.
//! Domain: k ≥ 1 (0 before). Nothing changed: 0. Everything changed: ln(2k + 1)/C.

use super::counts::Counts;

/// The estimate.
pub fn regular(seen: &Counts) -> f64 {
    // Not -0.0, where nothing changed.
    (-((seen.all - seen.changed + 0.5) / (seen.all + 0.5)).ln() * seen.fetch_rate()).max(0.0)
}
