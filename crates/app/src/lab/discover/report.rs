//! What came of it, for people and for machines.

use std::io::{self, Write};

use rayon::prelude::*;
use refrain_core::time::Span;
use refrain_lab::discover::{self, DiscoverError, Repeated};
use serde::Serialize;

use super::world::Worlds;
use crate::chart::{counted, grouped, percent, short};
use crate::cli::DiscoverArgs;
use crate::failure::Failure;
use crate::units::spoken;

/// Everything; rates are per unit of time.
#[derive(Serialize)]
pub(super) struct Report {
    hubs: usize,
    rate: f64,
    horizon: f64,
    unit: &'static str,
    /// Items that were recorded.
    items: Option<usize>,
    /// What the optimum earns, on average over the repetitions; only where hubs have parameters.
    theory: Option<Theory>,
    policies: Vec<Line>,
    #[serde(skip)]
    headline: String,
    #[serde(skip)]
    repeated: bool,
}

/// What theory says of these hubs.
#[derive(Clone, Copy, Default, Serialize)]
struct Theory {
    /// The best visits to the hubs worth opening.
    profit: f64,
    /// No choice within the budget earns more.
    dual_bound: f64,
    /// If every link were fetched the moment it appears.
    upper_bound: f64,
    /// How many hubs are worth opening.
    opened: f64,
}

/// One policy.
#[derive(Serialize)]
struct Line {
    policy: String,
    profit: f64,
    profit_error: f64,
    share: f64,
    share_error: f64,
    /// Of what theory says.
    of_theory: Option<f64>,
    visits: f64,
    fetched: f64,
    lost: f64,
    delay_seconds: f64,
}

impl Report {
    pub(super) fn new(
        results: &[Repeated],
        worlds: &Worlds,
        rate: f64,
        args: &DiscoverArgs,
    ) -> Result<Self, Failure> {
        let unit = args.unit.seconds();
        let theory = if worlds.recorded().is_none() { Some(theory(worlds, rate, args)?) } else { None };
        let line = |result: &Repeated| {
            let (profit, profit_error) = result.mean(|run| run.profit * unit);
            let (share, share_error) = result.mean(|run| run.share);
            Line {
                policy: result.policy.to_string(),
                profit,
                profit_error,
                share,
                share_error,
                of_theory: theory.map(|theory| profit / theory.profit).filter(|share| share.is_finite()),
                visits: result.mean(|run| run.visits as f64).0,
                fetched: result.mean(|run| run.fetched as f64).0,
                lost: result.mean(|run| run.lost as f64).0,
                delay_seconds: result.mean(|run| run.delay).0,
            }
        };
        let (hubs, name) = worlds.count();
        let horizon = worlds.horizon().as_secs() / unit;
        let name_of_unit = args.unit.name();
        let mut headline = counted(hubs, name);
        match worlds.recorded() {
            Some(items) => headline += &format!(" with {}, learned", counted(items, "item")),
            None => headline += if args.learn { ", learned" } else { ", known" },
        }
        headline += &format!(
            "; {} fetches per {name_of_unit} for {} {name_of_unit}s, {}",
            short(rate * unit),
            short(horizon),
            counted(args.reps as usize, "time")
        );
        Ok(Self {
            hubs,
            rate: rate * unit,
            horizon,
            unit: name_of_unit,
            items: worlds.recorded(),
            theory,
            policies: results.iter().map(line).collect(),
            headline,
            repeated: args.reps > 1,
        })
    }

    pub(super) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    pub(super) fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}\n", self.headline)?;
        let of_theory = if self.theory.is_some() { "of theory" } else { "" };
        writeln!(
            out,
            "  {:<14} {:>10} {:>9} {:>8} {of_theory:>10} {:>10} {:>10} {:>9} {:>11}",
            "policy", "profit", "±", "share", "visits", "fetched", "lost", "delay"
        )?;
        for line in &self.policies {
            // One repetition says nothing about chance.
            let error = if self.repeated { short(line.profit_error) } else { String::new() };
            let count = |count: f64| grouped(count.round() as usize);
            writeln!(
                out,
                "  {:<14} {:>10} {error:>9} {:>8} {:>10} {:>10} {:>10} {:>9} {:>11}",
                line.policy,
                short(line.profit),
                percent(line.share),
                line.of_theory.map_or(String::new(), percent),
                count(line.visits),
                count(line.fetched),
                count(line.lost),
                spoken(Span::from_secs(line.delay_seconds)),
            )?;
        }
        let Some(theory) = self.theory else { return Ok(()) };
        writeln!(
            out,
            "\n  theory {} per {}, from {} of the hubs: the best intervals in the long run",
            short(theory.profit),
            self.unit,
            short(theory.opened),
        )?;
        writeln!(
            out,
            "  bound  {}: no choice of hubs and intervals earns more; {} if every link were fetched at once",
            short(theory.dual_bound),
            short(theory.upper_bound)
        )
    }
}

/// The mean over the repetitions; hubs from a file are always the same.
fn theory(worlds: &Worlds, rate: f64, args: &DiscoverArgs) -> Result<Theory, DiscoverError> {
    let repetitions = if args.made_up.is_some() { args.reps } else { 1 };
    let unit = args.unit.seconds();
    let plans: Result<Vec<Theory>, DiscoverError> = (0..repetitions)
        .into_par_iter()
        .map(|repetition| {
            let plan = discover::theory(&worlds.hubs(repetition)?, rate);
            Ok(Theory {
                profit: plan.profit * unit,
                dual_bound: plan.bound * unit,
                upper_bound: plan.instant_profit * unit,
                opened: plan.hubs.iter().filter(|hub| hub.open).count() as f64,
            })
        })
        .collect();
    let plans = plans?;
    let mean = |of: fn(&Theory) -> f64| plans.iter().map(of).sum::<f64>() / plans.len() as f64;
    Ok(Theory {
        profit: mean(|plan| plan.profit),
        dual_bound: mean(|plan| plan.dual_bound),
        upper_bound: mean(|plan| plan.upper_bound),
        opened: mean(|plan| plan.opened),
    })
}
