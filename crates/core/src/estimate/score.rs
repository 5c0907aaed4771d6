//! The likelihood of a change rate: what all the maximum-likelihood estimators, exact or compact, with a prior or
//! without, have in common.
//!
//! An interval of length t is unchanged with probability e^{-Δt}. With θ = ln Δ and φ(x) = x/(e^x - 1), the slope of the
//! log-likelihood is g'(θ) = Σ_{changed} φ(Δt) - Δ Σ_{unchanged} t, and -g'' = Δ Σ_{unchanged} t - Σ_{changed} xφ'(x) is
//! the information about ln Δ. A Gamma(a, B) prior of the rate adds a - BΔ: a changes in no time, and B of time without
//! any.

use crate::math::root::{Bracket, newton};

/// Changed intervals of (about) one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// How long.
    pub length: f64,
    /// How many.
    pub weight: f64,
}

/// A likelihood, prior included.
#[derive(Clone, Copy, Debug)]
pub struct Score<'a> {
    /// Total length of the unchanged intervals, and B.
    pub unchanged: f64,
    /// a: changes that take no time; 0 without a prior.
    pub instant: f64,
    /// The changed intervals.
    pub changed: &'a [Weighted],
}

/// φ(x) = x/(e^x - 1), from 1 at 0 down to 0; relative error below 1e-14.
fn phi(x: f64) -> f64 {
    if x > 0.5 {
        // 1/∞ is 0, as it should be.
        return x / (x.exp() - 1.0);
    }
    // Bernoulli's series.
    let u = x * x;
    let tail = -1.0 / 1_209_600.0 + u * (1.0 / 47_900_160.0 - u * (691.0 / 1_307_674_368_000.0));
    1.0 - 0.5 * x + u * (1.0 / 12.0 + u * (-1.0 / 720.0 + u * (1.0 / 30_240.0 + u * tail)))
}

/// -xφ'(x) = φ (φ + x - 1): 0 at 0, its largest value (.65) near 2, 0 at infinity.
fn information_at(x: f64, phi: f64) -> f64 {
    // φ + x - 1 cancels for small x: it is x/2 + x²/12 - x⁴/720.
    let excess = if x < 0.02 { x * (0.5 + x * (1.0 / 12.0 - x * x / 720.0)) } else { phi + x - 1.0 };
    phi * excess
}

