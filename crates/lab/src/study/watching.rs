//! Estimators that watch a page.

use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::lln::lln;
use refrain_core::estimate::mle::mle;
use refrain_core::estimate::moments::mm;
use refrain_core::estimate::naive::naive;
use refrain_core::estimate::regular::regular;
use refrain_core::estimate::sa::Sa;
use refrain_core::estimate::sam::Sam;
use refrain_core::estimate::score::{Score, Weighted};
use refrain_core::estimate::{History, Method, Observation, Posterior};

/// Several estimators that see the same intervals.
pub struct Watching {
    seen: Seen,
    watchers: Vec<Watcher>,
}

impl Watching {
    /// Before the first interval.
    pub fn new(methods: impl Iterator<Item = Method>) -> Self {
        Self { seen: Seen::default(), watchers: methods.map(Watcher::new).collect() }
    }

    /// One more interval.
    pub fn observe(&mut self, interval: &Observation) {
        self.seen.add(interval);
        for watcher in &mut self.watchers {
            watcher.observe(interval);
        }
    }

    /// How many intervals they have seen.
    pub fn intervals(&self) -> f64 {
        self.seen.counts.all
    }

    /// What each of them says, for fetches at rate `p`.
    pub fn rates(&mut self, p: f64) -> impl Iterator<Item = f64> {
        let Self { seen, watchers } = self;
        watchers.iter().map(move |watcher| watcher.rate(seen, p))
    }
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
