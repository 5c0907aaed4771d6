//! `refrain signals`: how far what sites announce can be believed, and where they show what is new.

use std::io::{self, Write};

use refrain_engine::TOGETHER;
use refrain_store::{HubRow, Reader, Voice};
use serde_json::json;

use super::harmless::harmless;
use super::written;
use crate::chart::{counted, grouped, percent, short};
use crate::cli::DataArgs;
use crate::failure::Failure;
use crate::output::to_stdout;

/// So many hubs are listed for people.
const SHOWN: usize = 40;

pub(crate) fn run(args: &DataArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let (voices, hubs) = (reader.voices()?, reader.hubs()?);
    to_stdout(|out| if args.json { machine(out, &voices, &hubs) } else { people(out, &voices, &hubs) })
}

fn machine(out: &mut dyn Write, voices: &[Voice], hubs: &[HubRow]) -> io::Result<()> {
    let voices = voices.iter().map(|voice| {
        json!({
            "host": voice.host, "kind": voice.kind, "precision": voice.precision, "recall": voice.recall,
            "intervals": voice.intervals, "heard": voice.heard,
        })
    });
    let hubs = hubs.iter().map(|row| {
        json!({
            "url": row.url, "role": row.role.as_str(), "visits": row.hub.visits, "news": row.hub.news,
            "news_per_day": row.hub.rate * 86_400.0, "profit": row.hub.profit, "decay_per_second": row.hub.decay,
            "visited": row.fetched.map(written),
        })
    });
    let all = json!({ "signals": voices.collect::<Vec<_>>(), "hubs": hubs.collect::<Vec<_>>() });
    writeln!(out, "{all}")
}

fn people(out: &mut dyn Write, voices: &[Voice], hubs: &[HubRow]) -> io::Result<()> {
    if voices.is_empty() && hubs.is_empty() {
        return writeln!(out, "Nothing is announced here, as far as is known: no sitemap, no feed, no hub.");
    }
    if !voices.is_empty() {
        writeln!(out, "  true      announced     judged by  counts  kind        host")?;
        for voice in voices {
            let heard = if voice.heard { "yes" } else { "no" };
            let (host, kind) = (harmless(&voice.host), harmless(&voice.kind));
            writeln!(
                out,
                "  {:<8}  {:<9}  {:>12}  {heard:<6}  {kind:<10}  {host}",
                percent(voice.precision),
                percent(voice.recall),
                grouped(voice.intervals.round() as usize),
            )?;
        }
        writeln!(
            out,
            "\ntrue: of its signals; announced: of all changes; judged by: intervals between two looks; {TOGETHER}: as pages count them\n"
        )?;
    }
    writeln!(out, "  news a day    visits  worth of one  kind      hub")?;
    for row in hubs.iter().take(SHOWN) {
        writeln!(
            out,
            "  {:>10}  {:>8}  {:>12}  {:<8}  {}",
            short(row.hub.rate * 86_400.0),
            grouped(row.hub.visits as usize),
            short(row.hub.profit),
            row.role.as_str(),
            harmless(&row.url)
        )?;
    }
    if hubs.len() > SHOWN {
        writeln!(out, "{SHOWN} of {}; --json has them all", counted(hubs.len(), "hub"))?;
    }
    Ok(())
}
