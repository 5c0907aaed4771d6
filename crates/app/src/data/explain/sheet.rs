//! The explanation, for people.

use std::io::{self, Write};

use refrain_core::estimate::counts::Counts;
use refrain_core::time::{Span, Time};
use refrain_engine::{Price, RobotsSay};
use refrain_store::{Observation, PageState, Signal};

use super::Facts;
use super::why;
use crate::chart::{counted, grouped, percent, short};
use crate::data::harmless::harmless;
use crate::data::ignored::Noise;
use crate::data::spelled;
use crate::units;

/// An estimate from fewer intervals leans on other pages.
const FEW: usize = 5;

pub(super) fn write(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let page = &facts.page;
    write!(out, "{}", page.url)?;
    if let Some(title) = &page.title {
        write!(out, "  ({})", harmless(title))?;
    }
    writeln!(out, "\n{}.\n", why(facts))?;
    for (title, rows) in
        [("page", page_rows(facts)), ("changes", change_rows(facts)), ("host", host_rows(facts))]
    {
        writeln!(out, "{title}")?;
        for (name, value) in rows {
            writeln!(out, "  {name:<12} {value}")?;
        }
        writeln!(out)?;
    }
    write_noise(out, facts)?;
    write_looks(out, facts)?;
    write_signals(out, facts)
}

/// What does not count as a change.
fn write_noise(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let Some(noise) = &facts.noise else { return Ok(()) };
    writeln!(out, "ignored: {}", noise_line(noise))?;
    for place in &noise.shown {
        writeln!(out, "  {:<20} {}", place.why(), harmless(&place.text))?;
    }
    if noise.places > noise.shown.len() {
        writeln!(out, "  and {} more", grouped(noise.places - noise.shown.len()))?;
    }
    writeln!(out)
}

/// How much is ignored, and why.
pub(crate) fn noise_line(noise: &Noise) -> String {
    let places = counted(noise.places, "place");
    let pairs = counted(usize::from(noise.quick_pairs), "pair");
    format!("{places} with noise, found in {pairs} of looks seconds apart")
}

pub(crate) fn page_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let page = &facts.page;
    let mut rows = vec![("state", page.state.as_str().to_owned()), ("importance", short(page.importance))];
    if let Some(most) = page.max_age {
        rows.push(("max age", units::spoken(most)));
    }
    let found = match page.found.as_str() {
        "urlfrontier" => "by another crawler".to_owned(),
        "archive" => "from the archive".to_owned(),
        found => format!("as a {}", harmless(found)),
    };
    rows.push(("added", format!("{}, {found}", moment(facts, page.added))));
    let or_never = |time: Option<Time>| time.map_or_else(|| "never".to_owned(), |time| moment(facts, time));
    rows.push(("looked at", or_never(page.looked)));
    if page.fetched != page.looked {
        rows.push(("seen last", or_never(page.fetched)));
    }
    rows.push(("changed", or_never(page.changed)));
    if page.failures > 0 {
        let what = if page.state == PageState::Gone { "missing" } else { "failed" };
        rows.push((what, format!("{} in a row", times(page.failures))));
    }
    if let Some(target) = &page.redirect {
        rows.push(("leads to", harmless(target).into_owned()));
    }
    rows
}

pub(crate) fn change_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let (rate, counts) = (&facts.rate, &facts.believed.counts);
    let every = |rate: f64| units::spoken(Span::from_secs(1.0 / rate));
    let often = rate.high.map_or_else(|| "0 s".to_owned(), every);
    let mut rows = vec![(
        "about every",
        format!("{} ({:.0} %: {often} to {})", every(rate.rate), 100.0 * facts.sure, every(rate.low)),
    )];
    rows.push(("learned", learned(counts)));
    let when = if facts.left.is_some() { ("stale then", "worth then") } else { ("stale now", "worth now") };
    if let Some(stale) = facts.believed.stale {
        rows.push((when.0, format!("with a probability of {}", percent(stale))));
    }
    if let Some(value) = facts.value {
        rows.push((when.1, format!("{} (seconds of fresh copy, times importance)", short(value))));
    }
    rows.push(("price", price_row(facts)));
    rows
}

/// What an estimate rests on. With few observations of its own little is known of a page.
fn learned(counts: &Counts) -> String {
    if counts.all < 0.5 {
        return "from other pages: this one was not seen twice yet".to_owned();
    }
    let all = counts.all.round() as usize;
    let few = if all < FEW {
        "; so few that the estimate leans on pages that are alike"
    } else {
        ", and from other pages"
    };
    format!(
        "from {} between two looks, {} with a change{few}",
        counted(all, "interval"),
        grouped(counts.changed.round() as usize)
    )
}

