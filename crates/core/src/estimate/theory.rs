//! What theory says about the estimators: their exact mean and spread after k fetches at random times (a Poisson process
//! of rate p) of a page that changes at rate Δ.
//!
//! Each interval is changed with probability q = Δ/(Δ+p), independently. The counting estimators are functions of a
//! binomial number; the iterates of SA and SAM are linear in themselves with random coefficients, so their first two
//! moments follow a linear recursion, exactly.

use super::counts::Counts;
use super::lln::{Offset, lln};
use super::naive::naive;
use super::sa::Step;
use super::sam::Momentum;

/// The first two moments of an estimator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Its expectation.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl Moments {
    fn new(mean: f64, square: f64) -> Self {
        Self { mean, deviation: (square - mean * mean).max(0.0).sqrt() }
    }

    /// The root of its mean squared error.
    pub fn rmse(self, truth: f64) -> f64 {
        self.deviation.hypot(self.mean - truth)
    }
}

fn change_probability(delta: f64, p: f64) -> f64 {
    if delta > 0.0 { delta / (delta + p) } else { 0.0 }
}

/// The moments of a function of the number of changed intervals.
fn of_counts(delta: f64, p: f64, k: u32, estimate: impl Fn(&Counts) -> f64) -> Moments {
    let q = change_probability(delta, p);
    let all = f64::from(k);
    // Binomial weights from the mode outwards, then normalised: nothing underflows that matters.
    let mode = ((all + 1.0) * q).floor().clamp(0.0, all);
    let (mut weight_sum, mut first, mut second) = (0.0, 0.0, 0.0);
    let mut take = |changed: f64, weight: f64| {
        let value = estimate(&Counts { changed, all, span: all / p });
        weight_sum += weight;
        first += weight * value;
        second += weight * value * value;
    };
    let odds = q / (1.0 - q);
    let (mut changed, mut weight) = (mode, 1.0);
    while changed <= all && weight > 1e-30 {
        take(changed, weight);
        weight *= odds * (all - changed) / (changed + 1.0);
        changed += 1.0;
    }
    (changed, weight) = (mode, 1.0);
    while changed >= 1.0 && weight > 1e-30 {
        weight *= changed / (odds * (all - changed + 1.0));
        changed -= 1.0;
        take(changed, weight);
    }
    Moments::new(first / weight_sum, second / weight_sum)
}

/// Naive after `k` intervals.
pub fn of_naive(delta: f64, p: f64, k: u32) -> Moments {
    of_counts(delta, p, k, |seen| naive(seen, p))
}

/// LLN after `k` intervals.
pub fn of_lln(delta: f64, p: f64, offset: Offset, k: u32) -> Moments {
    of_counts(delta, p, k, |seen| lln(seen, p, offset))
}

/// SA after `k` intervals, from 0.
pub fn sa(delta: f64, p: f64, step: Step, k: u32) -> Moments {
    let q = change_probability(delta, p);
    let (mut mean, mut square) = (0.0, 0.0);
    for k in 0..k {
        let eta = step.at(f64::from(k));
        // u' = u + η with probability q, (1-η) u otherwise.
        let kept = 1.0 - eta;
        (mean, square) = (
            q * (mean + eta) + (1.0 - q) * kept * mean,
            q * (square + 2.0 * eta * mean + eta * eta) + (1.0 - q) * kept * kept * square,
        );
    }
    Moments::new(p * mean, p * p * square)
}

/// SAM after `k` intervals, from 0.
pub fn sam(delta: f64, p: f64, momentum: Momentum, k: u32) -> Moments {
    let q = change_probability(delta, p);
    // First and second moments of v and of the v before it.
    let (mut mean, mut before) = (0.0, 0.0);
    let (mut square, mut product, mut before_square) = (0.0, 0.0, 0.0);
    for k in 0..k {
        let eta = momentum.step().at(f64::from(k));
        let zeta = momentum.at(f64::from(k));
        // v' = (1+ζ) v - ζ v₋ + η with probability q, (1+ζ-η) v - ζ v₋ otherwise.
        let case = |own: f64, constant: f64| {
            let first = own * mean - zeta * before + constant;
            let second = own * own * square + zeta * zeta * before_square + constant * constant
                - 2.0 * own * zeta * product
                + 2.0 * constant * (own * mean - zeta * before);
            let cross = own * square - zeta * product + constant * mean;
            (first, second, cross)
        };
        let (up, down) = (case(1.0 + zeta, eta), case(1.0 + zeta - eta, 0.0));
        let mix = |a: f64, b: f64| q * a + (1.0 - q) * b;
        before_square = square;
        before = mean;
        (mean, square, product) = (mix(up.0, down.0), mix(up.1, down.1), mix(up.2, down.2));
    }
    Moments::new(p * mean, p * p * square)
}

/// The standard deviation that no unbiased estimator beats after `k` intervals, knowing their lengths: the
/// Cramér-Rao bound, from the information E[t² e^{-Δt}/(1 - e^{-Δt})] of one interval.
pub fn best_deviation(delta: f64, p: f64, k: u32) -> f64 {
    // With t exponential of rate p: p Σ_{j≥1} ∫ t² e^{-(p + jΔ) t} dt = 2p Σ_{j≥1} (p + jΔ)^{-3}.
    let far = 1000.0;
    let near: f64 = (1..1000).map(|j| (p + f64::from(j) * delta).powi(-3)).sum();
    // Euler-Maclaurin from there on.
    let at = p + far * delta;
    let tail = 0.5 / (delta * at * at) + 0.5 * at.powi(-3);
    (2.0 * p * (near + tail) * f64::from(k)).recip().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures asked of every implementation of the change-rate paper.
    #[test]
    fn known_errors() {
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 5e-4, "{found}, not {expected}");
        };
        near(of_naive(5.0, 3.0, 100).rmse(5.0), 3.128);
        near(of_lln(5.0, 3.0, Offset::One, 100).rmse(5.0), 1.051);
        near(sa(5.0, 3.0, Step::USUAL, 100).rmse(5.0), 0.976);
        near(sam(5.0, 3.0, Momentum::USUAL, 100).rmse(5.0), 1.2285);
        let step = Step::new(0.8).unwrap();
        let momentum = Momentum::new(step, 0.5).unwrap();
        near(of_naive(500.0, 50.0, 1000).rmse(500.0), 454.55);
        near(of_lln(500.0, 50.0, Offset::One, 1000).rmse(500.0), 55.56);
        near(sa(500.0, 50.0, step, 1000).rmse(500.0), 124.57);
        near(sam(500.0, 50.0, momentum, 1000).rmse(500.0), 69.72);
        // LLN is better than SAM from here on.
        let worse = |k: &u32| {
            of_lln(500.0, 50.0, Offset::One, *k).rmse(500.0) > sam(500.0, 50.0, momentum, *k).rmse(500.0)
        };
        assert_eq!((1..1500).rev().find(worse).map(|k| k + 1), Some(418));
    }

    #[test]
    fn the_bound_is_the_integral() {
        let (delta, p) = (5.0, 3.0);
        let one = crate::math::integrate::integrate(
            |t: f64| p * (-p * t).exp() * t * t / (delta * t).exp_m1(),
            1e-12,
            20.0,
        );
        assert!((best_deviation(delta, p, 1) / one.recip().sqrt() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_page_that_never_changes() {
        for moments in
            [of_naive(0.0, 3.0, 10), of_lln(0.0, 3.0, Offset::Root, 10), sa(0.0, 3.0, Step::USUAL, 10)]
        {
            assert_eq!(moments, Moments { mean: 0.0, deviation: 0.0 });
        }
    }
}
