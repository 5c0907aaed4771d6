//! V where little freshness is lost yet (q < 0.01): w and e^{-q} ψ agree in their leading digits, so their
//! difference is summed term by term, each term written as a sum of positive parts.
//!
//! T_i = (ν^i/i!) ∫_0^y s^i e^{-γs} (e^{-αs} - e^{-αy}) ds, y = y_i. With x = cy, z = γy, a = αy and
//! D_N = (c^N - γ^N) ≥ 0 (D_N = c D_{N-1} + α γ^{N-1}):
//!
//! - z ≤ i+1: T_i = ν^i e^{-x} Σ_{N≥1} D_N y^{i+N+1}/(i+N+1)!
//! - z > i+1: T_i = (ν^i/γ^{i+1}) e^{-a} [ e^{a-(i+1)κ} - 1 + e^{-z} Σ_{j≤i} z^j/j! (1 - (γ/c)^{i+1-j}) ],
//!   κ = ln(c/γ); a > (i+1)κ, so both parts are positive.

use super::sums::MOST;
use super::{SignalModel, State, Value};
use crate::math::gamma::{is_saturated, poisson, reciprocal, residual};
use crate::math::small::sum_exp_m1;

const NEGLIGIBLE: f64 = 1e-16;

impl SignalModel {
    pub(super) fn small_value(&self, state: State) -> Value {
        let q = state.exponent;
        let limit = self.term_limit();
        let head = self.finished_terms(state);
        let kappa = (self.alpha / self.gamma).ln_1p();
        let decay = (-q).exp() / self.gamma;

        let mut value = decay * sum_exp_m1(q - kappa, self.nats + kappa, head);
        let mut signals = head;
        let mut i = head;
        while i < limit && head < MOST {
            let y = self.remaining(state, i);
            if !(y > 0.0) {
                break;
            }
            let term = self.small_term(i, y, self.remaining_exponent(state, i), kappa);
            let length = residual(i as u32, self.gamma * y);
            value += term;
            signals += length;
            if term <= NEGLIGIBLE * value && length <= NEGLIGIBLE * signals {
                break;
            }
            i += 1.0;
        }
        Value { value, slope: decay * signals }
    }

    /// V where every change is signalled (α = 0): a finite sum over the signals, at any q;
    /// V = (e^{-q}/γ) Σ_{i<n} (e^{q-ib} - 1).
    pub(super) fn signals_only_value(&self, state: State) -> Value {
        let q = state.exponent;
        let decay = (-q).exp() / self.gamma;
        let terms = state.signals.min(self.term_limit());
        if q > 700.0 {
            return Value { value: self.supremum(), slope: 0.0 };
        }
        Value { value: decay * sum_exp_m1(q, self.nats, terms), slope: decay * terms }
    }

    fn small_term(&self, i: f64, y: f64, a: f64, kappa: f64) -> f64 {
        let order = i as u32;
        let z = self.gamma * y;
        if z <= i + 1.0 {
            let scale = if i == 0.0 { 1.0 } else { (-i * (self.delta / self.nu).ln_1p()).exp() };
            let x = self.total * y;
            return scale / self.total * poisson(order + 1, x) * lower_series(order, x, z, a);
        }
        let scale = if i == 0.0 { 1.0 } else { (-i * self.nats).exp() } * (-a).exp() / self.gamma;
        let lead = (a - (i + 1.0) * kappa).exp_m1();
        if is_saturated(i, z) {
            return scale * lead;
        }
        scale * (lead + poisson(order, z) * upper_sum(order, z, self.alpha / self.total))
    }
}

/// Σ_{N≥1} D_N y^N / ((i+2)…(i+1+N)).
fn lower_series(i: u32, x: f64, z: f64, a: f64) -> f64 {
    let (mut sum, mut difference, mut power) = (0.0, 0.0, 1.0);
    let mut n = i + 1;
    loop {
        n += 1;
        let r = reciprocal(n);
        difference = (x * difference + a * power) * r;
        power *= z * r;
        sum += difference;
        if difference <= 1e-17 * sum {
            return sum;
        }
    }
}

/// Σ_{j≤i} i!/j! z^{j-i} (1 - (γ/c)^{i+1-j}), from j = i down; `share` is α/c = 1 - γ/c.
fn upper_sum(i: u32, z: f64, share: f64) -> f64 {
    let inverse = 1.0 / z;
    let (mut term, mut kept, mut lost) = (1.0, 1.0 - share, share);
    let mut sum = lost;
    for j in (1..=i).rev() {
        term *= f64::from(j) * inverse;
        lost += kept * share;
        kept *= 1.0 - share;
        sum += term * lost;
        if term <= 1e-20 {
            break;
        }
    }
    sum
}
