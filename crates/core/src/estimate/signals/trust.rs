//! What a host's pages say about the signals of the next one: trust is pooled.
//!
//! A page's few signals borrow from its host's, a host's from all hosts'. The prior of a page is made-up data:
//! [`STRENGTH`] signals with the host's share of true ones, and as many changes with the host's share of unannounced ones,
//! in the time that the page takes for them.

use super::likelihood::{Fit, SignalScore};
use super::quality::Quality;

/// How many of its own signals a page (or a host) needs to count as much as the pool.
pub const STRENGTH: f64 = 4.0;

/// What is believed of a page's signals beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalPrior {
    true_signals: f64,
    false_signals: f64,
    silent_changes: f64,
    silent_time: f64,
    /// All signals, true and false, in that time.
    signals: f64,
}

impl SignalPrior {
    /// No opinion: plain maximum likelihood.
    pub const NONE: Self =
        Self { true_signals: 0.0, false_signals: 0.0, silent_changes: 0.0, silent_time: 0.0, signals: 0.0 };

    /// Signals of about this precision and recall, on a page that changes about so often.
    pub fn new(expected: Trust, change_rate: f64) -> Self {
        let time = Some(STRENGTH / change_rate).filter(|time| time.is_finite() && *time > 0.0);
        Self {
            true_signals: STRENGTH * expected.precision,
            false_signals: STRENGTH * (1.0 - expected.precision),
            silent_changes: time.map_or(0.0, |_| STRENGTH * (1.0 - expected.recall)),
            silent_time: time.unwrap_or(0.0),
            signals: time.map_or(0.0, |_| STRENGTH * expected.recall / expected.precision.max(1e-6)),
        }
    }

    /// γ: so many signals in so much time, and what was expected: a page that had none yet may have one tomorrow.
    pub fn signal_rate(&self, signals: f64, time: f64) -> f64 {
        let time = time + self.silent_time;
        if time > 0.0 { (signals + self.signals) / time } else { 0.0 }
    }

    /// The top of a likelihood under this prior.
    pub fn on(&self, seen: &SignalScore<'_>) -> Option<Fit> {
        let penalised = SignalScore {
            unchanged_time: seen.unchanged_time + self.silent_time,
            unchanged_signals: seen.unchanged_signals + self.false_signals,
            silent_changes: seen.silent_changes + self.silent_changes,
            true_signals: seen.true_signals + self.true_signals,
            changed: seen.changed,
        };
        penalised.maximum()
    }
}

/// How far a kind of signal can be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trust {
    /// The share of signals that are true.
    pub precision: f64,
    /// The share of changes that are announced.
    pub recall: f64,
}

impl Trust {
    /// Before anything is known.
    pub const START: Self = Self { precision: 0.5, recall: 0.5 };
}

/// What one page has to say about a kind of signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Signals seen.
    pub signals: f64,
    /// Of which true, probably.
    pub true_signals: f64,
    /// Changes that came unannounced, probably.
    pub silent_changes: f64,
}

impl Evidence {
    /// From a page's quality, and how many signals came in the time it was watched.
    pub fn new(quality: &Quality, signals: f64, time: f64) -> Self {
        Self { signals, true_signals: quality.precision() * signals, silent_changes: quality.alpha() * time }
    }
}

/// The evidence of a group of pages: a host's, or all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrustPool {
    sum: Evidence,
}

impl TrustPool {
    /// A page's evidence is new: `before` is what the pool was told last, if anything.
    pub fn replace(&mut self, before: Option<&Evidence>, after: &Evidence) {
        let none = Evidence::default();
        let before = before.unwrap_or(&none);
        self.sum.signals += after.signals - before.signals;
        self.sum.true_signals += after.true_signals - before.true_signals;
        self.sum.silent_changes += after.silent_changes - before.silent_changes;
    }

    /// How far the signals of this group can be believed, leaning on the parent's as far as its own are few.
    pub fn trust(&self, parent: Trust) -> Trust {
        let Evidence { signals, true_signals, silent_changes } = self.sum;
        let share = |part: f64, all: f64, parent: f64| {
            ((part.max(0.0) + STRENGTH * parent) / (all.max(part).max(0.0) + STRENGTH)).clamp(0.0, 1.0)
        };
        Trust {
            precision: share(true_signals, signals, parent.precision),
            recall: share(true_signals, true_signals + silent_changes, parent.recall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::observation::{Answer, Observation};
    use crate::estimate::signals::history::SignalHistory;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_pool_is_the_sum_of_its_pages() {
        let mut pool = TrustPool::default();
        assert_eq!(pool.trust(Trust::START), Trust::START);
        let page = Evidence { signals: 100.0, true_signals: 90.0, silent_changes: 10.0 };
        pool.replace(None, &page);
        let trust = pool.trust(Trust::START);
        assert!((trust.precision - 92.0 / 104.0).abs() < 1e-12);
        assert!((trust.recall - 92.0 / 104.0).abs() < 1e-12);
        pool.replace(Some(&page), &Evidence::default());
        assert_eq!(pool.trust(Trust::START), Trust::START);
    }

    /// A site that never lies is believed on a new page at once, one that always says "now" soon counts for nothing.
    #[test]
    fn a_new_page_borrows_from_its_host() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for honest in [true, false] {
            let mut pool = TrustPool::default();
            for _ in 0..40 {
                let mut page = SignalHistory::default();
                let mut told = None;
                for _ in 0..12 {
                    let changed = rng.random::<f64>() < 0.3;
                    let signals = u32::from(changed || !honest);
                    let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                    page.observe(&Observation::new(1.0, signals, answer).unwrap());
                    let prior = SignalPrior::new(pool.trust(Trust::START), 0.35);
                    let quality = page.quality(&prior).unwrap();
                    let evidence = Evidence::new(&quality, page.signals(), page.time());
                    pool.replace(told.as_ref(), &evidence);
                    told = Some(evidence);
                }
            }
            let trust = pool.trust(Trust::START);
            assert!(!honest || trust.precision > 0.85, "{trust:?}");
            // A new page of this host, before anything was seen of it.
            let new = SignalHistory::default().fit(&SignalPrior::new(trust, 0.35)).unwrap();
            let precision = -(-new.nats).exp_m1();
            assert!(honest == (precision > 0.8), "{honest}: {precision} {trust:?}");
        }
    }
}
