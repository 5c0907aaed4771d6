//! What Prometheus is told of a crawl: counted from what the engine tells, and from the requests that are served.
//!
//! Labels come from closed sets: outcomes, kinds of signals (of which the engine allows some hundreds), routes, methods, statuses. Never addresses,
//! hosts or pages: there are millions of those.

mod labels;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use refrain_core::time::Time;
use refrain_engine::{Kind, Pulse, Summary, Told};

use super::urlfrontier::Counts;
pub(crate) use labels::Verdict;
use labels::{KindLabel, LookLabels, PushLabels, RequestLabels, RouteLabels, known_method};

/// What the text of [`Metrics::text`] is, for `Content-Type`.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Number = Gauge<f64, AtomicU64>;
type Whole = Gauge;

/// All that is measured. Shared by everybody who has something to count.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    state: State,
    crawl: Crawl,
    fetchers: Fetchers,
    pushes: Family<PushLabels, Counter>,
    requests: Family<RequestLabels, Counter>,
    answer_time: Family<RouteLabels, Histogram>,
    memory: Whole,
    /// Of the door for URLFrontier, if it is open.
    frontier: Option<Arc<Counts>>,
}

/// How the crawl is doing at the moment.
#[derive(Debug, Default)]
struct State {
    pages: Whole,
    hosts: Whole,
    hubs: Whole,
    waiting: Whole,
    freshness: Number,
    price: Number,
    budget: Number,
    under_way: Whole,
    backed_off: Whole,
}

/// What the crawl has come to since the process began.
#[derive(Debug)]
struct Crawl {
    requests: Counter,
    looks: Family<LookLabels, Counter>,
    look_time: Histogram,
    bytes: Counter,
    found: Counter,
    signals: Family<KindLabel, Counter>,
    came_true: Counter,
    complaints: Counter,
    changes: Counter,
    warnings: Counter,
    missed: Counter,
}

/// What other fetchers do.
#[derive(Debug, Default)]
struct Fetchers {
    given: Counter,
    results: Counter,
    expired: Counter,
    open: Whole,
}

/// From 5 ms to 160 s, each twice the one before: what takes longer is given up.
fn look_times() -> Histogram {
    Histogram::new(exponential_buckets(0.005, 2.0, 16))
}

/// From half a millisecond to some 8 s; who waits for work waits longer.
fn answer_times() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.0, 15))
}

impl Metrics {
    /// Nothing was counted yet. The process began then.
    pub(crate) fn new(began: Time) -> Self {
        let mut registry = Registry::with_prefix("refrain");
        let (state, crawl) = (State::register(&mut registry), Crawl::register(&mut registry));
        let fetchers = Fetchers::register(&mut registry);
        let pushes = Family::default();
        registry.register(
            "pushes",
            "Changes that were announced by pushes, by what became of them",
            pushes.clone(),
        );
        let requests = Family::default();
        registry.register("http_requests", "Requests that were served", requests.clone());
        let answer_time = Family::new_with_constructor(answer_times as fn() -> Histogram);
        let help = "How long it took to serve requests";
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, answer_time.clone());
        let start = Number::default();
        start.set(began.since(Time::ZERO).as_secs());
        registry.register_with_unit(
            "process_start_time",
            "When the process began, since 1970",
            Unit::Seconds,
            start,
        );
        let memory = Whole::default();
        registry.register_with_unit("resident_memory", "Memory in use", Unit::Bytes, memory.clone());
        let frontier = None;
        Self { registry, state, crawl, fetchers, pushes, requests, answer_time, memory, frontier }
    }

    /// With what is counted at the door for URLFrontier.
    pub(crate) fn with_frontier(self, frontier: Option<Arc<Counts>>) -> Self {
        Self { frontier, ..self }
    }

    /// Something happened in the crawl.
    pub(crate) fn hear(&self, told: &Told) {
        let crawl = &self.crawl;
        match told {
            Told::Looked { outcome, role, bytes, took, .. } => {
                crawl.looks.get_or_create(&LookLabels::new(*outcome, *role)).inc();
                crawl.look_time.observe(took.as_secs());
                crawl.bytes.inc_by(*bytes);
            }
            Told::Announced { kind, signals, .. } => self.count_signals(*kind, *signals),
            Told::Warning(_) => drop(crawl.warnings.inc()),
            Told::Pulse(pulse) => self.feel(pulse),
            Told::Changes(_) | Told::Hub { .. } | Told::Missed(_) => {}
        }
    }

    fn feel(&self, pulse: &Pulse) {
        let Pulse { summary, rate, waiting, freshness, backed_off, .. } = pulse;
        let Summary { requests, found, came_true, complaints, hubs, pages, hosts, under_way, price, .. } =
            summary;
        let State { pages: all, hosts: names, hubs: shows, waiting: new, .. } = &self.state;
        for (gauge, number) in [(all, *pages), (names, *hosts), (shows, *hubs), (new, *waiting as u64)] {
            gauge.set(number as i64);
        }
        self.fetchers.open.set(summary.leased as i64);
        self.state.under_way.set(*under_way as i64);
        self.state.backed_off.set(*backed_off as i64);
        // Nothing is known of the freshness of nothing.
        self.state.freshness.set(freshness.unwrap_or(f64::NAN));
        // Before a page is fetched a second time nobody knows.
        self.state.price.set(price.map_or(f64::NAN, |price| price.min(f64::MAX)));
        self.state.budget.set(rate.min(f64::MAX));
        let crawl = &self.crawl;
        for (counter, number) in [
            (&crawl.requests, *requests),
            (&crawl.changes, summary.changed),
            (&crawl.found, *found),
            (&crawl.came_true, *came_true),
            (&crawl.complaints, *complaints),
            (&crawl.missed, summary.missed_decisions),
            (&self.fetchers.given, summary.given),
            (&self.fetchers.results, summary.taken),
            (&self.fetchers.expired, summary.given_up),
        ] {
            reach(counter, number);
        }
    }

    fn count_signals(&self, kind: Kind, signals: u64) {
        if signals > 0 {
            self.crawl.signals.get_or_create(&KindLabel::new(kind)).inc_by(signals);
        }
    }

    /// A request was served: its route as it is declared (`None` if there is none), never its path.
    pub(crate) fn served(&self, route: Option<&str>, method: &str, status: u16, seconds: f64) {
        let (route, method) = (route.unwrap_or("other").to_owned(), known_method(method));
        self.answer_time.get_or_create(&RouteLabels { route: route.clone(), method }).observe(seconds);
        self.requests.get_or_create(&RequestLabels { route, method, status: status.into() }).inc();
    }

    /// Changes of so many pages were announced by a push, or something that was to do so was refused.
    pub(crate) fn pushed(&self, kind: Kind, verdict: Verdict, pages: u64) {
        self.pushes.get_or_create(&PushLabels::new(kind, verdict)).inc_by(pages);
        // A feed that is pushed is read like one that is fetched, and the engine tells what was in it.
        if verdict.is_news() && kind != Kind::WebSub {
            self.count_signals(kind, pages);
        }
    }

    /// All of it, as Prometheus reads it.
    pub(crate) fn text(&self) -> String {
        if let Some(bytes) = resident_memory() {
            self.memory.set(bytes);
        }
        let mut text = String::new();
        // Text always has room for more.
        let _ = encode_registry(&mut text, &self.registry);
        if let Some(frontier) = &self.frontier {
            let _ = encode_registry(&mut text, &frontier.registry);
        }
        let _ = encode_eof(&mut text);
        text
    }
}

