//! Looks and signals along time.

use maud::{Markup, html};
use refrain_core::time::Time;
use refrain_store::{Observation, Outcome};

use super::super::chart::{Chart, Points, WIDTH, dot_mark, moments, one, tick_mark};
use super::Shown;
use crate::chart::counted;
use crate::data::harmless::harmless;
use crate::data::spelled;
use crate::units;

pub(super) fn draw(shown: &Shown) -> Markup {
    let (facts, now) = (&shown.facts, shown.facts.now);
    let Some(first) = facts.looks.last().map(|look| look.time) else {
        return html! { p.soft { "It was not looked at yet." } };
    };
    let whole = now.since(first).as_secs().max(1.0);
    let place = |time: Time| time.since(first).as_secs() / whole;
    let x = |time: Time| one(WIDTH * place(time).clamp(0.0, 1.0));
    let mut events: Vec<(Time, String)> = facts.looks.iter().map(|look| (look.time, said(look))).collect();
    let signals: Vec<_> = facts.signals.iter().filter(|signal| signal.time >= first).collect();
    events.extend(signals.iter().map(|signal| {
        let fate = match signal.came_true {
            Some(true) => "came true",
            Some(false) => "nothing had changed",
            None => "not looked at since",
        };
        (signal.time, format!("{}: signal of {}, {fate}", spelled(signal.time), harmless(&signal.kind)))
    }));
    events.sort_by_key(|(time, _)| *time);
    let mut points = Points::default();
    for (time, said) in events {
        points.add(place(time), said);
    }
    let count = |is: fn(Outcome) -> bool| facts.looks.iter().filter(|look| is(look.outcome)).count();
    let changes = count(|outcome| matches!(outcome, Outcome::Changed));
    let failures = count(|outcome| !outcome.is_fresh());
    let says = format!(
        "{} since {}: {}, {}; {}.",
        counted(facts.looks.len(), "look"),
        spelled(first),
        counted(changes, "change"),
        counted(failures, "failure"),
        counted(signals.len(), "signal")
    );
    // Changes are long, what was as it had been is short, signals are dots above.
    let (top, low) = (if signals.is_empty() { 5.0 } else { 24.0 }, 100.0);
    let chart = Chart {
        id: "looks-and-signals",
        title: "Looks, changes and signals over time",
        says: says.clone(),
        class: "band",
        ys: Vec::new(),
        xs: moments(first, now, 5),
        drawing: html! {
            line.grid x1="0" x2=(WIDTH) y1="100" y2="100" {}
            @for look in &facts.looks {
                @let (class, from) = match look.outcome {
                    Outcome::First | Outcome::Changed => ("tick changed", top),
                    Outcome::Unchanged | Outcome::NotModified => ("tick", 72.0),
                    _ => ("tick failed", 48.0),
                };
                path class=(class) d={ "M" (x(look.time)) " " (one(low)) "V" (one(from)) } {}
            }
            @for signal in &signals {
                @let class = if signal.came_true == Some(true) { "pin true" } else { "pin false" };
                path class=(class) d={ "M" (x(signal.time)) " 9h0" } {}
            }
        },
        points,
        legend: [
            Some((tick_mark("changed"), "a change, or the first copy".to_owned())),
            Some((tick_mark(""), "nothing had changed".to_owned())),
            (failures > 0).then(|| (tick_mark("failed"), "no copy".to_owned())),
            (!signals.is_empty()).then(|| (dot_mark("true"), "a signal that came true".to_owned())),
            (!signals.is_empty()).then(|| (dot_mark("false"), "one that did not, or not yet".to_owned())),
        ]
        .into_iter()
        .flatten()
        .collect(),
        table: None,
    };
    html! { p { (says) } (chart.html()) }
}

fn said(look: &Observation) -> String {
    let after = look.elapsed.map_or_else(String::new, |elapsed| format!(" after {}", units::about(elapsed)));
    let counted =
        look.counted.as_deref().map_or_else(String::new, |counted| format!(" ({})", harmless(counted)));
    format!("{}: {}{after}{counted}", spelled(look.time), look.outcome.as_str())
}
