//! One page with noisy change signals: the renewal cycle between two fetches, and the crawl value that follows.
//!
//! Notation of the papers, per page: Δ change rate, λ recall, ν false signals; α = (1-λ)Δ changes that nothing
//! announces; γ = λΔ + ν signals; c = Δ + ν = α + γ; b = ln(γ/ν) the nats of freshness that one signal costs. After
//! τ and n signals, P(fresh) = e^{-q} with q = ατ + nb. (The papers use the effective time ι = q/α and β = b/α,
//! which diverge when every change is signalled; q does not.)
//!
//! For the policy "fetch when the exponent reaches q", with y_i = τ + (n-i)β and R^i from [`crate::math::gamma`]:
//!
//! - ψ = (1/γ) Σ_i R^i(γ y_i): expected length of a cycle; the fetch rate is f = 1/ψ
//! - w = Σ_i ν^i/c^{i+1} R^i(c y_i): expected fresh time in a cycle
//! - V = w - e^{-q} ψ, for importance 1; dV/dq = e^{-q} ψ
//!
//! How the sums are computed depends on where the page is (all branches agree at their borders, and a table of 1000
//! hard points computed with 120 digits checks all of them):
//!
//! | where | how | file |
//! |---|---|---|
//! | many weak signals in q | the sums' limit, exponentially close | `renewal.rs` |
//! | q ≥ 0.01 | the sums as written, finished head in closed form, tail bounded | `sums.rs` |
//! | q < 0.01 | V cancels: term by term, each as a positive series | `small.rs` |
//!
//! A value costs some tens of nanoseconds per term, and there are at most a few dozen terms that count.

mod inverse;
mod renewal;
mod small;
mod sums;

use std::num::NonZeroU32;

use crate::math::greedy::g;
use crate::page::Belief;

/// The parameters of one page's cycle, and what follows from them.
#[derive(Clone, Copy, Debug)]
pub struct SignalModel {
    /// Δ
    delta: f64,
    /// ν
    nu: f64,
    /// α
    alpha: f64,
    /// γ
    gamma: f64,
    /// c = Δ + ν
    total: f64,
    /// b
    nats: f64,
    /// β = b/α: infinite where signals are never false or changes never go unannounced
    beta: f64,
    /// APPROX-J: how many terms of the sums count
    terms: Option<NonZeroU32>,
}

/// What a threshold policy gives in the long run: the renewal cycle from one fetch to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// ψ: expected time from one fetch to the next; infinite if the page is never fetched again.
    pub length: f64,
    /// w: expected time in a cycle during which the copy is fresh.
    pub fresh: f64,
}

impl Cycle {
    /// f = 1/ψ: fetches per unit of time.
    pub fn rate(&self) -> f64 {
        1.0 / self.length
    }

    /// w/ψ: the share of time during which the copy is fresh.
    pub fn freshness(&self) -> f64 {
        if self.length == 0.0 {
            return 1.0;
        }
        if self.length.is_infinite() { 0.0 } else { (self.fresh / self.length).min(1.0) }
    }
}

/// Below this exponent, w - e^{-q} ψ would lose more than 1e-14.
const SMALL: f64 = 0.01;

/// Where a page is in its cycle: `elapsed` and `signals` kept apart, because α may be 0 and b infinite.
#[derive(Clone, Copy, Debug)]
struct State {
    elapsed: f64,
    signals: f64,
    /// q
    exponent: f64,
}

/// V, e^{-q} and ψ at a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueAndCycle {
    pub(crate) value: f64,
    pub(crate) fresh: f64,
    pub(crate) length: f64,
}

/// V and dV/dq at a state.
#[derive(Clone, Copy, Debug)]
struct Value {
    value: f64,
    slope: f64,
}

impl SignalModel {
    /// The model of a page.
    pub fn of(belief: &Belief) -> Self {
        Self::new(belief.change_rate(), belief.recall(), belief.false_rate())
    }

