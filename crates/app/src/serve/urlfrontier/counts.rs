//! What is counted, under the names that dashboards for URLFrontier know.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::refusal::Refusal;

/// The number of reasons for a refusal.
pub(super) const REASONS: usize = 7;

/// What is counted since the process began.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) registry: Registry,
    served: Counter,
    get_calls: Counter,
    latency: Histogram,
    put: Counter,
    put_calls: Counter,
    by_kind: Family<Label, Counter>,
    refused: Family<Label, Counter>,
    ignored: Counter,
    completed: Counter,
}

type Label = [(&'static str, &'static str); 1];
/// What an item was sent as.
const DISCOVERED: Label = [("discovered", "true")];
const KNOWN: Label = [("discovered", "false")];

/// What came of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Became {
    pub(super) discovered: u64,
    pub(super) known: u64,
    /// Items that are neither.
    pub(super) empty: u64,
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
        let by_kind = Family::<Label, Counter>::default();
        for kind in [DISCOVERED, KNOWN] {
            drop(by_kind.get_or_create(&kind));
        }
        registry.register("putURLs_discovered", "Items, by what they were sent as", by_kind.clone());
        let refused = Family::<Label, Counter>::default();
        for refusal in Refusal::ALL {
            drop(refused.get_or_create(&[("reason", refusal.label())]));
        }
        registry.register("putURLs_refused", "Items that were not kept, by reason", refused.clone());
        let ignored =
            counter(&mut registry, "putURLs_ignored", "Discovered URLs that the frontier already had");
        let completed = counter(&mut registry, "putURLs_completed", "URLs that were completed");
        Self { registry, served, get_calls, latency, put, put_calls, by_kind, refused, ignored, completed }
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
        let Became { discovered, known, empty, ignored, completed } = became;
        self.put.inc_by(discovered + known + empty);
        self.by_kind.get_or_create(&DISCOVERED).inc_by(discovered);
        self.by_kind.get_or_create(&KNOWN).inc_by(known);
        self.ignored.inc_by(ignored);
        self.completed.inc_by(completed);
    }

    /// So many items were refused for this reason.
    pub(super) fn refused(&self, refusal: Refusal, items: u64) {
        self.refused.get_or_create(&[("reason", refusal.label())]).inc_by(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_is_told_by_its_kind() {
        let counts = Counts::default();
        counts.opened();
        counts.came(Became { discovered: 5, known: 3, empty: 2, ignored: 1, completed: 4 });
        counts.served(7, Duration::from_millis(3));
        let mut text = String::new();
        prometheus_client::encoding::text::encode_registry(&mut text, &counts.registry).unwrap();
        for line in [
            "frontier_getURLs_total 7",
            "frontier_getURLs_calls_total 1",
            "frontier_getURLs_latency_seconds_count 1",
            "frontier_putURLs_total 10",
            "frontier_putURLs_calls_total 1",
            "frontier_putURLs_discovered_total{discovered=\"true\"} 5",
            "frontier_putURLs_discovered_total{discovered=\"false\"} 3",
            "frontier_putURLs_ignored_total 1",
            "frontier_putURLs_completed_total 4",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
