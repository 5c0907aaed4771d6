//! A page with signals, fetched at regular intervals: what its precision and recall are taken to be.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use refrain_core::estimate::signals::history::SignalHistory;
use refrain_core::estimate::signals::likelihood::{Changed, SignalScore};
use refrain_core::estimate::signals::quality::Quality;
use refrain_core::estimate::{Answer, Observation};

/// More signals than this in an interval are counted as this many.
const MOST: usize = 400;

/// The truth of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Truth {
    pub(super) precision: f64,
    pub(super) recall: f64,
    /// Fetches per change.
    pub(super) fetches: f64,
    /// The mean time between changes.
    pub(super) length: f64,
}

impl Truth {
    /// As in the paper: precision and recall in [.2, .95], a mean time between changes in [2, 20].
    pub(super) fn draw(fetches: f64, random: &mut ChaCha8Rng) -> Self {
        let mut between = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let (precision, recall) = (between(0.2, 0.95), between(0.2, 0.95));
        Self { precision, recall, fetches, length: between(2.0, 20.0) }
    }

    /// The time between two fetches.
    pub(super) fn interval(&self) -> f64 {
        self.length / self.fetches
    }

    /// Announced changes, silent ones and false signals, in an interval.
    fn means(&self) -> [f64; 3] {
        let announced = self.recall / self.fetches;
        [announced, (1.0 - self.recall) / self.fetches, announced * (1.0 / self.precision - 1.0)]
    }

    /// What the next fetch sees: signals, and whether there was a change.
    pub(super) fn look(&self, random: &mut ChaCha8Rng) -> (u32, bool) {
        let [announced, silent, wrong] =
            self.means().map(|mean| Poisson::new(mean).map_or(0.0, |poisson| poisson.sample(random)));
        ((announced + wrong) as u32, announced + silent > 0.0)
    }
}

/// What was seen of a page: intervals of one length, counted by their signals.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    interval: f64,
    unchanged: Vec<f64>,
    changed: Vec<f64>,
    /// What Refrain remembers of the same.
    pub(super) history: SignalHistory,
}

impl Watched {
    pub(super) fn new(interval: f64) -> Self {
        Self { interval, unchanged: Vec::new(), changed: Vec::new(), history: SignalHistory::default() }
    }

    pub(super) fn observe(&mut self, (signals, changed): (u32, bool)) {
        let counts = if changed { &mut self.changed } else { &mut self.unchanged };
        let place = (signals as usize).min(MOST);
        if counts.len() <= place {
            counts.resize(place + 1, 0.0);
        }
        counts[place] += 1.0;
        let answer = if changed { Answer::Changed } else { Answer::Unchanged };
        if let Ok(seen) = Observation::new(self.interval, signals, answer) {
            self.history.observe(&seen);
        }
    }

    /// Precision and recall as if every interval with a signal and a change were a signal that announced it.
    pub(super) fn naive(&self) -> Option<(f64, f64)> {
        let loud = |counts: &[f64]| counts.iter().skip(1).sum::<f64>();
        let both = loud(&self.changed);
        let (with_signals, with_changes) = (both + loud(&self.unchanged), self.changed.iter().sum::<f64>());
        (with_signals > 0.0 && with_changes > 0.0).then(|| (both / with_signals, both / with_changes))
    }

    /// By maximum likelihood.
    pub(super) fn likeliest(&self) -> Option<(f64, f64)> {
        let signals =
            |counts: &[f64]| counts.iter().enumerate().map(|(n, count)| n as f64 * count).sum::<f64>();
        let intervals = |counts: &[f64]| counts.iter().sum::<f64>();
        let changed: Vec<Changed> = self
            .changed
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0.0)
            .map(|(n, count)| Changed { length: self.interval, signals: n as f64, weight: *count })
            .collect();
        let score = SignalScore {
            unchanged_time: self.interval * intervals(&self.unchanged),
            unchanged_signals: signals(&self.unchanged),
            silent_changes: 0.0,
            true_signals: 0.0,
            changed: &changed,
        };
        let fit = score.maximum()?;
        let time = self.interval * (intervals(&self.unchanged) + intervals(&self.changed));
        let rate = (signals(&self.unchanged) + signals(&self.changed)) / time;
        Quality::new(fit.alpha, fit.nats, rate).ok().map(|quality| (quality.precision(), quality.recall()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// Reference figures: α = .0628709, b = .2834437 after 40 intervals of length 10.
    #[test]
    fn the_likelihood_has_its_known_top() {
        let signals = "1011330111100102103324000021002100110020";
        let changed = "1100111111100010001111110010100010101110";
        let mut watched = Watched::new(10.0);
        for (n, z) in signals.bytes().zip(changed.bytes()) {
            watched.observe((u32::from(n - b'0'), z == b'1'));
        }
        let total: f64 = signals.bytes().map(|n| f64::from(n - b'0')).sum();
        let (alpha, nats, rate) = (0.062_870_897_175_434_66, 0.283_443_712_849_232_64_f64, total / 400.0);
        let (precision, recall) = watched.likeliest().unwrap();
        assert!((precision - (1.0 - (-nats).exp())).abs() < 1e-6, "{precision}");
        let announced = rate * precision;
        assert!((recall - announced / (announced + alpha)).abs() < 1e-6, "{recall}");
    }

    #[test]
    fn naive_counts_intervals() {
        let mut watched = Watched::new(1.0);
        for look in [(0, false), (2, true), (1, false), (0, true), (1, true)] {
            watched.observe(look);
        }
        assert_eq!(watched.naive(), Some((2.0 / 3.0, 2.0 / 3.0)));
        assert_eq!(Watched::new(1.0).naive(), None);
    }

    /// The naive bias, from the probabilities of an interval.
    #[test]
    fn looks_have_their_probabilities() {
        let truth = Truth { precision: 0.5, recall: 0.6, fetches: 1.0, length: 4.0 };
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut watched = Watched::new(truth.interval());
        for _ in 0..40_000 {
            let look = truth.look(&mut random);
            watched.observe(look);
        }
        let [announced, silent, wrong] = truth.means();
        let none = |mean: f64| (-mean).exp();
        let both =
            1.0 - none(announced + wrong) - none(announced + silent) + none(announced + wrong + silent);
        let (precision, recall) = watched.naive().unwrap();
        assert!((precision - both / (1.0 - none(announced + wrong))).abs() < 0.01, "{precision}");
        assert!((recall - both / (1.0 - none(1.0))).abs() < 0.01, "{recall}");
        let (precision, recall) = watched.likeliest().unwrap();
        assert!((precision - 0.5).abs() < 0.02 && (recall - 0.6).abs() < 0.02, "{precision} {recall}");
    }
}
