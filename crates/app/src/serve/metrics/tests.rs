use std::collections::{BTreeMap, HashSet};

use refrain_core::time::Span;
use refrain_engine::Heard;
use refrain_store::{Outcome, Role, Seq};

use super::*;

/// A number with its name and labels, as Prometheus reads it.
#[derive(Debug)]
struct Sample {
    name: String,
    labels: BTreeMap<String, String>,
    value: f64,
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// `{a="x",b="y"}`
fn labels(text: &str) -> BTreeMap<String, String> {
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).expect("braces");
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').expect("a label");
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).expect("quotes");
        assert!(is_name(name), "{pair}");
        (name.to_owned(), value.to_owned())
    };
    inside.split(',').map(pair).collect()
}

/// Reads the exposition format, strictly: every family is introduced before its numbers, has its kind of names, and all ends with an end.
fn parse(text: &str) -> Vec<Sample> {
    let text = text.strip_suffix("# EOF\n").expect("an end");
    let mut samples: Vec<Sample> = Vec::new();
    let (mut helped, mut family, mut kind) = (HashSet::new(), "", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let (what, rest) = rest.split_once(' ').expect("a word");
            let (name, said) = rest.split_once(' ').expect("a name");
            match what {
                "HELP" => assert!(helped.insert(name) && said.ends_with('.'), "{line}"),
                "TYPE" => (family, kind) = (name, said),
                "UNIT" => assert!(name == family && name.ends_with(said), "{line}"),
                _ => panic!("{line}"),
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a number");
        let (name, labels) = match name.find('{') {
            Some(at) => (&name[..at], labels(&name[at..])),
            None => (name, BTreeMap::new()),
        };
        let ending = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} is not of {family}"));
        let endings: &[&str] = match kind {
            "counter" => &["_total"],
            "gauge" => &[""],
            "histogram" => &["_bucket", "_sum", "_count"],
            _ => panic!("{kind}"),
        };
        assert!(helped.contains(family) && endings.contains(&ending) && is_name(name), "{line}");
        assert!(name.starts_with("refrain_"), "{line}");
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("{line}"));
        samples.push(Sample { name: name.to_owned(), labels, value });
    }
    samples
}

/// The only number with this name and these labels.
#[track_caller]
fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let fits = |sample: &&Sample| {
        sample.name == name
            && labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|is| is == value))
    };
    let found: Vec<&Sample> = samples.iter().filter(fits).collect();
    assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
    found[0].value
}

fn looked(outcome: Outcome, role: Role, seconds: f64) -> Told {
    Told::Looked {
        time: Time::ZERO,
        url: "http://a.example/".to_owned(),
        role,
        outcome,
        note: None,
        status: Some(200),
        bytes: 1000,
        took: Span::from_secs(seconds),
    }
}

fn pulse() -> Told {
    let summary = Summary {
        changed: 1,
        requests: 40,
        came_true: 2,
        hubs: 3,
        pages: 100,
        hosts: 7,
        under_way: 5,
        price: Some(1.5),
        found: 11,
        given: 10,
        taken: 7,
        given_up: 2,
        missed_decisions: 6,
        leased: 1,
        ..Summary::default()
    };
    Told::Pulse(Box::new(Pulse {
        time: Time::ZERO,
        summary,
        rate: 2.5,
        waiting: 9,
        freshness: Some(0.75),
        under_way: Vec::new(),
        backed_off: 4,
        hosts: Vec::new(),
    }))
}

/// Everything was counted once at least.
fn busy() -> Metrics {
    let metrics = Metrics::new(Time::ZERO + Span::from_whole_secs(1_763_356_200));
    metrics.hear(&looked(Outcome::Changed, Role::Page, 0.03));
    metrics.hear(&looked(Outcome::Changed, Role::Sitemap, 3.0));
    metrics.hear(&looked(Outcome::NotModified, Role::Page, 0.001));
    let announced = |kind, signals| Told::Announced {
        time: Time::ZERO,
        url: "http://a.example/sitemap.xml".to_owned(),
        kind,
        signals,
        found: 0,
    };
    metrics.hear(&announced(Kind::Sitemap, 6));
    metrics.hear(&announced(Kind::WebSub, 1));
    metrics.hear(&Told::Changes(Seq(17)));
    metrics.hear(&Told::Warning("it rains".to_owned()));
    metrics.hear(&pulse());
    metrics.hear(&pulse());
    metrics.pushed(Kind::IndexNow, Verdict::Heard(Heard::News), 3);
    metrics.pushed(Kind::IndexNow, Verdict::Refused, 1);
    metrics.pushed(Kind::WebSub, Verdict::Heard(Heard::News), 1);
    metrics.served(Some("/v1/pages/{id}"), "GET", 200, 0.002);
    metrics.served(Some("/v1/pages/{id}"), "GET", 404, 0.001);
    metrics.served(None, "BREW", 404, 0.001);
    metrics
}

