//! Pages whose parameters are known: what does a policy make of a budget?
//!
//! All copies are fresh at the start, fetch k is at k/R, and signals come before the fetch at the same moment. Signals of a page
//! are Poisson with the rate λΔ + ν, true and false ones together; changes need not be drawn, since what a policy earns is the chance
//! that copies are fresh given the signals, integrated exactly.

mod ahead;
mod drive;
mod score;
mod signals;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use refrain_core::frontier::{
    Budget, Frontier, FrontierError, Known, Rules, Sequence, Settings, SharePage, Shares,
};
use refrain_core::optimum::{Page, allocate};
use refrain_core::page::{Belief, BeliefError};
use refrain_core::time::{Span, Time};
use refrain_core::value::ValueFunction;

use crate::policy::Policy;
use drive::Drive;
pub use drive::Run;
use signals::Signals;

/// How a simulation goes. Times are in seconds, rates per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Fetches per second.
    pub rate: f64,
    /// How long it goes.
    pub horizon: Span,
    /// From a moment on, another budget: fetches per second.
    pub then: Option<(Span, f64)>,
    /// Copies are scored from here on.
    pub from: Span,
    /// For the delay-aware policy: signals so soon after a fetch do not count.
    pub delay: Span,
    /// Where chance starts from.
    pub seed: u64,
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
    /// Changes are not drawn here, so that nobody can know them.
    #[error("clairvoyant is for lab replay: only a recorded history has a future that can be known")]
    NoFuture,
    /// The budget cannot be spent on these pages.
    #[error("the optimal rates cannot be computed: {0}")]
    NoOptimum(String),
}

/// Runs one policy over pages. Signals are given, in the order of time, or drawn. `picked` is told of every fetch.
///
/// # Errors
/// If the rate is none, or no page matters.
pub fn run(
    policy: Policy,
    pages: &[Belief],
    given: Option<&[(Time, u32)]>,
    setting: &Setting,
    picked: impl FnMut(Time, u32),
) -> Result<Run, SimulationError> {
    if !pages.iter().any(|page| page.importance() > 0.0) {
        return Err(SimulationError::Unimportant);
    }
    let settings = Settings {
        refresh: 0,
        ignore_signals_within: if policy == Policy::Delayed { setting.delay } else { Span::ZERO },
        ..Settings::default()
    };
    let drive = Drive { pages, signals: Signals::new(pages, given, setting.seed), setting };
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
        Policy::LowDiscrepancy if setting.then.is_some() => Err(SimulationError::PlannedOnce),
        Policy::LowDiscrepancy => {
            let rates = optimal_rates(pages, setting.rate)?;
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

fn optimal_rates(pages: &[Belief], rate: f64) -> Result<Vec<f64>, SimulationError> {
    let plain: Vec<Page> = pages.iter().map(Page::of).collect();
    let optimum = allocate(&plain, rate).map_err(|why| SimulationError::NoOptimum(why.to_string()))?;
    Ok(optimum.visits.into_iter().map(|visit| visit.rate).collect())
}

/// The freshness that the optimal rates without signals give in the long run: what policies are compared with.
///
/// # Errors
/// If the budget cannot be spent.
pub fn baseline(pages: &[Belief], rate: f64) -> Result<f64, SimulationError> {
    let plain: Vec<Page> = pages.iter().map(Page::of).collect();
    let optimum = allocate(&plain, rate).map_err(|why| SimulationError::NoOptimum(why.to_string()))?;
    Ok(optimum.freshness)
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
            let setting = Setting { seed: setting.seed.wrapping_add(repetition), ..*setting };
            let runs: Result<Vec<Run>, SimulationError> = policies
                .par_iter()
                .map(|policy| {
                    let run = run(*policy, &pages, given, &setting, |_, _| {});
                    done();
                    run
                })
                .collect();
            Ok((baseline(&pages, setting.then.map_or(setting.rate, |(_, rate)| rate))?, runs?))
        })
        .collect();
    let instances = instances?;
    let each = policies.iter().enumerate().map(|(index, policy)| Repeated {
        policy: *policy,
        runs: instances.iter().map(|(_, runs)| runs[index]).collect(),
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
