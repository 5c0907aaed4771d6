//! Beliefs and looks, as the tables that other commands read.

use std::io::Write;
use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use refrain_engine::{Beliefs, Clock, Standing};
use refrain_store::{HostId, Outcome, PageState};

use super::{Export, unwritten};
use crate::failure::Failure;
use crate::input::csv_field;

const DAY: f64 = 86_400.0;

/// `pages.csv`: what is believed of pages that are crawled, as `optimum`, `plan` and `lab simulate` read it.
pub(super) fn beliefs(export: &Export<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let now = Clock::start().now();
    let mut beliefs = Beliefs::learn(export.reader, now)?;
    let usual_gap = Standing::read(export.reader)?.map_or(Span::ZERO, |standing| standing.gap);
    // A greatest age is a least rate; where nobody asked for one there is no such column.
    let mut has_ages = false;
    export.chosen.each(export.reader, |row| {
        has_ages |= row.max_age.is_some() && row.state == PageState::Active;
        Ok(())
    })?;
    let more = if has_ages { ",min_rate_per_day" } else { "" };
    writeln!(
        out,
        "page_id,host,importance,change_rate_per_day,recall,false_rate_per_day,age_days,gap_seconds{more}"
    )
    .map_err(unwritten)?;
    let mut host: Option<(HostId, String, f64)> = None;
    export.chosen.each(export.reader, |row| {
        if row.state != PageState::Active {
            return Ok(());
        }
        let believed = beliefs.of(row, now)?;
        let rate = believed.changes.mean() * DAY;
        let (recall, false_rate) =
            believed.signals.map_or((0.0, 0.0), |signals| (signals.recall(), signals.false_rate() * DAY));
        if host.as_ref().is_none_or(|(id, ..)| *id != row.host) {
            let found = export.reader.host_by_id(row.host)?;
            let gap = found.as_ref().and_then(|host| host.gap).unwrap_or(Span::ZERO).max(usual_gap);
            let name = found.map(|host| host.name).unwrap_or_default();
            host = Some((row.host, csv_field(&name).into_owned(), gap.as_secs()));
        }
        let (name, gap) = host.as_ref().map_or(("", 0.0), |(_, name, gap)| (name, *gap));
        let age = match row.fetched {
            Some(fetched) => (now.since(fetched).as_secs() / DAY).to_string(),
            None => "never".to_owned(),
        };
        let url = csv_field(row.url);
        write!(out, "{url},{name},{},{rate},{recall},{false_rate},{age},{gap}", row.importance)
            .map_err(unwritten)?;
        match row.max_age.filter(|_| has_ages) {
            Some(most) => writeln!(out, ",{}", DAY / most.as_secs()),
            None if has_ages => writeln!(out, ","),
            None => writeln!(out),
        }
        .map_err(unwritten)
    })
}

/// A crawl log: looks that saw a page, in the order of time.
pub(super) fn crawl_log(export: &Export<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "time,page_id,changed,importance,host").map_err(unwritten)?;
    let mut result = Ok(());
    export.reader.looks_by_time(export.since, export.until, |seen| {
        let changed = match seen.look.outcome {
            Outcome::Changed => 1,
            Outcome::First | Outcome::Unchanged | Outcome::NotModified => 0,
            _ => return ControlFlow::Continue(()),
        };
        if export.chosen.has(seen.url, seen.host) {
            let (time, url, host) = (seconds(seen.look.time), csv_field(seen.url), csv_field(seen.host_name));
            result = writeln!(out, "{time},{url},{changed},{},{host}", seen.importance);
        }
        if result.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    result.map_err(unwritten)
}

/// Seconds since 1970, to the millisecond.
fn seconds(time: Time) -> String {
    let millis = time.as_nanos().div_euclid(1_000_000);
    format!("{}.{:03}", millis.div_euclid(1000), millis.rem_euclid(1000))
}
