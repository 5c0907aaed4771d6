//! The limit of the sums when many signals fit into the exponent.
//!
//! ψ is a first-passage time of the process τ + β·(number of signals): a renewal function. Beyond a few steps it is
//! a straight line, ψ = (ι + h)/(1 + γβ), up to terms that decay like e^{-a ι/β}, where -a is the real part of the
//! first complex root of u + γβ (1 - e^{-u}) = 0. So a page with weak, frequent signals (λ → 0: β → 0, a billion
//! terms) has the simplest value of all.

use super::{Cycle, SignalModel, State, Value};
use crate::math::greedy::g;
use crate::math::small::{exp_m1_excess, exp_m1_excess_less_half_square};

/// e^{-33} = 5e-15: deviations from the straight line are lost in rounding.
const DECAYS: f64 = 33.0;

impl SignalModel {
    /// Whether the state is so many signals from the last fetch that the limit holds to machine precision.
    #[inline]
    pub(super) fn is_relaxed(&self, state: State) -> bool {
        let terms = self.term_count(state);
        terms >= 3.0 && terms * decay(self.gamma * self.beta) >= DECAYS
    }

    /// 1 + γβ, times α: the rate at which the exponent grows on average, by time and by signals.
    fn drift(&self) -> f64 {
        self.alpha + self.gamma * self.nats
    }

    /// ψ in the limit; the mean overshoot of the last signal is γb²/2 over the drift.
    fn relaxed_length(&self, q: f64) -> f64 {
        let drift = self.drift();
        (q + self.gamma * self.nats * self.nats / (2.0 * drift)) / drift
    }

    pub(super) fn relaxed_cycle(&self, q: f64) -> Cycle {
        let length = self.relaxed_length(q);
        Cycle { length, fresh: self.relaxed_value(q).value + (-q).exp() * length }
    }

    /// V = 1/Δ - e^{-q} (1 + q + αh)/drift, arranged for small q so that nothing cancels: with the precision
    /// p = λΔ/γ = 1 - e^{-b},
    /// V = g(q)/drift + (γ/(Δ drift)) [ (b - p - b²/2) + (b²/2)(γ(b - p) + Δ(1 - e^{-q}))/drift ].
    pub(super) fn relaxed_value(&self, q: f64) -> Value {
        let drift = self.drift();
        let slope = (-q).exp() * self.relaxed_length(q);
        if q > 1.0 {
            return Value { value: 1.0 / self.delta - (-q).exp() / drift - slope, slope };
        }
        let half_square = 0.5 * self.nats * self.nats;
        let gap = (self.gamma * exp_m1_excess(-self.nats) - self.delta * (-q).exp_m1()) / drift;
        let overshoot = exp_m1_excess_less_half_square(-self.nats) + half_square * gap;
        Value { value: g(q) / drift + self.gamma / (drift * self.delta) * overshoot, slope }
    }
}

/// A lower bound of the decay rate a per signal for γβ = `step`; within 15 % of it up to γβ = 3, where it matters.
fn decay(step: f64) -> f64 {
    let ratio = 4.5 / step;
    // Not ln_1p, which is slower: where the ratio is small, so is the rate, and nothing depends on its digits.
    0.5 * (1.0 + ratio * ratio).ln()
}

#[cfg(test)]
mod tests {
    use super::decay;

    /// The roots u of u + s (1 - e^{-u}) = 0 nearest to the imaginary axis, found with complex arithmetic.
    #[test]
    fn decay_is_never_overestimated() {
        let known = [
            (1e-8, 21.5003),
            (1e-4, 11.7120),
            (0.01, 6.62736),
            (0.1, 4.01581),
            (1.0, 1.53209),
            (3.16228, 0.60160),
            (10.0, 0.13302),
            (100.0, 0.0019122),
            (1000.0, 1.96797e-5),
        ];
        for (step, rate) in known {
            let bound = decay(step);
            assert!(bound <= rate && bound > 0.45 * rate, "{step}: {bound} {rate}");
        }
    }
}
