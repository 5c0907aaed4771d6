//! MLE for irregular intervals: the rate at which what was seen is likeliest, Σ_{changed} t/(e^{Δt} - 1) = Σ_{unchanged} t.
//! (Cho and Garcia-Molina.)
//!
//! Domain: any intervals. Nothing changed: 0. Everything changed: the likelihood grows with the rate without end; what is
//! given instead is the rate at which half an unchanged interval would be expected, Σ e^{-Δt} = ½, with no upper bound.

use super::interval::{Confidence, Estimate};
use super::moments;
use super::score::Score;

/// The estimate.
pub fn mle(score: &Score<'_>) -> f64 {
    score.maximum().unwrap_or_else(|| moments::half_unchanged(score.changed))
}

/// The same with an interval: the rates whose likelihood is not much lower (Wilks); one-sided where all or none changed.
pub fn mle_interval(score: &Score<'_>, confidence: Confidence) -> Estimate {
    let rate = mle(score);
    if rate == 0.0 {
        let high = (score.unchanged > 0.0).then(|| -(1.0 - confidence.share()).ln() / score.unchanged);
        return Estimate { rate, low: 0.0, high };
    }
    if score.maximum().is_none() {
        let low = score.all_changed_with(1.0 - confidence.share()).min(rate);
        return Estimate { rate, low, high: None };
    }
    let (low, high) = score.lower_by(0.5 * confidence.deviations().powi(2), rate);
    Estimate { rate, low: low.min(rate), high: Some(high.max(rate)).filter(|high| high.is_finite()) }
}
