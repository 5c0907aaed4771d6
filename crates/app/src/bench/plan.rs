//! Plans: how close to the bound, and how long they take to make.

use std::hint::black_box;
use std::io::{self, Write};

use refrain_core::plan::{PlanPage, Problem};
use refrain_core::time::Span;

use super::plan_ages;
use crate::chart::{grouped, percent};
use crate::cli::{BenchPlanArgs, PlanMethod};
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::plan::Plan;
use crate::stopwatch::{Stopwatch, peak_memory_mb};

const HORIZON: Span = Span::from_whole_secs(86_400);
const POLITENESS: Span = Span::from_whole_secs(15);

/// `refrain bench plan`.
pub(super) fn run(args: &BenchPlanArgs) -> Result<(), Failure> {
    let compared = plan_ages::compare(args.seeds)?;
    to_stdout(|out| {
        if args.json {
            serde_json::to_writer(&mut *out, &compared)?;
            return writeln!(out);
        }
        plan_ages::write(out, &compared)?;
        write(out, args.quick)
    })
}

pub(super) fn write(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    write_quality(out, quick)?;
    write_speed(out, quick)
}

/// Changes per hour of the page at some share of all.
type Rate = fn(f64) -> f64;

/// The polite-policy paper's pages, without randomness: rates per hour spread by the golden ratio, hosts by Zipf's law.
fn problem(pages: usize, hosts: usize, theta: f64, rate: Rate, budget: u64) -> Option<Problem> {
    let weights: Vec<f64> = (1..=hosts).map(|k| (k as f64).powf(-theta)).collect();
    let total: f64 = weights.iter().sum();
    let (mut host_of, mut filled) = (Vec::with_capacity(pages), 0.0);
    for (host, weight) in weights.iter().enumerate() {
        filled += weight / total * pages as f64;
        host_of.resize((filled.round() as usize).min(pages), host as u32);
    }
    host_of.resize(pages, hosts as u32 - 1);
    let spread = |page: usize| ((page as f64 + 0.5) * 0.618_033_988_749_894_9).fract();
    let pages: Result<Vec<PlanPage>, _> =
        (0..pages).map(|page| PlanPage::new(rate(spread(page)) / 3600.0, 1.0)).collect();
    Problem::new(HORIZON, budget, &pages.ok()?, &host_of, &vec![POLITENESS; hosts]).ok()
}

/// The mean staleness of a plan that is carried out.
pub(super) fn staleness(problem: &Problem, method: PlanMethod, crawlers: &[Span]) -> f64 {
    let mut plan = Plan::new(problem, method, crawlers);
    plan.programme.assign(problem, crawlers, |_| {});
    plan.programme.staleness(problem)
}

fn write_quality(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    let pages = if quick { 20_000 } else { 100_000 };
    let (hosts, budget) = (pages / 500, pages as u64 * 864 / 100);
    writeln!(
        out,
        "\nPlans: {} pages on {hosts} hosts, a day, {} fetches, a request each 15 s to a host (mean staleness; in percent above the bound)",
        grouped(pages),
        grouped(budget as usize)
    )?;
    writeln!(
        out,
        "  {:<10} {:>6}  {:<11} {:>10} {:>10} {:>8} {:>10} {:>8}",
        "rates", "hosts", "crawlers", "bound", "psp", "", "refrain", ""
    )?;
    let rates: [(&str, Rate); 3] = [
        ("uniform", |spread| 0.01 + 0.99 * spread),
        ("zipf 0.5", |spread| 0.05 * (spread + 1e-4).powf(-0.5)),
        ("zipf 1", |spread| 0.01 / (spread + 1e-4)),
    ];
    for (name, rate) in rates {
        for theta in [0.0, 0.5, 1.0, 1.5] {
            let Some(problem) = problem(pages, hosts, theta, rate, budget) else { continue };
            let bound = problem.allocate().staleness(&problem);
            // As many crawlers as the budget needs, and twice as many.
            for (busy, count) in [("always busy", pages / 10_000), ("half busy", pages / 5_000)] {
                let crawlers = vec![Span::from_whole_secs(1); count];
                let [psp, refrain] = [PlanMethod::Psp, PlanMethod::Refrain]
                    .map(|method| staleness(&problem, method, &crawlers));
                writeln!(
                    out,
                    "  {name:<10} {theta:>6}  {busy:<11} {bound:>10.5} {psp:>10.5} {:>8} {refrain:>10.5} {:>8}",
                    percent(psp / bound - 1.0),
                    percent(refrain / bound - 1.0)
                )?;
            }
        }
    }
    Ok(())
}

fn write_speed(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    writeln!(
        out,
        "\nPlans: 1,000,000 pages on 2,000 hosts by Zipf's law, a day, 10 crawlers of 10 fetches a second (seconds, all cores)"
    )?;
    writeln!(
        out,
        "  {:>10} {:>9} {:>9} {:>9} {:>12} {:>8}",
        "fetches", "allocate", "plan", "all", "ns a fetch", "MB"
    )?;
    let budgets: &[u64] = if quick { &[100_000, 1_000_000] } else { &[100_000, 1_000_000, 8_640_000] };
    let crawlers = [Span::from_millis(100); 10];
    for budget in budgets {
        let Some(problem) = problem(1_000_000, 2000, 1.0, |spread| 0.01 + 0.99 * spread, *budget) else {
            continue;
        };
        let mut laps = Laps::start();
        black_box(problem.allocate().total());
        laps.lap();
        black_box(problem.plan(&crawlers).staleness);
        laps.lap();
        let all: f64 = laps.seconds.iter().sum();
        writeln!(
            out,
            "  {:>10} {:>9.3} {:>9.3} {:>9.3} {:>12.0} {:>8}",
            grouped(*budget as usize),
            laps.seconds[0],
            laps.seconds[1],
            all,
            all * 1e9 / *budget as f64,
            peak_memory_mb().map_or(String::new(), |mb| grouped(mb as usize)),
        )?;
        out.flush()?;
    }
    Ok(())
}

/// How long one thing after the other takes.
struct Laps {
    watch: Stopwatch,
    seconds: Vec<f64>,
}

impl Laps {
    fn start() -> Self {
        Self { watch: Stopwatch::start(), seconds: Vec::new() }
    }

    fn lap(&mut self) {
        self.seconds.push(self.watch.elapsed().as_secs_f64());
        self.watch = Stopwatch::start();
    }
}
