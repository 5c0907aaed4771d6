//! The demo as it is told on a terminal.

use std::io::{self, Write};
use std::path::Path;

use refrain_core::time::Span;

use super::finders::News;
use super::outcome::Outcome;
use super::voices::Compared;
use super::world::World;
use crate::chart::{bar, percent, short};
use crate::units;

/// How long a bar is at most.
const BAR: usize = 30;

pub(super) fn begin(out: &mut dyn Write, world: &World, rate: f64, seconds: f64) -> io::Result<()> {
    let pages = world.pages.iter().filter(|page| !page.forbidden).count();
    writeln!(
        out,
        "A small web lives on this machine for {}: {pages} pages on {} hosts that change {} times a second,\n\
         some every few seconds, some every few hours. One host is slow, one answers 429, one has a strict\n\
         robots.txt; one has an honest sitemap, one a sitemap that always says \"now\", one a feed. On three more\n\
         there are new articles all the time that soon nobody asks for. Nothing is known of them yet. The budget\n\
         is {} requests a second.\n",
        spoken(seconds),
        world.hosts.len(),
        short((10.0 * world.change_rate()).round() / 10.0),
        short(rate)
    )
}

pub(super) fn end(out: &mut dyn Write, outcome: &Outcome, data: &Path, page: &Path) -> io::Result<()> {
    let Outcome { summary, seconds, .. } = outcome;
    writeln!(out, "Fresh copies, as the small web itself knows, weighted by importance")?;
    writeln!(out, "  {:<28} {:>9}  {:>9}", "with the same fetches", "all along", "last third")?;
    for contestant in &outcome.contestants {
        writeln!(
            out,
            "  {:<28} {:>9}  {:>9}  {}",
            contestant.name,
            percent(contestant.whole),
            percent(contestant.last_third),
            bar(contestant.last_third, BAR)
        )?;
    }
    news(out, outcome)?;
    if !outcome.classes().is_empty() {
        writeln!(out, "\nA page changes every …  pages    truth   learned (medians)")?;
    }
    for (end, count, truth, learned) in outcome.classes() {
        let upto = if end.is_finite() { format!("up to {}", spoken(end)) } else { "longer".to_owned() };
        writeln!(out, "  {upto:<20}  {count:>5}  {:>7}   {:>7}", spoken(truth), spoken(learned))?;
    }
    voices(out, outcome)?;
    let gaps = outcome.hosts.iter().filter_map(|host| host.shortest_gap);
    let shortest = gaps.fold(f64::INFINITY, f64::min);
    let refused: usize = outcome.hosts.iter().map(|host| host.refused).sum();
    writeln!(
        out,
        "\nPolite: {} requests in {}, never more than {} in a second, never two to a host within {};\n\
         a host said 429 {refused} times and was left alone as long as it asked;\n\
         of {} forbidden pages {} were asked for.",
        summary.requests,
        spoken(*seconds),
        outcome.busiest_second,
        spoken(shortest),
        outcome.forbidden,
        if outcome.trespasses == 0 { "none".to_owned() } else { outcome.trespasses.to_string() },
    )?;
    writeln!(out, "{} visits found {} changes.\n", summary.looks, summary.changed)?;
    writeln!(out, "Open     {}", page.display())?;
    writeln!(out, "Look     refrain status --data {}", data.display())?;
    writeln!(
        out,
        "Your own refrain crawl https://example.org/ --follow same-host --rate 1/s --agent NAME --contact MAIL"
    )
}

fn news(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    let News { articles, fetches, finders, .. } = &outcome.news;
    writeln!(out, "\nNew articles: the share of what all {articles} were worth when they were new")?;
    writeln!(out, "  {:<28} {:>9}  {:>9}", format!("with the same {fetches} fetches"), "share", "fetched")?;
    for finder in finders {
        writeln!(
            out,
            "  {:<28} {:>9}  {:>9}  {}",
            finder.name,
            percent(finder.share()),
            finder.found,
            bar(finder.share(), BAR)
        )?;
    }
    Ok(())
}

fn voices(out: &mut dyn Write, outcome: &Outcome) -> io::Result<()> {
    if outcome.voices.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nWhat hosts announce             precision             recall")?;
    writeln!(
        out,
        "  {:<10} {:<10} {:>8}  {:>8}  {:>8}  {:>8}",
        "host", "in a", "truth", "learned", "truth", "learned"
    )?;
    for Compared { truth, learned } in &outcome.voices {
        writeln!(
            out,
            "  {:<10} {:<10} {:>8}  {:>8}  {:>8}  {:>8}",
            truth.host,
            truth.kind,
            percent(truth.precision),
            percent(learned.0),
            percent(truth.recall),
            percent(learned.1)
        )?;
    }
    Ok(())
}

/// A time as people say it, in whole units.
pub(super) fn spoken(seconds: f64) -> String {
    if seconds < 1.0 {
        return format!("{:.0} ms", 1000.0 * seconds);
    }
    if seconds < 120.0 {
        return format!("{seconds:.0} s");
    }
    units::spoken(Span::from_secs((seconds / 60.0).round() * 60.0))
}
