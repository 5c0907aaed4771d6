//! What is counted, under the names that dashboards for URLFrontier know.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// What is counted since the process began.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) registry: Registry,
    served: Counter,
    get_calls: Counter,
    latency: Histogram,
    put: Counter,
    put_calls: Counter,
    by_kind: Family<Kind, Counter>,
    ignored: Counter,
    completed: Counter,
}

/// What an item was sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    discovered: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, prometheus_client::encoding::EncodeLabelValue)]
#[expect(non_camel_case_types, reason = "as it is written")]
enum Word {
    r#true,
    r#false,
}

/// What came of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Became {
    pub(super) discovered: u64,
    pub(super) known: u64,
    /// No URLs, or nothing that is said of one.
    pub(super) skipped: u64,
    pub(super) ignored: u64,
    pub(super) completed: u64,
}

impl Default for Counts {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("frontier");
        let counter = |registry: &mut Registry, name: &str, help: &str| {
            let counter = Counter::default();
            registry.register(name, help, counter.clone());
            counter
        };
        let served = counter(&mut registry, "getURLs", "URLs that were served");
        let get_calls = counter(&mut registry, "getURLs_calls", "Calls of GetURLs");
        // From 0.1 ms to some 3 s.
        let latency = Histogram::new(exponential_buckets(0.0001, 2.0, 16));
        let help = "How long it took to begin the answers to GetURLs";
        registry.register_with_unit("getURLs_latency", help, Unit::Seconds, latency.clone());
        let put = counter(&mut registry, "putURLs", "Items that came, whatever became of them");
        let put_calls = counter(&mut registry, "putURLs_calls", "Streams of items that were opened");
        let by_kind = Family::<Kind, Counter>::default();
        for discovered in [Word::r#true, Word::r#false] {
            drop(by_kind.get_or_create(&Kind { discovered }));
        }
        registry.register("putURLs_discovered", "Items, by what they were sent as", by_kind.clone());
        let ignored = counter(&mut registry, "putURLs_ignored", "New URLs that were there already");
        let completed = counter(&mut registry, "putURLs_completed", "URLs that were completed");
        Self { registry, served, get_calls, latency, put, put_calls, by_kind, ignored, completed }
    }
}

impl Counts {
    /// So many were served.
    pub(super) fn served(&self, urls: u64, took: Duration) {
        self.get_calls.inc();
        self.served.inc_by(urls);
        self.latency.observe(took.as_secs_f64());
    }

    /// A stream was opened.
    pub(super) fn opened(&self) {
        self.put_calls.inc();
    }

    /// Items came, and this is what became of them.
    pub(super) fn came(&self, became: Became) {
        let Became { discovered, known, skipped, ignored, completed } = became;
        self.put.inc_by(discovered + known + skipped);
        self.by_kind.get_or_create(&Kind { discovered: Word::r#true }).inc_by(discovered);
        self.by_kind.get_or_create(&Kind { discovered: Word::r#false }).inc_by(known);
        self.ignored.inc_by(ignored);
        self.completed.inc_by(completed);
    }
}
