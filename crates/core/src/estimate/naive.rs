//! Naive: p S/k, the changes seen per unit of time.
//!
//! Biased low: changes between two fetches count once. Its limit is pΔ/(Δ+p) for fetches at random times.
//! Domain: k ≥ 1 (0 before). Nothing changed: 0. Everything changed: p, however fast the page is.

use super::counts::Counts;

/// The estimate for fetches at rate `p`.
pub fn naive(seen: &Counts, p: f64) -> f64 {
    if seen.all > 0.0 { p * seen.changed / seen.all } else { 0.0 }
}
