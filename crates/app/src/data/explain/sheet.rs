//! The explanation, for people.

use std::io::{self, Write};

use refrain_core::time::{Span, Time};
use refrain_engine::RobotsSay;
use refrain_store::{Observation, PageState, Signal};

use super::Facts;
use crate::chart::{counted, grouped, percent, short};
use crate::data::harmless::harmless;
use crate::data::spelled;
use crate::units;

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
    write_looks(out, facts)?;
    write_signals(out, facts)
}

/// The answer, in a sentence or two.
pub(crate) fn why(facts: &Facts) -> String {
    let page = &facts.page;
    match page.state {
        PageState::Paused => {
            return "It is paused: it is not fetched until somebody takes that back".to_owned();
        }
        PageState::Gone => {
            let said = page.status.map_or_else(String::new, |status| format!(" ({status})"));
            return format!(
                "It is gone, its server says{said}: a crawl that runs looks for it now and then, one that starts leaves it out"
            );
        }
        PageState::Disallowed => {
            let rule = match &facts.robots {
                Some(RobotsSay::Disallowed(rule)) => format!(" ({})", harmless(rule)),
                _ => String::new(),
            };
            return format!(
                "It is not fetched: robots.txt forbids it{rule}; that is asked again whenever a crawl starts"
            );
        }
        PageState::Active => {}
    }
    if facts.is_under_way {
        return "It is being fetched at this moment".to_owned();
    }
    let due = facts.outlook.and_then(|outlook| outlook.due);
    if let Some(until) = facts.host.back_off_until.filter(|until| *until > facts.now) {
        return format!(
            "It waits for its host, which is left alone until {} ({})",
            spelled(until),
            from_now(facts, until)
        );
    }
    if let Some(until) = facts.outlook.and_then(|outlook| outlook.not_before) {
        return format!(
            "It failed {} in a row, and is tried again from {} on ({})",
            times(page.failures),
            spelled(until),
            from_now(facts, until)
        );
    }
    let Some(fetched) = page.fetched else {
        return match facts.standing {
            Some(_) => "It was never fetched: it comes before pages that have a copy, as soon as its host's turn comes".to_owned(),
            None => "It was never fetched: no crawl has run here yet".to_owned(),
        };
    };
    let stale = percent(facts.believed.stale.unwrap_or(0.0));
    let is = format!("Its copy is {} old, and stale with a probability of {stale}", age(facts, fetched));
    let price = facts.standing.as_ref().and_then(|standing| standing.price);
    match (price, due) {
        (None, _) => {
            format!("{is}; what a fetch must be worth is not known yet, no crawl has fetched a page twice")
        }
        (Some(_), Some(due)) if due <= facts.now => {
            format!("{is}: it is worth a fetch, as soon as the budget and its host have one")
        }
        (Some(_), Some(due)) => {
            format!("{is}; its turn is expected at {} ({})", spelled(due), from_now(facts, due))
        }
        (Some(_), None) => {
            format!("{is}; other pages are always worth more, so it is not fetched with this budget")
        }
    }
}

pub(crate) fn page_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let page = &facts.page;
    let mut rows = vec![("state", page.state.as_str().to_owned()), ("importance", short(page.importance))];
    if let Some(most) = page.max_age {
        rows.push(("max age", units::spoken(most)));
    }
    let found = match page.found.as_str() {
        "urlfrontier" => "by another crawler".to_owned(),
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
        rows.push(("failed", format!("{} in a row", times(page.failures))));
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
    let learned = if counts.all < 0.5 {
        "from other pages: this one was not seen twice yet".to_owned()
    } else {
        format!(
            "from {} between two looks, {} with a change, and from other pages",
            counted(counts.all.round() as usize, "interval"),
            grouped(counts.changed.round() as usize)
        )
    };
    rows.push(("learned", learned));
    if let Some(stale) = facts.believed.stale {
        rows.push(("stale now", format!("with a probability of {}", percent(stale))));
        rows.push((
            "worth now",
            format!("{} (seconds of fresh copy, times importance)", short(facts.believed.value)),
        ));
    }
    let price = facts.standing.as_ref().and_then(|standing| standing.price);
    let rate = facts
        .standing
        .as_ref()
        .map_or_else(String::new, |standing| format!(", at {} requests a second", short(standing.rate)));
    rows.push((
        "price",
        price.map_or_else(
            || "not known yet".to_owned(),
            |price| format!("{}: what fetches were worth lately{rate}", short(price)),
        ),
    ));
    rows
}

pub(crate) fn host_rows(facts: &Facts) -> Vec<(&'static str, String)> {
    let host = &facts.host;
    let mut rows = vec![("name", harmless(&host.name).into_owned())];
    if let Some(gap) = host.gap.or(facts.standing.as_ref().map(|standing| standing.gap)) {
        rows.push(("gap", format!("{} between two requests", units::spoken(gap))));
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

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn age(facts: &Facts, time: Time) -> String {
    units::about(facts.now.since(time))
}

/// A moment that has passed.
fn moment(facts: &Facts, time: Time) -> String {
    format!("{} ({} ago)", spelled(time), age(facts, time))
}

/// A moment to come.
fn from_now(facts: &Facts, time: Time) -> String {
    format!("in {}", units::about(time.since(facts.now)))
}
