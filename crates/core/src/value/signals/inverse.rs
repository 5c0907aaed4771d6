//! From a value back to the exponent, and to the moment at which a waiting page gets there.

use super::{SignalModel, State};
use crate::math::greedy::g_inverse;
use crate::math::root::{Bracket, newton};

/// The last Newton step's size; what is left after it is its square.
const LAST_STEP: f64 = 1e-7;
/// Below this share of the supremum, squares are not far from underflow.
const TINY: f64 = 1e-290;
/// Above this share of the supremum, V resolves q to fewer than eleven digits.
const NEARLY_ALL: f64 = 1.0 - 1e-5;
/// Steps to a moment that may be early; what is found by then is early by more.
const EARLY_STEPS: u32 = 16;
/// By what part of the tolerance such steps are too short: it is the early side that is wanted.
const SHORT: f64 = 0.5;

impl SignalModel {
    /// How long after its last fetch a page that has seen `signals` signals (and sees no more) reaches `value` (for
    /// importance 1): `None` if waiting alone never gets it there.
    pub fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        let threshold = self.threshold(value)?;
        let reached = self.state(0.0, signals).exponent;
        if reached >= threshold {
            return Some(0.0);
        }
        (self.alpha > 0.0).then(|| (threshold - reached) / self.alpha)
    }

    /// A moment not after the one at which it reaches `value`, early by about this share of the exponent at most.
    pub(crate) fn moment_early(&self, value: f64, signals: u32, tolerance: f64) -> Option<f64> {
        let threshold = self.threshold_early(value, tolerance)?;
        let reached = self.state(0.0, signals).exponent;
        if reached >= threshold {
            return Some(0.0);
        }
        (self.alpha > 0.0).then(|| (threshold - reached) / self.alpha)
    }

    /// An exponent at which V is still below `value`, by about this share at most: for who needs to know when to look again, and not
    /// the last digits, which cost as much as all before them.
    fn threshold_early(&self, value: f64, tolerance: f64) -> Option<f64> {
        let supremum = self.supremum();
        let share = value / supremum;
        let simple = self.gamma == 0.0 || self.nats == 0.0 || self.terms.is_some();
        if simple || self.alpha == 0.0 || !(TINY..NEARLY_ALL).contains(&share) {
            return self.threshold(value);
        }
        // As in [`Self::threshold_near`]: by the tangent in x, where V is nearly a straight line, a little short.
        let low = g_inverse(self.alpha * value);
        let high = g_inverse((self.alpha + self.gamma * self.nats) * value);
        let mut bracket = Bracket { low, high };
        let target = g_inverse(share);
        let mut q = first_guess(bracket);
        for _ in 0..EARLY_STEPS {
            let at = self.value_at(self.threshold_state(q));
            let reached = (at.value / supremum).min(1.0);
            let x = g_inverse(reached);
            let step = (target - x) * x * (1.0 - reached) * supremum / (at.slope * (1.0 + x));
            if at.value < value {
                bracket.low = q;
                if step <= tolerance * q {
                    return Some(q);
                }
            } else {
                bracket.high = q;
            }
            if bracket.high - bracket.low <= tolerance * bracket.low {
                break;
            }
            let next = q + step - SHORT * tolerance * q;
            let inside = next > bracket.low && next < bracket.high;
            q = if inside { next } else { bracket.middle() };
        }
        Some(bracket.low)
    }

    /// The exponent q at which V reaches `value` (for importance 1): `None` if it never does.
    ///
    /// Infinite for the page whose every change is signalled and none falsely: only a signal gets it there.
    pub fn threshold(&self, value: f64) -> Option<f64> {
        self.threshold_near(value, f64::NAN)
    }

    /// The same, starting the search at `guess` (ignored unless it is positive).
    pub fn threshold_near(&self, value: f64, guess: f64) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        let supremum = self.supremum();
        let share = value / supremum;
        // Written so that 0/0 (a page without any value) is "never".
        if !(share < 1.0) {
            return None;
        }
        if share < TINY && self.alpha > 0.0 {
            // V ≈ q²/2α; the square may underflow, q does not.
            return Some((2.0 * self.alpha).sqrt() * value.sqrt());
        }
        if self.alpha == 0.0 {
            return Some(self.signals_needed(value) * self.nats);
        }
        let greedy = g_inverse(self.alpha * value);
        if self.gamma == 0.0 || (self.terms.is_none() && self.nats == 0.0) {
            return Some(greedy);
        }
        // ψ lies between its no-signal value ι and the renewal line ι/(1+γβ), and V follows it.
        let bracket = Bracket {
            low: greedy,
            high: if self.terms.is_some() {
                f64::INFINITY
            } else {
                g_inverse((self.alpha + self.gamma * self.nats) * value)
            },
        };
        // In x = g⁻¹(V/V(∞)), the time a page without signals would need, V is nearly a straight line in q.
        let target = g_inverse(share);
        // Close to the supremum the last digits of q depend on the path; there the path must not depend on the guess.
        let start = if guess > 0.0 && share < NEARLY_ALL { guess } else { first_guess(bracket) };
        Some(newton(bracket, start, LAST_STEP, |q| {
            let at = self.value_at(self.threshold_state(q));
            let reached = (at.value / supremum).min(1.0);
            let x = g_inverse(reached);
            if x.is_infinite() {
                return (f64::INFINITY, 1.0);
            }
            (x - target, at.slope / supremum * (1.0 + x) / (x * (1.0 - reached)))
        }))
    }

    /// The fewest signals after which V reaches `value`, where signals alone count (α = 0).
    fn signals_needed(&self, value: f64) -> f64 {
        if self.nu == 0.0 {
            return 1.0;
        }
        let reaches = |signals: f64| {
            let state = State { elapsed: 0.0, signals, exponent: signals * self.nats };
            self.value_at(state).value >= value
        };
        let mut high = 1.0;
        while !reaches(high) && high * self.nats < 100.0 {
            high *= 2.0;
        }
        let mut low = 0.0;
        while high - low > 1.0 {
            let middle = (0.5 * (low + high)).floor();
            // Beyond 2^53 neighbours are more than 1 apart.
            if middle <= low || middle >= high {
                break;
            }
            if reaches(middle) { high = middle } else { low = middle }
        }
        high
    }
}

fn first_guess(bracket: Bracket) -> f64 {
    if bracket.high.is_finite() { (bracket.low * bracket.high).sqrt() } else { bracket.low }
}
