//! `refrain plan`: a night of fetches, politely.

mod figures;
mod picture;
mod summary;

use std::io::{self, Write};

use refrain_core::plan::{Allocation, Fetch, Problem, Programme, Timing};
use refrain_core::time::Span;

use crate::cli::{PlanArgs, PlanMethod};
use crate::failure::Failure;
use crate::input::{Ids, PlanPages, csv_field, read_gaps};
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
    let unit = args.unit.seconds();
    let file = PlanPages::read(&args.pages, unit)?;
    let gaps = read_gaps(args.gaps.as_deref(), &file.hosts, args.politeness)?;
    let busy = args.crawler_rate.or(args.download_time).unwrap_or(Span::from_whole_secs(1));
    let crawlers = vec![busy; args.crawlers as usize];
    let problem = Problem::new(args.horizon, args.budget, &file.pages, &file.hosts.of_page, &gaps)
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
    let figures = Figures::new(&problem, &plan, assigned);
    let timeline = plan.programme.timeline(&problem, picture::PARTS);
    if let Some(path) = &args.svg {
        let picture = picture::draw(&problem, &timeline, &figures, &crawlers);
        to_file(path, |out| out.write_all(picture.as_bytes()))?;
    }
    if args.json {
        to_stdout(|out| figures.write_json(out))
    } else if shown == 0 {
        to_stdout(|out| {
            summary::write(out, &problem, &plan, &figures, &timeline, &file.hosts.names, &crawlers)
        })
    } else {
        Ok(())
    }
}

/// `12.000000345,0,page`: to the nanosecond, so that whoever reads it can check every gap.
fn write_fetch(out: &mut dyn Write, fetch: Fetch<'_>, ids: &Ids) -> io::Result<()> {
    let (seconds, nanos) = (fetch.time / 1_000_000_000, fetch.time % 1_000_000_000);
    writeln!(out, "{seconds}.{nanos:09},{},{}", fetch.crawler, csv_field(ids.get(fetch.page())))
}

/// How many fetches pages get, and when.
pub(crate) struct Plan {
    pub(crate) method: PlanMethod,
    /// The best that any polite plan could do, and any plan.
    pub(crate) polite: Allocation,
    pub(crate) impolite: Allocation,
    /// The staleness with the paper's times, kept exactly.
    pub(crate) merged_staleness: f64,
    /// What is done.
    pub(crate) allocation: Allocation,
    pub(crate) programme: Programme,
}

impl Plan {
    pub(crate) fn new(problem: &Problem, method: PlanMethod, crawlers: &[Span]) -> Self {
        let (polite, impolite) = (problem.allocate(), problem.allocate_impolitely());
        let merged = polite.programme(problem, Timing::Merged, crawlers);
        let merged_staleness = merged.staleness(problem);
        let (allocation, programme) = match method {
            PlanMethod::Psp => (polite.clone(), merged),
            PlanMethod::Mp2 => (polite.clone(), polite.programme(problem, Timing::Ideal, crawlers)),
            PlanMethod::MWolf => (impolite.clone(), impolite.programme(problem, Timing::Ideal, crawlers)),
            PlanMethod::Refrain => {
                drop(merged);
                let allocation = polite.within_reach(problem, crawlers);
                let programme = allocation.programme(problem, Timing::Balanced, crawlers);
                (allocation, programme)
            }
        };
        Self { method, polite, impolite, merged_staleness, allocation, programme }
    }
}
