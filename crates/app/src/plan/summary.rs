//! What a person reads.

use std::cmp::Reverse;
use std::io::{self, Write};

use refrain_core::plan::{Problem, Timeline};
use refrain_core::time::Span;

use super::figures::saturated;
use super::{Figures, Plan};
use crate::chart::{bar, counted, grouped, percent};
use crate::cli::PlanMethod;
use crate::units::spoken;

/// So many full hosts are named.
const NAMED: usize = 5;
/// Lines of the chart.
const LINES: usize = 12;

pub(super) fn write(
    out: &mut dyn Write,
    problem: &Problem,
    plan: &Plan,
    figures: &Figures,
    timeline: &Timeline,
    hosts: &[String],
    crawlers: &[Span],
) -> io::Result<()> {
    let busy = crawlers.first().copied().unwrap_or(Span::ZERO);
    writeln!(
        out,
        "{} on {}, {}; {}, {} a fetch\n",
        counted(figures.pages, "page"),
        counted(figures.hosts, "host"),
        spoken(problem.horizon()),
        counted(crawlers.len(), "crawler"),
        spoken(busy),
    )?;
    let line = |out: &mut dyn Write, name: &str, value: String, what: &str| {
        writeln!(out, "  {name:<12} {value:>10}  {what}")
    };
    line(
        out,
        "staleness",
        percent(figures.staleness),
        &format!(
            "of the time, in the mean over the horizon; without fetches {}, at the start {}",
            percent(figures.staleness_without_fetches),
            percent(figures.staleness_at_start)
        ),
    )?;
    let above =
        |bound: f64| if bound > 0.0 { percent(figures.staleness / bound - 1.0) } else { percent(0.0) };
    let bounds = &figures.bounds;
    line(
        out,
        "bounds",
        percent(bounds.weak_politeness),
        &format!("no polite plan is below; this one is {} above", above(bounds.weak_politeness)),
    )?;
    line(out, "", percent(bounds.non_polite), "no plan is, polite or not")?;
    if plan.method == PlanMethod::Psp {
        line(out, "", percent(bounds.inf_crawlers), "this plan with crawlers that are never busy")?;
    }
    line(
        out,
        "politeness",
        percent(figures.price_of_politeness),
        "more staleness at least is what it costs",
    )?;
    let wanted = if figures.allocated < problem.budget() {
        let why = if plan.method == PlanMethod::Refrain && figures.allocated == plan.reach {
            "crawlers can make no more"
        } else {
            "more would gain nothing, or be impolite"
        };
        format!("of a budget of {}: {why}", grouped(problem.budget() as usize))
    } else {
        "the whole budget".to_owned()
    };
    line(out, "fetches", grouped(figures.allocated as usize), &wanted)?;
    if figures.dropped > 0 {
        let dropped = grouped(figures.dropped as usize);
        line(out, "", dropped, "of them did not fit before the end")?;
    }
    write_hosts(out, problem, plan, hosts)?;
    write_without(out, figures)?;
    write_chart(out, problem, timeline)
}

fn write_hosts(out: &mut dyn Write, problem: &Problem, plan: &Plan, hosts: &[String]) -> io::Result<()> {
    let mut full = saturated(problem, &plan.polite);
    if full.is_empty() {
        return writeln!(out, "\nNo host is asked as often as it may be.");
    }
    full.sort_by_key(|host| Reverse(problem.hosts()[*host].pages().len()));
    writeln!(
        out,
        "\n{} of {} hosts are full: asked as often as they may be. The largest:",
        grouped(full.len()),
        grouped(problem.hosts().len())
    )?;
    for host in full.iter().take(NAMED) {
        let limits = &problem.hosts()[*host];
        let most = limits.most(problem.horizon()) as usize;
        writeln!(
            out,
            "  {:<28} {:>14}  {:>10} requests, {} apart",
            hosts[*host],
            counted(limits.pages().len(), "page"),
            grouped(most),
            spoken(limits.gap())
        )?;
    }
    Ok(())
}

fn write_without(out: &mut dyn Write, figures: &Figures) -> io::Result<()> {
    let without = &figures.pages_without;
    if without.all() == 0 {
        return writeln!(out, "\nEvery page gets a fetch.");
    }
    writeln!(
        out,
        "\n{} no fetch:",
        if without.all() == 1 {
            "1 page gets".to_owned()
        } else {
            format!("{} get", counted(without.all(), "page"))
        }
    )?;
    for (count, why) in [
        (without.host, "because their hosts are full"),
        (without.budget, "because other fetches are worth more"),
        (without.worthless, "because they do not matter or never change"),
        (without.dropped, "because it did not fit before the end"),
    ] {
        if count > 0 {
            writeln!(out, "  {:>10}  {why}", grouped(count))?;
        }
    }
    Ok(())
}

fn write_chart(out: &mut dyn Write, problem: &Problem, timeline: &Timeline) -> io::Result<()> {
    let parts = timeline.fetches.len() / LINES;
    let fetches: Vec<u64> = timeline.fetches.chunks(parts).map(|part| part.iter().sum()).collect();
    let most = fetches.iter().copied().max().unwrap_or(0).max(1) as f64;
    writeln!(out, "\n  {:<9} {:>12}  {:<20}  {:>9}", "until", "fetches", "", "staleness")?;
    for (number, (fetches, stale)) in fetches.iter().zip(timeline.staleness.chunks(parts)).enumerate() {
        let until = Span::from_secs(problem.horizon().as_secs() * (number + 1) as f64 / LINES as f64);
        let stale = stale.last().copied().unwrap_or(0.0);
        writeln!(
            out,
            "  {:<9} {:>12}  {}  {:>9}  {}",
            spoken(until),
            grouped(*fetches as usize),
            bar(*fetches as f64 / most, 20),
            percent(stale),
            bar(stale, 20).trim_end()
        )?;
    }
    Ok(())
}
