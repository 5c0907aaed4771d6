//! The continuous optimum: time per page should not depend on how many there are.
#![allow(missing_docs, reason = "criterion's macros")]

#[allow(dead_code, reason = "shared with the binary")]
#[path = "../crates/app/src/synthetic.rs"]
mod synthetic;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use refrain_core::optimum::{Candidate, Page, SignalPage, allocate};
use refrain_core::page::Belief;
use synthetic::Synthetic;

fn pages<C>(count: usize, make: impl Fn(&Belief) -> C) -> Vec<C> {
    let mut random = Synthetic::new(1);
    (0..count).map(|_| make(&random.paper_page())).collect()
}

fn bench<C: Candidate>(c: &mut Criterion, name: &str, counts: &[usize], make: impl Fn(&Belief) -> C + Copy) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5));
    for &count in counts {
        let pages = pages(count, make);
        group.throughput(Throughput::Elements(count as u64));
        group.bench_with_input(BenchmarkId::from_parameter(count), &pages, |b, pages| {
            b.iter(|| black_box(allocate(pages, count as f64 / 10.0).map(|optimum| optimum.price)));
        });
    }
    group.finish();
}

fn optimum(c: &mut Criterion) {
    bench(c, "optimum/without-signals", &[100_000, 1_000_000, 10_000_000], Page::of);
    bench(c, "optimum/with-signals", &[100_000, 1_000_000], SignalPage::of);
}

criterion_group!(benches, optimum);
criterion_main!(benches);
