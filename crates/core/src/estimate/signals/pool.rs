//! What a group of pages, a host's or all, says about the signals of the next one.
//!
//! Time is counted in the changes that were expected of a page, so that fast and slow pages speak of the same thing: in an interval
//! of length x = Δτ with n signals nothing changes with probability e^{-(ax + nb)}, where a is the share of changes that nothing
//! announces. Each interval counts once, whichever page it is of, and the fit is over all of them: a group is known after a few
//! dozen fetches, however few each page had.

use super::likelihood::{Changed, SignalScore};
use super::trust::{SignalPrior, Trust};
use crate::estimate::bytes::{self, Reading};

/// So many intervals count in full.
const WINDOW: f64 = 4096.0;
/// How many representatives stand for the changed intervals.
const NODES: usize = 20;
/// Intervals as close as this (in squared logarithms) are the same.
const ALIKE: f64 = 0.01;
/// The first byte of what is kept; another one for another form.
const FORM: u8 = 1;
/// Fitted again after this share of the intervals is new.
const REFIT_SHARE: f64 = 1.0 / 16.0;

/// The intervals of a group of pages.
#[derive(Clone, Debug, Default)]
pub struct SignalPool {
    intervals: f64,
    /// Changes that were expected, and signals, in all intervals.
    expected: f64,
    signals: f64,
    /// The same in those in which nothing changed.
    unchanged: f64,
    unchanged_signals: f64,
    changed: Vec<Changed>,
    updates: f64,
    fitted: Option<Trust>,
}

impl SignalPool {
    /// One more interval, in which so many changes were expected.
    pub fn observe(&mut self, expected: f64, signals: u32, changed: bool) {
        if !(expected.is_finite() && expected > 0.0) {
            return;
        }
        if self.intervals >= WINDOW {
            self.fade();
        }
        let signals = f64::from(signals);
        self.intervals += 1.0;
        self.updates += 1.0;
        self.expected += expected;
        self.signals += signals;
        if changed {
            self.add(Changed { length: expected, signals, weight: 1.0 });
        } else {
            self.unchanged += expected;
            self.unchanged_signals += signals;
        }
    }

    /// How many intervals count.
    pub fn intervals(&self) -> f64 {
        self.intervals
    }

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut kept = vec![FORM];
        let sums = [self.intervals, self.expected, self.signals, self.unchanged, self.unchanged_signals];
        bytes::write(&mut kept, &sums.map(|sum| sum as f32));
        for one in &self.changed {
            bytes::write(&mut kept, &[one.length, one.signals, one.weight].map(|number| number as f32));
        }
        kept
    }

    /// What was kept, if it can be that.
    pub fn from_bytes(kept: &[u8]) -> Option<Self> {
        let mut from = Reading::new(kept);
        if from.byte()? != FORM {
            return None;
        }
        let mut amount = || from.amount().map(f64::from);
        let mut pool = Self {
            intervals: amount()?,
            expected: amount()?,
            signals: amount()?,
            unchanged: amount()?,
            unchanged_signals: amount()?,
            ..Self::default()
        };
        while !from.is_over() {
            let mut amount = || from.amount().map(f64::from);
            let one = Changed { length: amount()?, signals: amount()?, weight: amount()? };
            if !(one.length > 0.0 && one.weight > 0.0) || pool.changed.len() == NODES {
                return None;
            }
            pool.changed.push(one);
        }
        pool.updates = pool.intervals;
        Some(pool)
    }

    /// All intervals of another group, as if they had been seen here.
    pub fn absorb(&mut self, other: &Self) {
        self.intervals += other.intervals;
        self.expected += other.expected;
        self.signals += other.signals;
        self.unchanged += other.unchanged;
        self.unchanged_signals += other.unchanged_signals;
        self.updates += other.intervals;
        other.changed.iter().for_each(|one| self.add(*one));
        while self.intervals >= WINDOW {
            self.fade();
        }
    }

    fn fade(&mut self) {
        for sum in [
            &mut self.intervals,
            &mut self.expected,
            &mut self.signals,
            &mut self.unchanged,
            &mut self.unchanged_signals,
        ] {
            *sum *= 0.5;
        }
        self.changed.iter_mut().for_each(|kept| kept.weight *= 0.5);
    }

    /// Where two are alike enough, one stands for both; where there is no room, for the two that lose least by it.
    fn add(&mut self, new: Changed) {
        let apart = |kept: &Changed| distance(kept, &new);
        let nearest = self.changed.iter_mut().min_by(|one, other| apart(one).total_cmp(&apart(other)));
        match nearest {
            Some(kept) if distance(kept, &new) < ALIKE => *kept = merged(kept, &new),
            _ => self.changed.push(new),
        }
        if self.changed.len() > NODES {
            self.make_room();
        }
    }

    fn make_room(&mut self) {
        let (mut least, mut pair) = (f64::INFINITY, (0, 1));
        for (place, one) in self.changed.iter().enumerate() {
            for (before, other) in self.changed[..place].iter().enumerate() {
                let loss = distance(one, other) * one.weight * other.weight / (one.weight + other.weight);
                if loss < least {
                    (least, pair) = (loss, (before, place));
                }
            }
        }
        let gone = self.changed.swap_remove(pair.1);
        self.changed[pair.0] = merged(&self.changed[pair.0], &gone);
    }

    /// Signals seen, as far as they count.
    pub fn signals(&self) -> f64 {
        self.signals
    }

    /// How far the signals of this group can be believed, leaning on the parent as far as its own intervals are few.
    pub fn trust(&mut self, parent: Trust) -> Trust {
        if let Some(fitted) = self.fitted
            && self.updates < 1.0 + REFIT_SHARE * self.intervals
        {
            return fitted;
        }
        self.updates = 0.0;
        let trust = self.fit(parent);
        self.fitted = Some(trust);
        trust
    }

    /// Changes that were expected, as far as they count.
    pub(super) fn expected(&self) -> f64 {
        self.expected
    }

    /// What was seen, by itself.
    pub(super) fn score(&self) -> SignalScore<'_> {
        SignalScore {
            unchanged_time: self.unchanged,
            unchanged_signals: self.unchanged_signals,
            silent_changes: 0.0,
            true_signals: 0.0,
            changed: &self.changed,
        }
    }

    fn fit(&self, parent: Trust) -> Trust {
        let prior = SignalPrior::new(parent, 1.0);
        let Some(fit) = prior.on(&self.score()) else { return parent };
        Trust {
            precision: -(-fit.nats).exp_m1(),
            silent: fit.alpha,
            signals: prior.signal_rate(self.signals, self.expected),
        }
    }
}

