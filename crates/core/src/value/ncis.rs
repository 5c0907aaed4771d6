use std::num::NonZeroU32;

use super::CrawlValue;
use super::signals::SignalModel;
use crate::page::Belief;

/// GREEDY-NCIS: the exact value for signals that miss changes and cry wolf, or the first J terms of it (APPROX-J).
///
/// V = μ (w(ι) - e^{-αι} ψ(ι)) at the effective time ι = τ + nβ; the sums are in [`super::signals`].
#[derive(Clone, Copy, Debug)]
pub struct GreedyNcis {
    model: SignalModel,
    importance: f64,
}

impl GreedyNcis {
    /// The exact value under this belief.
    pub fn new(belief: &Belief) -> Self {
        Self { model: SignalModel::of(belief), importance: belief.importance() }
    }

    /// APPROX-J: the first `terms` terms of both sums. Cheaper, a lower bound, and monotone too.
    pub fn approximate(belief: &Belief, terms: NonZeroU32) -> Self {
        Self { model: SignalModel::of(belief).truncated(terms), importance: belief.importance() }
    }

    /// The signal model under the value.
    pub fn model(&self) -> &SignalModel {
        &self.model
    }
}

impl CrawlValue for GreedyNcis {
    fn value(&self, elapsed: f64, signals: u32) -> f64 {
        self.importance * self.model.value(elapsed, signals)
    }

    fn supremum(&self) -> f64 {
        self.importance * self.model.supremum()
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        self.model.moment(value / self.importance, signals)
    }
}
