//! `refrain bench changes`: which changes of noisy pages are found, and what is reported that is none.

use std::io::{self, Write};

use refrain_lab::changes::{Noise, Outcome, Settings, run as visit};
use serde_json::json;

use crate::chart::grouped;
use crate::cli::BenchChangesArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(super) fn run(args: &BenchChangesArgs) -> Result<(), Failure> {
    let settings = Settings {
        pages: args.pages,
        time: args.time,
        every: args.every,
        looks_again: !args.single,
        seed: args.seed,
    };
    let mut rows: Vec<(String, Outcome)> = Vec::new();
    let mut all = Outcome::default();
    for (noise, outcome) in visit(&settings) {
        all += outcome;
        rows.push((noise.to_string(), outcome));
    }
    rows.push(("all".to_owned(), all));
    to_stdout(|out| if args.json { write_json(out, &rows) } else { write(out, &settings, &rows) })
}

fn write(out: &mut dyn Write, settings: &Settings, rows: &[(String, Outcome)]) -> io::Result<()> {
    writeln!(
        out,
        "{} kinds of noise, {} pages each, visited for {:.0} minutes about every {:.0} seconds (seed {})",
        Noise::ALL.len(),
        settings.pages,
        settings.time.as_secs() / 60.0,
        settings.every.as_secs(),
        settings.seed
    )?;
    writeln!(
        out,
        "  {:<24} {:>8} {:>8} {:>10} {:>8} {:>14} {:>13} {:>5} {:>6}",
        "noise", "changes", "found", "precision", "visits", "false visits", "second looks", "deaf", "bytes"
    )?;
    for (name, outcome) in rows {
        writeln!(
            out,
            "  {name:<24} {:>8} {:>6.1} % {:>8.1} % {:>8} {:>12.2} % {:>13} {:>5} {:>6}",
            grouped(outcome.changes as usize),
            100.0 * outcome.recall(),
            100.0 * outcome.precision(),
            grouped(outcome.visits as usize),
            100.0 * outcome.false_visits(),
            grouped(outcome.second_looks as usize),
            outcome.deaf,
            grouped(outcome.largest as usize)
        )?;
    }
    writeln!(
        out,
        "found: reported by the second visit after the change; bytes: the most that were kept of a page"
    )
}

fn write_json(out: &mut dyn Write, rows: &[(String, Outcome)]) -> io::Result<()> {
    let rows: Vec<_> = rows
        .iter()
        .map(|(name, outcome)| {
            json!({
                "noise": name, "pages": outcome.pages, "changes": outcome.changes, "found": outcome.found,
                "recall": outcome.recall(), "precision": outcome.precision(), "visits": outcome.visits,
                "reports": outcome.reports, "false_reports": outcome.false_reports, "false_visits": outcome.false_visits(),
                "second_looks": outcome.second_looks, "deaf": outcome.deaf, "largest_bytes": outcome.largest,
            })
        })
        .collect();
    writeln!(out, "{}", serde_json::Value::from(rows))
}