impl State {
    fn register(registry: &mut Registry) -> Self {
        let state = Self::default();
        registry.register("pages", "Pages that are crawled", state.pages.clone());
        registry.register("hosts", "Hosts that are known", state.hosts.clone());
        registry.register(
            "hubs",
            "Pages, sitemaps and feeds that are visited for what they show",
            state.hubs.clone(),
        );
        registry.register("pages_waiting", "Pages that wait for their first visit", state.waiting.clone());
        let help = "The share of copies that are expected to be fresh, weighted by importance";
        state.freshness.set(f64::NAN);
        state.price.set(f64::NAN);
        registry.register_with_unit(
            "expected_freshness",
            help,
            Unit::Other("ratio".to_owned()),
            state.freshness.clone(),
        );
        let help = "What a fetch must be worth to be made: seconds of freshness times importance";
        registry.register("price", help, state.price.clone());
        let help = "The budget: requests per second, whatever they are for";
        registry.register("budget_requests_per_second", help, state.budget.clone());
        registry.register("fetches_under_way", "Fetches under way", state.under_way.clone());
        registry.register(
            "hosts_backed_off",
            "Hosts that are left alone for a while",
            state.backed_off.clone(),
        );
        state
    }
}

impl Crawl {
    fn register(registry: &mut Registry) -> Self {
        let crawl = Self {
            requests: Counter::default(),
            looks: Family::default(),
            look_time: look_times(),
            bytes: Counter::default(),
            found: Counter::default(),
            signals: Family::default(),
            came_true: Counter::default(),
            complaints: Counter::default(),
            changes: Counter::default(),
            warnings: Counter::default(),
            missed: Counter::default(),
        };
        registry.register("requests", "Requests that the budget paid for", crawl.requests.clone());
        let help = "Visits to pages, sitemaps and feeds (role), by what came of them";
        registry.register("looks", help, crawl.looks.clone());
        let help = "How long visits to pages took";
        registry.register_with_unit("look_duration", help, Unit::Seconds, crawl.look_time.clone());
        registry.register_with_unit("received", "What was received", Unit::Bytes, crawl.bytes.clone());
        registry.register("pages_found", "New pages that were found", crawl.found.clone());
        registry.register(
            "signals",
            "Changes that were announced, by the kind of signal",
            crawl.signals.clone(),
        );
        let help = "Signals after which the next look found a change";
        registry.register("signals_came_true", help, crawl.came_true.clone());
        let help = "Visits to sitemaps and feeds with something wrong in them";
        registry.register("complaints", help, crawl.complaints.clone());
        let help = "Changes of pages; a first copy is none, sitemaps and feeds are left out";
        registry.register("changes", help, crawl.changes.clone());
        registry.register("warnings", "What was not as it should be", crawl.warnings.clone());
        let help = "Decisions that the log leaves out, because they came too fast";
        registry.register("decisions_missed", help, crawl.missed.clone());
        crawl
    }
}

impl Fetchers {
    fn register(registry: &mut Registry) -> Self {
        let fetchers = Self::default();
        registry.register(
            "leases_given",
            "Fetches that were given to other fetchers",
            fetchers.given.clone(),
        );
        registry.register(
            "leases_answered",
            "Results of other fetchers that were taken",
            fetchers.results.clone(),
        );
        registry.register("leases_expired", "Leases that ended without a result", fetchers.expired.clone());
        registry.register(
            "leases_open",
            "Fetches that other fetchers have at the moment",
            fetchers.open.clone(),
        );
        fetchers
    }
}

/// A counter is told what it has come to. It never goes back.
fn reach(counter: &Counter, number: u64) {
    counter.inner().fetch_max(number, Ordering::Relaxed);
}

/// As the system has it, where it says so.
fn resident_memory() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: i64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
