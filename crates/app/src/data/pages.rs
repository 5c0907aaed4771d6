//! `refrain pages`: a list of pages.

mod top;

use std::io::{self, Write};

use refrain_core::time::{Span, Time};
use refrain_engine::{Beliefs, Clock};
use refrain_store::{PageRow, PageState, Reader};
use serde::Serialize;

use super::chosen::Chosen;
use super::harmless::harmless;
use super::written;
use crate::chart::{counted, grouped, short};
use crate::cli::{PageOrder, PagesArgs};
use crate::failure::Failure;
use crate::input::csv_field;
use crate::output::to_stdout;
use crate::progress::Progress;
use crate::units;
use top::Top;

/// A page as it is listed.
#[derive(Serialize)]
struct Listed {
    url: String,
    state: &'static str,
    importance: f64,
    /// How likely its copy is stale; none if there is no copy.
    stale_probability: Option<f64>,
    changes_per_day: f64,
    fetched: Option<String>,
    changed: Option<String>,
    failures: u32,
    #[serde(skip)]
    age: Option<Span>,
}

pub(crate) fn run(args: &PagesArgs) -> Result<(), Failure> {
    let reader = Reader::open(&args.place.data)?;
    let chosen = Chosen::new(&reader, args.host.as_deref(), None)?;
    let now = Clock::start().now();
    let (pages, all) = {
        let _progress = Progress::spinner("reading all pages");
        select(args, &reader, &chosen, now)?
    };
    to_stdout(|out| match (args.json, args.csv) {
        (true, _) => pages.iter().try_for_each(|page| {
            serde_json::to_writer(&mut *out, page)?;
            writeln!(out)
        }),
        (_, true) => write_csv(out, &pages),
        _ => write_table(out, &pages, all),
    })
}

/// The pages that come first, and how many there are.
fn select(
    args: &PagesArgs,
    reader: &Reader,
    chosen: &Chosen,
    now: Time,
) -> Result<(Vec<Listed>, usize), Failure> {
    let order = args.sort.unwrap_or(match (args.stale, args.failing, args.gone) {
        (true, ..) => PageOrder::Stale,
        (_, true, _) => PageOrder::Failures,
        (.., true) => PageOrder::Changed,
        _ => PageOrder::Added,
    });
    let mut beliefs = Beliefs::learn(reader, now)?;
    let mut top = Top::new(args.limit);
    let mut all = 0;
    chosen.each(reader, |row| {
        if !is_asked_for(args, row) {
            return Ok(());
        }
        all += 1;
        // What is believed of a page takes a microsecond or two: only where it is needed.
        let key = match order {
            PageOrder::Stale | PageOrder::Rate => {
                let believed = beliefs.of(row, now)?;
                match order {
                    PageOrder::Stale => believed.stale.unwrap_or(0.0) * row.importance,
                    _ => believed.changes.mean(),
                }
            }
            PageOrder::Added => -(all as f64),
            PageOrder::Age => row.fetched.map_or(f64::INFINITY, |fetched| now.since(fetched).as_secs()),
            PageOrder::Changed => row.changed.map_or(f64::NEG_INFINITY, |changed| changed.as_nanos() as f64),
            PageOrder::Importance => row.importance,
            PageOrder::Failures => f64::from(row.failures),
        };
        if top.takes(key) {
            let believed = beliefs.of(row, now)?;
            top.put(key, listed(row, believed.stale, believed.changes.mean(), now));
        }
        Ok(())
    })?;
    Ok((top.in_order(), all))
}

fn is_asked_for(args: &PagesArgs, row: &PageRow<'_>) -> bool {
    // Of what is gone there is nothing that could be stale.
    (!args.stale || (row.fetched.is_some() && row.state != PageState::Gone))
        && (!args.failing || row.is_failing())
        && (!args.gone || row.state == PageState::Gone)
}

fn listed(row: &PageRow<'_>, stale: Option<f64>, rate: f64, now: Time) -> Listed {
    Listed {
        url: row.url.to_owned(),
        state: row.state.as_str(),
        importance: row.importance,
        stale_probability: stale,
        changes_per_day: rate * 86_400.0,
        fetched: row.fetched.map(written),
        changed: row.changed.map(written),
        failures: row.failures,
        age: row.fetched.map(|fetched| now.since(fetched)),
    }
}

fn write_table(out: &mut dyn Write, pages: &[Listed], all: usize) -> io::Result<()> {
    if pages.is_empty() {
        return writeln!(out, "No such pages.");
    }
    writeln!(
        out,
        "{:>7}  {:>10}  {:>13}  {:>10}  {:<12}  page",
        "stale", "importance", "changes every", "copy is", "state"
    )?;
    for page in pages {
        let stale =
            page.stale_probability.map_or_else(|| "-".to_owned(), |stale| format!("{:.1} %", 100.0 * stale));
        let age = page.age.map_or_else(|| "missing".to_owned(), units::spoken);
        let every = units::spoken(Span::from_secs(86_400.0 / page.changes_per_day));
        let state = match page.failures {
            count if count > 0 && page.state != PageState::Gone.as_str() => format!("failed {count}×"),
            _ => page.state.to_owned(),
        };
        writeln!(
            out,
            "{stale:>7}  {:>10}  {every:>13}  {age:>10}  {state:<12}  {}",
            short(page.importance),
            harmless(&page.url)
        )?;
    }
    if all > pages.len() {
        writeln!(out, "{} of {}; --limit shows more", grouped(pages.len()), counted(all, "page"))?;
    }
    Ok(())
}

fn write_csv(out: &mut dyn Write, pages: &[Listed]) -> io::Result<()> {
    writeln!(out, "url,state,importance,stale_probability,changes_per_day,fetched,changed,failures")?;
    for page in pages {
        let stale = page.stale_probability.map_or_else(String::new, |stale| stale.to_string());
        let (fetched, changed) =
            (page.fetched.as_deref().unwrap_or(""), page.changed.as_deref().unwrap_or(""));
        let Listed { url, state, importance, changes_per_day, failures, .. } = page;
        writeln!(
            out,
            "{},{state},{importance},{stale},{changes_per_day},{fetched},{changed},{failures}",
            csv_field(url)
        )?;
    }
    Ok(())
}
