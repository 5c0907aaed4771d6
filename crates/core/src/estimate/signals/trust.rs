//! What a host's pages say about the signals of the next one: trust is pooled.
//!
//! A page's few signals borrow from its host's, a host's from all hosts'. The prior of a page is made-up data:
//! [`STRENGTH`] signals with the host's share of true ones, and as many changes with the host's share of unannounced ones,
//! in the time that the page takes for them. What a host's share is says its [`super::pool`].

use super::likelihood::{Fit, SignalScore};

/// How many of its own signals a page (or a host) needs to count as much as the pool.
pub const STRENGTH: f64 = 10.0;

/// What is believed of a page's signals beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalPrior {
    true_signals: f64,
    false_signals: f64,
    silent_changes: f64,
    silent_time: f64,
    /// All signals, true and false, and the time they take.
    signals: f64,
    signal_time: f64,
}

impl SignalPrior {
    /// No opinion: plain maximum likelihood.
    pub const NONE: Self = Self {
        true_signals: 0.0,
        false_signals: 0.0,
        silent_changes: 0.0,
        silent_time: 0.0,
        signals: 0.0,
        signal_time: 0.0,
    };

    /// Signals of about this precision and recall, on a page that changes about so often.
    pub fn new(expected: Trust, change_rate: f64) -> Self {
        let strength = STRENGTH;
        let time = Some(strength / change_rate).filter(|time| time.is_finite() && *time > 0.0);
        Self {
            true_signals: strength * expected.precision,
            false_signals: strength * (1.0 - expected.precision),
            silent_changes: time.map_or(0.0, |_| strength * expected.silent),
            silent_time: time.unwrap_or(0.0),
            signals: time.map_or(0.0, |_| strength.min(strength * expected.signals)),
            signal_time: time.map_or(0.0, |time| time / expected.signals.max(1.0)),
        }
    }

    /// γ: so many signals in so much time, and what was expected: a page that had none yet may have one tomorrow.
    pub fn signal_rate(&self, signals: f64, time: f64) -> f64 {
        let time = time + self.signal_time;
        if time > 0.0 { (signals + self.signals) / time } else { 0.0 }
    }

    /// How many signals this counts for where γ is learned.
    pub(super) fn signals(&self) -> f64 {
        self.signals
    }

    /// The posterior: a likelihood, and this prior as made-up data.
    pub(super) fn posterior<'a>(&self, seen: &SignalScore<'a>) -> SignalScore<'a> {
        SignalScore {
            unchanged_time: seen.unchanged_time + self.silent_time,
            unchanged_signals: seen.unchanged_signals + self.false_signals,
            silent_changes: seen.silent_changes + self.silent_changes,
            true_signals: seen.true_signals + self.true_signals,
            changed: seen.changed,
        }
    }

    /// The top of a likelihood under this prior.
    pub fn on(&self, seen: &SignalScore<'_>) -> Option<Fit> {
        self.posterior(seen).maximum()
    }
}

/// How far a kind of signal can be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// The share of signals that are true.
    pub precision: f64,
    /// Changes that nothing announces, per change that is expected.
    pub silent: f64,
    /// Signals, true and false, per change that is expected.
    pub signals: f64,
}

impl Trust {
    /// Before anything is known: every other change is announced, every other signal is true.
    pub const START: Self = Self { precision: 0.5, silent: 0.5, signals: 1.0 };

    /// The share of changes that are announced.
    pub fn recall(&self) -> f64 {
        let announced = self.precision * self.signals;
        if announced > 0.0 { announced / (announced + self.silent) } else { 0.0 }
    }
}
