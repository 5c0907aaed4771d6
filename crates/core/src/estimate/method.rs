//! The estimators by name.

use super::counts::Counts;
use super::grimes::grimes;
use super::history::History;
use super::interval::{Confidence, Estimate};
use super::lln::{Offset, lln};
use super::mle::mle_interval;
use super::moments::mm;
use super::naive::naive;
use super::observation::Observation;
use super::posterior::Posterior;
use super::prior::Prior;
use super::regular::regular;
use super::sa::{Sa, Step};
use super::sam::{Momentum, Sam};
use super::score::{Score, Weighted};

/// An estimator, with what it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Changes seen per unit of time.
    Naive,
    /// By the law of large numbers.
    Lln(Offset),
    /// Stochastic approximation.
    Sa(Step),
    /// Stochastic approximation with momentum.
    Sam(Momentum),
    /// Maximum likelihood.
    Mle,
    /// Moment matching.
    Mm,
    /// For regular intervals.
    Regular,
    /// Maximum likelihood with made-up observations.
    Grimes(Prior),
    /// The default: a posterior under a prior.
    Refrain(Prior),
}

/// What an estimate is made with, beside the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// p, for those that need it; otherwise as many fetches per unit of time as were seen.
    pub fetch_rate: Option<f64>,
    /// How sure the interval is to be.
    pub confidence: Confidence,
}

const ROOM: Weighted = Weighted { length: 0.0, weight: 0.0 };

impl Method {
    /// The estimate from all intervals.
    pub fn estimate(&self, seen: &[Observation], terms: Terms) -> Estimate {
        let confidence = terms.confidence;
        let counts: Counts = seen.iter().collect();
        let p = terms.fetch_rate.unwrap_or_else(|| counts.fetch_rate());
        let lengths = |changed: bool| {
            let which = seen.iter().filter(move |interval| interval.changed() == changed);
            which.map(|interval| Weighted { length: interval.elapsed(), weight: 1.0 })
        };
        let all: Vec<_> = lengths(true).chain(lengths(false)).collect();
        let all = &all.as_slice();
        let counted = |rate: f64| confidence.of_changed(rate, all, counts.changed);
        let unchanged_span = || lengths(false).map(|interval| interval.length).sum();
        match *self {
            Self::Naive => counted(naive(&counts, p)),
            Self::Lln(offset) => counted(lln(&counts, p, offset)),
            Self::Sa(step) => {
                let mut iterate = Sa::default();
                for interval in seen {
                    iterate.observe(interval.changed(), step);
                }
                counted(iterate.rate(p))
            }
            Self::Sam(momentum) => {
                let mut iterate = Sam::default();
                for interval in seen {
                    iterate.observe(interval.changed(), momentum);
                }
                counted(iterate.rate(p))
            }
            Self::Mle => {
                let changed: Vec<_> = lengths(true).collect();
                let score = Score { unchanged: unchanged_span(), instant: 0.0, changed: &changed };
                mle_interval(&score, confidence)
            }
            Self::Mm => counted(mm(all, counts.all - counts.changed)),
            Self::Regular => counted(regular(&counts)),
            Self::Grimes(prior) => {
                let mut changed: Vec<_> = lengths(true).chain([ROOM]).collect();
                grimes(&mut changed, unchanged_span(), &prior, confidence)
            }
            // The default never sees all intervals: what it says must follow from what it remembers.
            Self::Refrain(prior) => {
                let history: History = seen.iter().collect();
                Posterior::of(&history, &prior).estimate(confidence)
            }
        }
    }

    /// The estimate from a page's history. Within seven digits that of all intervals where they are regular, within
    /// percents for MLE, MM and Grimes where they are not. SA and SAM have the usual steps, whatever they are told.
    pub fn recall(&self, history: &History, terms: Terms) -> Estimate {
        let confidence = terms.confidence;
        let counts = history.counts();
        let p = terms.fetch_rate.unwrap_or_else(|| counts.fetch_rate());
        let unchanged = history.unchanged_span();
        let counted = |rate: f64| confidence.of_changed(rate, history, counts.changed);
        let [a, b, c] = history.changed_lengths();
        match *self {
            Self::Naive => counted(naive(&counts, p)),
            Self::Lln(offset) => counted(lln(&counts, p, offset)),
            Self::Sa(_) => counted(history.sa().rate(p)),
            Self::Sam(_) => counted(history.sam().rate(p)),
            Self::Mle => mle_interval(&Score { unchanged, instant: 0.0, changed: &[a, b, c] }, confidence),
            Self::Mm => counted(mm(history, history.unchanged())),
            Self::Regular => counted(regular(&counts)),
            Self::Grimes(prior) => grimes(&mut [a, b, c, ROOM], unchanged, &prior, confidence),
            Self::Refrain(prior) => Posterior::of(history, &prior).estimate(confidence),
        }
    }
}
