//! Hubs that show links to short-lived pages: what does a policy make of a budget?
//!
//! There is one slot every 1/R: for a visit to a hub, which shows all links that appeared on it since the visit before, or for the
//! first fetch of a page that such a link leads to. That is worth P e^{-δ·age}. Links say when they appeared, as feeds do.
//! - `world`: hubs and their links, by chance or as recorded
//! - `drive`: the clock, and what a crawler sees
//! - `scheduled`: the frontier as a crawler, with `beliefs` where parameters are not known; `miniflux`: a feed reader's rule
//! - `logs`: when it is known what pages were worth
//! - `score`: what was earned; `takings`: and when

mod beliefs;
mod drive;
mod logs;
mod miniflux;
mod policy;
mod scheduled;
mod score;
mod takings;
#[cfg(test)]
mod tests;
mod world;

use rayon::prelude::*;
use refrain_core::frontier::FrontierError;
use refrain_core::optimum::hubs::{Hub, HubPlan, open_and_visit};
use refrain_core::page::BeliefError;
use refrain_core::time::{Span, Time};

pub use beliefs::Expectation;
pub use drive::Fetch;
pub use policy::{HubPolicy, UnknownHubPolicy};
pub use score::Run;
pub use takings::Takings;
pub use world::{HubItems, HubWorld, Item, MadeUpHubs};

use drive::drive;
use miniflux::Miniflux;
use scheduled::Scheduled;

/// Why hubs cannot be crawled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DiscoverError {
    /// The frontier refuses.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// A hub that cannot be.
    #[error(transparent)]
    Hub(#[from] BeliefError),
    /// Links of a hub, by number, that are always worth the same: there is no hurry to visit it, ever.
    #[error("hub {0} has a decay of 0; expected links that are worth less with time")]
    Ageless(usize),
    /// More links than can be drawn.
    #[error(
        "about {expected:.1e} links would appear; expected at most {most:.0e}: lower rates, fewer hubs or a shorter time"
    )]
    TooManyLinks {
        /// How many, on average.
        expected: f64,
        /// How many may be.
        most: f64,
    },
    /// More fetches than anyone waits for.
    #[error(
        "there is time for {slots:.1e} fetches; expected at most {most:.0e}: a lower rate or a shorter time"
    )]
    TooManySlots {
        /// How many.
        slots: f64,
        /// How many may be.
        most: f64,
    },
    /// Nothing happens.
    #[error("there is no time between the first item and the last; expected items of different moments")]
    NoTime,
    /// Nothing is scored.
    #[error("scoring begins when all is over; expected some time to score")]
    NothingToScore,
}

/// Some hours of one core.
const MOST_SLOTS: f64 = 1e9;

/// How hubs are crawled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Fetches per second: visits to hubs and new pages together.
    pub rate: f64,
    /// Profit counts from here on.
    pub from: Span,
    /// What pages were worth is known when the next access log arrives, every so often; at once if that is zero.
    pub logs_every: Span,
    /// What links of unknown hubs are believed to be worth.
    pub unknown: Expectation,
    /// How often intervals are planned anew where hubs must be learned.
    pub plans: Plans,
}

/// How often intervals are planned anew; never more often than every half hour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plans {
    /// So often in all, evenly.
    Regular(u64),
    /// When the time since the start, in which hubs are learned, has grown by this share; at least once a day.
    Growing(f64),
}

/// Often enough that nobody waits for a plan.
const PLANS: u64 = 400;

impl Setting {
    /// So many fetches per second; everything counts, and what a page was worth is known when it is fetched.
    pub fn at_rate(rate: f64) -> Self {
        Self {
            rate,
            from: Span::ZERO,
            logs_every: Span::ZERO,
            unknown: Expectation::LikeKnown,
            plans: Plans::Regular(PLANS),
        }
    }
}

/// Runs one policy through a world. `told` hears of every fetch.
///
/// # Errors
/// If the rate is none, or there is nothing to score.
pub fn run(
    policy: HubPolicy,
    world: &HubWorld,
    setting: &Setting,
    told: impl FnMut(Time, Fetch),
) -> Result<Run, DiscoverError> {
    let Setting { rate, from, .. } = *setting;
    if from >= world.horizon {
        return Err(DiscoverError::NothingToScore);
    }
    let slots = rate * world.horizon.as_secs();
    if slots > MOST_SLOTS {
        return Err(DiscoverError::TooManySlots { slots, most: MOST_SLOTS });
    }
    match policy {
        HubPolicy::Frontier(discovery) => {
            drive(world, setting, Scheduled::new(discovery, world, setting)?, told)
        }
        HubPolicy::Miniflux => drive(world, setting, Miniflux::new(world.hubs.len(), world.start), told),
    }
}

/// The best that schedules can do with these hubs in the long run: which to open, how often to visit them, what that earns.
pub fn theory(hubs: &[Hub], rate: f64) -> HubPlan {
    open_and_visit(hubs, rate)
}

/// A policy over several repetitions.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The policy.
    pub policy: HubPolicy,
    /// What came of each.
    pub runs: Vec<Run>,
}

impl Repeated {
    /// Mean and standard error of something over the repetitions.
    pub fn mean(&self, of: impl Fn(&Run) -> f64) -> (f64, f64) {
        crate::simulate::mean_and_error(self.runs.iter().map(&of))
    }
}

/// Runs policies through worlds, in parallel. `world` gives that of each repetition; `done` is told after each run.
///
/// # Errors
/// As [`run`].
pub fn repeat(
    policies: &[HubPolicy],
    repetitions: u64,
    world: impl Fn(u64) -> Result<HubWorld, DiscoverError> + Sync,
    setting: &Setting,
    done: impl Fn() + Sync,
) -> Result<Vec<Repeated>, DiscoverError> {
    let worlds: Result<Vec<Vec<Run>>, DiscoverError> = (0..repetitions)
        .into_par_iter()
        .map(|repetition| {
            let world = world(repetition)?;
            let runs = policies.par_iter().map(|policy| {
                let run = run(*policy, &world, setting, |_, _| {});
                done();
                run
            });
            runs.collect()
        })
        .collect();
    let worlds = worlds?;
    let each = policies.iter().enumerate().map(|(index, policy)| Repeated {
        policy: *policy,
        runs: worlds.iter().map(|runs| runs[index]).collect(),
    });
    Ok(each.collect())
}
