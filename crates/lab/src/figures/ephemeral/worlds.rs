//! Where policies are compared: a world by chance of the paper's kind, and recorded items.

use std::f64::consts::TAU;

use refrain_core::time::Span;

use super::super::{Cell, Desk, FigureError, ItemSet};
use super::repeated::{Kind, Repeated, half};
use crate::discover::{DiscoverError, Fetch, HubPolicy, HubWorld, MadeUpHubs, Plans, Setting, Takings};
use crate::made_up::Numbers;

const HOUR: f64 = 3600.0;
const DAY: f64 = 24.0 * HOUR;
/// As long as the paper's observations; the last of them counts, what is before is for learning.
pub(super) const WEEKS: f64 = 3.0;
/// Until recorded items are worth half as much, by order of magnitude (see `ephemeral-interest`).
pub(super) const HALF_LIFE: Span = Span::from_whole_secs(6 * 3600);

/// Items a day, at least, of a place that is busy.
const BUSY: f64 = 500.0;
/// Items of a source in the mean, at least, where something can be learned of sources.
const LEARNABLE: f64 = 10.0;

/// The policies of the paper.
pub(super) const OF_PAPER: [&str; 6] =
    ["bfs", "quota", "frequency", "echo-greedy", "echo-schedule", "echo-newpages"];

/// A world, and others like it for the errors.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Drawn anew in each repetition: so many hubs.
    ByChance(usize),
    /// Recorded: the repetitions after the first have half of the sources each, by chance.
    Recorded(&'a ItemSet),
}

impl<'a> Place<'a> {
    /// All of them.
    pub(super) fn all(desk: &'a Desk<'_>) -> Vec<Self> {
        // More than 400, up to which plans are improved by search: as in worlds of the paper's size.
        let mut places = vec![Self::ByChance(desk.pick(500, 3000))];
        places.extend(desk.recorded.items.iter().map(Self::Recorded));
        places
    }

    /// Those with so many items a day that a day can be told from a night, and a week from the next.
    pub(super) fn busy(desk: &'a Desk<'_>) -> Vec<Self> {
        let mut places = Self::all(desk);
        places.retain(Self::is_busy);
        places
    }

    /// Those whose sources show enough to learn from.
    pub(super) fn learnable(desk: &'a Desk<'_>) -> Vec<Self> {
        let mut places = Self::all(desk);
        places.retain(|place| match place {
            Self::ByChance(_) => true,
            Self::Recorded(set) => set.per_source() >= LEARNABLE,
        });
        places
    }

    pub(super) fn is_busy(&self) -> bool {
        match self {
            Self::ByChance(_) => true,
            Self::Recorded(set) => set.per_day() >= BUSY,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::ByChance(_) => "by chance",
            Self::Recorded(set) => &set.name,
        }
    }

    /// How often it is done, the first time with everything.
    pub(super) fn repetitions(&self, desk: &Desk<'_>) -> u64 {
        match self {
            Self::ByChance(_) => desk.pick(3, 5),
            Self::Recorded(_) => desk.pick(4, 9),
        }
    }

    /// The world of a repetition. Policies must learn.
    pub(super) fn world(&self, seed: u64, repetition: u64) -> Result<HubWorld, DiscoverError> {
        match self {
            Self::ByChance(hubs) => {
                let seed = seed.wrapping_add(repetition);
                let hubs = MadeUpHubs {
                    hubs: *hubs,
                    link_rate: per_day(Numbers::LogUniform(0.05, 40.0)),
                    profit: Numbers::LogUniform(0.01, 10.0),
                    decay: per_day(Numbers::LogUniform(0.5, 8.0)),
                };
                let drawn =
                    HubWorld::by_chance(&hubs.draw(seed)?, Span::from_secs(WEEKS * 7.0 * DAY), !seed)?;
                Ok(drawn.uneven(seed).thinned(seed, activity).unknown())
            }
            Self::Recorded(set) => HubWorld::recorded(half(&set.sources, seed, repetition), HALF_LIFE),
        }
    }

