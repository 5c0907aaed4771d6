//! `refrain lab simulate`.

use std::io::{self, Write};

use refrain_core::optimum::Candidate;
use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};
use refrain_lab::made_up::MadeUp;
use refrain_lab::simulate::{self, Repeated, Setting, SimulationError};
use serde::Serialize;

use super::policies;
use crate::chart::{counted, grouped, short};
use crate::cli::SimulateArgs;
use crate::failure::Failure;
use crate::input::{Ids, Pages, csv_field, read_signals};
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;

pub(super) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let policies = policies(&args.policy, |policy| !policy.needs_history())?;
    if args.picks.is_some() && policies.len() != 1 {
        return Err(Failure::input("--picks is for one policy; expected --policy with one name"));
    }
    if args.json && args.picks.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::input("--json and --picks - both go to standard output; expected one of them"));
    }
    let unit = args.unit.seconds();
    let world = World::read(args, unit)?;
    let setting = Setting {
        then: match (args.then_rate, args.then_at) {
            (Some(rate), Some(at)) => vec![(span(at * unit, "--then-at")?, rate / unit)],
            _ => Vec::new(),
        },
        from: span(args.from.unwrap_or(0.0) * unit, "--from")?,
        delay: span(args.delay.unwrap_or(0.0) * unit, "--delay")?,
        ..Setting::steady(args.rate / unit, span(args.horizon * unit, "--horizon")?, args.seed)
    };
    if setting.from >= setting.horizon {
        return Err(Failure::input("--from is not before --horizon; expected some time to score"));
    }
    let signals = match &args.signals {
        None => None,
        Some(path) => Some(read_signals(path, &world.ids, unit)?),
    };
    if let Some(path) = &args.picks {
        let pages = world.pages(0)?;
        let mut picks = Vec::new();
        let given = simulate::World::known(&pages, signals.as_deref());
        simulate::run(policies[0], given, &setting, |time, page| {
            picks.push((time, page));
        })?;
        to_file(path, |out| write_picks(out, &picks, &world.ids, unit))?;
    }
    let steps = Progress::steps("simulating", args.reps * policies.len() as u64);
    let instance = |repetition| world.pages(repetition);
    let results =
        simulate::repeat(&policies, args.reps, instance, signals.as_deref(), &setting, || steps.step());
    drop(steps);
    let results = results?;
    if args.json {
        to_stdout(|out| write_json(out, &results, unit))
    } else if args.picks.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        Ok(())
    } else {
        to_stdout(|out| write_table(out, args, &world, &results, unit))
    }
}

impl From<SimulationError> for Failure {
    fn from(why: SimulationError) -> Self {
        Self::input(why.to_string())
    }
}

fn span(seconds: f64, name: &str) -> Result<Span, Failure> {
    if seconds < 9e9 {
        return Ok(Span::from_secs(seconds));
    }
    Err(Failure::input(format!("{name} is {seconds:.1e} seconds; expected less than 280 years")))
}

/// Pages from a file, or others each time.
struct World {
    ids: Ids,
    given: Vec<Belief>,
    made_up: Option<MadeUp>,
    unit: f64,
    seed: u64,
}

