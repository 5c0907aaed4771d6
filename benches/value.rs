//! One crawl value, and its inverse, over the signals paper's distribution of pages.
#![allow(missing_docs, reason = "criterion's macros")]

#[allow(dead_code, reason = "shared with the binary")]
#[path = "../crates/app/src/synthetic.rs"]
mod synthetic;

use std::hint::black_box;
use std::num::NonZeroU32;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use refrain_core::page::Belief;
use refrain_core::value::{CrawlValue, GammaPosterior, ValueFunction};
use synthetic::Synthetic;

const STATES: usize = 10_000;

struct State {
    page: Belief,
    elapsed: f64,
    signals: u32,
    share: f64,
}

/// Pages after waits of 10 on average, which is what a budget of a tenth of the pages makes of it.
fn states() -> Vec<State> {
    let mut random = Synthetic::new(1);
    let mut state = || {
        let page = random.paper_page();
        let elapsed = 20.0 * random.uniform();
        let signals = random.poisson((page.recall() * page.change_rate() + page.false_rate()) * elapsed);
        State { page, elapsed, signals, share: random.uniform() }
    };
    (0..STATES).map(|_| state()).collect()
}

fn values(c: &mut Criterion) {
    let states = states();
    let approx = NonZeroU32::new(2).map(ValueFunction::Approximate);
    let functions = [ValueFunction::Greedy, ValueFunction::GreedyCis, ValueFunction::GreedyNcis];
    let mut group = c.benchmark_group("value");
    group.throughput(Throughput::Elements(STATES as u64));
    for function in functions.into_iter().chain(approx) {
        group.bench_function(function.to_string(), |b| {
            b.iter(|| {
                for s in &states {
                    black_box(function.of(&s.page).value(s.elapsed, s.signals));
                }
            });
        });
    }
    group.bench_function("gamma-posterior", |b| {
        let pages: Vec<_> = states
            .iter()
            .filter_map(|s| GammaPosterior::new(4.0, 4.0 / s.page.change_rate(), 1.0).ok())
            .collect();
        b.iter(|| {
            for (page, s) in pages.iter().zip(&states) {
                black_box(page.value(s.elapsed, 0));
            }
        });
    });
    group.finish();

    let mut group = c.benchmark_group("moment");
    group.throughput(Throughput::Elements(STATES as u64));
    for function in functions.into_iter().chain(approx) {
        group.bench_function(function.to_string(), |b| {
            b.iter(|| {
                for s in &states {
                    let page = function.of(&s.page);
                    black_box(page.moment(s.share * page.supremum(), s.signals));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, values);
criterion_main!(benches);
