//! `refrain lab replay`.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

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
use crate::input::{Ids, NamedTrace, Recorded, csv_field};
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;
use crate::units::spoken;

pub(super) const DAY: f64 = 86_400.0;

/// What is crawled anew.
struct History {
    ids: Ids,
    trace: Trace,
    recorded: Option<Really>,
}

/// What was really done.
struct Really {
    /// Moments, and places of pages in the trace.
    fetches: Vec<(Time, u32)>,
    per_day: f64,
    /// Pages that say nothing, as they were seen only once.
    left_out: usize,
}

impl History {
    fn read(args: &ReplayArgs) -> Result<Self, Failure> {
        let chosen = |trace: &Trace| chosen(trace, &args.signals, args.from, args.to);
        if let Some(log) = &args.log {
            let Recorded { ids, trace, fetches, once } = Recorded::read(log, args.seed)?;
            let trace = chosen(&trace)?;
            let recorded = Some(Really::new(&trace, &fetches, once));
            return Ok(Self { ids, trace, recorded });
        }
        let folder = args.trace.as_deref();
        let folder = folder.ok_or_else(|| Failure::input("nothing to replay; expected --trace or --log"))?;
        let NamedTrace { ids, trace } = NamedTrace::read(folder)?;
        Ok(Self { ids, trace: chosen(&trace)?, recorded: None })
    }
}

impl Really {
    /// Of all fetches, those of the pages and of the time that were chosen. A rate is of the time in which somebody was looking.
    fn new(trace: &Trace, fetches: &[(Time, u32)], left_out: usize) -> Self {
        let places: HashMap<u32, u32> =
            trace.pages.iter().enumerate().map(|(place, page)| (page.number, place as u32)).collect();
        let chosen = |(time, number): &(Time, u32)| {
            let place = *places.get(number)?;
            let page = &trace.pages[place as usize];
            (*time > page.first && *time <= page.last).then_some((*time, place))
        };
        let fetches: Vec<(Time, u32)> = fetches.iter().filter_map(chosen).collect();
        let seconds = trace.span().map_or(0.0, |(first, last)| trace.sources[0].between(first, last));
        let per_day = if seconds > 0.0 { fetches.len() as f64 / seconds * DAY } else { 0.0 };
        Self { fetches, per_day, left_out }
    }
}

pub(super) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let policies = policies(&args.policy, |_| true)?;
    if args.fetches.is_some() && policies.len() != 1 {
        return Err(Failure::input("--fetches is for one policy; expected --policy with one name"));
    }
    let History { ids, trace, recorded } = History::read(args)?;
    let usual = if recorded.is_some() { ReplayRate::Recorded(1.0) } else { ReplayRate::Times(1.0) };
    let per_day = recorded.as_ref().map(|recorded| recorded.per_day);
    let rate = args.rate.unwrap_or(usual).per_day(&trace, per_day)? / DAY;
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
            Ok(Line { policy: policy.name(), score: Score::of(&trace, &fetches), fetches })
        })
        .collect();
    drop(steps);
    let mut lines = lines?;
    if let Some(path) = &args.fetches {
        to_file(path, |out| write_fetches(out, &lines[0].fetches, &trace, &ids))?;
    }
    let mut left_out = 0;
    if let Some(Really { fetches, left_out: once, .. }) = recorded {
        lines.push(Line { policy: "recorded", score: Score::of(&trace, &fetches), fetches });
        left_out = once;
    }
    let report = Report { lines, trace, rate, per_day, left_out };
    if args.json { to_stdout(|out| report.write_json(out)) } else { to_stdout(|out| report.write_table(out)) }
}

/// What was recorded, and what other budgets would have made of it.
pub(crate) struct WhatIf {
    /// Pages that were seen at least twice, and changes of them.
    pub(crate) pages: usize,
    pub(crate) changes: usize,
    pub(crate) days: f64,
    /// What really happened: fetches a day, and what came of them.
    pub(crate) recorded: (f64, Score),
    /// Times the fetches that were made, fetches a day, and what would have come of them.
    pub(crate) budgets: Vec<(f64, f64, Score)>,
}