impl World {
    fn read(args: &SimulateArgs, unit: f64) -> Result<Self, Failure> {
        let mut world = Self { ids: Ids::default(), given: Vec::new(), made_up: None, unit, seed: args.seed };
        if let Some(path) = &args.pages {
            let file = Pages::read(path)?;
            // A unit in the header goes before the one of the command.
            let unit = file.unit.unwrap_or(unit);
            let signals = file.signals.as_deref();
            for (number, page) in file.pages.iter().enumerate() {
                let (recall, false_rate) =
                    signals.map_or((0.0, 0.0), |all| (all[number].recall, all[number].false_rate));
                let belief = Belief::new(page.change_rate() / unit, page.importance())
                    .and_then(|belief| belief.with_signals(recall, false_rate / unit));
                let id = file.ids.get(number);
                world.given.push(belief.map_err(|why| Failure::input(format!("page '{id}': {why}")))?);
            }
            world.ids = file.ids;
            return Ok(world);
        }
        let pages = args.made_up.unwrap_or(0);
        if pages == 0 {
            return Err(Failure::input("--made-up is 0; expected at least one page"));
        }
        (0..pages).for_each(|page| world.ids.push(&page.to_string(), page as u64 + 1));
        world.made_up = Some(MadeUp {
            pages,
            change_rate: args.change_rate,
            importance: args.importance,
            recall: args.recall,
            false_rate: args.false_rate,
        });
        // What can be drawn once can be drawn again.
        world.pages(0)?;
        Ok(world)
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn pages(&self, repetition: u64) -> Result<Vec<Belief>, SimulationError> {
        let Some(made_up) = self.made_up else { return Ok(self.given.clone()) };
        let scaled = |page: Belief| {
            Belief::new(page.change_rate() / self.unit, page.importance())?
                .with_signals(page.recall(), page.false_rate() / self.unit)
        };
        let drawn = made_up.draw(self.seed.wrapping_add(repetition));
        let scaled = drawn.and_then(|pages| pages.into_iter().map(scaled).collect());
        scaled.map_err(SimulationError::Page)
    }
}

fn write_picks(out: &mut dyn Write, picks: &[(Time, u32)], ids: &Ids, unit: f64) -> io::Result<()> {
    writeln!(out, "time,page_id")?;
    for (time, page) in picks {
        let time = time.since(Time::ZERO).as_secs() / unit;
        writeln!(out, "{time},{}", csv_field(ids.get(*page as usize)))?;
    }
    Ok(())
}

/// A policy, for machines.
#[derive(Serialize)]
struct PolicyLine {
    policy: String,
    mean: f64,
    standard_error: f64,
    baseline: f64,
    difference: f64,
    difference_error: f64,
    fetches: f64,
    price: f64,
    evaluations: f64,
}

impl PolicyLine {
    fn new(result: &Repeated, unit: f64) -> Self {
        let (mean, standard_error) = result.accuracy();
        let (difference, difference_error) = result.difference();
        let count = result.runs.len() as f64;
        Self {
            policy: result.policy.to_string(),
            mean,
            standard_error,
            baseline: result.baselines.iter().sum::<f64>() / count,
            difference,
            difference_error,
            fetches: result.runs.iter().map(|run| run.fetches as f64).sum::<f64>() / count,
            price: result.price() / unit,
            evaluations: result.evaluations(),
        }
    }
}

fn write_json(out: &mut dyn Write, results: &[Repeated], unit: f64) -> io::Result<()> {
    let lines: Vec<PolicyLine> = results.iter().map(|result| PolicyLine::new(result, unit)).collect();
    serde_json::to_writer(&mut *out, &serde_json::json!({ "policies": lines }))?;
    writeln!(out)
}

fn write_table(
    out: &mut dyn Write,
    args: &SimulateArgs,
    world: &World,
    results: &[Repeated],
    unit: f64,
) -> io::Result<()> {
    let lines: Vec<PolicyLine> = results.iter().map(|result| PolicyLine::new(result, unit)).collect();
    writeln!(
        out,
        "{}, {} fetches per {} for {} {}s, {}\n",
        counted(world.len(), if world.made_up.is_some() { "made-up page" } else { "page" }),
        short(args.rate),
        args.unit.name(),
        short(args.horizon),
        args.unit.name(),
        counted(args.reps as usize, "time")
    )?;
    writeln!(
        out,
        "  {:<16} {:>10} {:>9}  {:>12} {:>9}  {:>11} {:>9} {:>12}",
        "policy", "accuracy", "±", "to baseline", "±", "fetches", "price", "evaluations"
    )?;
    for line in &lines {
        // One repetition says nothing about chance.
        let error = |error: f64| if args.reps > 1 { format!("{error:.4}") } else { String::new() };
        writeln!(
            out,
            "  {:<16} {:>10.4} {:>9}  {:>+12.4} {:>9}  {:>11} {:>9} {:>12.1}",
            line.policy,
            line.mean,
            error(line.standard_error),
            line.difference,
            error(line.difference_error),
            grouped(line.fetches.round() as usize),
            short(line.price),
            line.evaluations
        )?;
    }
    let Some(line) = lines.first() else { return Ok(()) };
    writeln!(out, "\n  baseline {:.4}: the optimal rates without signals, in the long run", line.baseline)
}
