//! LLN: p S/(k + a - S), by the law of large numbers.
//!
//! Fetches at random times (a Poisson process of rate p) find a change with probability Δ/(Δ+p); solve for Δ. The
//! offset a keeps the estimate finite. (Avrachenkov, Patil and Thoppe, eq. 1.)
//! Domain: k ≥ 1 (0 before). Nothing changed: 0. Everything changed: pk/a.

use super::counts::Counts;

/// a, as a function of the number of intervals k.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offset {
    /// 1
    #[default]
    One,
    /// ln k (at k = 1, where that is nothing, ln 2)
    Log,
    /// √k
    Root,
    /// k^¾: as much as the paper tried, and too much
    ThreeQuarters,
}

impl Offset {
    fn of(self, k: f64) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Log => k.max(2.0).ln(),
            Self::Root => k.sqrt(),
            Self::ThreeQuarters => k.powf(0.75),
        }
    }
}

/// The estimate for fetches at rate `p`.
pub fn lln(seen: &Counts, p: f64, offset: Offset) -> f64 {
    let Counts { changed, all, .. } = *seen;
    if all > 0.0 { p * changed / (all + offset.of(all) - changed) } else { 0.0 }
}
