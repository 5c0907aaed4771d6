//! The figures of an independent implementation: crawl values, the optimum and the low-discrepancy schedule.

use std::num::NonZeroU32;

use refrain_core::optimum::lds::LowDiscrepancy;
use refrain_core::optimum::{Page, SignalPage, allocate};
use refrain_core::page::Belief;
use refrain_core::value::signals::SignalModel;
use refrain_core::value::{CrawlValue, Greedy, GreedyCis, GreedyNcis};
use serde_json::Value;

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let scale = expected.abs().max(f64::MIN_POSITIVE);
    assert!((found - expected).abs() <= tolerance * scale, "{what}: {found}, not {expected}");
}

#[test]
fn crawl_values() {
    let golden: Value = serde_json::from_str(include_str!("data/crawl_values.json")).unwrap();
    let points = golden["points"].as_array().unwrap();
    assert_eq!(points.len(), 28);
    for point in points {
        let f = |key: &str| point[key].as_f64().unwrap();
        let (elapsed, signals) = (f("tau"), f("n") as u32);
        let belief = Belief::new(f("Delta"), 1.0).unwrap().with_signals(f("lam"), f("nu")).unwrap();
        let approximate = |terms| GreedyNcis::approximate(&belief, NonZeroU32::new(terms).unwrap());
        let what = point.to_string();
        let check =
            |value: &dyn CrawlValue, key: &str| close(value.value(elapsed, signals), f(key), 1e-10, &what);
        check(&Greedy::new(&belief), "V_greedy");
        check(&GreedyCis::new(&belief), "V_cis");
        check(&GreedyNcis::new(&belief), "V_ncis");
        check(&approximate(1), "V_app1");
        check(&approximate(2), "V_app2");
        let model = SignalModel::of(&belief);
        let exponent = model.exponent(elapsed, signals);
        // The golden ψ and w are functions of ι; where α is 5e-10, rounding of ι alone costs some digits.
        close(exponent / model.unsignalled_rate(), f("iota"), 1e-9, &what);
        let cycle = model.cycle(exponent);
        let tolerance = if f("lam") > 0.999 { 1e-6 } else { 1e-10 };
        close(cycle.length, f("psi"), tolerance, &what);
        close(cycle.fresh, f("w"), tolerance, &what);
    }
}

struct Small {
    golden: Value,
    beliefs: Vec<Belief>,
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::INFINITY)).collect()
}

fn small() -> Small {
    let golden: Value = serde_json::from_str(include_str!("data/policies_small.json")).unwrap();
    let column = |key: &str| numbers(&golden[key]);
    let (delta, mu, lam, nu) = (column("Delta"), column("mu"), column("lam"), column("nu"));
    let beliefs = (0..delta.len())
        .map(|i| Belief::new(delta[i], mu[i]).unwrap().with_signals(lam[i], nu[i]).unwrap())
        .collect();
    Small { golden, beliefs }
}

#[test]
fn optimum_without_signals() {
    let Small { golden, beliefs } = small();
    let pages: Vec<Page> = beliefs.iter().map(Page::of).collect();
    let optimum = allocate(&pages, 5.0).unwrap();
    let expected = &golden["baseline"];
    close(optimum.price, expected["Lambda_unnormalised_mu"].as_f64().unwrap(), 1e-9, "price");
    close(optimum.freshness, expected["acc"].as_f64().unwrap(), 1e-9, "freshness");
    close(optimum.rate, 5.0, 1e-10, "rate");
    for (visit, rate) in optimum.visits.iter().zip(numbers(&expected["xi"])) {
        close(visit.rate, rate, 1e-8, "a page's rate");
    }
}

#[test]
fn optimum_with_signals() {
    let Small { golden, beliefs } = small();
    let pages: Vec<SignalPage> = beliefs.iter().map(SignalPage::of).collect();
    let optimum = allocate(&pages, 5.0).unwrap();
    let expected = &golden["cont_ncis"];
    close(optimum.price, expected["Lambda_unnormalised_mu"].as_f64().unwrap(), 1e-9, "price");
    close(optimum.freshness, expected["acc"].as_f64().unwrap(), 1e-9, "freshness");
    for (visit, rate) in optimum.visits.iter().zip(numbers(&expected["f"])) {
        close(visit.rate, rate, 1e-8, "a page's rate");
    }
    for (page, iota) in pages.iter().zip(numbers(&expected["iota"])) {
        let wait = page.longest_wait(optimum.price).unwrap_or(f64::INFINITY);
        assert!(wait == iota || (wait / iota - 1.0).abs() < 1e-8, "{wait} {iota}");
    }
}

#[test]
fn low_discrepancy_schedule() {
    let Small { golden, .. } = small();
    let picks: Vec<usize> = golden["LDS"]["picks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pick| pick.as_u64().unwrap() as usize)
        .collect();
    let rates = numbers(&golden["baseline"]["xi"]);
    let found: Vec<usize> = LowDiscrepancy::new(&rates).unwrap().take(picks.len()).collect();
    assert_eq!(found, picks);
}
