//! MM, moment matching: the rate at which as many intervals would be unchanged as were, Σ e^{-Δt} = k - S.
//!
//! Domain: any intervals. Nothing changed: 0. Everything changed: the equation has no solution; what is given instead is
//! the rate at which half an unchanged interval would be expected, with no upper bound.

use super::score::Weighted;
use crate::math::root::{Bracket, newton};

/// All intervals, changed or not, by how many of them survive a rate unchanged.
pub trait Intervals {
    /// How many there are.
    fn count(&self) -> f64;
    /// Σ e^{-Δt} and Σ t e^{-Δt}.
    fn survivors(&self, rate: f64) -> Survivors;
    /// The mean length.
    fn mean_length(&self) -> f64;
}

/// What is left of the intervals at some rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Survivors {
    /// Σ e^{-Δt}: the number expected unchanged.
    pub expected: f64,
    /// Σ t e^{-Δt}: how fast that falls with the rate.
    pub slope: f64,
}

impl Survivors {
    /// With `weight` more intervals of this length.
    pub fn add(&mut self, length: f64, weight: f64, rate: f64) {
        let stays = (-rate * length).exp();
        self.expected += weight * stays;
        self.slope += weight * length * stays;
    }
}

impl Intervals for &[Weighted] {
    fn count(&self) -> f64 {
        self.iter().map(|interval| interval.weight).sum()
    }

    fn survivors(&self, rate: f64) -> Survivors {
        let mut sum = Survivors::default();
        self.iter().for_each(|interval| sum.add(interval.length, interval.weight, rate));
        sum
    }

    fn mean_length(&self) -> f64 {
        self.iter().map(|interval| interval.weight * interval.length).sum::<f64>() / self.count()
    }
}

/// The estimate, from all intervals and how many of them were unchanged.
pub fn mm(intervals: &impl Intervals, unchanged: f64) -> f64 {
    let count = intervals.count();
    if !(count > unchanged) {
        return 0.0;
    }
    // Jensen: the mean of e^{-Δt} is at least e^{-Δ·mean}, so the root is not below this.
    let unchanged = if unchanged > 0.0 { unchanged } else { 0.5 };
    let low = (-(unchanged / count).ln() / intervals.mean_length()).max(0.0);
    newton(Bracket { low, high: f64::INFINITY }, low, 1e-9, |rate| {
        // In logarithms: close to a straight line.
        let left = intervals.survivors(rate);
        let expected = left.expected.max(f64::MIN_POSITIVE);
        ((unchanged / expected).ln(), left.slope / expected)
    })
}

/// The rate at which half an unchanged interval would be expected among these.
pub fn half_unchanged(changed: &[Weighted]) -> f64 {
    mm(&changed, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_moments_match(
            exponents in proptest::collection::vec(-3f64..3.0, 2..20),
            share in 0.05f64..0.95,
        ) {
            let all: Vec<_> =
                exponents.iter().map(|e| Weighted { length: 10f64.powf(*e), weight: 1.0 }).collect();
            let unchanged = share * all.len() as f64;
            let rate = mm(&all.as_slice(), unchanged);
            let expected: f64 = all.iter().map(|i| (-rate * i.length).exp()).sum();
            prop_assert!((expected / unchanged - 1.0).abs() < 1e-7, "{rate}: {expected} {unchanged}");
        }
    }

    #[test]
    fn all_or_nothing() {
        let all = [Weighted { length: 2.0, weight: 4.0 }];
        assert_eq!(mm(&all.as_slice(), 4.0), 0.0);
        // 4 e^{-2Δ} = ½
        assert!((mm(&all.as_slice(), 0.0) - 8f64.ln() / 2.0).abs() < 1e-12);
        assert_eq!(mm(&[].as_slice(), 0.0), 0.0);
    }
}
