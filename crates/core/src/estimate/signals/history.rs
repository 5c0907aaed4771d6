//! What is remembered of one kind of signal on one page: 60 bytes, kept only where there are such signals.
//!
//! As in the page's own history: unchanged intervals are sums, changed ones a few representatives. Those without signals
//! are lengths alone; those with signals are pairs (length, signals), of which the two most alike are merged.

use super::likelihood::{Changed, Fit, SignalScore};
use super::quality::Quality;
use super::trust::SignalPrior;
use crate::estimate::bytes::{self, Reading};
use crate::estimate::history::WINDOW;
use crate::estimate::lengths::Lengths;
use crate::estimate::observation::Observation;
use crate::estimate::score::Weighted;

const LOUD: usize = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Loud {
    length: f32,
    signals: f32,
    weight: f32,
}

/// The history of one kind of signal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SignalHistory {
    intervals: f32,
    time: f32,
    signals: f32,
    unchanged_time: f32,
    unchanged_signals: f32,
    silent: Lengths<2>,
    loud: [Loud; LOUD],
}

impl SignalHistory {
    /// How many bytes it takes.
    pub const BYTES: usize = 60;

    pub(crate) fn write(&self, to: &mut Vec<u8>) {
        let sums = [self.intervals, self.time, self.signals, self.unchanged_time, self.unchanged_signals];
        bytes::write(to, &sums);
        self.silent.write(to);
        for loud in &self.loud {
            bytes::write(to, &[loud.length, loud.signals, loud.weight]);
        }
    }

    pub(crate) fn read(from: &mut Reading<'_>) -> Option<Self> {
        let mut read = Self {
            intervals: from.amount()?,
            time: from.amount()?,
            signals: from.amount()?,
            unchanged_time: from.amount()?,
            unchanged_signals: from.amount()?,
            silent: Lengths::read(from)?,
            loud: [Loud::default(); LOUD],
        };
        for loud in &mut read.loud {
            *loud = Loud { length: from.amount()?, signals: from.amount()?, weight: from.amount()? };
        }
        Some(read)
    }

    /// One more interval; the observation counts the signals of this kind.
    pub fn observe(&mut self, seen: &Observation) {
        if self.intervals >= WINDOW {
            self.fade(0.5);
        }
        let (elapsed, signals) = (seen.elapsed() as f32, seen.signals() as f32);
        self.intervals += 1.0;
        self.time += elapsed;
        self.signals += signals;
        if !seen.changed() {
            self.unchanged_time += elapsed;
            self.unchanged_signals += signals;
        } else if signals == 0.0 {
            self.silent.add(seen.elapsed(), f64::from(self.intervals / self.time));
        } else {
            self.add_loud(Loud { length: elapsed, signals, weight: 1.0 });
        }
    }

    fn add_loud(&mut self, new: Loud) {
        if let Some(free) = self.loud.iter_mut().find(|kept| kept.weight == 0.0) {
            *free = new;
            return;
        }
        let [a, b] = self.loud;
        let pairs = [([a, b], new), ([a, new], b), ([b, new], a)];
        let closest = pairs.into_iter().min_by(|x, y| distance(x.0).total_cmp(&distance(y.0)));
        if let Some((pair, other)) = closest {
            self.loud = [merge(pair), other];
        }
    }

    fn fade(&mut self, share: f32) {
        for sum in [
            &mut self.intervals,
            &mut self.time,
            &mut self.signals,
            &mut self.unchanged_time,
            &mut self.unchanged_signals,
        ] {
            *sum *= share;
        }
        self.silent.fade(share);
        self.loud.iter_mut().for_each(|kept| kept.weight *= share);
    }

    /// Signals seen, as far as they count.
    pub fn signals(&self) -> f64 {
        f64::from(self.signals)
    }

    /// Time watched, as far as it counts.
    pub fn time(&self) -> f64 {
        f64::from(self.time)
    }

