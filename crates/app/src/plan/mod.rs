//! `refrain plan`: a night of fetches, politely.

mod figures;
mod picture;
mod summary;

use std::io::{self, Write};

use refrain_core::plan::{Allocation, Fetch, Problem, Programme, Timing};
use refrain_core::time::Span;

use crate::cli::{PlanArgs, PlanMethod};
use crate::data::read_pages;
use crate::failure::Failure;
use crate::input::{Ids, csv_field, read_gaps};
use crate::output::{to_file, to_stdout};

pub(crate) use figures::Figures;

pub(crate) fn run(args: &PlanArgs) -> Result<(), Failure> {
    let mut shown = args.out.iter().filter(|path| path.as_os_str() == "-").count();
    shown += args.svg.iter().filter(|path| path.as_os_str() == "-").count();
    if shown + usize::from(args.json) > 1 {
        return Err(Failure::input(
            "--json, --out - and --svg - go to standard output; expected one of them",
        ));
    }
    let file = read_pages(args.pages.as_deref(), args.data.as_deref())?;
    let unit = file.unit.unwrap_or(args.unit.seconds());
    let Some(hosts) = &file.hosts else {
        return Err(Failure::input("the pages have no column host; expected the host of each page"));
    };
    let pages = file.plan_pages(unit)?;
    let mut gaps = hosts.gaps(unit, args.politeness);
    if let Some(path) = &args.gaps {
        read_gaps(path, hosts, &mut gaps)?;
    }
    let busy = args.crawler_rate.or(args.download_time).unwrap_or(Span::from_whole_secs(1));
    let crawlers = vec![busy; args.crawlers as usize];
    let problem = Problem::new(args.horizon, args.budget, &pages, &hosts.of_page, &gaps)
        .map_err(|why| Failure::input(why.to_string()))?;
    let mut plan = Plan::new(&problem, args.method, &crawlers);
    let assigned = match &args.out {
        None => plan.programme.assign(&problem, &crawlers, |_| {}),
        Some(path) => {
            let mut assigned = None;
            to_file(path, |out| {
                writeln!(out, "time,crawler,page_id")?;
                let mut written = Ok(());
                assigned = Some(plan.programme.assign(&problem, &crawlers, |fetch| {
                    if written.is_ok() {
                        written = write_fetch(out, fetch, &file.ids);
                    }
                }));
                written
            })?;
            let Some(assigned) = assigned else { return Ok(()) };
            assigned
        }
    };
    if file.ages.is_none() {
        eprintln!("refrain: the pages have no column age: all copies were taken to be fresh at the start");
    }
    let figures = Figures::new(&problem, &plan, assigned);
    let timeline = plan.programme.timeline(&problem, picture::PARTS);
    if let Some(path) = &args.svg {
        let picture = picture::draw(&problem, &timeline, &figures, &crawlers);
        to_file(path, |out| out.write_all(picture.as_bytes()))?;
    }
    if args.json {
        to_stdout(|out| figures.write_json(out))
    } else if shown == 0 {
        to_stdout(|out| summary::write(out, &problem, &plan, &figures, &timeline, &hosts.names, &crawlers))
    } else {
        Ok(())
    }
}

/// `12.000000345,0,page`: to the nanosecond, so that whoever reads it can check every gap.
fn write_fetch(out: &mut dyn Write, fetch: Fetch<'_>, ids: &Ids) -> io::Result<()> {
    let (seconds, nanos) = (fetch.time / 1_000_000_000, fetch.time % 1_000_000_000);
    writeln!(out, "{seconds}.{nanos:09},{},{}", fetch.crawler, csv_field(ids.get(fetch.page())))
}

/// The fetches of each page, and when they are made.
pub(crate) struct Plan {
    pub(crate) method: PlanMethod,
    /// The budget, or the number of fetches that crawlers can begin, if that is less.
    pub(crate) reach: u64,
    /// The allocations whose staleness no plan within reach can be below: a polite one, and any.
    pub(crate) polite: Allocation,
    pub(crate) impolite: Allocation,
    /// The staleness with the paper's times, kept exactly.
    pub(crate) merged_staleness: f64,
    /// The plan itself.
    pub(crate) allocation: Allocation,
    pub(crate) programme: Programme,
}

impl Plan {
    pub(crate) fn new(problem: &Problem, method: PlanMethod, crawlers: &[Span]) -> Self {
        let reachable = problem.clone().within_reach(crawlers);
        let (reach, polite, impolite) =
            (reachable.budget(), reachable.allocate(), reachable.allocate_impolitely());
        drop(reachable);
        let paper = problem.allocate_by_paper();
        let merged = paper.programme(problem, Timing::Merged, crawlers);
        let merged_staleness = merged.staleness(problem);
        let (allocation, programme) = match method {
            PlanMethod::Psp => (paper, merged),
            PlanMethod::Mp2 => {
                let programme = paper.programme(problem, Timing::Ideal, crawlers);
                (paper, programme)
            }
            PlanMethod::MWolf => {
                let impolite = problem.allocate_impolitely();
                let programme = impolite.programme(problem, Timing::Ideal, crawlers);
                (impolite, programme)
            }
            PlanMethod::Refrain => {
                drop(merged);
                let plan = problem.plan(crawlers);
                (plan.allocation, plan.programme)
            }
        };
        Self { method, reach, polite, impolite, merged_staleness, allocation, programme }
    }
}
