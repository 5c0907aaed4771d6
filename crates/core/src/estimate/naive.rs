//! Naive: p S/k, the changes seen per unit of time.
//!
//! Biased low: changes between two fetches count once. Its limit is pΔ/(Δ+p) for fetches at random times.
//! Domain: k ≥ 1 (0 before). Nothing changed: 0. Everything changed: p, however fast the page is.

use super::counts::Counts;
use super::interval::{Confidence, Estimate};

/// The estimate for fetches at rate `p`.
pub fn naive(seen: &Counts, p: f64) -> f64 {
    if seen.all > 0.0 { p * seen.changed / seen.all } else { 0.0 }
}

/// The same with an interval: Wilson's, for the share of intervals with a change. It holds the limit, not the truth.
pub fn naive_interval(seen: &Counts, p: f64, confidence: Confidence) -> Estimate {
    let (low, high) = confidence.of_share(seen.changed, seen.all);
    Estimate { rate: naive(seen, p), low: p * low, high: Some(p * high) }
}