    /// The model for change rate Δ, recall λ and false-signal rate ν: all finite, none negative, λ at most 1.
    pub(crate) fn new(delta: f64, recall: f64, nu: f64) -> Self {
        let signalled = recall * delta;
        let alpha = (1.0 - recall) * delta;
        // So little of Δ is announced that waiting for it changes nothing; and if each signal says next to nothing
        // too, not even a u32 full of them matters. (Products of such numbers would underflow below.)
        let rare = signalled <= 1e-17 * alpha;
        let weak = rare && signalled <= 1e-30 * nu;
        let nats = if signalled == 0.0 || weak { 0.0 } else { (signalled / nu).ln_1p() };
        let gamma = if rare && nu == 0.0 { 0.0 } else { signalled + nu };
        let beta = if nats == 0.0 { 0.0 } else { nats / alpha };
        Self { delta, nu, alpha, gamma, total: delta + nu, nats, beta, terms: None }
    }

    /// The same model with only the first `terms` terms of the sums.
    pub(crate) fn truncated(self, terms: NonZeroU32) -> Self {
        Self { terms: Some(terms), ..self }
    }

    /// Δ: the rate of changes.
    pub fn change_rate(&self) -> f64 {
        self.delta
    }

    /// α: the rate of changes that nothing announces.
    pub fn unsignalled_rate(&self) -> f64 {
        self.alpha
    }

    /// γ: the rate of signals, true and false together.
    pub fn signal_rate(&self) -> f64 {
        self.gamma
    }

    /// b: the nats of freshness that one signal costs; infinite where signals are never false.
    pub fn nats_per_signal(&self) -> f64 {
        self.nats
    }

    /// q = ατ + nb: -ln P(fresh).
    pub fn exponent(&self, elapsed: f64, signals: u32) -> f64 {
        self.state(elapsed, signals).exponent
    }

    /// V for importance 1.
    pub fn value(&self, elapsed: f64, signals: u32) -> f64 {
        self.value_at(self.state(elapsed, signals)).value
    }

    /// V for importance 1, with the chance of a fresh copy and the cycle length whose product is its slope in q.
    pub(crate) fn value_and_cycle(&self, elapsed: f64, signals: u32) -> ValueAndCycle {
        let state = self.state(elapsed, signals);
        let Value { value, slope } = self.value_at(state);
        let fresh = (-state.exponent).exp();
        ValueAndCycle { value, fresh, length: if slope > 0.0 { slope / fresh } else { 0.0 } }
    }

    /// V(∞) for importance 1: 1/Δ, or what APPROX-J makes of it; 0 for a page that never changes.
    pub fn supremum(&self) -> f64 {
        if self.delta == 0.0 {
            return 0.0;
        }
        match self.terms {
            Some(terms) if self.nu > 0.0 => {
                -(-f64::from(terms.get()) * (self.delta / self.nu).ln_1p()).exp_m1() / self.delta
            }
            _ => 1.0 / self.delta,
        }
    }

    /// The cycle of the policy "fetch when the exponent reaches `exponent`" (infinite: at a signal that proves a
    /// change if there are such, never otherwise).
    pub fn cycle(&self, exponent: f64) -> Cycle {
        if self.delta == 0.0 {
            let length = if exponent > 0.0 { f64::INFINITY } else { 0.0 };
            return Cycle { length, fresh: length };
        }
        if self.nats == 0.0 || self.gamma == 0.0 {
            let length = exponent / self.alpha;
            return Cycle { length, fresh: -(-exponent).exp_m1() / self.alpha };
        }
        if exponent.is_infinite() && self.nu > 0.0 {
            return Cycle { length: f64::INFINITY, fresh: 1.0 / self.delta };
        }
        let state = self.threshold_state(exponent);
        if self.alpha == 0.0 {
            // The signal that completes the exponent ends the cycle; the first one does if it is proof.
            let signals = if self.nu == 0.0 { 1.0 } else { state.signals };
            return Cycle {
                length: signals / self.gamma,
                fresh: -(-signals * self.nats).exp_m1() / self.delta,
            };
        }
        self.cycle_at(state)
    }

