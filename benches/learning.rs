//! What it costs to learn from a fetch.
#![allow(missing_docs, reason = "criterion's macros")]

#[allow(dead_code, reason = "shared with the binary")]
#[path = "../crates/app/src/synthetic.rs"]
mod synthetic;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use refrain_core::estimate::{Answer, Group, History, Learned, Learner, Observation, Posterior, Prior};
use synthetic::Synthetic;

const FETCHES: usize = 100;

/// A page that changes about as often as it is fetched, at random times.
fn intervals() -> Vec<Observation> {
    let mut random = Synthetic::new(1);
    let mut fetch = || {
        let elapsed = -(1.0 - random.uniform()).ln() * 3600.0 + 1.0;
        let changed = random.uniform() >= (-elapsed / 3600.0).exp();
        Observation::new(elapsed, 0, if changed { Answer::Changed } else { Answer::Unchanged }).ok()
    };
    (0..FETCHES).filter_map(|_| fetch()).collect()
}

fn learning(c: &mut Criterion) {
    let seen = intervals();
    let mut group = c.benchmark_group("learning");
    group.throughput(Throughput::Elements(FETCHES as u64));
    group.bench_function("history", |b| b.iter(|| black_box(seen.iter().collect::<History>())));
    group.bench_function("history-and-belief", |b| {
        b.iter(|| {
            let mut history = History::default();
            for interval in &seen {
                history.observe(interval);
                black_box(Posterior::of(&history, &Prior::BROAD));
            }
        });
    });
    group.bench_function("with-priors", |b| {
        let mut learner = Learner::default();
        b.iter(|| {
            let mut page = Learned::new(Group { host: 1, shape: 1 });
            for interval in &seen {
                black_box(learner.observe(&mut page, interval));
            }
            learner.remove(&page);
        });
    });
    group.finish();
}

criterion_group!(benches, learning);
criterion_main!(benches);
