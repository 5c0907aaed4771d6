//! Change detection on made-up pages with noise, under a virtual clock: which changes are found, and what is reported that is none.
//!
//! A page is HTML, and is read and judged by the code that the crawl uses; second looks come when that code asks for them. What is noise
//! and what is a change is known, because the pages are made here ([`Noise`]).

mod drive;
mod noise;
mod score;

use rayon::prelude::*;
use refrain_core::time::Span;

pub use noise::Noise;
pub use score::Outcome;

/// What to try.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Pages of each kind of noise.
    pub pages: u32,
    /// For how long they are visited.
    pub time: Span,
    /// The mean time between two visits of a page.
    pub every: Span,
    /// Second looks can be made. Fetchers that are other programs make none.
    pub looks_again: bool,
    /// Other pages, other visits.
    pub seed: u64,
}

/// Visits pages with every kind of noise. The same settings give the same outcome.
pub fn run(settings: &Settings) -> Vec<(Noise, Outcome)> {
    let kinds: Vec<Noise> = Noise::ALL.to_vec();
    kinds.into_par_iter().map(|noise| (noise, drive::visit_host(noise, settings))).collect()
}

#[cfg(test)]
mod tests;
