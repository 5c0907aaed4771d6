//! What looks into a data directory: also while a crawl writes into it.

use std::fmt::Write as _;

use jiff::Timestamp;
use refrain_core::time::Time;
use refrain_store::{Change, Digest, Reader, Seq, StoreError, Weight, verify};
use serde::Serialize;
use serde_json::json;

use crate::cli::{ChangesArgs, DataArgs, Since};
use crate::failure::Failure;
use crate::output::to_stdout;

/// So many changes are read at a time.
const AT_A_TIME: usize = 1000;

impl From<StoreError> for Failure {
    fn from(why: StoreError) -> Self {
        match why {
            StoreError::NotAStore { .. } => Self::Input(why.to_string()),
            other => Self::OnTheWay(other.to_string()),
        }
    }
}

/// `refrain changes`
pub(crate) fn changes(args: &ChangesArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.data)?;
    let mut last = match args.since {
        Since::Change(number) => Seq(number),
        Since::Moment(time) => reader.seq_before(time)?,
    };
    let mut left = args.limit;
    while left > 0 {
        let changes = reader.changes_since(last, left.min(AT_A_TIME))?;
        let Some(end) = changes.last() else { break };
        (last, left) = (end.seq, left - changes.len());
        to_stdout(|out| changes.iter().try_for_each(|change| out.write_all(change_line(change).as_bytes())))?;
    }
    Ok(())
}

/// A change as its readers see it.
#[derive(Serialize)]
struct ChangeLine<'a> {
    seq: i64,
    time: String,
    url: &'a str,
    old: Option<String>,
    new: Option<String>,
}

/// A change as a line of JSON.
pub(crate) fn change_line(change: &Change) -> String {
    let digest = |digest: &Option<Digest>| digest.as_ref().map(ToString::to_string);
    let line = ChangeLine {
        seq: change.seq.0,
        time: written(change.time),
        url: &change.url,
        old: digest(&change.old),
        new: digest(&change.new),
    };
    // Numbers and texts always become JSON.
    serde_json::to_string(&line).unwrap_or_default() + "\n"
}

fn written(time: Time) -> String {
    let millis = time.as_nanos().div_euclid(1_000_000);
    Timestamp::from_millisecond(millis).map_or_else(|_| millis.to_string(), |moment| moment.to_string())
}

/// `refrain status`
pub(crate) fn status(args: &DataArgs) -> Result<(), Failure> {
    let status = Reader::open(&args.data)?.status()?;
    if args.json {
        let pages: serde_json::Map<String, serde_json::Value> =
            status.pages.iter().map(|(state, count)| (state.as_str().to_owned(), json!(count))).collect();
        let all = json!({
            "hosts": status.hosts, "pages": pages, "copies": status.fetched, "failing": status.failing,
            "looks": status.observations, "versions": status.versions, "changes": status.changes,
            "under_way": status.leases, "warc_files": status.segments, "warc_bytes": status.segment_bytes,
        });
        return to_stdout(|out| writeln!(out, "{all}"));
    }
    let pages: Vec<String> = status
        .pages
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {}", state.as_str()))
        .collect();
    let mut text = String::new();
    let rows = [
        ("pages", if pages.is_empty() { "none".to_owned() } else { pages.join(", ") }),
        ("hosts", status.hosts.to_string()),
        ("copies", format!("{} pages, {} versions", status.fetched, status.versions)),
        ("looks", format!("{}, {} changes", status.observations, status.changes)),
        ("failing", format!("{} pages", status.failing)),
        ("under way", status.leases.to_string()),
        ("archive", format!("{} files, {:.1} MB", status.segments, status.segment_bytes as f64 / 1e6)),
    ];
    for (name, value) in rows {
        let _ = writeln!(text, "{name:<10} {value}");
    }
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// `refrain check`
pub(crate) fn check(args: &DataArgs) -> Result<(), Failure> {
    let report = verify(&args.data, |_| {})?;
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
                "{} pages, {} looks, {} changes, {} versions, {} archive files ({:.1} MB) read: {}",
                checked.pages,
                checked.observations,
                checked.changes,
                checked.versions,
                checked.segments,
                checked.bytes as f64 / 1e6,
                if report.findings.is_empty() { "all is well" } else { "see above" }
            )
        })?;
    }
    if report.findings.iter().any(|finding| is_wrong(finding.weight)) {
        return Err(Failure::OnTheWay(format!("{}: damaged; see above", args.data.display())));
    }
    Ok(())
}
