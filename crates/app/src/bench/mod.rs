//! `refrain bench`: what this machine does, in the figures the project promises.

mod changes;
mod crawl;
mod folder;
mod frontier;
mod learning;
mod plan;
mod plan_ages;
mod serve;
mod server;
mod signals;
mod urlfrontier;

use std::hint::black_box;
use std::io::{self, Write};
use std::num::NonZeroU32;

use refrain_core::optimum::{Candidate, Page, SignalPage, allocate};
use refrain_core::page::Belief;
use refrain_core::value::{CrawlValue, GammaPosterior, GreedyNcis, ValueFunction};

use crate::chart::grouped;
use crate::cli::{BenchArgs, BenchWhat};
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::stopwatch::{Stopwatch, peak_memory_mb};
use crate::synthetic::Synthetic;

const SEED: u64 = 1;
const STATES: usize = 100_000;

pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.what {
        Some(BenchWhat::Crawl(args)) => return crawl::run(args),
        Some(BenchWhat::Changes(args)) => return changes::run(args),
        Some(BenchWhat::Signals(args)) => return signals::run(args),
        Some(BenchWhat::Plan(args)) => return plan::run(args),
        Some(BenchWhat::Serve(args)) => return serve::run(args),
        Some(BenchWhat::Urlfrontier(args)) => return urlfrontier::run(args),
        Some(BenchWhat::Web) => return crawl::serve(),
        None => {}
    }
    to_stdout(|out| {
        write_values(out)?;
        write_extremes(out)?;
        learning::write(out)?;
        plan::write(out, args.quick)?;
        frontier::write(out, args.quick)?;
        write_optimum(out, args.quick)
    })
}

/// A page of the signals paper's distribution, somewhere in its cycle.
struct State {
    page: Belief,
    elapsed: f64,
    signals: u32,
    /// A value to find the moment of: a share of the supremum.
    share: f64,
}

/// States after waits of up to twice `mean`, with as many signals as come in that time.
fn states(mean: f64) -> Vec<State> {
    let mut random = Synthetic::new(SEED);
    let mut state = || {
        let page = random.paper_page();
        let elapsed = 2.0 * mean * random.uniform();
        let expected = (page.recall() * page.change_rate() + page.false_rate()) * elapsed;
        State { page, elapsed, signals: random.poisson(expected), share: random.uniform() }
    };
    (0..STATES).map(|_| state()).collect()
}

fn write_values(out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "Crawl values, from a belief, over the signals paper's distribution of pages (ns each, one thread)"
    )?;
    writeln!(out, "  {:<24} {:>10} {:>10} {:>10} {:>12}", "mean wait", "1", "10", "100", "inverse (10)")?;
    let cases = [1.0, 10.0, 100.0].map(states);
    let terms = |j| NonZeroU32::new(j).map(ValueFunction::Approximate);
    let functions = [
        Some(ValueFunction::Greedy),
        Some(ValueFunction::GreedyCis),
        Some(ValueFunction::GreedyNcis),
        terms(1),
        terms(2),
    ];
    for function in functions.into_iter().flatten() {
        write_value_row(out, &function.to_string(), &cases, |page| Some(function.of(page)))?;
    }
    // A posterior of the same mean, after about four observed changes.
    write_value_row(out, "gamma posterior", &cases, |page| {
        let rate = 4.0 / page.change_rate().max(1e-9);
        GammaPosterior::new(4.0, rate, page.importance()).ok()
    })
}

/// The exact value where it is hardest: from next to no to a hundred million signals per change.
fn write_extremes(out: &mut dyn Write) -> io::Result<()> {
    let mut random = Synthetic::new(SEED);
    let mut times: Vec<f64> = (0..STATES).filter_map(|_| time_extreme(&mut random)).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((share * times.len() as f64) as usize).copied().unwrap_or(0.0);
    let slowest = times.last().copied().unwrap_or(0.0);
    writeln!(
        out,
        "  greedy-ncis, {} extreme pages: {:.0} at the median, {:.0} at 97 %, {:.0} at 99 %, {slowest:.0} at the worst",
        grouped(times.len()),
        at(0.5),
        at(0.97),
        at(0.99),
    )
}

