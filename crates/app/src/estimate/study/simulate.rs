//! Made-up pages, fetched at random times.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::lln::lln;
use refrain_core::estimate::mle::mle;
use refrain_core::estimate::moments::mm;
use refrain_core::estimate::naive::naive;
use refrain_core::estimate::observation::SHORTEST;
use refrain_core::estimate::regular::regular;
use refrain_core::estimate::sa::Sa;
use refrain_core::estimate::sam::Sam;
use refrain_core::estimate::score::{Score, Weighted};
use refrain_core::estimate::{Answer, History, Method, Observation, Posterior};

use super::errors::Errors;
use super::{AFTER, Setting};

/// Pages are made up in pieces of this many, each from its own stream: the same on any number of threads.
const PIECE: u32 = 50;

/// The errors of each method after each number of intervals.
pub(super) struct Measured(Vec<[Errors; AFTER.len()]>);

impl Measured {
    pub(super) fn at(&self, method: usize, k: u32) -> Errors {
        let place = AFTER.iter().position(|after| *after == k).unwrap_or(AFTER.len() - 1);
        self.0[method][place]
    }

    fn new(methods: usize) -> Self {
        Self(vec![<[Errors; AFTER.len()]>::default(); methods])
    }
}

pub(super) fn run(setting: &Setting, runs: u32, seed: u64) -> Measured {
    let pieces: Vec<u32> = (0..runs.div_ceil(PIECE)).collect();
    let parts: Vec<Measured> = pieces
        .par_iter()
        .map(|piece| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(u64::from(*piece));
            let mut part = Measured::new(setting.methods.len());
            for _ in piece * PIECE..runs.min((piece + 1) * PIECE) {
                one_page(setting, &mut rng, &mut part);
            }
            part
        })
        .collect();
    // In the order of the pieces: floating-point sums depend on it.
    let mut sum = Measured::new(setting.methods.len());
    for part in &parts {
        for (own, other) in sum.0.iter_mut().flatten().zip(part.0.iter().flatten()) {
            own.join(other);
        }
    }
    sum
}

fn one_page(setting: &Setting, rng: &mut ChaCha8Rng, errors: &mut Measured) {
    let mut seen = Seen::default();
    let mut watchers: Vec<Watcher> =
        setting.methods.iter().map(|(_, method)| Watcher::new(*method)).collect();
    for (place, k) in AFTER.into_iter().enumerate() {
        while seen.counts.all < f64::from(k) {
            let Some(interval) = interval(rng, setting.delta, setting.p) else { continue };
            seen.add(&interval);
            for watcher in &mut watchers {
                watcher.observe(&interval);
            }
        }
        for (watcher, errors) in watchers.iter().zip(&mut errors.0) {
            errors[place].add(watcher.rate(&mut seen, setting.p) - setting.delta);
        }
    }
}

/// The next interval of a page that changes at rate `delta`, fetched at random times of rate `p`.
pub(super) fn interval(rng: &mut ChaCha8Rng, delta: f64, p: f64) -> Option<Observation> {
    let elapsed = (-(1.0 - rng.random::<f64>()).ln() / p).max(SHORTEST);
    let changed = rng.random::<f64>() >= (-delta * elapsed).exp();
    Observation::new(elapsed, 0, if changed { Answer::Changed } else { Answer::Unchanged }).ok()
}

/// Everything that was seen of a page, for the estimators that want it all.
#[derive(Default)]
struct Seen {
    counts: Counts,
    changed: Vec<Weighted>,
    all: Vec<Weighted>,
    unchanged_span: f64,
}

impl Seen {
    fn add(&mut self, interval: &Observation) {
        self.counts.add(interval);
        let weighted = Weighted { length: interval.elapsed(), weight: 1.0 };
        self.all.push(weighted);
        if interval.changed() {
            self.changed.push(weighted);
        } else {
            self.unchanged_span += interval.elapsed();
        }
    }
}

/// An estimator at work.
struct Watcher {
    method: Method,
    sa: Sa,
    sam: Sam,
    history: History,
}

impl Watcher {
    fn new(method: Method) -> Self {
        Self { method, sa: Sa::default(), sam: Sam::default(), history: History::default() }
    }

    fn observe(&mut self, interval: &Observation) {
        match self.method {
            Method::Sa(step) => self.sa.observe(interval.changed(), step),
            Method::Sam(momentum) => self.sam.observe(interval.changed(), momentum),
            Method::Refrain(_) => self.history.observe(interval),
            _ => {}
        }
    }

    fn rate(&self, seen: &mut Seen, p: f64) -> f64 {
        let counts = &seen.counts;
        match self.method {
            Method::Naive => naive(counts, p),
            Method::Lln(offset) => lln(counts, p, offset),
            Method::Sa(_) => self.sa.rate(p),
            Method::Sam(_) => self.sam.rate(p),
            Method::Regular => regular(counts),
            Method::Mle => {
                mle(&Score { unchanged: seen.unchanged_span, instant: 0.0, changed: &seen.changed })
            }
            Method::Mm => mm(&seen.all.as_slice(), counts.all - counts.changed),
            Method::Grimes(prior) => {
                // Room for the made-up observation, for a moment.
                seen.changed.push(Weighted { length: 0.0, weight: 0.0 });
                let belief = Posterior::from_intervals(&mut seen.changed, seen.unchanged_span, &prior);
                seen.changed.pop();
                belief.mean()
            }
            Method::Refrain(prior) => Posterior::of(&self.history, &prior).mean(),
        }
    }
}
