//! Where hubs and their links come from: a file of hubs, distributions, or recorded items.

use std::borrow::Cow;

use refrain_core::optimum::hubs::Hub;
use refrain_core::time::Span;
use refrain_lab::discover::{DiscoverError, HubWorld, MadeUpHubs};

use super::span;
use crate::cli::DiscoverArgs;
use crate::failure::Failure;
use crate::input::{Hubs, RecordedItems};

/// More hubs than can be drawn and planned in a reasonable time.
const MOST_HUBS: usize = 1_000_000;
/// Unless the user says otherwise: what half of the interest in news and discussions takes to come, by order of magnitude.
const HALF_LIFE: Span = Span::from_whole_secs(6 * 3600);

/// Worlds, one for each repetition.
pub(super) struct Worlds {
    kind: Kind,
    horizon: Span,
    unit: f64,
    seed: u64,
    learn: bool,
}

enum Kind {
    Given(Hubs),
    MadeUp(MadeUpHubs),
    Recorded { read: RecordedItems, world: HubWorld },
}

impl Worlds {
    pub(super) fn read(args: &DiscoverArgs) -> Result<Self, Failure> {
        let unit = args.unit.seconds();
        let kind = if let Some(path) = &args.items {
            let mut read = RecordedItems::read(path)?;
            let items = std::mem::take(&mut read.items);
            let world = HubWorld::recorded(items, args.half_life.unwrap_or(HALF_LIFE))
                .map_err(|why| Failure::input(format!("{}: {why}", path.display())))?;
            Kind::Recorded { read, world }
        } else if let Some(path) = &args.hubs {
            let hubs = Hubs::read(path)?;
            if let Some(ageless) = hubs.hubs.iter().position(|hub| !(hub.decay() > 0.0)) {
                return Err(Failure::input(format!(
                    "{}: hub '{}' has a decay of 0; expected links that are worth less with time",
                    path.display(),
                    hubs.ids.get(ageless)
                )));
            }
            Kind::Given(hubs)
        } else {
            let hubs = args.made_up.unwrap_or(0);
            if !(1..=MOST_HUBS).contains(&hubs) {
                return Err(Failure::input(format!("--made-up is {hubs}; expected 1 to {MOST_HUBS} hubs")));
            }
            let (link_rate, profit, decay) = (args.link_rate, args.profit, args.decay);
            Kind::MadeUp(MadeUpHubs { hubs, link_rate, profit, decay })
        };
        let horizon = match &kind {
            Kind::Recorded { world, .. } => world.horizon,
            _ => span(args.horizon.unwrap_or(0.0) * unit, "--horizon")?,
        };
        Ok(Self { kind, horizon, unit, seed: args.seed, learn: args.learn })
    }

    /// The hubs of a repetition, per second; none if they are recorded.
    pub(super) fn hubs(&self, repetition: u64) -> Result<Vec<Hub>, DiscoverError> {
        let scaled = |hub: &Hub| Hub::new(hub.link_rate() / self.unit, hub.profit(), hub.decay() / self.unit);
        let scaled: Result<Vec<Hub>, _> = match &self.kind {
            Kind::Given(hubs) => hubs.hubs.iter().map(scaled).collect(),
            Kind::MadeUp(made_up) => made_up.draw(self.seed_of(repetition))?.iter().map(scaled).collect(),
            Kind::Recorded { .. } => Ok(Vec::new()),
        };
        Ok(scaled?)
    }

    pub(super) fn draw(&self, repetition: u64) -> Result<HubWorld, DiscoverError> {
        if let Kind::Recorded { world, .. } = &self.kind {
            return Ok(world.clone());
        }
        let hubs = self.hubs(repetition)?;
        // Hubs and links are drawn from different streams.
        let world = HubWorld::by_chance(&hubs, self.horizon, !self.seed_of(repetition))?;
        Ok(if self.learn { world.unknown() } else { world })
    }

    fn seed_of(&self, repetition: u64) -> u64 {
        self.seed.wrapping_add(repetition)
    }

    /// Links per second, of the first repetition's hubs or as recorded.
    pub(super) fn link_rate(&self) -> Result<f64, Failure> {
        let rate = match &self.kind {
            Kind::Recorded { world, .. } => world.links() as f64 / world.horizon.as_secs(),
            _ => self.hubs(0)?.iter().map(Hub::link_rate).sum(),
        };
        if rate > 0.0 {
            return Ok(rate);
        }
        Err(Failure::input(
            "--rate is in times the links that appear, but none does; expected fetches per unit of time",
        ))
    }

    /// How many hubs there are, and what to call them.
    pub(super) fn count(&self) -> (usize, &'static str) {
        match &self.kind {
            Kind::Given(hubs) => (hubs.hubs.len(), "hub"),
            Kind::MadeUp(made_up) => (made_up.hubs, "made-up hub"),
            Kind::Recorded { world, .. } => (world.hubs.len(), "hub"),
        }
    }

    pub(super) fn horizon(&self) -> Span {
        self.horizon
    }

    /// How many items were recorded.
    pub(super) fn recorded(&self) -> Option<usize> {
        match &self.kind {
            Kind::Recorded { world, .. } => Some(world.links()),
            _ => None,
        }
    }

    /// The name of a hub.
    pub(super) fn hub(&self, hub: u32) -> Cow<'_, str> {
        match &self.kind {
            Kind::Given(hubs) => hubs.ids.get(hub as usize).into(),
            Kind::MadeUp(_) => hub.to_string().into(),
            Kind::Recorded { read, .. } => read.hubs[hub as usize].as_str().into(),
        }
    }

    /// The name of an item: its number on its hub, if it has no other.
    pub(super) fn item(&self, hub: u32, item: u32) -> Cow<'_, str> {
        match &self.kind {
            Kind::Recorded { read, .. } => read.name(hub, item).into(),
            _ => (item + 1).to_string().into(),
        }
    }
}
