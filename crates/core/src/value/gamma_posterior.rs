use super::CrawlValue;
use crate::math::greedy::g;
use crate::math::root::{Bracket, newton};
use crate::math::small::exp_m1_excess;
use crate::page::BeliefError;

/// GREEDY averaged over a Gamma(a, B) posterior of the change rate (shape a, rate B; mean a/B), in closed form.
///
/// The survival curve is S(s) = (B/(B+s))^a and V(τ) = μ { B/(a-1) [1 - (B/(B+τ))^{a-1}] - τ (B/(B+τ))^a }. A page
/// that may be slow keeps a large value even if its mean rate is high: with a ≤ 1 the value has no bound.
///
/// With t = ln(1 + τ/B): V = μB φ(t), φ' = a e^{-at} (e^t - 1). No branch below cancels.
#[derive(Clone, Copy, Debug)]
pub struct GammaPosterior {
    shape: f64,
    rate: f64,
    importance: f64,
}

/// Above this shape φ is computed around GREEDY, which it tends to; below, from its definition.
const LARGE_SHAPE: f64 = 2.0;

impl GammaPosterior {
    /// The value for a posterior with this shape and rate (both finite and positive; the rate in units of time) and
    /// importance (finite, not negative).
    ///
    /// # Errors
    /// If one of them is not.
    pub fn new(shape: f64, rate: f64, importance: f64) -> Result<Self, BeliefError> {
        for (name, value) in [("shape", shape), ("rate", rate)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(BeliefError::NotARate { name, value });
            }
        }
        if !(importance.is_finite() && importance >= 0.0) {
            return Err(BeliefError::NotARate { name: "importance", value: importance });
        }
        Ok(Self { shape, rate, importance })
    }

    /// φ(t).
    fn phi(&self, t: f64) -> f64 {
        let a = self.shape;
        let x = a * t;
        if a >= LARGE_SHAPE {
            // [g(x) - a e^{-x} (e^t - 1 - t)] / (a-1); for large t, e^{-x} (e^t - 1 - t) is computed in one exponent.
            let excess = if t > 30.0 { (t - x).exp() } else { (-x).exp() * exp_m1_excess(t) };
            return (g(x) - a * excess) / (a - 1.0);
        }
        if t.max(x) < 0.5 {
            // a ∫ (e^{-(a-1)s} - e^{-as}) ds, term by term: a Σ_{j≥1} ((1-a)^j - (-a)^j) t^{j+1}/(j+1)!, where
            // d_j = (1-a)^j - (-a)^j follows d_j = (1-a) d_{j-1} + (-a)^{j-1}.
            let (mut difference, mut power, mut scale) = (0.0, 1.0, t);
            let mut sum = 0.0;
            for j in 1..24 {
                difference = (1.0 - a) * difference + power;
                power *= -a;
                scale *= t / f64::from(j + 1);
                sum += difference * scale;
            }
            return a * sum;
        }
        let k = a - 1.0;
        let first = if k == 0.0 { t } else { -(-k * t).exp_m1() / k };
        a * first + (-x).exp_m1()
    }

    /// The value and its slope in time, both per importance, with one logarithm and one exponential where nothing cancels.
    fn unit_value_and_slope(&self, elapsed: f64) -> (f64, f64) {
        let (a, b) = (self.shape, self.rate);
        let r = elapsed / b;
        let t = r.ln_1p();
        let survival = (-a * t).exp();
        let slope = a * r / (1.0 + r) * survival;
        // What cancels is of the order of 1/|a-1| against ar²/2.
        let plain = (a - 1.0).abs() > 0.02 && a * r * r > 1e-3;
        let value = if plain {
            b / (a - 1.0) * (1.0 - (1.0 + r) * survival) - elapsed * survival
        } else {
            b * self.phi(t)
        };
        (value, slope)
    }

    /// The value and how fast it grows: a little faster than [`CrawlValue::value`] alone.
    pub fn value_and_slope(&self, elapsed: f64) -> (f64, f64) {
        let (value, slope) = self.unit_value_and_slope(elapsed.max(0.0));
        (self.importance * value.clamp(0.0, f64::MAX), self.importance * slope)
    }

    /// A moment that is not after the one at which the value is reached, and within the square of `last_step` of it, relatively,
    /// unless the value is close to its supremum; `None` if it never is. `not_before` is a time at which the value is known to
    /// be lower, or 0.
    ///
    /// In logarithms the value is a concave function of time (its elasticity falls from 2), and it is never above
    /// μaτ²/2B: from there Newton's steps climb to the moment without passing it.
    pub fn moment_early(&self, value: f64, not_before: f64, last_step: f64) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        if value >= self.supremum() {
            return None;
        }
        let target = value / self.importance;
        let mut elapsed = (2.0 * target * self.rate / self.shape).sqrt().max(not_before);
        for _ in 0..12 {
            let (reached, slope) = self.unit_value_and_slope(elapsed);
            let gap = (target - reached) / reached;
            let steps = reached / (elapsed * slope);
            // (1 + gap)^steps, from below where that is cheaper.
            let factor =
                if gap < 0.02 { 1.0 + steps * gap * (1.0 - 0.5 * gap) } else { (1.0 + gap).powf(steps) };
            let next = elapsed * factor;
            if !(factor > 1.0 && next.is_finite()) {
                break;
            }
            elapsed = next;
            // What is left is of the order of the square of the last step.
            if factor < 1.0 + last_step {
                break;
            }
        }
        Some(elapsed)
    }

    fn elapsed_to_t(&self, elapsed: f64) -> f64 {
        (elapsed.max(0.0) / self.rate).ln_1p()
    }
}