    /// A number of each of its repetitions.
    pub(super) fn repeated(&self, numbers: Vec<f64>) -> Repeated {
        let kind = match self {
            Self::ByChance(_) => Kind::Alike,
            Self::Recorded(_) => Kind::Halves,
        };
        Repeated::new(numbers, kind)
    }
}

/// The share of links that appear at this time of a week that begins on a Monday at midnight: few at night, half on weekends.
fn activity(age: Span) -> f64 {
    let days = age.as_secs() / DAY;
    let by_day = 0.55 - 0.45 * (TAU * (days - 1.0 / 6.0)).cos();
    if days % 7.0 < 5.0 { by_day } else { 0.5 * by_day }
}

fn per_day(numbers: Numbers) -> Numbers {
    match numbers {
        Numbers::LogUniform(low, high) => Numbers::LogUniform(low / DAY, high / DAY),
        other => other,
    }
}

/// So many fetches for each link that appears. Intervals are planned anew when the time has grown by a share, and every day: dozens of plans
/// instead of the paper's thousand.
pub(super) fn setting(desk: &Desk<'_>, world: &HubWorld, per_link: f64) -> Setting {
    let rate = per_link * world.links() as f64 / world.horizon.as_secs();
    Setting { plans: Plans::Growing(desk.pick(0.2, 0.05)), ..Setting::at_rate(rate) }
}

/// What could be earned if all links were fetched when they appear.
pub(super) fn possible(world: &HubWorld, step: Span) -> Takings {
    let mut takings = Takings::new(world, step);
    for (number, hub) in world.hubs.iter().enumerate() {
        for (place, item) in hub.items.iter().enumerate() {
            takings.note(world, item.born, Fetch::Item(number as u32, place as u32));
        }
    }
    takings
}

/// The mean worth of a new link.
pub(super) fn mean_profit(world: &HubWorld) -> f64 {
    world.profit_from(world.start) / world.links() as f64
}

/// From when on the last third of a world counts: the last of three weeks.
pub(super) fn last_third(world: &HubWorld) -> Span {
    Span::from_nanos(world.horizon.as_nanos() / 3 * 2)
}

/// A policy by name.
pub(super) fn policy(name: &str) -> Result<HubPolicy, FigureError> {
    name.parse().map_err(|why: crate::discover::UnknownHubPolicy| FigureError(why.to_string()))
}

impl From<DiscoverError> for FigureError {
    fn from(why: DiscoverError) -> Self {
        Self(why.to_string())
    }
}

/// Cells for all repetitions of one thing in one place, measured together with those of others.
pub(super) struct Plan<'a> {
    cells: Vec<Cell<'a>>,
}

/// Which cells belong to it.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    first: usize,
    count: usize,
}

/// What was measured.
pub(super) struct Answers(Vec<Vec<f64>>);

impl<'a> Plan<'a> {
    pub(super) fn new() -> Self {
        Self { cells: Vec::new() }
    }

    /// Asks for something in all repetitions of a place.
    pub(super) fn ask(
        &mut self,
        name: &str,
        place: Place<'a>,
        desk: &'a Desk<'_>,
        work: impl Fn(&HubWorld) -> Result<Vec<f64>, FigureError> + Clone + Send + Sync + 'a,
    ) -> Asked {
        let (first, count) = (self.cells.len(), place.repetitions(desk));
        for repetition in 0..count {
            let work = work.clone();
            let name = format!("{}, {name}, {repetition}", place.name());
            self.cells.push(Cell::new(name, move || work(&place.world(desk.seed, repetition)?)));
        }
        Asked { first, count: count as usize }
    }

    pub(super) fn measure(self, desk: &Desk<'_>) -> Result<Answers, FigureError> {
        Ok(Answers(desk.measure(&self.cells)?))
    }
}

