//! Pages made up from a seed: the same on every machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Poisson};
use refrain_core::page::Belief;

/// A source of made-up pages.
pub(crate) struct Synthetic {
    rng: ChaCha8Rng,
    recall: Option<Beta<f64>>,
}

impl Synthetic {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), recall: Beta::new(0.25, 0.25).ok() }
    }

    /// A number between `low` and `high`, all magnitudes alike.
    pub(crate) fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.rng.random::<f64>())
    }

    /// A number between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.rng.random()
    }

    /// How many events come when `mean` are expected.
    pub(crate) fn poisson(&mut self, mean: f64) -> u32 {
        Poisson::new(mean).map_or(0, |poisson| poisson.sample(&mut self.rng) as u32)
    }

    /// A page as in the signals paper's experiments: Δ, μ ~ U(0, 1), λ ~ Beta(¼, ¼), ν ~ U(.1, .6).
    pub(crate) fn paper_page(&mut self) -> Belief {
        loop {
            let (change, importance) = (self.uniform(), self.uniform());
            let recall = self.recall.as_ref().map_or(0.5, |beta| beta.sample(&mut self.rng));
            let false_rate = 0.1 + 0.5 * self.uniform();
            let page = Belief::new(change, importance).and_then(|page| page.with_signals(recall, false_rate));
            if let Ok(page) = page {
                return page;
            }
        }
    }
}
