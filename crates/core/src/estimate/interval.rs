//! An estimate and how sure it is.

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

    /// Wilson's interval for a share, from `hits` of `trials`.
    pub fn of_share(self, hits: f64, trials: f64) -> (f64, f64) {
        if !(trials > 0.0) {
            return (0.0, 1.0);
        }
        let square = self.deviations * self.deviations / trials;
        let share = (hits / trials).clamp(0.0, 1.0);
        let centre = share + 0.5 * square;
        let half = (share * (1.0 - share) * square + 0.25 * square * square).sqrt();
        (((centre - half) / (1.0 + square)).max(0.0), ((centre + half) / (1.0 + square)).min(1.0))
    }

    /// An estimate of `rate` whose logarithm is known this well (the inverse of its variance).
    pub fn of_logarithm(self, rate: f64, information: f64) -> Estimate {
        let half = self.deviations / information.sqrt();
        let high = Some(rate * half.exp()).filter(|high| high.is_finite());
        Estimate { rate, low: rate * (-half).exp(), high }
    }

    /// An estimate of `rate` with this standard deviation.
    pub fn of_deviation(self, rate: f64, deviation: f64) -> Estimate {
        let half = self.deviations * deviation;
        let high = Some(rate + half).filter(|high| high.is_finite());
        Estimate { rate, low: (rate - half).max(0.0), high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_intervals() {
        let usual = Confidence::new(0.95).unwrap();
        assert!((usual.deviations() - 1.959_963_984_540_054).abs() < 1e-9);
        // Wilson's interval for 8 of 10.
        let (low, high) = usual.of_share(8.0, 10.0);
        assert!((low - 0.490_162_47).abs() < 1e-6 && (high - 0.943_317_85).abs() < 1e-6, "{low} {high}");
        assert_eq!(usual.of_share(0.0, 0.0), (0.0, 1.0));
        assert_eq!(usual.of_share(0.0, 10.0).0, 0.0);
        for wrong in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(Confidence::new(wrong).is_none());
        }
    }
}
