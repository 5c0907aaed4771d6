//! Pages whose parameters are known: what does a policy make of a budget?
//!
//! All copies are fresh at the start, fetch k is at k/R, and signals come before the fetch at the same moment. Signals of a page
//! are Poisson with the rate λΔ + ν, true and false ones together; changes need not be drawn, since what a policy earns is the chance
//! that copies are fresh given the signals, integrated exactly. Only where signals come late ([`Lateness`]) are announced changes drawn.

mod ahead;
mod drive;
mod late;
mod score;
mod series;
mod signals;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use refrain_core::frontier::{
    Budget, Frontier, FrontierError, Known, Rules, Sequence, Settings, SharePage, Shares,
};
use refrain_core::optimum::{Allocation, Candidate, Page, SignalPage, allocate};
use refrain_core::page::{Belief, BeliefError};
use refrain_core::time::{Span, Time};
use refrain_core::value::ValueFunction;

use crate::policy::Policy;
use drive::Drive;
pub use drive::Run;
use late::Events;
pub use late::Lateness;
use signals::Signals;

/// How a simulation goes. Times are in seconds, rates per second.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Fetches per second.
    pub rate: f64,
    /// How long it goes.
    pub horizon: Span,
    /// From a moment on, another budget: fetches per second. In the order of time.
    pub then: Vec<(Span, f64)>,
    /// Copies are scored from here on.
    pub from: Span,
    /// The freshness of each such stretch of time is told, too.
    pub every: Option<Span>,
    /// How late signals come; `None`: at once, and changes are not drawn.
    pub late: Option<Lateness>,
    /// For the delay-aware policy: signals so soon after a fetch do not count.
    pub delay: Span,
    /// Where chance starts from.
    pub seed: u64,
}

impl Setting {
    /// So many fetches per second for so long, and nothing out of the ordinary.
    pub fn steady(rate: f64, horizon: Span, seed: u64) -> Self {
        let (from, delay) = (Span::ZERO, Span::ZERO);
        Self { rate, horizon, then: Vec::new(), from, every: None, late: None, delay, seed }
    }

    /// The budget at the end.
    fn last_rate(&self) -> f64 {
        self.then.last().map_or(self.rate, |(_, rate)| *rate)
    }
}

/// What there is.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// The pages as they are.
    pub pages: &'a [Belief],
    /// The same pages as a policy believes them to be.
    pub believed: &'a [Belief],
    /// Signals in the order of time; `None`: drawn.
    pub signals: Option<&'a [(Time, u32)]>,
}

impl<'a> World<'a> {
    /// One in which everything is known.
    pub fn known(pages: &'a [Belief], signals: Option<&'a [(Time, u32)]>) -> Self {
        Self { pages, believed: pages, signals }
    }
}

/// Why there is nothing to simulate.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// The frontier refuses.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// A page that cannot be.
    #[error(transparent)]
    Page(#[from] BeliefError),
    /// Nobody asks for any page.
    #[error("no page has an importance greater than 0; expected at least one")]
    Unimportant,
    /// A plan is made for one budget.
    #[error("lds is planned for one budget; expected another policy where the budget changes")]
    PlannedOnce,
    /// Beliefs are about pages, one each.
    #[error("there are {pages} pages, and beliefs about {believed}; expected as many")]
    BeliefsApart {
        /// How many pages there are.
        pages: usize,
        /// How many beliefs.
        believed: usize,
    },
    /// Changes are not drawn here, so that nobody can know them.
    #[error("clairvoyant is for lab replay: only a recorded history has a future that can be known")]
    NoFuture,
    /// The budget cannot be spent on these pages.
    #[error("the optimal rates cannot be computed: {0}")]
    NoOptimum(String),
}

/// Runs one policy. `picked` is told of every fetch.
///
/// # Errors
/// If the rate is none, or no page matters.
pub fn run(
    policy: Policy,
    world: World<'_>,
    setting: &Setting,
    picked: impl FnMut(Time, u32),
) -> Result<Run, SimulationError> {
    let World { pages, believed, signals } = world;
    if pages.len() != believed.len() {
        return Err(SimulationError::BeliefsApart { pages: pages.len(), believed: believed.len() });
    }
    if !pages.iter().any(|page| page.importance() > 0.0) {
        return Err(SimulationError::Unimportant);
    }
    let settings = Settings {
        refresh: 0,
        ignore_signals_within: if policy == Policy::Delayed { setting.delay } else { Span::ZERO },
        ..Settings::default()
    };
    let signals = Signals::new(pages, signals, setting.seed);
    let events = Events::new(signals, setting.late, pages, setting.seed);
    let drive = Drive { pages, believed, events, setting };
    let rate = Budget::Rate(setting.rate);
    let value = |function| Frontier::new(Known::new(function), rate, settings, Time::ZERO);
    match policy {
        Policy::Value(function) => drive.run(value(function)?, as_they_are, picked),
        Policy::Clairvoyant => Err(SimulationError::NoFuture),
        // What is known needs no refinement.
        Policy::Delayed
        | Policy::Refrain
        | Policy::WithoutHours
        | Policy::Refined(_)
        | Policy::Affinity
        | Policy::Informed => drive.run(value(ValueFunction::GreedyNcis)?, as_they_are, picked),
        Policy::Shares(share) => {
            drive.run(Frontier::new(Shares::new(share), rate, settings, Time::ZERO)?, as_they_are, picked)
        }
        Policy::Rule(rule) => {
            // The most overdue first, or who is nearest to it: the whole budget, as the others have it.
            let frontier = Frontier::new(Rules::new(rule), rate, settings, Time::ZERO)?;
            drive.run(frontier, |rules: &Rules, page| rules.page(page.importance() as f32), picked)
        }
        Policy::LowDiscrepancy if !setting.then.is_empty() => Err(SimulationError::PlannedOnce),
        Policy::LowDiscrepancy => {
            let rates = optimal_rates(believed, setting.rate)?;
            let total: f64 = rates.iter().sum();
            let frontier =
                Frontier::new(Sequence::new(setting.rate, Time::ZERO), rate, settings, Time::ZERO)?;
            let mut shares = rates.iter().map(|rate| (rate / total).clamp(0.0, 1.0));
            let share = move |_: &_, _: &Belief| {
                SharePage::new(shares.next().unwrap_or(0.0)).unwrap_or(SharePage::NOTHING)
            };
            drive.run(frontier, share, picked)
        }
    }
}

