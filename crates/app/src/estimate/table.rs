//! Findings for people.

use std::io::{self, Write};

use refrain_core::estimate::{Estimate, Prior};

use super::changes::{Findings, Report};
use super::settings::spelled;
use super::signals::SignalFindings;
use crate::chart::{bar, counted, grouped, percent, short};
use crate::cli::{EstimateArgs, MethodName, Unit};

/// More pages than this are for scripts.
const SHOWN: usize = 30;

pub(super) fn write(
    out: &mut dyn Write,
    report: &Report,
    args: &EstimateArgs,
    confidence: f64,
) -> io::Result<()> {
    let found = &report.together;
    let pages = report.pages.as_ref().map(Vec::len).filter(|count| *count > 1);
    let of = pages.map_or_else(String::new, |count| format!(" of {}", counted(count, "page")));
    writeln!(
        out,
        "{}{of} in {}, {} changed ({})\n",
        counted(found.counts.all as usize, "interval"),
        counted_units(found.counts.span, args.unit),
        grouped(found.counts.changed as usize),
        percent(found.counts.changed / found.counts.all),
    )?;
    if pages.is_some() {
        writeln!(out, "All pages as if they were one")?;
    }
    write_methods(out, found, args, confidence)?;
    if let Some(signals) = &found.signals {
        write_signals(out, signals, confidence)?;
    }
    if let Some(prior) = report.prior {
        write_prior(out, prior, args, pages.is_some())?;
    }
    match (&report.pages, pages) {
        (Some(pages), Some(_)) => write_pages(out, pages, confidence),
        _ => Ok(()),
    }
}

fn counted_units(span: f64, unit: Unit) -> String {
    format!("{} {}s", short(span), unit.name())
}

fn write_methods(
    out: &mut dyn Write,
    found: &Findings,
    args: &EstimateArgs,
    confidence: f64,
) -> io::Result<()> {
    let unit = args.unit.name();
    let sure = format!("{:.0} % interval", 100.0 * confidence);
    writeln!(out, "  {:<8} {:>12}  {sure:^23}  mean time between", "method", format!("per {unit}"))?;
    let largest = found.methods.iter().map(|(_, estimate)| estimate.rate).fold(0.0, f64::max);
    for (name, estimate) in &found.methods {
        let share = if largest > 0.0 { estimate.rate / largest } else { 0.0 };
        let between = if estimate.rate > 0.0 { short(1.0 / estimate.rate) } else { "∞".to_owned() };
        let line = format!(
            "  {:<8} {:>12}  {:>10} – {:<10}  {between:>12}  {}",
            spelled(*name),
            short(estimate.rate),
            short(estimate.low),
            upper(estimate),
            bar(share, 20).trim_end(),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if found.methods.iter().any(|(name, _)| *name == MethodName::Refrain) {
        let risk = &found.risk;
        write!(
            out,
            "\n  Fetched every {}, a copy is very stale with a chance of {}",
            short(risk.every),
            percent(risk.very_stale)
        )?;
        if risk.careful < risk.every {
            write!(out, "; every {} for {}", short(risk.careful), percent(risk.accepted))?;
        }
        writeln!(out, ".")?;
    }
    writeln!(out)
}

fn upper(estimate: &Estimate) -> String {
    estimate.high.map_or_else(|| "∞".to_owned(), short)
}

fn write_signals(out: &mut dyn Write, found: &SignalFindings, confidence: f64) -> io::Result<()> {
    let Some((likeliest, _)) = &found.likeliest else {
        return writeln!(out, "  No signals came: nothing to learn about them.\n");
    };
    let believed = &found.believed;
    writeln!(out, "Signals: {}", grouped(found.signals as usize))?;
    writeln!(out, "  {:<12} {:>10} {:>8}", "", "precision", "recall")?;
    writeln!(out, "  {:<12} {:>10.3} {:>8.3}", "likeliest", likeliest.precision(), likeliest.recall())?;
    writeln!(
        out,
        "  {:<12} {:>10.3} {:>8.3}   precision {:.3} – {:.3} ({:.0} %)\n",
        "believed",
        believed.precision(),
        believed.recall(),
        found.precision.0,
        found.precision.1,
        100.0 * confidence
    )
}

fn write_prior(out: &mut dyn Write, prior: Prior, args: &EstimateArgs, several: bool) -> io::Result<()> {
    let unit = args.unit.name();
    match prior {
        Prior::Gamma { shape, rate } => {
            let from = if several && args.prior.is_none() { ", learned from these pages" } else { "" };
            writeln!(
                out,
                "The prior of refrain{from}: a mean of {} per {unit}, as sure as {} changes\n",
                short(shape / rate),
                short(shape)
            )
        }
        Prior::Intervals { changed_within, unchanged_for } => writeln!(
            out,
            "The prior of refrain: changed within {}, unchanged for {}\n",
            counted_units(changed_within, args.unit),
            counted_units(unchanged_for, args.unit)
        ),
    }
}

fn write_pages(out: &mut dyn Write, pages: &[(String, Findings)], confidence: f64) -> io::Result<()> {
    let Some((name, _)) = pages.first().and_then(|(_, found)| found.methods.last()) else { return Ok(()) };
    let sure = format!("{:.0} % interval", 100.0 * confidence);
    let signals = pages.iter().any(|(_, found)| found.signals.is_some());
    let more = if signals { "  precision   recall" } else { "" };
    writeln!(out, "Page by page, {}", spelled(*name))?;
    writeln!(out, "  {:<20} {:>9} {:>8} {:>12}  {sure:^23}{more}", "page", "intervals", "changed", "rate")?;
    for (id, found) in pages.iter().take(SHOWN) {
        let Some((_, estimate)) = found.methods.last() else { continue };
        let shown: String = id.chars().take(20).collect();
        let line = format!(
            "  {shown:<20} {:>9} {:>8} {:>12}  {:>10} – {:<10}{}",
            found.counts.all,
            found.counts.changed,
            short(estimate.rate),
            short(estimate.low),
            upper(estimate),
            found.signals.as_ref().map_or_else(String::new, |signals| format!(
                "  {:>9.3} {:>8.3}",
                signals.believed.precision(),
                signals.believed.recall()
            )),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if pages.len() > SHOWN {
        writeln!(out, "  … and {} more; --json has them all", grouped(pages.len() - SHOWN))?;
    }
    Ok(())
}
