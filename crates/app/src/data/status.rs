//! `refrain status`: how much there is.

use std::fmt::Write as _;

use refrain_engine::ENDLESS;
use refrain_store::Reader;
use serde_json::json;

use crate::cli::DataArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let status = reader.status()?;
    let endless = endless(&reader)?;
    if args.json {
        let pages: serde_json::Map<String, serde_json::Value> =
            status.pages.iter().map(|(state, count)| (state.as_str().to_owned(), json!(count))).collect();
        let all = json!({
            "hosts": status.hosts, "pages": pages, "copies": status.fetched, "failing": status.failing,
            "looks": status.observations, "versions": status.versions, "changes": status.changes,
            "under_way": status.leases, "warc_files": status.segments, "warc_bytes": status.segment_bytes,
            "endless": endless.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
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
    for (domain, count) in endless {
        let _ = writeln!(
            text,
            "{:<10} {domain} has endless names: at least {count} were not visited",
            "left out"
        );
    }
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Domains that answer for endless names, and how many of those were left out, at least.
fn endless(reader: &Reader) -> Result<Vec<(String, u64)>, Failure> {
    let mut found = Vec::new();
    reader.metas(ENDLESS, |key, value| {
        let count = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
        found.extend(key.strip_prefix(ENDLESS).map(str::to_owned).zip(count));
        std::ops::ControlFlow::Continue(())
    })?;
    Ok(found)
}
