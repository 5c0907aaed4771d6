//! The default estimator: a belief is a distribution.
//!
//! The posterior of the change rate under a prior, as the Gamma(a, B) that has its maximum and curvature in ln Δ: with
//! nothing changed that is exact, and otherwise close from the first observation on. Its mean a/B is the maximum-likelihood
//! estimate with a prior: the full MLE where there are data, the prior where there are none.
//! Domain: any history. Nothing changed: (a₀, B₀ + Σt), exactly. Everything changed: the prior keeps it finite.

use super::history::History;
use super::interval::{Confidence, Estimate};
use super::prior::Prior;
use super::score::{Score, Weighted};
use crate::math::gamma_distribution::quantile;
use crate::math::polygamma::digamma;
use crate::page::BeliefError;
use crate::value::GammaPosterior;

/// The last step to a maximum, relative: what is left is its square.
const EXACT: f64 = 1e-5;

/// A Gamma distribution of the change rate: mean a/B, relative standard deviation 1/√a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Posterior {
    shape: f64,
    rate: f64,
}

impl Posterior {
    /// With this shape a and rate B (in units of time).
    ///
    /// # Errors
    /// Unless both are finite and positive.
    pub fn new(shape: f64, rate: f64) -> Result<Self, BeliefError> {
        for (name, value) in [("shape", shape), ("rate", rate)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(BeliefError::NotARate { name, value });
            }
        }
        Ok(Self { shape, rate })
    }

    /// What is believed of a page with this history.
    pub fn of(history: &History, prior: &Prior) -> Self {
        Self::of_within(history, prior, EXACT)
    }

    /// The same, to within about the square of `last_step`.
    pub(super) fn of_within(history: &History, prior: &Prior, last_step: f64) -> Self {
        let [a, b, c] = history.changed_lengths();
        let unused = Weighted { length: 0.0, weight: 0.0 };
        Self::from_intervals_within(&mut [a, b, c, unused], history.unchanged_span(), prior, last_step)
    }

    /// The same from changed intervals and the total length of the unchanged ones. The last of the intervals is room for
    /// what the prior has to say; its weight must be 0.
    pub fn from_intervals(changed: &mut [Weighted], unchanged: f64, prior: &Prior) -> Self {
        Self::from_intervals_within(changed, unchanged, prior, EXACT)
    }

    fn from_intervals_within(
        changed: &mut [Weighted],
        unchanged: f64,
        prior: &Prior,
        last_step: f64,
    ) -> Self {
        let score = match *prior {
            Prior::Gamma { shape, rate } => Score { unchanged: unchanged + rate, instant: shape, changed },
            Prior::Intervals { changed_within, unchanged_for } => {
                if let Some(room) = changed.last_mut() {
                    *room = Weighted { length: changed_within, weight: 1.0 };
                }
                Score { unchanged: unchanged + unchanged_for, instant: 0.0, changed }
            }
        };
        // Neither can be missing: every prior has changes and time in it.
        let mean = score.maximum_within(last_step).filter(|mean| *mean > 0.0).unwrap_or(f64::MIN_POSITIVE);
        let shape = score.information(mean);
        Self { shape, rate: shape / mean }
    }

    /// With seven digits, as it is kept where there are millions.
    #[must_use]
    pub fn in_single(&self) -> Self {
        let single = |x: f64| f64::from((x as f32).clamp(f32::MIN_POSITIVE, f32::MAX));
        Self { shape: single(self.shape), rate: single(self.rate) }
    }

    /// a.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// B, in units of time.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The expected change rate, a/B.
    pub fn mean(&self) -> f64 {
        self.shape / self.rate
    }

    /// The expected logarithm of the change rate.
    pub fn mean_log(&self) -> f64 {
        digamma(self.shape) - self.rate.ln()
    }

    /// The rate below which this share of the belief lies.
    pub fn quantile(&self, share: f64) -> f64 {
        (quantile(self.shape, share) / self.rate).min(f64::MAX)
    }

    /// The mean, and the interval that holds the middle of the belief.
    pub fn estimate(&self, confidence: Confidence) -> Estimate {
        let tail = confidence.tail();
        let (low, high) = (self.quantile(tail), self.quantile(1.0 - tail));
        let rate = self.mean();
        // A mean above the upper bound is possible for shapes near 0: most of the belief is at next to nothing.
        Estimate { rate, low: low.min(rate), high: Some(high.max(rate)) }
    }

    /// ln S(s), S(s) = (B/(B+s))^a: the chance that the page stays as it is for this long.
    pub fn log_survival(&self, span: f64) -> f64 {
        -self.shape * (span / self.rate).ln_1p()
    }

    /// The crawl value of the page, averaged over the belief.
    ///
    /// # Errors
    /// If the importance is negative, infinite or not a number.
    pub fn value(&self, importance: f64) -> Result<GammaPosterior, BeliefError> {
        GammaPosterior::new(self.shape, self.rate, importance)
    }

    /// A few rates that stand for the belief, equally likely each: the middles of `N` equal parts. For values that have no
    /// closed form under uncertainty, such as those with signals.
    pub fn points<const N: usize>(&self) -> [f64; N] {
        std::array::from_fn(|i| self.quantile((i as f64 + 0.5) / N as f64))
    }
}
