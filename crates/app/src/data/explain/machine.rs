//! The explanation, for scripts.

use std::io::{self, Write};

use refrain_core::time::Time;
use refrain_engine::RobotsSay;
use refrain_store::{Observation, Signal};
use serde_json::{Value, json};

use super::Facts;
use crate::data::written;

pub(super) fn write(out: &mut dyn Write, facts: &Facts) -> io::Result<()> {
    let Facts { page, host, believed, rate, .. } = facts;
    let moment = |time: Option<Time>| time.map(written);
    let seconds = |span: Option<refrain_core::time::Span>| span.map(refrain_core::time::Span::as_secs);
    let robots = facts.robots.as_ref().map(|says| match says {
        RobotsSay::Allowed(rule) => json!({ "allowed": true, "rule": rule }),
        RobotsSay::Disallowed(rule) => json!({ "allowed": false, "rule": rule }),
        RobotsSay::Nothing => json!({ "allowed": false, "rule": null }),
    });
    let all = json!({
        "url": page.url, "title": page.title, "state": page.state.as_str(), "importance": page.importance,
        "max_age_seconds": seconds(page.max_age), "added": written(page.added), "found": page.found,
        "redirect": page.redirect,
        "looked": moment(page.looked), "fetched": moment(page.fetched), "changed": moment(page.changed),
        "status": page.status, "failures": page.failures, "under_way": facts.is_under_way,
        "changes": {
            "per_day": rate.rate * 86_400.0, "low": rate.low * 86_400.0, "high": rate.high.map(|high| high * 86_400.0),
            "intervals": believed.counts.all, "changed": believed.counts.changed,
        },
        "stale_probability": believed.stale, "value": believed.value,
        "price": facts.standing.as_ref().and_then(|standing| standing.price),
        "rate_per_second": facts.standing.as_ref().map(|standing| standing.rate),
        "due": moment(facts.outlook.and_then(|outlook| outlook.due)),
        "host": {
            "name": host.name, "gap_seconds": seconds(host.gap.or(facts.standing.as_ref().map(|standing| standing.gap))),
            "back_off_until": moment(host.back_off_until.filter(|until| *until > facts.now)), "failures": host.failures,
            "robots_fetched": moment(host.robots.as_ref().map(|robots| robots.fetched)),
            "robots_status": host.robots.as_ref().and_then(|robots| robots.status), "robots": robots,
        },
        "looks": facts.looks.iter().map(look).collect::<Vec<_>>(),
        "signals": facts.signals.iter().map(signal).collect::<Vec<_>>(),
    });
    writeln!(out, "{all}")
}

fn look(look: &Observation) -> Value {
    json!({
        "time": written(look.time), "outcome": look.outcome.as_str(), "counted": look.counted, "status": look.status,
        "bytes": look.bytes, "elapsed_seconds": look.elapsed.map(refrain_core::time::Span::as_secs),
        "duration_seconds": look.duration.as_secs(),
    })
}

fn signal(signal: &Signal) -> Value {
    json!({
        "time": written(signal.time), "kind": signal.kind, "said": signal.said.map(written), "worth": signal.worth,
        "came_true": signal.came_true,
    })
}
