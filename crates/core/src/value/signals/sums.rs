//! The sums ψ and w, as written: for exponents at which w - e^{-q} ψ does not cancel.

use super::{SignalModel, State};
use crate::math::gamma::{is_saturated, residual_in_sum};

/// From this many terms on it pays to look for the finished ones.
const MANY: f64 = 32.0;
/// Beyond this, neighbouring counts are the same float, and one term more or less is nothing.
pub(super) const MOST: f64 = 4e15;
/// A tail below this share of the result is left off.
const TAIL: f64 = 1e-13;

/// ψ and w.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    /// ψ
    pub(super) length: f64,
    /// w
    pub(super) fresh: f64,
}

/// What the sums are for, and so when they may stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accuracy {
    /// V = w - e^{-q} ψ: each term of the difference is between 0 and its part in w, so w's tail bounds it.
    Value,
    /// ψ and w each.
    Both,
}

impl SignalModel {
    pub(super) fn sums(&self, state: State, accuracy: Accuracy) -> Sums {
        let limit = self.term_limit();
        let head = self.finished_terms(state);
        let ratio = self.nu / self.total;
        let tail_factor = self.total / self.delta;
        let decay = (-state.exponent).exp() / self.gamma;

        let mut weight = 1.0 / self.total;
        let (mut fresh, mut signals) = (0.0, head);
        if head > 0.0 {
            let lost = head * (self.delta / self.nu).ln_1p();
            fresh = -(-lost).exp_m1() / self.delta;
            weight *= (-lost).exp();
        }
        let mut i = head;
        while i < limit && head < MOST {
            let y = self.remaining(state, i);
            // Not `y <= 0`: beyond an infinite elapsed time y is not a number.
            if !(y > 0.0) {
                break;
            }
            let order = i as u32;
            let still_fresh = weight * residual_in_sum(order, self.total * y);
            let length = residual_in_sum(order, self.gamma * y);
            fresh += still_fresh;
            signals += length;
            weight *= ratio;
            i += 1.0;
            let tail = still_fresh * ratio * tail_factor;
            let done = match accuracy {
                Accuracy::Value => tail <= TAIL * (fresh - decay * signals).max(0.0),
                Accuracy::Both => tail <= TAIL * fresh && length <= TAIL * signals,
            };
            if done {
                break;
            }
        }
        Sums { length: signals / self.gamma, fresh }
    }

    /// How many leading terms have R^i = 1 in both sums to machine precision, if there are enough to be worth it:
    /// the first i with γ y_i too close to i, which falls as the bound rises.
    pub(super) fn finished_terms(&self, state: State) -> f64 {
        let count = self.term_count(state).min(self.term_limit());
        if count <= MANY {
            return 0.0;
        }
        if count >= MOST {
            return count;
        }
        let finished = |i: f64| is_saturated(i, self.gamma * self.remaining(state, i));
        let (mut low, mut high) = (0.0, count.floor() + 1.0);
        if !finished(0.0) {
            return 0.0;
        }
        while high - low > 1.0 {
            let middle = (0.5 * (low + high)).floor();
            if finished(middle) { low = middle } else { high = middle }
        }
        high.min(self.term_limit())
    }
}