/// How much two intervals differ, in squared logarithms. One without signals is like no other.
fn distance(one: &Changed, other: &Changed) -> f64 {
    let signals = ((one.signals + 0.1) / (other.signals + 0.1)).ln();
    (one.length / other.length).ln().powi(2) + signals * signals
}

fn merged(one: &Changed, other: &Changed) -> Changed {
    let weight = one.weight + other.weight;
    let mean = |x: f64, y: f64| (x * one.weight + y * other.weight) / weight;
    Changed { length: mean(one.length, other.length), signals: mean(one.signals, other.signals), weight }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::signals::history::SignalHistory;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    /// Pages of many speeds, looked at a few times each: the pool finds what is true of all.
    #[test]
    fn a_group_is_known_however_few_looks_each_page_had() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for (precision, recall) in [(0.9, 0.95), (0.3, 0.9), (0.8, 0.3), (0.02, 0.5)] {
            let mut pool = SignalPool::default();
            assert_eq!(pool.trust(Trust::START), Trust::START);
            for _ in 0..2000 {
                let delta = 10f64.powf(rng.random::<f64>() * 3.0);
                for _ in 0..3 {
                    let expected = 2.0 * rng.random::<f64>();
                    let elapsed = expected / delta;
                    let mut draw = |mean: f64| Poisson::new(mean.max(1e-12)).unwrap().sample(&mut rng);
                    let told = draw(recall * delta * elapsed);
                    let silent = draw((1.0 - recall) * delta * elapsed);
                    let wrong = draw(recall * delta * elapsed * (1.0 - precision) / precision);
                    pool.observe(expected, (told + wrong) as u32, told + silent > 0.0);
                }
            }
            let trust = pool.trust(Trust::START);
            assert!((trust.precision - precision).abs() < 0.06, "{precision} {recall}: {trust:?}");
            // Where signals are many and mean little, they come with time: it is hard to say what explains a change.
            assert!((trust.silent - (1.0 - recall)).abs() < 0.12, "{precision} {recall}: {trust:?}");
            assert!(
                (trust.signals / (recall / precision) - 1.0).abs() < 0.1,
                "{precision} {recall}: {trust:?}"
            );
        }
    }

    #[test]
    fn what_is_kept_comes_back_and_groups_add_up() {
        let (mut one, mut other, mut both) =
            (SignalPool::default(), SignalPool::default(), SignalPool::default());
        for k in 0..300u32 {
            let (expected, signals, changed) = (0.1 + f64::from(k % 7), k % 3, k % 5 < k % 3);
            let half = if k % 2 == 0 { &mut one } else { &mut other };
            half.observe(expected, signals, changed);
            both.observe(expected, signals, changed);
        }
        let mut back = SignalPool::from_bytes(&one.to_bytes()).unwrap();
        let close = |a: Trust, b: Trust, by: f64| {
            (a.precision - b.precision).abs() < by && (a.silent - b.silent).abs() < by
        };
        assert!(close(back.trust(Trust::START), one.trust(Trust::START), 1e-5));
        back.absorb(&other);
        assert!(back.intervals() == 300.0 && close(back.trust(Trust::START), both.trust(Trust::START), 0.02));
        let bytes = one.to_bytes();
        for wrong in [&[][..], &[2], &bytes[..bytes.len() - 1], &[&bytes[..], &[0; 12]].concat()] {
            assert!(SignalPool::from_bytes(wrong).is_none());
        }
    }

    /// A site that never lies is believed on a new page at once, one that always says "now" soon counts for nothing.
    #[test]
    fn a_new_page_borrows_from_its_host() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        for honest in [true, false] {
            let mut pool = SignalPool::default();
            for _ in 0..200 {
                let changed = rng.random::<f64>() < 0.3;
                pool.observe(0.35, u32::from(changed || !honest), changed);
            }
            let trust = pool.trust(Trust::START);
            // A new page of this host, before anything was seen of it.
            let new = SignalHistory::default().fit(&SignalPrior::new(trust, 0.35)).unwrap();
            let precision = -(-new.nats).exp_m1();
            assert!(honest == (precision > 0.8), "{honest}: {precision} {trust:?}");
        }
    }
}