impl CrawlValue for GammaPosterior {
    fn value(&self, elapsed: f64, _signals: u32) -> f64 {
        let t = self.elapsed_to_t(elapsed);
        if t.is_infinite() {
            return self.supremum();
        }
        self.importance * (self.rate * self.phi(t)).clamp(0.0, f64::MAX)
    }

    fn supremum(&self) -> f64 {
        if self.importance == 0.0 {
            return 0.0;
        }
        if self.shape <= 1.0 { f64::INFINITY } else { self.importance * (self.rate / (self.shape - 1.0)) }
    }

    fn moment(&self, value: f64, _signals: u32) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        if value >= self.supremum() {
            return None;
        }
        // In ln t against ln φ the curve is straight at the start (φ ≈ a t²/2).
        let target = value / self.importance / self.rate;
        let a = self.shape;
        let start = (2.0 * target / a).sqrt();
        let t = newton(Bracket { low: 0.0, high: f64::INFINITY }, start, 1e-9, |t| {
            let phi = self.phi(t);
            if phi <= 0.0 {
                return (f64::NEG_INFINITY, 1.0);
            }
            let slope = if t > 30.0 { a * (t - a * t).exp() } else { a * (-a * t).exp() * t.exp_m1() };
            ((phi / target).ln(), slope / phi)
        });
        let elapsed = self.rate * t.exp_m1();
        elapsed.is_finite().then_some(elapsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::integrate::integrate;
    use crate::page::Belief;
    use crate::value::Greedy;
    use proptest::prelude::*;

    fn posterior(shape: f64, rate: f64) -> GammaPosterior {
        GammaPosterior::new(shape, rate, 1.0).unwrap()
    }

    /// The closed form against quadrature of the survival curve, far from where it cancels.
    #[test]
    fn closed_form_is_the_integral() {
        for shape in [0.1, 0.5, 0.999_999, 1.0, 1.000_001, 1.7, 2.0, 3.5, 80.0, 1e6] {
            for share in [1e-7, 1e-3, 0.1, 1.0, 7.0, 300.0] {
                let rate = 4.0;
                let tau = share * rate / shape;
                let survival = |s: f64| (-shape * (s / rate).ln_1p()).exp();
                // ∫ (S(s) - S(τ)) ds = ∫ s (-S'(s)) ds: no difference under the integral.
                let expected = integrate(|s| s * shape / (rate + s) * survival(s), 0.0, tau);
                let found = posterior(shape, rate).value(tau, 0);
                assert!((found / expected - 1.0).abs() < 1e-10, "{shape} {tau}: {found} {expected}");
            }
        }
    }

    #[test]
    fn certainty_is_greedy() {
        let sure = posterior(1e9, 1e9 / 0.3);
        let greedy = Greedy::new(&Belief::new(0.3, 1.0).unwrap());
        for tau in [0.01, 1.0, 10.0, 50.0] {
            assert!((sure.value(tau, 0) / greedy.value(tau, 0) - 1.0).abs() < 1e-7);
        }
    }

    #[test]
    fn bad_posteriors_cannot_be_built() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(GammaPosterior::new(bad, 1.0, 1.0).is_err());
            assert!(GammaPosterior::new(1.0, bad, 1.0).is_err());
        }
        assert!(GammaPosterior::new(1.0, 1.0, -1.0).is_err());
    }

    proptest! {
        /// Never late, and close: the value there is that of a moment a little before.
        #[test]
        fn early_moments_are_early(log_a in -2f64..6.0, log_b in -6f64..6.0, log_tau in -6f64..2.0) {
            let (a, b) = (10f64.powf(log_a), 10f64.powf(log_b));
            let page = posterior(a, b);
            let tau = 10f64.powf(log_tau) * b / a;
            let v = page.value(tau, 0);
            if v >= page.supremum() * 0.999_999 {
                return Ok(());
            }
            for last_step in [0.1, 1e-5] {
                let early = page.moment_early(v, 0.0, last_step).unwrap();
                prop_assert!(page.value(early, 0) <= v * (1.0 + 1e-9), "{a} {b} {tau} {early}");
                if v < page.supremum() * 0.9 {
                    prop_assert!(early >= tau * (1.0 - 2.0 * last_step * last_step - 1e-6), "{a} {b} {tau} {early}");
                }
            }
        }

        #[test]
        fn grows_and_inverts(log_a in -2f64..6.0, log_b in -6f64..6.0, log_tau in -6f64..4.0) {
            let (a, b) = (10f64.powf(log_a), 10f64.powf(log_b));
            let page = posterior(a, b);
            let tau = 10f64.powf(log_tau) * b / a;
            let v = page.value(tau, 0);
            prop_assert!(v.is_finite() && v >= 0.0 && v <= page.supremum() * (1.0 + 1e-12));
            prop_assert!(page.value(tau * 1.01, 0) >= v * (1.0 - 1e-12));
            if v < page.supremum() * 0.999_999 {
                let back = page.moment(v, 0).unwrap();
                prop_assert!((page.value(back, 0) / v - 1.0).abs() < 1e-9, "{a} {b} {tau} {back}");
            }
        }
    }
}
