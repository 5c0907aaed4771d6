//! An estimate and how sure it is.

use statrs::function::beta::checked_beta_reg;

use super::moments::{Intervals, mm};

/// A rate with an interval around it. All numbers are finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The rate.
    pub rate: f64,
    /// It is hardly lower than this.
    pub low: f64,
    /// It is hardly higher than this; `None` if the data allow any rate.
    pub high: Option<f64>,
}

/// How sure an interval is meant to be: the share of such intervals that hold the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    share: f64,
    deviations: f64,
}

impl Confidence {
    /// An interval that holds the truth in this share of cases, above 0 and below 1.
    pub fn new(share: f64) -> Option<Self> {
        let inside = share > 0.0 && share < 1.0;
        // |N(0,1)| ≤ z has the distribution √(2 Gamma(1/2)).
        let deviations = || (2.0 * crate::math::gamma_distribution::quantile(0.5, share)).sqrt();
        inside.then(|| Self { share, deviations: deviations() })
    }

    /// The share of intervals that hold the truth.
    pub fn share(self) -> f64 {
        self.share
    }

    /// What is left on one side.
    pub fn tail(self) -> f64 {
        0.5 * (1.0 - self.share)
    }

    /// The half-width of the interval of a normal distribution, in standard deviations.
    pub fn deviations(self) -> f64 {
        self.deviations
    }

    /// Clopper and Pearson's interval for a share, from `hits` of `trials`: never too short.
    pub fn of_share(self, hits: f64, trials: f64) -> (f64, f64) {
        let misses = trials - hits;
        let low = if hits > 0.0 { beta_quantile(hits, misses.max(0.0) + 1.0, self.tail()) } else { 0.0 };
        let high =
            if misses > 0.0 { beta_quantile(hits.max(0.0) + 1.0, misses, 1.0 - self.tail()) } else { 1.0 };
        (low, high)
    }

    /// An estimate of `rate` with the interval that the number of changed intervals gives, whatever their lengths.
    ///
    /// An interval of length t is changed with probability 1 - e^{-Δt}. The number of changed ones spreads no more than a binomial
    /// number with their mean probability (Hoeffding 1956), so the interval of the share, turned into rates by Σ e^{-Δt}, holds Δ. An
    /// estimator that errs to one side may be outside: the interval is widened to hold it.
    pub fn of_changed(self, rate: f64, intervals: &impl Intervals, changed: f64) -> Estimate {
        let all = intervals.count();
        let (low, high) = self.of_share(changed, all);
        let bound = |share: f64| mm(intervals, all * (1.0 - share));
        let high = (high < 1.0).then(|| bound(high).max(rate)).filter(|high| high.is_finite());
        Estimate { rate, low: if low > 0.0 { bound(low).min(rate) } else { 0.0 }, high }
    }

    /// An estimate of `rate` whose logarithm is known this well (the inverse of its variance).
    pub fn of_logarithm(self, rate: f64, information: f64) -> Estimate {
        let half = self.deviations / information.sqrt();
        let high = Some(rate * half.exp()).filter(|high| high.is_finite());
        Estimate { rate, low: rate * (-half).exp(), high }
    }
}

/// The x with P(X ≤ x) = `share` for X ~ Beta(a, b), by bisection.
fn beta_quantile(a: f64, b: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if checked_beta_reg(a, b, middle).is_ok_and(|below| below < share) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_intervals() {
        let usual = Confidence::new(0.95).unwrap();
        assert!((usual.deviations() - 1.959_963_984_540_054).abs() < 1e-9);
        // Clopper and Pearson's interval for 8 of 10; for none and all of 10 it is 1 - (α/2)^{1/10} long.
        let (low, high) = usual.of_share(8.0, 10.0);
        assert!((low - 0.443_904_5).abs() < 1e-6 && (high - 0.974_789_3).abs() < 1e-6, "{low} {high}");
        assert_eq!(usual.of_share(0.0, 0.0), (0.0, 1.0));
        let longest = 1.0 - 0.025f64.powf(0.1);
        let (none, all) = (usual.of_share(0.0, 10.0), usual.of_share(10.0, 10.0));
        assert!(none.0 == 0.0 && (none.1 - longest).abs() < 1e-12, "{none:?}");
        assert!(all.1 == 1.0 && (all.0 - (1.0 - longest)).abs() < 1e-12, "{all:?}");
        for wrong in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(Confidence::new(wrong).is_none());
        }
    }
}
