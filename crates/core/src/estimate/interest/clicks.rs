//! (P, δ): what a new page is worth, and how fast that falls, by least squares of cumulative clicks against P(1 - e^{-δ·age}).
//! (The ephemeral-content paper, which descends the gradient; its step size depends on the unit of time.)
//!
//! For a given δ the best P is linear algebra; what is left is one number, searched for over six decades around the ages
//! in the data, then refined. So days and seconds give the same curve.
//!
//! A prior, the mean of the hubs known so far, keeps a hub with little data sane: it counts as a few points on its own
//! curve.

use crate::page::BeliefError;

/// Cumulative clicks by a certain age.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clicks {
    age: f64,
    total: f64,
}

impl Clicks {
    /// So many clicks up to this age.
    ///
    /// # Errors
    /// Unless both are finite and not negative.
    pub fn new(age: f64, total: f64) -> Result<Self, BeliefError> {
        for (name, value) in [("age", age), ("clicks", total)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BeliefError::NotARate { name, value });
            }
        }
        Ok(Self { age, total })
    }

    /// The age.
    pub fn age(&self) -> f64 {
        self.age
    }
}

/// What a link is worth when it is new, and the rate at which that falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interest {
    /// P.
    pub profit: f64,
    /// δ, per unit of time.
    pub decay: f64,
}

/// How well a curve fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InterestFit {
    /// The curve.
    pub interest: Interest,
    /// The share of the variance that it explains, 1 for a perfect fit.
    pub explained: f64,
    /// Whether the data show where the clicks end. If not, only the product Pδ (clicks at the start) is known.
    pub saturates: bool,
}

/// The search: δ from 1e-3 to 1e3 over the greatest age.
const DECADES: f64 = 3.0;
const POINTS: u32 = 120;
/// A curve that is this far from its end at the greatest age has shown no end.
const NO_END: f64 = 0.05;
/// Points on the prior's curve, and what each counts.
const PRIOR_AGES: [f64; 3] = [0.5, 1.0, 2.0];
const PRIOR_WEIGHT: f64 = 0.5;

struct Sums {
    fitted: f64,
    product: f64,
}

impl Interest {
    /// The likeliest curve through these points, leaning on a prior if there is one. `None` without any point of positive
    /// age, or a prior.
    pub fn fit(points: &[Clicks], prior: Option<&Interest>) -> Option<InterestFit> {
        let mut weighted: Vec<(f64, f64, f64)> = points.iter().map(|p| (p.age, p.total, 1.0)).collect();
        if let Some(prior) = prior {
            weighted.extend(
                PRIOR_AGES.map(|lives| (lives / prior.decay, prior.at(lives / prior.decay), PRIOR_WEIGHT)),
            );
        }
        weighted.retain(|(age, total, _)| *age > 0.0 && age.is_finite() && total.is_finite());
        let oldest = weighted.iter().map(|(age, _, _)| *age).fold(0.0, f64::max);
        let largest = weighted.iter().map(|(_, total, _)| *total).fold(0.0, f64::max);
        if weighted.is_empty() {
            return None;
        }
        if !(largest > 0.0) {
            // Nobody clicked: worth nothing, whatever the decay.
            let interest = Interest { profit: 0.0, decay: 1.0 / oldest };
            return Some(InterestFit { interest, explained: 1.0, saturates: true });
        }
        // In units of the greatest age and of the most clicks all numbers are of the order of 1.
        for (age, total, _) in &mut weighted {
            (*age, *total) = (*age / oldest, *total / largest);
        }
        let power: f64 = weighted.iter().map(|(_, total, weight)| weight * total * total).sum();
        let error = |log_decay: f64| power - gain(&sums(&weighted, log_decay.exp()));
        let (from, step) = (-DECADES * 10f64.ln(), 2.0 * DECADES * 10f64.ln() / f64::from(POINTS));
        let grid = (0..=POINTS).map(|i| from + step * f64::from(i));
        let start = grid.map(|x| (error(x), x)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0.0, |(_, x)| x);
        let log_decay = golden_section(start - step, start + step, error);
        let decay = log_decay.exp();
        let sums = sums(&weighted, decay);
        let mean = weighted.iter().map(|(_, t, w)| w * t).sum::<f64>()
            / weighted.iter().map(|(_, _, w)| w).sum::<f64>();
        let variance: f64 = weighted.iter().map(|(_, t, w)| w * (t - mean).powi(2)).sum();
        let explained =
            if variance > 0.0 { (1.0 - error(log_decay).max(0.0) / variance).max(0.0) } else { 1.0 };
        let interest = Interest { profit: sums.product / sums.fitted * largest, decay: decay / oldest };
        let usable = interest.profit.is_finite() && interest.decay.is_finite();
        usable.then_some(InterestFit { interest, explained, saturates: decay > NO_END })
    }

    /// Cumulative clicks up to this age.
    pub fn at(&self, age: f64) -> f64 {
        -self.profit * (-self.decay * age).exp_m1()
    }