/// The log of a crawl, crawled anew by the same policy with so many times the fetches.
pub(crate) fn what_if(log: &Path, times: &[f64]) -> Result<WhatIf, Failure> {
    /// Signals of the log are laid out by chance where it does not say when they came: always by the same.
    const SEED: u64 = 1;
    let Recorded { trace, fetches, once, .. } = Recorded::read(log, SEED)?;
    let really = Really::new(&trace, &fetches, once);
    let mut budgets = Vec::with_capacity(times.len());
    for times in times {
        let per_day = ReplayRate::Recorded(*times).per_day(&trace, Some(really.per_day))?;
        let setting =
            Setting { rate: per_day / DAY, dated: false, own_pace: false, floor: None, delay: Span::ZERO };
        let fetches = replay::fetches(Policy::Refrain, &trace, &setting)?;
        budgets.push((*times, per_day, Score::of(&trace, &fetches)));
    }
    Ok(WhatIf {
        pages: trace.pages.len(),
        changes: trace.changes(),
        days: trace.seconds() / DAY,
        recorded: (really.per_day, Score::of(&trace, &really.fetches)),
        budgets,
    })
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
    /// Fetches per day, in this trace, with so many of them recorded.
    pub(super) fn per_day(self, trace: &Trace, recorded: Option<f64>) -> Result<f64, Failure> {
        let (times, of, what) = match (self, recorded) {
            (Self::PerDay(fetches), _) => return Ok(fetches),
            (Self::Times(times), _) => (times, trace.change_rate() * DAY, "changes"),
            (Self::Recorded(times), Some(recorded)) => (times, recorded, "fetches"),
            (Self::Recorded(times), None) => {
                return Err(Failure::input(format!(
                    "a rate of {times}r: a trace has no recorded fetches; expected fetches per day like 200, or times the changes like 4x"
                )));
            }
        };
        if of > 0.0 {
            return Ok(times * of);
        }
        Err(Failure::input(format!(
            "there are no {what} to measure a rate by; expected --rate with fetches per day like 200"
        )))
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
    policy: &'static str,
    fetches: Vec<(Time, u32)>,
    score: Score,
}

/// The same, for machines.
#[derive(Serialize)]
struct JsonLine {
    policy: &'static str,
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

/// All of it.
struct Report {
    lines: Vec<Line>,
    trace: Trace,
    /// Fetches per second.
    rate: f64,
    /// What was recorded, if anything was: fetches per day, and pages that were seen only once.
    per_day: Option<f64>,
    left_out: usize,
}

impl Report {
    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { lines, trace, .. } = self;
        let policies: Vec<JsonLine> = lines
            .iter()
            .map(|line| JsonLine {
                policy: line.policy,
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
        let mut all = serde_json::json!({
            "pages": trace.pages.len(),
            "changes": trace.changes(),
            "signals": trace.announcements.len(),
            "days": trace.seconds() / DAY,
            "changes_per_day": trace.change_rate() * DAY,
            "rate_per_day": self.rate * DAY,
            "policies": policies,
        });
        if let Some(per_day) = self.per_day {
            all["recorded_per_day"] = per_day.into();
            all["pages_left_out"] = self.left_out.into();
        }
        serde_json::to_writer(&mut *out, &all)?;
        writeln!(out)
    }

    fn write_table(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { lines, trace, .. } = self;
        introduce(out, trace)?;
        write!(out, "; {} fetches a day", short(self.rate * DAY))?;
        if let Some(per_day) = self.per_day {
            write!(out, ", {} recorded", short(per_day))?;
        }
        if self.left_out > 0 {
            write!(out, "; {} seen only once left out", counted(self.left_out, "page"))?;
        }
        writeln!(
            out,
            "\n\n  {:<16} {:>9} {:>7} {:>10} {:>10} {:>10} {:>8} {:>8}",
            "policy", "freshness", "plain", "age", "fetches", "wasted", "never", "starved"
        )?;
        for Line { policy, score, .. } in lines {
            writeln!(
                out,
                "  {policy:<16} {:>9.4} {:>7.4} {:>10} {:>10} {:>9.1}% {:>8} {:>8}",
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
}

fn write_fetches(out: &mut dyn Write, fetches: &[(Time, u32)], trace: &Trace, ids: &Ids) -> io::Result<()> {
    writeln!(out, "time,page_id")?;
    for (time, place) in fetches {
        let number = trace.pages[*place as usize].number;
        writeln!(out, "{},{}", time.since(Time::ZERO).as_secs(), csv_field(ids.get(number as usize)))?;
    }
    Ok(())
}
