use super::CrawlValue;
use super::signals::SignalModel;
use crate::page::Belief;

/// GREEDY-CIS: every signal is believed. Before one, V counts on being told of a share λ of the changes; after one
/// the copy is stale for certain and V = μ/Δ, its maximum.
///
/// This is GREEDY-NCIS for a page with ν = 0 (so γ = λΔ): one signal costs infinitely many nats.
#[derive(Clone, Copy, Debug)]
pub struct GreedyCis {
    model: SignalModel,
    importance: f64,
}

impl GreedyCis {
    /// The value under this belief, whose rate of false signals is not believed.
    pub fn new(belief: &Belief) -> Self {
        let model = SignalModel::new(belief.change_rate(), belief.recall(), 0.0);
        Self { model, importance: belief.importance() }
    }
}

impl CrawlValue for GreedyCis {
    fn value(&self, elapsed: f64, signals: u32) -> f64 {
        if signals > 0 {
            return self.supremum();
        }
        self.importance * self.model.value(elapsed, 0)
    }

    fn supremum(&self) -> f64 {
        self.importance * self.model.supremum()
    }

    fn moment(&self, value: f64, signals: u32) -> Option<f64> {
        if value <= 0.0 || (signals > 0 && value <= self.supremum()) {
            return Some(0.0);
        }
        if signals > 0 {
            return None;
        }
        self.model.moment(value / self.importance, 0)
    }
}