    fn changed(&self) -> [Changed; 2 + LOUD] {
        let [a, b] = self.silent.weighted();
        let silent = |Weighted { length, weight }| Changed { length, signals: 0.0, weight };
        let loud = |kept: Loud| Changed {
            length: f64::from(kept.length),
            signals: f64::from(kept.signals),
            weight: f64::from(kept.weight),
        };
        let [c, d] = self.loud;
        [silent(a), silent(b), loud(c), loud(d)]
    }

    /// The likeliest (α, b) under a prior.
    pub fn fit(&self, prior: &SignalPrior) -> Option<Fit> {
        prior.on(&SignalScore {
            unchanged_time: f64::from(self.unchanged_time),
            unchanged_signals: f64::from(self.unchanged_signals),
            silent_changes: 0.0,
            true_signals: 0.0,
            changed: &self.changed(),
        })
    }

    /// How good the signals are, under a prior; `None` before the first interval.
    pub fn quality(&self, prior: &SignalPrior) -> Option<Quality> {
        self.quality_with(prior, 0.0, 0.0)
    }

    /// The same with so many signals in so much time since the last interval: nobody knows what became of them, but they count.
    pub fn quality_with(&self, prior: &SignalPrior, signals: f64, time: f64) -> Option<Quality> {
        let fit = self.fit(prior)?;
        let rate = prior.signal_rate(self.signals() + signals, self.time() + time);
        Quality::new(fit.alpha, fit.nats, rate).ok()
    }
}

/// What merging two would blur, in relative terms.
fn distance([a, b]: [Loud; 2]) -> f32 {
    let apart = (a.length / b.length).ln().powi(2) + (a.signals / b.signals).ln().powi(2);
    apart * a.weight * b.weight / (a.weight + b.weight)
}

fn merge([a, b]: [Loud; 2]) -> Loud {
    let weight = a.weight + b.weight;
    let mean = |x: f32, y: f32| (x * a.weight + y * b.weight) / weight;
    Loud { length: mean(a.length, b.length), signals: mean(a.signals, b.signals), weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::observation::Answer;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    #[test]
    fn it_is_small() {
        assert!(size_of::<SignalHistory>() <= 64);
    }

    /// Pages whose quality is known: what is remembered gives what all intervals give, and both the truth.
    #[test]
    fn the_compact_fit_is_the_full_fit() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut apart, mut off) = (0.0, 0.0);
        let pages = 200;
        for _ in 0..pages {
            let (delta, precision, recall) =
                (0.5, 0.3 + 0.5 * rng.random::<f64>(), 0.3 + 0.5 * rng.random::<f64>());
            let false_rate = recall * delta * (1.0 - precision) / precision;
            let mut history = SignalHistory::default();
            let (mut changed, mut quiet_time, mut quiet_signals) = (Vec::new(), 0.0, 0.0);
            for _ in 0..1000 {
                let elapsed = 0.5 + 2.0 * rng.random::<f64>();
                let mut draw = |mean: f64| Poisson::new(mean).unwrap().sample(&mut rng);
                let (announced, silent) =
                    (draw(recall * delta * elapsed), draw((1.0 - recall) * delta * elapsed));
                let signals = announced + draw(false_rate * elapsed);
                let answer = if announced + silent > 0.0 { Answer::Changed } else { Answer::Unchanged };
                let seen = Observation::new(elapsed, signals as u32, answer).unwrap();
                history.observe(&seen);
                if seen.changed() {
                    changed.push(Changed { length: elapsed, signals, weight: 1.0 });
                } else {
                    quiet_time += elapsed;
                    quiet_signals += signals;
                }
            }
            let full = SignalScore {
                unchanged_time: quiet_time,
                unchanged_signals: quiet_signals,
                silent_changes: 0.0,
                true_signals: 0.0,
                changed: &changed,
            };
            let full = full.maximum().unwrap();
            let compact = history.fit(&SignalPrior::NONE).unwrap();
            apart += (compact.nats / full.nats).ln().abs() + (compact.alpha / full.alpha).ln().abs();
            off += (1.0 - (-full.nats).exp() - precision).abs();
        }
        assert!(apart / f64::from(pages) < 0.08, "{}", apart / f64::from(pages));
        assert!(off / f64::from(pages) < 0.06, "{}", off / f64::from(pages));
    }
}
