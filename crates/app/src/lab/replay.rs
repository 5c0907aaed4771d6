//! `refrain lab replay`.

use std::io::{self, Write};

use rayon::prelude::*;
use refrain_core::time::{Span, Time};
use refrain_lab::Policy;
use refrain_lab::replay::{self, Score, Setting};
use refrain_lab::simulate::SimulationError;
use refrain_lab::trace::Trace;
use serde::Serialize;

use super::policies;
use crate::chart::{counted, grouped, short};
use crate::cli::{ReplayArgs, ReplayRate};
use crate::failure::Failure;
use crate::input::{Ids, NamedTrace, csv_field};
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;
use crate::units::spoken;

pub(super) const DAY: f64 = 86_400.0;

pub(super) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let policies = policies(&args.policy, |_| true)?;
    if args.log.is_some() && policies.len() != 1 {
        return Err(Failure::input("--log is for one policy; expected --policy with one name"));
    }
    let NamedTrace { ids, trace } = NamedTrace::read(&args.trace)?;
    let trace = chosen(&trace, &args.signals, args.from, args.to)?;
    let rate = args.rate.per_day(&trace) / DAY;
    let setting = Setting {
        rate,
        dated: args.dated,
        own_pace: args.own_pace,
        floor: args.floor,
        delay: args.delay.unwrap_or(Span::ZERO),
    };
    let steps = Progress::steps("replaying", policies.len() as u64);
    let lines: Result<Vec<Line>, SimulationError> = policies
        .par_iter()
        .map(|policy| {
            let fetches = replay::fetches(*policy, &trace, &setting)?;
            steps.step();
            Ok(Line { policy: *policy, score: Score::of(&trace, &fetches), fetches })
        })
        .collect();
    drop(steps);
    let lines = lines?;
    if let Some(path) = &args.log {
        to_file(path, |out| write_log(out, &lines[0].fetches, &trace, &ids))?;
    }
    if args.json {
        to_stdout(|out| write_json(out, &lines, &trace, rate))
    } else {
        to_stdout(|out| write_table(out, &lines, &trace, rate))
    }
}

/// The part of a trace that was asked for.
pub(super) fn chosen(
    trace: &Trace,
    kinds: &[String],
    from: Option<Time>,
    to: Option<Time>,
) -> Result<Trace, Failure> {
    let trace = trace.within(from.unwrap_or(Time::MIN), to.unwrap_or(Time::MAX));
    if trace.pages.is_empty() {
        return Err(Failure::input("no page was there between --from and --to; expected at least one"));
    }
    match kinds {
        [all] if all == "all" => Ok(trace),
        [none] if none == "none" => Ok(trace.with_kinds(|_| false)),
        kinds => {
            if let Some(unknown) = kinds.iter().find(|kind| !trace.kinds.contains(kind)) {
                let known = if trace.kinds.is_empty() {
                    "no signals at all".to_owned()
                } else {
                    trace.kinds.join(", ")
                };
                return Err(Failure::input(format!(
                    "--signals: there is no kind '{unknown}'; the trace has {known}"
                )));
            }
            Ok(trace.with_kinds(|kind| kinds.iter().any(|wanted| wanted == kind)))
        }
    }
}

impl ReplayRate {
    /// Fetches per day, in this trace.
    pub(super) fn per_day(self, trace: &Trace) -> f64 {
        match self {
            Self::PerDay(fetches) => fetches,
            Self::Times(times) => times * trace.change_rate() * DAY,
        }
    }
}

/// A trace in half a line.
pub(super) fn introduce(out: &mut dyn Write, trace: &Trace) -> io::Result<()> {
    write!(
        out,
        "{} over {} days: {} changes ({} a day), {}",
        counted(trace.pages.len(), "page"),
        short(trace.seconds() / DAY),
        grouped(trace.changes()),
        short(trace.change_rate() * DAY),
        counted(trace.announcements.len(), "signal"),
    )
}

/// What came of one policy.
struct Line {
    policy: Policy,
    fetches: Vec<(Time, u32)>,
    score: Score,
}

/// The same, for machines.
#[derive(Serialize)]
struct JsonLine {
    policy: String,
    freshness: f64,
    plain_freshness: f64,
    age_seconds: f64,
    plain_age_seconds: f64,
    fetches: u64,
    wasted: u64,
    never_fetched: u64,
    starved: u64,
    bound: f64,
}

fn write_json(out: &mut dyn Write, lines: &[Line], trace: &Trace, rate: f64) -> io::Result<()> {
    let policies: Vec<JsonLine> = lines
        .iter()
        .map(|line| JsonLine {
            policy: line.policy.to_string(),
            freshness: line.score.freshness,
            plain_freshness: line.score.plain_freshness,
            age_seconds: line.score.age,
            plain_age_seconds: line.score.plain_age,
            fetches: line.score.fetches,
            wasted: line.score.wasted,
            never_fetched: line.score.never_fetched,
            starved: line.score.starved,
            bound: replay::bound(trace, line.fetches.len()),
        })
        .collect();
    let all = serde_json::json!({
        "pages": trace.pages.len(),
        "changes": trace.changes(),
        "signals": trace.announcements.len(),
        "days": trace.seconds() / DAY,
        "changes_per_day": trace.change_rate() * DAY,
        "rate_per_day": rate * DAY,
        "policies": policies,
    });
    serde_json::to_writer(&mut *out, &all)?;
    writeln!(out)
}

fn write_table(out: &mut dyn Write, lines: &[Line], trace: &Trace, rate: f64) -> io::Result<()> {
    introduce(out, trace)?;
    writeln!(out, "; {} fetches a day\n", short(rate * DAY))?;
    writeln!(
        out,
        "  {:<16} {:>9} {:>7} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "policy", "freshness", "plain", "age", "fetches", "wasted", "never", "starved"
    )?;
    for Line { policy, score, .. } in lines {
        writeln!(
            out,
            "  {:<16} {:>9.4} {:>7.4} {:>10} {:>10} {:>9.1}% {:>8} {:>8}",
            policy.to_string(),
            score.freshness,
            score.plain_freshness,
            spoken(Span::from_secs(score.age)),
            grouped(score.fetches as usize),
            100.0 * score.wasted as f64 / score.fetches.max(1) as f64,
            score.never_fetched,
            score.starved,
        )?;
    }
    let most = lines.iter().map(|line| line.fetches.len()).max().unwrap_or(0);
    writeln!(
        out,
        "\n  bound {:.4}: nobody is fresher with {} fetches, not even who knows the future",
        replay::bound(trace, most),
        grouped(most)
    )
}

fn write_log(out: &mut dyn Write, fetches: &[(Time, u32)], trace: &Trace, ids: &Ids) -> io::Result<()> {
    writeln!(out, "time,page_id")?;
    for (time, place) in fetches {
        let number = trace.pages[*place as usize].number;
        writeln!(out, "{},{}", time.since(Time::ZERO).as_secs(), csv_field(ids.get(number as usize)))?;
    }
    Ok(())
}
