//! `refrain check`: is everything as it should be?

use refrain_store::{Weight, verify};
use serde_json::json;

use crate::cli::DataArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    let report = verify(&args.place.data, |_| {})?;
    let checked = &report.checked;
    let is_wrong = |weight: Weight| weight == Weight::Damage;
    if args.json {
        let findings: Vec<serde_json::Value> = report
            .findings
            .iter()
            .map(|finding| json!({ "damage": is_wrong(finding.weight), "what": finding.sentence }))
            .collect();
        let all = json!({ "findings": findings, "more": report.more });
        to_stdout(|out| writeln!(out, "{all}"))?;
    } else {
        to_stdout(|out| {
            for finding in &report.findings {
                writeln!(out, "{}", finding.sentence)?;
            }
            writeln!(
                out,
                "{} pages, {} looks, {} lines of the change feed, {} versions, {} archive files ({:.1} MB){} read: {}",
                checked.pages,
                checked.observations,
                checked.changes,
                checked.versions,
                checked.segments,
                checked.bytes as f64 / 1e6,
                if checked.queues > 0 {
                    format!(", {} URLs in {} queues", checked.urls, checked.queues)
                } else {
                    String::new()
                },
                if report.findings.is_empty() { "all is well" } else { "see above" }
            )
        })?;
    }
    if !report.is_sound() {
        return Err(Failure::OnTheWay(format!("{}: damaged; see above", args.place.data.display())));
    }
    Ok(())
}
