//! Grimes: the MLE with two made-up observations, "changed within one hour" and "unchanged for 57". (Grimes and Ford; alone
//! they say 57.5 hours between changes.)
//!
//! Domain: any intervals, time in known units. Nothing changed: the made-up change keeps it above 0. Everything changed:
//! the made-up rest keeps it finite.

use super::interval::{Confidence, Estimate};
use super::posterior::Posterior;
use super::prior::Prior;
use super::score::Weighted;

/// The estimate, with a normal interval in ln Δ. The last of the changed intervals is room for the made-up one.
pub fn grimes(changed: &mut [Weighted], unchanged: f64, prior: &Prior, confidence: Confidence) -> Estimate {
    let found = Posterior::from_intervals(changed, unchanged, prior);
    confidence.of_logarithm(found.mean(), found.shape())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_the_prior_says_57_hours() {
        let usual = Confidence::new(0.95).unwrap();
        let mut room = [Weighted { length: 0.0, weight: 0.0 }];
        let found = grimes(&mut room, 0.0, &Prior::GRIMES.in_units_of(3600.0), usual);
        assert!((found.rate - (58.0 / 57.0_f64).ln()).abs() < 1e-12, "{found:?}");
        assert!((1.0 / found.rate - 57.5).abs() < 0.01);
        assert!(found.low > 0.0 && found.high.unwrap() < 1.0);
    }
}