/// Nanoseconds for one value of a page with any recall, any rate of false signals and any exponent.
fn time_extreme(random: &mut Synthetic) -> Option<f64> {
    let near_zero = random.log_uniform(1e-12, 1.0);
    let recall = if random.uniform() < 0.5 { near_zero } else { 1.0 - near_zero };
    let page = Belief::new(1.0, 1.0)
        .and_then(|page| page.with_signals(recall, random.log_uniform(1e-6, 1e8)))
        .ok()?;
    let value = GreedyNcis::new(&page);
    let (exponent, by_time) = (random.log_uniform(1e-6, 40.0), random.uniform());
    let signals = ((1.0 - by_time) * exponent / value.model().nats_per_signal()) as u32;
    let elapsed = by_time * exponent / value.model().unsignalled_rate().max(1e-300);
    Some(time_each(&[()], |()| value.value(elapsed, signals)))
}

fn write_value_row<V: CrawlValue>(
    out: &mut dyn Write,
    name: &str,
    cases: &[Vec<State>; 3],
    make: impl Fn(&Belief) -> Option<V>,
) -> io::Result<()> {
    let value = |states: &Vec<State>| {
        time_each(states, |s| make(&s.page).map_or(0.0, |page| page.value(s.elapsed, s.signals)))
    };
    let [short, middle, long] = cases.each_ref().map(value);
    let inverse = time_each(&cases[1], |s| {
        let moment = make(&s.page).and_then(|page| page.moment(s.share * page.supremum(), s.signals));
        moment.unwrap_or(0.0)
    });
    writeln!(out, "  {name:<24} {short:>10.0} {middle:>10.0} {long:>10.0} {inverse:>12.0}")
}

/// Nanoseconds per call: the best of three rounds, so that a busy neighbour does not count.
pub(super) fn time_each<T>(items: &[T], mut work: impl FnMut(&T) -> f64) -> f64 {
    let mut round = || {
        let clock = Stopwatch::start();
        for item in items {
            black_box(work(item));
        }
        clock.elapsed().as_secs_f64() * 1e9 / items.len() as f64
    };
    (0..3).map(|_| round()).fold(f64::INFINITY, f64::min)
}

fn write_optimum(out: &mut dyn Write, quick: bool) -> io::Result<()> {
    writeln!(out, "\nThe continuous optimum, budget = pages/10 ({} threads)", rayon::current_num_threads())?;
    writeln!(
        out,
        "  {:<24} {:>12} {:>10} {:>12} {:>14}",
        "", "pages", "seconds", "ns a page", "peak MB so far"
    )?;
    let largest = if quick { 1_000_000 } else { 10_000_000 };
    for count in [100_000, 1_000_000, 10_000_000].into_iter().filter(|count| *count <= largest) {
        write_optimum_row(out, "without signals", count, Page::of)?;
    }
    let largest = if quick { 100_000 } else { 1_000_000 };
    for count in [100_000, 1_000_000].into_iter().filter(|count| *count <= largest) {
        write_optimum_row(out, "with signals", count, SignalPage::of)?;
    }
    Ok(())
}

fn write_optimum_row<C: Candidate>(
    out: &mut dyn Write,
    name: &str,
    count: usize,
    make: impl Fn(&Belief) -> C,
) -> io::Result<()> {
    let mut random = Synthetic::new(SEED);
    let pages: Vec<C> = (0..count).map(|_| make(&random.paper_page())).collect();
    let clock = Stopwatch::start();
    let optimum = allocate(&pages, count as f64 / 10.0);
    let seconds = clock.elapsed().as_secs_f64();
    black_box(optimum.map_or(0.0, |optimum| optimum.price));
    let memory = peak_memory_mb().map_or_else(String::new, |mb| mb.to_string());
    let each = seconds * 1e9 / count as f64;
    writeln!(out, "  {name:<24} {:>12} {seconds:>10.3} {each:>12.0} {memory:>14}", grouped(count))?;
    out.flush()
}