#[test]
fn what_happens_is_counted() {
    let text = busy().text();
    let samples = parse(&text);
    for (name, labels, expected) in [
        ("refrain_pages", &[][..], 100.0),
        ("refrain_hosts", &[], 7.0),
        ("refrain_hubs", &[], 3.0),
        ("refrain_pages_waiting", &[], 9.0),
        ("refrain_expected_freshness_ratio", &[], 0.75),
        ("refrain_price", &[], 1.5),
        ("refrain_budget_requests_per_second", &[], 2.5),
        ("refrain_fetches_under_way", &[], 5.0),
        ("refrain_hosts_backed_off", &[], 4.0),
        ("refrain_requests_total", &[], 40.0),
        ("refrain_pages_found_total", &[], 11.0),
        ("refrain_looks_total", &[("outcome", "changed"), ("role", "page")], 1.0),
        ("refrain_looks_total", &[("outcome", "changed"), ("role", "sitemap")], 1.0),
        ("refrain_looks_total", &[("outcome", "not modified"), ("role", "page")], 1.0),
        ("refrain_look_duration_seconds_count", &[], 3.0),
        ("refrain_look_duration_seconds_sum", &[], 3.031),
        ("refrain_look_duration_seconds_bucket", &[("le", "0.04")], 2.0),
        ("refrain_look_duration_seconds_bucket", &[("le", "+Inf")], 3.0),
        ("refrain_received_bytes_total", &[], 3000.0),
        ("refrain_signals_total", &[("kind", "sitemap")], 6.0),
        ("refrain_signals_total", &[("kind", "indexnow")], 3.0),
        ("refrain_signals_total", &[("kind", "websub")], 1.0),
        ("refrain_signals_came_true_total", &[], 2.0),
        ("refrain_complaints_total", &[], 0.0),
        ("refrain_changes_total", &[], 1.0),
        ("refrain_warnings_total", &[], 1.0),
        ("refrain_decisions_missed_total", &[], 6.0),
        ("refrain_pushes_total", &[("kind", "indexnow"), ("verdict", "news")], 3.0),
        ("refrain_pushes_total", &[("kind", "indexnow"), ("verdict", "refused")], 1.0),
        ("refrain_leases_given_total", &[], 10.0),
        ("refrain_leases_answered_total", &[], 7.0),
        ("refrain_leases_expired_total", &[], 2.0),
        ("refrain_leases_open", &[], 1.0),
        (
            "refrain_http_requests_total",
            &[("route", "/v1/pages/{id}"), ("method", "GET"), ("status", "404")],
            1.0,
        ),
        ("refrain_http_requests_total", &[("route", "other"), ("method", "other")], 1.0),
        ("refrain_http_request_duration_seconds_count", &[("route", "/v1/pages/{id}")], 2.0),
        ("refrain_process_start_time_seconds", &[], 1_763_356_200.0),
    ] {
        let found = value(&samples, name, labels);
        assert!((found - expected).abs() < 1e-9, "{name} {labels:?}: {found}, not {expected}");
    }
    assert!(value(&samples, "refrain_resident_memory_bytes", &[]) > 1e6);
    assert!(!text.contains("example"), "no addresses: {text}");
}

#[test]
fn buckets_rise_to_the_count() {
    let samples = parse(&busy().text());
    let buckets: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.name == "refrain_look_duration_seconds_bucket")
        .map(|sample| sample.value)
        .collect();
    assert!(buckets.len() > 10 && buckets.is_sorted(), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&3.0));
}

#[test]
fn at_first_there_is_little_to_say() {
    let samples = parse(&Metrics::new(Time::ZERO).text());
    assert!(value(&samples, "refrain_expected_freshness_ratio", &[]).is_nan());
    assert_eq!(value(&samples, "refrain_requests_total", &[]), 0.0);
}

/// The dashboard asks for nothing that is not there, and shows all that is.
#[test]
fn the_dashboard_knows_the_names() {
    let known: HashSet<String> = parse(&busy().text()).into_iter().map(|sample| sample.name).collect();
    let dashboard = include_str!("../../../../../contrib/grafana/refrain.json");
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let mut asked = HashSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let words =
                target["expr"].as_str().unwrap().split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            asked.extend(words.filter(|word| word.starts_with("refrain_")).map(str::to_owned));
        }
    }
    let strangers: Vec<_> = asked.difference(&known).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    let family = |name: &str| {
        let endings = ["_bucket", "_sum", "_count"];
        endings.into_iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
    };
    let shown: HashSet<String> = asked.iter().map(|name| family(name)).collect();
    let hidden: Vec<String> =
        known.iter().map(|name| family(name)).filter(|name| !shown.contains(name)).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}
