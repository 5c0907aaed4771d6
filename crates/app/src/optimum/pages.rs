//! `refrain optimum --pages`.

use std::path::Path;

use refrain_core::optimum::{Allocation, Candidate};

use super::problem::{Goal, Problem};
use super::summary::Summary;
use super::{machine, sweep};
use crate::chart::counted;
use crate::cli::OptimumArgs;
use crate::data::read_pages;
use crate::failure::Failure;
use crate::input::Pages;
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;
use crate::stopwatch::{Stopwatch, peak_memory_mb, spoken};

pub(super) fn run(args: &OptimumArgs) -> Result<(), Failure> {
    if args.rate.is_none() && args.fetch_cost.is_none() && !args.sweep {
        return Err(Failure::input(
            "no budget given; expected --rate R, --fetch-cost C with --stale-cost S, or --sweep",
        ));
    }
    let reading = Stopwatch::start();
    let pages = read_pages(args.pages.as_deref(), args.data.as_deref())?;
    let read_in = reading.elapsed();
    let rate = args.rate.map(|rate| rate.per(pages.unit)).transpose()?;
    let goal = match (rate, args.fetch_cost, args.stale_cost) {
        (Some(rate), _, _) => Some(Goal::Budget(rate)),
        (None, Some(fetch), Some(stale)) => Some(Goal::Costs { fetch, stale }),
        _ => None,
    };
    let with_signals = pages.signals.is_some() && !args.no_signals;
    if args.sweep {
        return sweep::run(args, &pages, with_signals, rate);
    }
    let Some(goal) = goal else { return Ok(()) };
    let stale_cost = if let Goal::Costs { stale, .. } = goal { stale } else { 1.0 };

    let solving = Stopwatch::start();
    let optimum = {
        let _progress = Progress::spinner("solving");
        Problem::new(&pages, with_signals, stale_cost)?.solve(goal)?
    };
    let solved_in = solving.elapsed();

    if let Some(path) = &args.csv {
        to_file(path, |out| machine::write_csv(out, &pages.ids, &optimum))?;
    }
    let cost = match goal {
        Goal::Costs { fetch, stale } => Some(total_cost(&pages, &optimum, fetch, stale)),
        Goal::Budget(_) => None,
    };
    if args.json {
        let extra: Vec<(&str, f64)> = cost.map(|cost| ("cost", cost)).into_iter().collect();
        return to_stdout(|out| machine::write_json(out, &pages.ids, &optimum, &extra));
    }
    if args.csv.as_deref() != Some(Path::new("-")) {
        let without =
            if with_signals { Some(Problem::new(&pages, false, stale_cost)?.solve(goal)?) } else { None };
        let summary =
            Summary { pages: &pages, optimum: &optimum, without_signals: without.as_ref(), goal, cost };
        to_stdout(|out| summary.write(out))?;
    }
    let count = pages.pages.len();
    let memory = peak_memory_mb().map_or(String::new(), |mb| format!(", {mb} MB at most"));
    eprintln!(
        "{} read in {}, solved in {} ({:.0} ns a page) on {} threads{memory}",
        counted(count, "page"),
        spoken(read_in),
        spoken(solved_in),
        solved_in.as_secs_f64() * 1e9 / count as f64,
        rayon::current_num_threads(),
    );
    Ok(())
}

/// Fetches and stale copies together, per unit of time.
fn total_cost(pages: &Pages, optimum: &Allocation, fetch: f64, stale: f64) -> f64 {
    let staleness: f64 = pages
        .pages
        .iter()
        .zip(&optimum.visits)
        .map(|(page, visit)| page.importance() * (1.0 - visit.freshness))
        .sum();
    fetch * optimum.rate + stale * staleness
}