impl Answers {
    /// What the repetitions gave.
    pub(super) fn of(&self, asked: Asked) -> &[Vec<f64>] {
        &self.0[asked.first..asked.first + asked.count]
    }

    /// One of the numbers of each repetition.
    pub(super) fn repeated(&self, place: &Place<'_>, asked: Asked, number: usize) -> Repeated {
        let of = |numbers: &Vec<f64>| numbers.get(number).copied().unwrap_or(f64::NAN);
        place.repeated(self.of(asked).iter().map(of).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use refrain_core::time::Time;

    use super::super::super::{InterestSet, Keeper, Recorded, Scale};
    use super::*;
    use crate::discover::Item;

    /// Some sources with items every few hours, the later ones fewer and worth more.
    pub(crate) fn small_set() -> ItemSet {
        let source = |number: u64| {
            let item = |k: u64| {
                let born = Time::ZERO + Span::from_whole_secs(3600 * (1 + number) * k + 977 * number);
                Item { born, profit: (1 + number + k % 3) as f64 }
            };
            (0..200 / (1 + number)).map(item).collect()
        };
        ItemSet { name: "small".into(), sources: (0..8).map(source).collect() }
    }

    struct Forgetful;

    impl Keeper for Forgetful {
        fn kept(&self, _: &str) -> Option<Vec<f64>> {
            None
        }
        fn keep(&self, _: &str, _: &[f64]) {}
        fn expect(&self, _: usize) {}
    }

    /// Does something at a desk with the small set and a few curves on it.
    pub(crate) fn at_a_desk<T>(work: impl FnOnce(&Desk<'_>) -> T) -> T {
        let curve = |life: f64| {
            (1..=48).map(|k| (3600.0 * f64::from(k), 100.0 * (1.0 - (-f64::from(k) / life).exp()))).collect()
        };
        let curves = (1..40).map(|life| curve(f64::from(life) / 4.0)).collect();
        let interest = vec![InterestSet { name: "curves".into(), curves }];
        let recorded = Recorded { items: vec![small_set()], interest, ..Recorded::default() };
        work(&Desk::new(Scale::Quick, 1, &recorded, &Forgetful))
    }

    #[test]
    fn halves_of_recorded_sources_are_halves() {
        let set = small_set();
        let place = Place::Recorded(&set);
        assert_eq!(place.world(1, 0).unwrap().hubs.len(), 8);
        let halves = [1, 2].map(|repetition| place.world(1, repetition).unwrap());
        assert!(halves.iter().all(|half| half.hubs.len() == 4) && halves[0] != halves[1]);
        assert_eq!(halves[0], place.world(1, 1).unwrap());
        assert_eq!(
            (
                place.repeated(vec![5.0, 4.0, 6.0]).mean(),
                Place::ByChance(1).repeated(vec![5.0, 4.0, 6.0]).mean()
            ),
            (5.0, 5.0)
        );
        assert_eq!(
            (place.repeated(vec![1.0, 4.0]).mean(), Place::ByChance(1).repeated(vec![1.0, 4.0]).mean()),
            (1.0, 2.5)
        );
    }

    #[test]
    fn nights_and_weekends_are_quiet() {
        let at = |day: f64, hour: f64| activity(Span::from_secs(DAY * day + HOUR * hour));
        assert!(at(1.0, 16.0) > 5.0 * at(1.0, 4.0));
        assert!((at(5.0, 16.0) - 0.5 * at(4.0, 16.0)).abs() < 1e-9);
        let days = (0..7 * 24).map(|hour| at(0.0, f64::from(hour)));
        assert!(days.clone().all(|share| share > 0.0 && share <= 1.0));
        let world = Place::ByChance(20).world(3, 0).unwrap();
        assert!(world.known.is_none() && world.links() > 100);
        assert_ne!(world, Place::ByChance(20).world(3, 1).unwrap());
    }
}
