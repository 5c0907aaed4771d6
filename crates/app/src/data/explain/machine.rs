//! The explanation, for scripts.

use std::io::{self, Write};

use serde::Serialize;

use super::Facts;
use super::explained::{Explained, HostFacts, Rate};
use super::queued::InQueue;
use crate::data::shapes::{moment, seconds};

/// What the data directory says, and what a crawl that started now would believe.
#[derive(Serialize)]
struct Explanation {
    #[serde(flatten)]
    explained: Explained,
    changes: Changes,
    /// The budget of the last crawl.
    rate_per_second: Option<f64>,
    /// Where it is in queues of other crawlers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queues: Vec<InQueue>,
}

#[derive(Serialize)]
struct Changes {
    #[serde(flatten)]
    rate: Rate,
    /// Between two looks,
    intervals: f64,
    /// and those with a change.
    changed: f64,
}

pub(super) fn write(out: &mut dyn Write, facts: Facts) -> io::Result<()> {
    let Facts {
        now,
        page,
        host,
        robots,
        believed,
        value,
        left,
        rate,
        standing,
        outlook,
        is_under_way,
        looks,
        signals,
        queued,
        noise,
        ..
    } = facts;
    let mut host = HostFacts::new(host, robots, now);
    let usual = seconds(standing.as_ref().map(|standing| standing.gap));
    host.gap_seconds = host.gap_seconds.or(usual);
    let mut explained = Explained::new(page, is_under_way, host, looks, signals);
    explained.stale_probability = believed.stale;
    explained.value = value;
    explained.noise = noise;
    explained.set_price(standing.as_ref().and_then(|standing| standing.price));
    explained.as_of = moment(left.map(|left| left.time));
    explained.due = moment(outlook.filter(|_| left.is_none()).and_then(|outlook| outlook.due));
    let counts = believed.counts;
    let changes = Changes { rate: rate.into(), intervals: counts.all, changed: counts.changed };
    let rate_per_second = standing.map(|standing| standing.rate);
    let queues = super::queued::shapes(queued);
    let all = serde_json::to_string(&Explanation { explained, changes, rate_per_second, queues })?;
    writeln!(out, "{all}")
}
