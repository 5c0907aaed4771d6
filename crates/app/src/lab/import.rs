//! `refrain lab import`: what others recorded, as a trace.

use std::io::{self, Write};

use refrain_core::estimate::{Answer, History, Observation, Posterior, Prior};
use refrain_lab::trace::{LookedAt, Trace, from_looks};

use super::replay::{DAY, introduce};
use super::written::Written;
use crate::chart::{counted, grouped};
use crate::cli::ImportArgs;
use crate::failure::Failure;
use crate::input::{Bing, CrawlLog, Ids, csv_field};
use crate::output::{to_file, to_stdout};

/// What was recorded, whoever recorded it.
struct Recorded {
    ids: Ids,
    hosts: Vec<String>,
    pages: Vec<LookedAt>,
    /// Changes per day, where somebody counted them.
    change_rates: Vec<Option<f64>>,
    note: Option<String>,
}

pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    let recorded = match (&args.bing, &args.crawl_log) {
        (Some(folder), _) => {
            let Bing { ids, hosts, constrained, pages, change_rates } = Bing::read(folder)?;
            let note = format!(
                "{} of {} hosts may be asked only so often",
                grouped(constrained),
                grouped(hosts.len())
            );
            Recorded { ids, hosts, pages, change_rates, note: Some(note) }
        }
        (None, Some(path)) => {
            let CrawlLog { ids, hosts, pages } = CrawlLog::read(path)?;
            Recorded { change_rates: vec![None; pages.len()], ids, hosts, pages, note: None }
        }
        (None, None) => return Err(Failure::input("nothing to import; expected --crawl-log or --bing")),
    };
    let trace = from_looks(&recorded.pages, recorded.hosts.len() as u32, args.seed);
    if trace.pages.is_empty() || trace.changes() == 0 {
        return Err(Failure::input("no page was fetched twice and had changed; expected at least one"));
    }
    let page = |number: u32| recorded.ids.get(number as usize).to_owned();
    let group = |number: u32| recorded.hosts[number as usize].clone();
    Written { trace: &trace, page: &page, group: &group }.write_to(&args.out)?;
    to_file(&args.out.join("rates.csv"), |out| write_rates(out, &recorded))?;
    to_stdout(|out| summary(out, &recorded, &trace, args))
}

/// Changes per day: as counted, or as Refrain believes from what fetches saw.
fn change_rate(page: &LookedAt, counted: Option<f64>) -> f64 {
    if let Some(counted) = counted {
        return counted;
    }
    let mut history = History::default();
    let mut before = page.first;
    for (time, changed) in &page.looks {
        let answer = if *changed { Answer::Changed } else { Answer::Unchanged };
        if let Ok(seen) = Observation::new(time.since(before).as_secs(), 0, answer) {
            history.observe(&seen);
        }
        before = *time;
    }
    Posterior::of(&history, &Prior::BROAD).mean() * DAY
}

fn write_rates(out: &mut dyn Write, recorded: &Recorded) -> io::Result<()> {
    writeln!(out, "page_id,change_rate,importance,host")?;
    for (number, (page, counted)) in recorded.pages.iter().zip(&recorded.change_rates).enumerate() {
        let host = csv_field(&recorded.hosts[page.group as usize]).into_owned();
        let (name, rate) = (csv_field(recorded.ids.get(number)), change_rate(page, *counted));
        writeln!(out, "{name},{rate},{},{host}", page.importance)?;
    }
    Ok(())
}

fn summary(out: &mut dyn Write, recorded: &Recorded, trace: &Trace, args: &ImportArgs) -> io::Result<()> {
    introduce(out, trace)?;
    let fetches: usize = recorded.pages.iter().map(|page| page.looks.len()).sum();
    let left_out = recorded.pages.len() - trace.pages.len();
    write!(out, "; {}", counted(fetches, "fetch").replace("fetchs", "fetches"))?;
    if left_out > 0 {
        write!(out, "; {} fetched only once left out", counted(left_out, "page"))?;
    }
    if let Some(note) = &recorded.note {
        write!(out, "; {note}")?;
    }
    let folder = args.out.display();
    writeln!(out, "\n\n  refrain lab replay --trace {folder}")?;
    writeln!(
        out,
        "  refrain optimum --pages {folder}/rates.csv --rate {}",
        (trace.change_rate() * DAY).round().max(1.0)
    )
}