    /// The mean of known hubs, in the logarithm; `None` if there are none with a profit.
    pub fn mean(known: impl IntoIterator<Item = Interest>) -> Option<Interest> {
        let mut sum = (0.0, 0.0, 0.0);
        for hub in known.into_iter().filter(|hub| hub.profit > 0.0 && hub.decay > 0.0) {
            sum = (sum.0 + 1.0, sum.1 + hub.profit.ln(), sum.2 + hub.decay.ln());
        }
        let (count, profits, decays) = sum;
        (count > 0.0).then(|| Interest { profit: (profits / count).exp(), decay: (decays / count).exp() })
    }
}

fn sums(points: &[(f64, f64, f64)], decay: f64) -> Sums {
    let mut sums = Sums { fitted: 0.0, product: 0.0 };
    for (age, total, weight) in points {
        let shape = -(-decay * age).exp_m1();
        sums.fitted += weight * shape * shape;
        sums.product += weight * shape * total;
    }
    sums
}

/// What the best P takes off the squared error.
fn gain(sums: &Sums) -> f64 {
    sums.product * sums.product / sums.fitted
}

/// The lowest point of a function with one valley between two points.
fn golden_section(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const RATIO: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - RATIO * (high - low), low + RATIO * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..60 {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - RATIO * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + RATIO * (high - low);
            at_b = f(b);
        }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn curve(truth: Interest, unit: f64, noise: impl Fn(u32) -> f64) -> Vec<Clicks> {
        let point = |i: u32| {
            let age = f64::from(i) * 0.2;
            Clicks::new(age * unit, truth.at(age) * (1.0 + noise(i))).unwrap()
        };
        (1..=50).map(point).collect()
    }

    proptest! {
        /// The truth comes back in any unit of time and of clicks.
        #[test]
        fn any_scale(log_unit in -6f64..8.0, log_profit in -3f64..6.0, log_decay in -0.7f64..0.7) {
            let (unit, truth) = (10f64.powf(log_unit), Interest { profit: 10f64.powf(log_profit), decay: 10f64.powf(log_decay) });
            let fit = Interest::fit(&curve(truth, unit, |_| 0.0), None).unwrap();
            prop_assert!((fit.interest.profit / truth.profit - 1.0).abs() < 1e-6, "{fit:?}");
            prop_assert!((fit.interest.decay * unit / truth.decay - 1.0).abs() < 1e-6, "{fit:?}");
            prop_assert!(fit.saturates && fit.explained > 0.999_999);
        }

        #[test]
        fn no_points_break_it(points in proptest::collection::vec((0f64..1e9, 0f64..1e9), 0..12)) {
            let points: Vec<_> = points.iter().map(|(age, total)| Clicks::new(*age, *total).unwrap()).collect();
            if let Some(fit) = Interest::fit(&points, None) {
                prop_assert!(fit.interest.profit.is_finite() && fit.interest.profit >= 0.0, "{fit:?}");
                prop_assert!(fit.interest.decay.is_finite() && fit.interest.decay > 0.0, "{fit:?}");
                prop_assert!((0.0..=1.0).contains(&fit.explained));
            }
        }
    }

    #[test]
    fn noise_prior_and_no_end() {
        let truth = Interest { profit: 30.0, decay: 0.5 };
        let noisy =
            Interest::fit(&curve(truth, 86_400.0, |i| if i % 2 == 0 { 0.05 } else { -0.05 }), None).unwrap();
        assert!((noisy.interest.profit / 30.0 - 1.0).abs() < 0.05 && noisy.explained > 0.9, "{noisy:?}");
        // A straight line has not shown its end.
        let line: Vec<_> = (1..10).map(|i| Clicks::new(f64::from(i), 2.0 * f64::from(i)).unwrap()).collect();
        let fit = Interest::fit(&line, None).unwrap();
        assert!(
            !fit.saturates && (fit.interest.profit * fit.interest.decay / 2.0 - 1.0).abs() < 0.01,
            "{fit:?}"
        );
        // One point and the mean of known hubs: near the hubs, drawn towards the point.
        let known = Interest::mean([truth, Interest { profit: 120.0, decay: 2.0 }]).unwrap();
        assert!((known.profit - 60.0).abs() < 1e-9 && (known.decay - 1.0).abs() < 1e-12);
        let one = [Clicks::new(1.0, 80.0).unwrap()];
        let fit = Interest::fit(&one, Some(&known)).unwrap();
        assert!(fit.interest.profit > 60.0 && fit.interest.profit < 130.0, "{fit:?}");
        assert_eq!(Interest::fit(&[], None), None);
        assert!((Interest::fit(&[], Some(&known)).unwrap().interest.profit / 60.0 - 1.0).abs() < 1e-6);
        // Nobody clicked.
        let nobody = [Clicks::new(1.0, 0.0).unwrap(), Clicks::new(2.0, 0.0).unwrap()];
        assert_eq!(Interest::fit(&nobody, None).unwrap().interest.profit, 0.0);
    }
}
