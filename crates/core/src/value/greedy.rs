use super::CrawlValue;
use crate::math::greedy::{g, g_inverse};
use crate::page::Belief;

/// GREEDY: V(τ) = (μ/Δ) (1 - (1+Δτ) e^{-Δτ}). Signals are ignored.
///
/// A page that never changes has nothing to gain: V = 0.
#[derive(Clone, Copy, Debug)]
pub struct Greedy {
    change_rate: f64,
    importance: f64,
}

impl Greedy {
    /// The value under this belief.
    pub fn new(belief: &Belief) -> Self {
        Self { change_rate: belief.change_rate(), importance: belief.importance() }
    }
}

impl CrawlValue for Greedy {
    fn value(&self, elapsed: f64, _signals: u32) -> f64 {
        if self.change_rate == 0.0 {
            return 0.0;
        }
        // For Δτ so small that g underflows, (μ/Δ) g = μ Δτ²/2 need not: multiply in an order that survives.
        let x = self.change_rate * elapsed.max(0.0);
        if x < 1e-150 {
            return 0.5 * self.importance * x * elapsed.max(0.0);
        }
        self.importance * (g(x) / self.change_rate)
    }

    fn supremum(&self) -> f64 {
        if self.change_rate == 0.0 { 0.0 } else { self.importance / self.change_rate }
    }

    fn moment(&self, value: f64, _signals: u32) -> Option<f64> {
        if value <= 0.0 {
            return Some(0.0);
        }
        let share = value / self.supremum();
        (share < 1.0).then(|| g_inverse(share) / self.change_rate)
    }
}
