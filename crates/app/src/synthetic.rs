//! Pages made up from a seed: the same on every machine.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use refrain_core::page::Belief;
use refrain_lab::made_up::MadeUp;

/// A source of made-up pages.
pub(crate) struct Synthetic {
    rng: ChaCha8Rng,
}

impl Synthetic {
    pub(crate) fn new(seed: u64) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed) }
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
            if let Ok(page) = MadeUp::paper(1).draw_one(&mut self.rng) {
                return page;
            }
        }
    }
}