    fn cycle_at(&self, state: State) -> Cycle {
        if self.is_relaxed(state) {
            return self.relaxed_cycle(state.exponent);
        }
        let sums = self.sums(state, sums::Accuracy::Both);
        Cycle { length: sums.length, fresh: sums.fresh }
    }

    fn state(&self, elapsed: f64, signals: u32) -> State {
        let elapsed = elapsed.max(0.0);
        let signals = f64::from(signals);
        let announced = if signals == 0.0 { 0.0 } else { signals * self.nats };
        State { elapsed, signals, exponent: self.silent(elapsed) + announced }
    }

    /// The state on the way to this exponent that has as many signals as fit: the sums depend on q alone.
    fn threshold_state(&self, exponent: f64) -> State {
        if self.nats == 0.0 || self.nats.is_infinite() {
            // Signals say nothing; or one proves a change and exceeds every exponent, so only the time until then
            // is counted.
            let elapsed = if self.alpha == 0.0 { f64::INFINITY } else { exponent / self.alpha };
            return State { elapsed, signals: 0.0, exponent };
        }
        let fitting = exponent / self.nats;
        if self.alpha == 0.0 {
            // Time alone does nothing: the policy waits for the signal that completes the exponent. Exponents are
            // n·b; what rounding adds to n does not make another signal.
            return State { elapsed: 0.0, signals: (fitting * (1.0 - 1e-12)).ceil(), exponent };
        }
        let signals = fitting.floor();
        State { elapsed: ((exponent - signals * self.nats) / self.alpha).max(0.0), signals, exponent }
    }

    /// ατ, where 0 · ∞ is 0.
    fn silent(&self, elapsed: f64) -> f64 {
        if self.alpha == 0.0 { 0.0 } else { self.alpha * elapsed }
    }

    /// y_i = τ + (n-i)β.
    #[inline]
    fn remaining(&self, state: State, i: f64) -> f64 {
        let ahead = state.signals - i;
        if ahead == 0.0 { state.elapsed } else { state.elapsed + ahead * self.beta }
    }

    /// αy_i = q - ib, also where y_i is infinite.
    #[inline]
    fn remaining_exponent(&self, state: State, i: f64) -> f64 {
        let ahead = state.signals - i;
        self.silent(state.elapsed) + if ahead == 0.0 { 0.0 } else { ahead * self.nats }
    }

    /// How many terms may count at all.
    fn term_limit(&self) -> f64 {
        self.terms.map_or(f64::INFINITY, |terms| f64::from(terms.get()))
    }

    /// How many terms the sums have: q/b.
    fn term_count(&self, state: State) -> f64 {
        if self.nats.is_infinite() { state.signals } else { state.exponent / self.nats }
    }

    #[inline]
    fn value_at(&self, state: State) -> Value {
        let q = state.exponent;
        if self.delta == 0.0 || q == 0.0 {
            return Value { value: 0.0, slope: 0.0 };
        }
        let exact = self.terms.is_none();
        if self.gamma == 0.0 || (exact && self.nats == 0.0) {
            // No signals, or signals that say nothing: GREEDY at the rate α = Δ.
            return Value { value: g(q) / self.alpha, slope: q.min(1e3) * (-q).exp() / self.alpha };
        }
        // What is left to gain is at most e^{-q} (1 + q + b)/Δ.
        if exact && q > 40.0 && (q > 700.0 || (-q).exp() * (1.0 + 2.0 * q + self.nats.min(1e3)) < 1e-17) {
            return Value { value: 1.0 / self.delta, slope: 0.0 };
        }
        let result = if self.alpha == 0.0 {
            self.signals_only_value(state)
        } else if exact && self.is_relaxed(state) {
            self.relaxed_value(q)
        } else if q < SMALL {
            self.small_value(state)
        } else {
            let sums = self.sums(state, sums::Accuracy::Value);
            let slope = (-q).exp() * sums.length;
            Value { value: sums.fresh - slope, slope }
        };
        Value { value: result.value.max(0.0), ..result }
    }
}

#[cfg(test)]
mod tests;