fn price_row(facts: &Facts) -> String {
    let Some(standing) = &facts.standing else { return "not known yet: no crawl has run here".to_owned() };
    let rate = short(standing.rate);
    match standing.price {
        None => "not known yet: no page that had a copy was fetched".to_owned(),
        Some(Price { value, fetches: None }) => {
            format!("{}: as it was set, at no more than {rate} requests a second", short(value))
        }
        Some(price @ Price { value, fetches: Some(fetches) }) if !price.is_settled() => format!(
            "{}: the median of {} so far, at {rate} requests a second; that is not settled yet",
            short(value),
            self::fetches(fetches),
        ),
        Some(Price { value, .. }) => {
            format!(
                "{}: the median of what fetches were worth lately, at {rate} requests a second",
                short(value)
            )
        }
    }
}

pub(crate) fn host_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let host = &facts.host;
    let mut rows = vec![("name", harmless(&host.name).into_owned())];
    if let Some(gap) = host.gap.or(facts.standing.as_ref().map(|standing| standing.gap)) {
        rows.push(("gap", format!("{} between two requests", units::spoken(gap))));
    }
    if host.paused {
        rows.push(("paused", "nothing is fetched from it until somebody takes that back".to_owned()));
    }
    if let Some(until) = host.back_off_until.filter(|until| *until > facts.now) {
        rows.push(("left alone", format!("until {} ({})", spelled(until), from_now(facts, until))));
    }
    if host.failures > 0 {
        rows.push(("failed", format!("{} in a row", times(host.failures))));
    }
    let says = match &facts.robots {
        None => "not asked for yet".to_owned(),
        Some(RobotsSay::Allowed(None)) => "allows it".to_owned(),
        Some(RobotsSay::Allowed(Some(rule))) => format!("allows it ({})", harmless(rule)),
        Some(RobotsSay::Disallowed(rule)) => format!("forbids it ({})", harmless(rule)),
        Some(RobotsSay::Nothing) => "cannot be had: nothing is fetched from this host".to_owned(),
    };
    let asked = host.robots.as_ref().map_or_else(String::new, |robots| {
        let status =
            robots.status.map_or_else(|| "no answer".to_owned(), |status| format!("status {status}"));
        format!(", {status}, {}", moment(facts, robots.fetched))
    });
    rows.push(("robots.txt", says + &asked));
    rows
}

fn write_looks(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    if facts.looks.is_empty() {
        return writeln!(out, "looks\n  none yet");
    }
    writeln!(out, "looks, the latest first (UTC)")?;
    facts.looks.iter().try_for_each(|look| writeln!(out, "  {}", look_line(look)))
}

fn look_line(look: &Observation) -> String {
    let status = look.status.map_or_else(|| "---".to_owned(), |status| status.to_string());
    let after = look.elapsed.map_or_else(String::new, |elapsed| format!("after {}", units::spoken(elapsed)));
    let counted = look.counted.as_deref().map(harmless).unwrap_or_default();
    let line =
        format!("{}  {:<12} {status}  {after:<16}  {counted}", spelled(look.time), look.outcome.as_str());
    line.trim_end().to_owned()
}

fn write_signals(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    if facts.signals.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nsignals, the latest first (UTC)")?;
    facts.signals.iter().try_for_each(|signal| writeln!(out, "  {}", signal_line(signal)))
}

fn signal_line(signal: &Signal) -> String {
    let fate = match signal.came_true {
        Some(true) => "came true",
        Some(false) => "nothing had changed",
        None => "not looked at since",
    };
    let worth = match signal.worth {
        Some(0.0) => "counted for nothing".to_owned(),
        Some(worth) => format!("worth {}", short(worth)),
        None => String::new(),
    };
    let said = signal.said.map_or_else(String::new, |said| format!("changed at {}", spelled(said)));
    let line =
        format!("{}  {:<8}  {fate:<19}  {worth:<20}  {said}", spelled(signal.time), harmless(&signal.kind));
    line.trim_end().to_owned()
}

/// So many fetches, in words.
pub(super) fn fetches(count: u64) -> String {
    if count == 1 { "1 fetch".to_owned() } else { format!("{} fetches", grouped(count as usize)) }
}

pub(super) fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

pub(super) fn age(facts: &Facts, time: Time) -> String {
    units::about(facts.now.since(time))
}

/// A moment that has passed.
fn moment(facts: &Facts, time: Time) -> String {
    format!("{} ({} ago)", spelled(time), age(facts, time))
}

/// A moment to come.
pub(super) fn from_now(facts: &Facts, time: Time) -> String {
    format!("in {}", units::about(time.since(facts.now)))
}
