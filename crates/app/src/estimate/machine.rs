//! Findings as JSON.

use std::io::{self, Write};

use refrain_core::estimate::{Estimate, Prior};
use serde_json::{Map, Value, json};

use super::changes::{Findings, Report};
use super::settings::spelled;
use super::signals::SignalFindings;
use crate::cli::{MethodName, Unit};
use crate::input::csv_field;

/// `{"methods":{"mle":{"rate":…,"low":…,"high":…},…},"signals":{"precision":…,"recall":…,…}}`, and `"pages":[…]` with
/// the same for each page.
pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let mut object = findings(&report.together);
    if let Some(prior) = report.prior {
        object.insert("prior".to_owned(), of_prior(prior));
    }
    if let Some(pages) = &report.pages {
        let page = |(id, found): &(String, Findings)| {
            let mut object = Map::new();
            object.insert("page_id".to_owned(), json!(id));
            object.extend(findings(found));
            Value::Object(object)
        };
        object.insert("pages".to_owned(), pages.iter().map(page).collect());
    }
    serde_json::to_writer(&mut *out, &Value::Object(object))?;
    writeln!(out)
}

/// A table of pages with their rates, and with the quality of their signals if there are signals. Nothing is known of their importance: it is 1.
pub(super) fn write_pages(out: &mut dyn Write, pages: &[(String, Findings)], unit: Unit) -> io::Result<()> {
    let unit = unit.name();
    let has_signals = pages.iter().any(|(_, found)| found.signals.is_some());
    let more = if has_signals { format!(",recall,false_rate_per_{unit}") } else { String::new() };
    writeln!(out, "page_id,importance,change_rate_per_{unit}{more}")?;
    for (id, found) in pages {
        let by_refrain = found.methods.iter().find(|(name, _)| *name == MethodName::Refrain);
        let rate = by_refrain.or(found.methods.first()).map_or(0.0, |(_, estimate)| estimate.rate);
        write!(out, "{},1,{rate}", csv_field(id))?;
        match &found.signals {
            Some(signals) => {
                writeln!(out, ",{},{}", signals.believed.recall(), signals.believed.false_rate())?;
            }
            None if has_signals => writeln!(out, ",0,0")?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

fn findings(found: &Findings) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("intervals".to_owned(), json!(found.counts.all as u64));
    object.insert("changed".to_owned(), json!(found.counts.changed as u64));
    let method = |(name, estimate): &(MethodName, Estimate)| {
        let mut value = json!({"rate": estimate.rate, "low": estimate.low, "high": estimate.high});
        if *name == MethodName::Refrain {
            value["very_stale"] = json!(found.risk.very_stale);
            value["careful_interval"] = json!(found.risk.careful);
        }
        (spelled(*name).to_owned(), value)
    };
    object.insert("methods".to_owned(), found.methods.iter().map(method).collect());
    if let Some(signals) = &found.signals {
        object.insert("signals".to_owned(), of_signals(signals));
    }
    object
}

/// The likeliest, which the data alone say; and what is believed with what is usual in mind.
fn of_signals(found: &SignalFindings) -> Value {
    let (likeliest, fit) = found.likeliest.unzip();
    json!({
        "precision": likeliest.map(|quality| quality.precision()),
        "recall": likeliest.map(|quality| quality.recall()),
        "alpha": fit.map(|fit| fit.alpha),
        "b": fit.map(|fit| fit.nats),
        "signal_rate": found.believed.signal_rate(),
        "believed": {
            "precision": found.believed.precision(),
            "low": found.precision.0,
            "high": found.precision.1,
            "recall": found.believed.recall(),
            "false_rate": found.believed.false_rate(),
            "change_rate": found.believed.change_rate(),
        },
    })
}

fn of_prior(prior: Prior) -> Value {
    match prior {
        Prior::Gamma { shape, rate } => json!({"shape": shape, "rate": rate, "mean": shape / rate}),
        Prior::Intervals { changed_within, unchanged_for } => {
            json!({"changed_within": changed_within, "unchanged_for": unchanged_for})
        }
    }
}