/// For models that need nothing but the belief.
fn as_they_are<M>(_model: &M, page: &Belief) -> Belief {
    *page
}

/// Fetches per second of each page that give the greatest freshness without signals.
///
/// # Errors
/// If the budget cannot be spent.
pub fn optimal_rates(pages: &[Belief], rate: f64) -> Result<Vec<f64>, SimulationError> {
    Ok(optimum(pages, Page::of, rate)?.visits.into_iter().map(|visit| visit.rate).collect())
}

fn optimum<C: Candidate>(
    pages: &[Belief],
    candidate: impl Fn(&Belief) -> C,
    rate: f64,
) -> Result<Allocation, SimulationError> {
    let candidates: Vec<C> = pages.iter().map(candidate).collect();
    allocate(&candidates, rate).map_err(|why| SimulationError::NoOptimum(why.to_string()))
}

/// The freshness that the optimal rates without signals give in the long run: what policies are compared with.
///
/// # Errors
/// If the budget cannot be spent.
pub fn baseline(pages: &[Belief], rate: f64) -> Result<f64, SimulationError> {
    Ok(optimum(pages, Page::of, rate)?.freshness)
}

/// The freshness that the best continuous schedule with signals gives in the long run: what nobody can exceed.
///
/// # Errors
/// If the budget cannot be spent.
pub fn bound(pages: &[Belief], rate: f64) -> Result<f64, SimulationError> {
    Ok(optimum(pages, SignalPage::of, rate)?.freshness)
}

/// A policy over several repetitions.
#[derive(Clone, Debug)]
pub struct Repeated {
    /// The policy.
    pub policy: Policy,
    /// What it earned, in each.
    pub runs: Vec<Run>,
    /// And what it was compared with.
    pub baselines: Vec<f64>,
}

impl Repeated {
    /// Mean and standard error of the accuracy.
    pub fn accuracy(&self) -> (f64, f64) {
        mean_and_error(self.runs.iter().map(|run| run.accuracy))
    }

    /// Mean and standard error of the difference to the baseline, instance by instance.
    pub fn difference(&self) -> (f64, f64) {
        mean_and_error(self.runs.iter().zip(&self.baselines).map(|(run, baseline)| run.accuracy - baseline))
    }

    /// The mean price of a fetch.
    pub fn price(&self) -> f64 {
        mean_and_error(self.runs.iter().map(|run| run.price)).0
    }

    /// The mean number of evaluations per fetch.
    pub fn evaluations(&self) -> f64 {
        mean_and_error(self.runs.iter().map(|run| run.evaluations)).0
    }
}

/// Runs policies over instances, in parallel. `instance` gives the pages of each; `done` is told after each run.
///
/// # Errors
/// As [`run`].
pub fn repeat(
    policies: &[Policy],
    repetitions: u64,
    instance: impl Fn(u64) -> Result<Vec<Belief>, SimulationError> + Sync,
    given: Option<&[(Time, u32)]>,
    setting: &Setting,
    done: impl Fn() + Sync,
) -> Result<Vec<Repeated>, SimulationError> {
    let instances: Result<Vec<(f64, Vec<Run>)>, SimulationError> = (0..repetitions)
        .into_par_iter()
        .map(|repetition| {
            let pages = instance(repetition)?;
            let setting = Setting { seed: setting.seed.wrapping_add(repetition), ..setting.clone() };
            let world = World::known(&pages, given);
            let runs: Result<Vec<Run>, SimulationError> = policies
                .par_iter()
                .map(|policy| {
                    let run = run(*policy, world, &setting, |_, _| {});
                    done();
                    run
                })
                .collect();
            Ok((baseline(&pages, setting.last_rate())?, runs?))
        })
        .collect();
    let instances = instances?;
    let each = policies.iter().enumerate().map(|(index, policy)| Repeated {
        policy: *policy,
        runs: instances.iter().map(|(_, runs)| runs[index].clone()).collect(),
        baselines: instances.iter().map(|(baseline, _)| *baseline).collect(),
    });
    Ok(each.collect())
}

pub(crate) fn mean_and_error(numbers: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = numbers.clone().count() as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let variance = numbers.map(|x| (x - mean) * (x - mean)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, (variance / count).sqrt())
}
