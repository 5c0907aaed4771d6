//! Signals as they come.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::Distribution;
use rand_distr::weighted::WeightedAliasIndex;
use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};

/// Signals in the order of time.
pub(super) enum Signals<'a> {
    Given(std::slice::Iter<'a, (Time, u32)>),
    Drawn(Box<Drawn>),
    None,
}

/// All pages together are one Poisson process; whose each signal is falls to chance.
pub(super) struct Drawn {
    random: ChaCha8Rng,
    whose: WeightedAliasIndex<f64>,
    rate: f64,
    now: f64,
}

impl<'a> Signals<'a> {
    pub(super) fn new(pages: &[Belief], given: Option<&'a [(Time, u32)]>, seed: u64) -> Self {
        if let Some(given) = given {
            return Self::Given(given.iter());
        }
        let rates: Vec<f64> =
            pages.iter().map(|page| page.recall() * page.change_rate() + page.false_rate()).collect();
        let rate = rates.iter().sum();
        // Without any rate there is nothing to draw from.
        WeightedAliasIndex::new(rates).map_or(Self::None, |whose| {
            let random = ChaCha8Rng::seed_from_u64(seed ^ STREAM);
            Self::Drawn(Box::new(Drawn { random, whose, rate, now: 0.0 }))
        })
    }
}

/// Pages are drawn from the same seeds.
const STREAM: u64 = 0x5369_676e_616c_7321;

impl Iterator for Signals<'_> {
    type Item = (Time, u32);

    fn next(&mut self) -> Option<(Time, u32)> {
        match self {
            Self::Given(given) => given.next().copied(),
            Self::None => None,
            Self::Drawn(drawn) => {
                drawn.now -= (1.0 - drawn.random.random::<f64>()).ln() / drawn.rate;
                let page = drawn.whose.sample(&mut drawn.random) as u32;
                Some((Time::ZERO + Span::from_secs(drawn.now.min(9e9)), page))
            }
        }
    }
}
