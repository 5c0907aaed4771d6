//! Hubs, and what appears on them: by chance, or as it was recorded.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::optimum::hubs::Hub;
use refrain_core::page::BeliefError;
use refrain_core::time::{Span, Time};

use super::DiscoverError;
use super::drive::Fetch;
use crate::made_up::Numbers;

/// A link to a new page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// When it appeared.
    pub born: Time,
    /// What its first fetch is worth at that moment.
    pub profit: f64,
}

impl Item {
    /// What its first fetch is worth by now.
    pub fn worth(&self, now: Time, decay: f64) -> f64 {
        self.profit * (-decay * now.since(self.born).as_secs()).exp()
    }
}

/// A hub, and all that ever appears on it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HubItems {
    /// How fast the worth of its links falls, per second.
    pub decay: f64,
    /// Its links, in the order in which they appear.
    pub items: Vec<Item>,
}

/// Hubs over some time.
#[derive(Clone, Debug, PartialEq)]
pub struct HubWorld {
    /// The hubs and their links.
    pub hubs: Vec<HubItems>,
    /// What policies know of them, per second; `None` if they must learn how many links there are and what those are worth.
    pub known: Option<Vec<Hub>>,
    /// When it begins.
    pub start: Time,
    /// How long it goes.
    pub horizon: Span,
}

/// More links than fit into memory beside those of other repetitions.
const MOST_LINKS: f64 = 2e7;

impl HubWorld {
    /// Hubs with links by chance: each hub's are a Poisson process, all worth the same when they are new. Rates are per second.
    ///
    /// # Errors
    /// If a hub's links never get old, or there are too many.
    pub fn by_chance(hubs: &[Hub], horizon: Span, seed: u64) -> Result<Self, DiscoverError> {
        if let Some(hub) = hubs.iter().position(|hub| !(hub.decay() > 0.0)) {
            return Err(DiscoverError::Ageless(hub));
        }
        let expected = hubs.iter().map(Hub::link_rate).sum::<f64>() * horizon.as_secs();
        if !(expected <= MOST_LINKS) {
            return Err(DiscoverError::TooManyLinks { expected, most: MOST_LINKS });
        }
        let end = horizon.as_secs();
        let drawn = |(number, hub): (usize, &Hub)| {
            // Each hub has a stream of its own: another hub more or less does not change what the others show.
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number as u64 + 1);
            let mut items = Vec::new();
            let mut time = 0.0;
            loop {
                time -= (1.0 - random.random::<f64>()).ln() / hub.link_rate();
                if !(time <= end) {
                    return HubItems { decay: hub.decay(), items };
                }
                items.push(Item { born: Time::ZERO + Span::from_secs(time), profit: hub.profit() });
            }
        };
        let items = hubs.iter().enumerate().map(drawn).collect();
        Ok(Self { hubs: items, known: Some(hubs.to_vec()), start: Time::ZERO, horizon })
    }

    /// Recorded items: hubs with what appeared on them, in any order, from the first item of all to the last. Their worth falls by
    /// half in each half-life. Nothing is known of them.
    ///
    /// # Errors
    /// If there is no item, or all are of the same moment.
    pub fn recorded(items: Vec<Vec<Item>>, half_life: Span) -> Result<Self, DiscoverError> {
        let decay = std::f64::consts::LN_2 / half_life.as_secs();
        let mut hubs: Vec<HubItems> = items.into_iter().map(|items| HubItems { decay, items }).collect();
        for hub in &mut hubs {
            hub.items.sort_by_key(|item| item.born);
        }
        let births = || hubs.iter().flat_map(|hub| hub.items.iter().map(|item| item.born));
        let (start, end) = births().min().zip(births().max()).ok_or(DiscoverError::NoTime)?;
        if start == end {
            return Err(DiscoverError::NoTime);
        }
        Ok(Self { hubs, known: None, start, horizon: end.since(start) })
    }

    /// The same with nothing known.
    #[must_use]
    pub fn unknown(self) -> Self {
        Self { known: None, ..self }
    }

    /// The same with links of a hub that differ: each is worth its hub's profit times an exponential number of mean 1.
    #[must_use]
    pub fn uneven(mut self, seed: u64) -> Self {
        for (number, hub) in self.hubs.iter_mut().enumerate() {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number as u64 + 1);
            for item in &mut hub.items {
                item.profit *= -(1.0 - random.random::<f64>()).ln();
            }
        }
        self
    }

    /// The same with fewer links: each appears with a probability that depends on its moment, as at night and on Sundays.
    #[must_use]
    pub fn thinned(mut self, seed: u64, probability: impl Fn(Span) -> f64) -> Self {
        let start = self.start;
        for (number, hub) in self.hubs.iter_mut().enumerate() {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(number as u64 + 1);
            hub.items.retain(|item| random.random::<f64>() < probability(item.born.since(start)));
        }
        self
    }

    /// What a fetch earns: nothing, if it is a visit to a hub.
    pub fn worth(&self, now: Time, fetch: Fetch) -> f64 {
        let Fetch::Item(hub, place) = fetch else { return 0.0 };
        let hub = &self.hubs[hub as usize];
        hub.items[place as usize].worth(now, hub.decay)
    }

    /// How many links appear.
    pub fn links(&self) -> usize {
        self.hubs.iter().map(|hub| hub.items.len()).sum()
    }

    /// When it is over.
    pub fn end(&self) -> Time {
        self.start + self.horizon
    }

    /// What all links that appear from some moment on are worth when they are new.
    pub fn profit_from(&self, from: Time) -> f64 {
        let all = self.hubs.iter().flat_map(|hub| &hub.items);
        all.filter(|item| item.born >= from).map(|item| item.profit).sum()
    }
}

/// Hubs of which only distributions are known; rates are per unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MadeUpHubs {
    /// How many.
    pub hubs: usize,
    /// New links per unit of time.
    pub link_rate: Numbers,
    /// What a new link is worth.
    pub profit: Numbers,
    /// How fast that falls.
    pub decay: Numbers,
}

impl MadeUpHubs {
    /// The hubs that come from a seed.
    ///
    /// # Errors
    /// If a distribution gives what cannot be.
    pub fn draw(&self, seed: u64) -> Result<Vec<Hub>, BeliefError> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |numbers: Numbers| numbers.draw(&mut random);
        (0..self.hubs).map(|_| Hub::new(draw(self.link_rate), draw(self.profit), draw(self.decay))).collect()
    }
}