impl Score<'_> {
    /// -g'(θ), which grows with the rate, and its slope in θ (the information).
    fn at(&self, rate: f64) -> (f64, f64) {
        let mut value = self.unchanged * rate - self.instant;
        let mut information = self.unchanged * rate;
        for interval in self.changed.iter().filter(|interval| interval.weight > 0.0) {
            let x = rate * interval.length;
            let phi = phi(x);
            value -= interval.weight * phi;
            information += interval.weight * information_at(x, phi);
        }
        (value, information)
    }

    /// The rate of greatest likelihood: 0 if nothing changed, `None` if everything did, and no prior has an opinion.
    pub fn maximum(&self) -> Option<f64> {
        self.maximum_within(1e-5)
    }

    /// The same, to within about the square of `last_step`.
    pub fn maximum_within(&self, last_step: f64) -> Option<f64> {
        let changes: f64 = self.instant + self.changed.iter().map(|c| c.weight).sum::<f64>();
        if !(changes > 0.0) {
            return Some(0.0);
        }
        if !(self.unchanged > 0.0) {
            return None;
        }
        // 1 - x/2 ≤ φ(x) ≤ 1 puts the maximum between these.
        let span: f64 = self.changed.iter().map(|c| c.weight * c.length).sum();
        let low = changes / (self.unchanged + 0.5 * span);
        let high = changes / self.unchanged;
        // If all changed intervals had one length, this would be it.
        let length = span / changes;
        let start = if length > 0.0 { (changes * length / self.unchanged).ln_1p() / length } else { low };
        let rate = newton(Bracket { low, high }, start, last_step, |rate| {
            let (value, information) = self.at(rate);
            (value, information / rate)
        });
        Some(rate)
    }

    /// How much is known about ln Δ at this rate: the inverse of its variance.
    pub fn information(&self, rate: f64) -> f64 {
        self.at(rate).1
    }

    /// The logarithm of the likelihood, up to a constant.
    fn logarithm(&self, rate: f64) -> f64 {
        let changed = self.changed.iter().filter(|interval| interval.weight > 0.0);
        let changed = changed.map(|interval| interval.weight * (-(-rate * interval.length).exp_m1()).ln());
        changed.sum::<f64>() + self.instant * rate.ln() - self.unchanged * rate
    }

    /// The rates below and above the `maximum` at which the logarithm of the likelihood is lower by `loss`. It has to fall without end on both
    /// sides: something changed and something did not.
    pub fn lower_by(&self, loss: f64, maximum: f64) -> (f64, f64) {
        let least = self.logarithm(maximum) - loss;
        let end = |factor: f64| {
            let mut outside = maximum * factor;
            while self.logarithm(outside) > least && outside > 0.0 && outside.is_finite() {
                outside *= factor;
            }
            let (mut inside, mut outside) = ((outside / factor).ln(), outside.ln());
            for _ in 0..50 {
                let middle = 0.5 * (inside + outside);
                if self.logarithm(middle.exp()) > least {
                    inside = middle;
                } else {
                    outside = middle;
                }
            }
            outside.exp()
        };
        (end(0.5), end(2.0))
    }

    /// The rate below which it is hard to believe that every interval changed: the chance of that is `chance` here.
    pub fn all_changed_with(&self, chance: f64) -> f64 {
        let used = || self.changed.iter().filter(|interval| interval.weight > 0.0);
        let shortest = used().map(|interval| interval.length).fold(f64::INFINITY, f64::min);
        newton(Bracket { low: 0.0, high: f64::INFINITY }, 1.0 / shortest, 1e-9, |rate| {
            let (mut value, mut slope) = (-chance.ln(), 0.0);
            for interval in used() {
                let x = rate * interval.length;
                value += interval.weight * (-(-x).exp_m1()).ln();
                slope += interval.weight * interval.length * phi(x) / x;
            }
            (value, slope)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The maximum is a maximum, the information its curvature: by brute force on the likelihood itself.
        #[test]
        fn the_maximum_is_the_top_of_the_likelihood(
            lengths in proptest::collection::vec(-3f64..3.0, 1..12),
            unchanged in -3f64..4.0,
            instant in 0f64..3.0,
        ) {
            let changed: Vec<_> =
                lengths.iter().map(|l| Weighted { length: 10f64.powf(*l), weight: 1.0 }).collect();
            let score = Score { unchanged: 10f64.powf(unchanged), instant, changed: &changed };
            let likelihood = |theta: f64| {
                let rate = theta.exp();
                let seen: f64 = changed.iter().map(|c| (-(-rate * c.length).exp_m1()).ln()).sum();
                seen - rate * score.unchanged + instant * theta
            };
            let rate = score.maximum().unwrap();
            prop_assert!(rate.is_finite() && rate > 0.0);
            let (theta, h) = (rate.ln(), 1e-3);
            let (below, top, above) = (likelihood(theta - h), likelihood(theta), likelihood(theta + h));
            prop_assert!(top >= below && top >= above, "{below} {top} {above}");
            let curvature = -(above - 2.0 * top + below) / (h * h);
            prop_assert!((score.information(rate) / curvature - 1.0).abs() < 1e-3, "{curvature}");
        }
    }

    #[test]
    fn phi_keeps_its_digits() {
        for x in [1e-300, 1e-9, 0.1, 0.3, 0.499_999, 0.5, 0.500_001, 1.0, 20.0, 700.0_f64] {
            let expected = x / x.exp_m1();
            assert!((phi(x) / expected - 1.0).abs() < 1e-14, "{x}: {} {expected}", phi(x));
        }
        assert_eq!(phi(0.0), 1.0);
        assert_eq!(phi(1000.0), 0.0);
    }

    #[test]
    fn all_or_nothing() {
        let changed = [Weighted { length: 2.0, weight: 3.0 }];
        assert_eq!(Score { unchanged: 0.0, instant: 0.0, changed: &changed }.maximum(), None);
        assert_eq!(Score { unchanged: 5.0, instant: 0.0, changed: &[] }.maximum(), Some(0.0));
        assert_eq!(Score { unchanged: 0.0, instant: 0.0, changed: &[] }.maximum(), Some(0.0));
        // (1 - e^{-2Δ})³ = 1/8 at Δ = ln 2/2.
        let rate = Score { unchanged: 0.0, instant: 0.0, changed: &changed }.all_changed_with(0.125);
        assert!((rate - 0.5 * 2f64.ln()).abs() < 1e-9);
    }
}
