//! Plans against golden figures, brute force and the rules.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::time::Span;

mod best;

const DAY: Span = Span::from_whole_secs(86_400);
const POLITENESS: Span = Span::from_whole_secs(15);
const CRAWLERS: [Span; 10] = [Span::from_whole_secs(1); 10];

/// Sizes of hosts by Zipf's law, rounded so that the largest remainders get one more.
fn zipf_sizes(pages: usize, hosts: usize, theta: f64) -> Vec<usize> {
    let weights: Vec<f64> = (1..=hosts).map(|k| (k as f64).powf(-theta)).collect();
    let total: f64 = weights.iter().sum();
    let shares: Vec<f64> = weights.iter().map(|weight| weight / total * pages as f64).collect();
    let mut sizes: Vec<usize> = shares.iter().map(|share| *share as usize).collect();
    let mut order: Vec<usize> = (0..hosts).collect();
    order.sort_by(|a, b| shares[*b].fract().total_cmp(&shares[*a].fract()).then(a.cmp(b)));
    for host in order.into_iter().take(pages - sizes.iter().sum::<usize>()) {
        sizes[host] += 1;
    }
    sizes
}

/// The instance without randomness: rates per hour, spread by the golden ratio.
fn instance(pages: usize, hosts: usize, theta: f64, rate: impl Fn(f64) -> f64) -> Problem {
    let host_of: Vec<u32> = zipf_sizes(pages, hosts, theta)
        .into_iter()
        .enumerate()
        .flat_map(|(host, size)| std::iter::repeat_n(host as u32, size))
        .collect();
    let spread = |page: usize| ((page as f64 + 0.5) * 0.618_033_988_749_894_9).fract();
    let pages: Vec<PlanPage> =
        (0..pages).map(|page| PlanPage::new(rate(spread(page)) / 3600.0, 1.0).unwrap()).collect();
    let budget = 864_000 * pages.len() as u64 / 100_000;
    Problem::new(DAY, budget, &pages, &host_of, &vec![POLITENESS; hosts]).unwrap()
}

fn uniform(spread: f64) -> f64 {
    0.01 + 0.99 * spread
}

/// The staleness with crawlers, and how many fetches were dropped.
fn planned(problem: &Problem, allocation: &Allocation, timing: Timing) -> (f64, u64) {
    let mut programme = allocation.programme(problem, timing, &CRAWLERS);
    let assigned = programme.assign(problem, &CRAWLERS, |_| {});
    (programme.staleness(problem), assigned.dropped)
}

#[test]
fn golden_plans() {
    let golden: Value = serde_json::from_str(include_str!("../../../tests/data/psp_100k.json")).unwrap();
    for theta in [0.0, 1.0] {
        let golden = &golden[format!("theta={theta}")];
        let near = |name: &str, value: f64, tolerance: f64| {
            let expected = golden[name].as_f64().unwrap();
            assert!(
                (value - expected).abs() <= tolerance,
                "theta {theta}, {name}: {value} instead of {expected}"
            );
        };
        let problem = instance(100_000, 200, theta, uniform);
        let (polite, impolite) = (problem.allocate_by_paper(), problem.allocate_impolitely());
        near("WP", problem.allocate().staleness(&problem), 1e-9);
        near("WP", polite.staleness(&problem), 1e-9);
        near("NonPolite", impolite.staleness(&problem), 1e-9);
        near("used", polite.total() as f64, 0.0);
        let none =
            |allocation: &Allocation| (0..100_000).filter(|page| allocation.fetches(*page) == 0).count();
        near("zero_pages_WP", none(&polite) as f64, 0.0);
        near("zero_pages_NP", none(&impolite) as f64, 0.0);
        let full = problem.hosts().iter().filter(|host| {
            host.pages().map(|page| u64::from(polite.fetches(page))).sum::<u64>() == host.most(DAY)
        });
        near("sat_servers", full.count() as f64, 0.0);
        let merged = polite.programme(&problem, Timing::Merged, &CRAWLERS);
        near("InfCrawlers", merged.staleness(&problem), 1e-8);
        for (name, allocation, timing) in [
            ("PSP", &polite, Timing::Merged),
            ("MP2", &polite, Timing::Ideal),
            ("MWolf", &impolite, Timing::Ideal),
        ] {
            let (staleness, dropped) = planned(&problem, allocation, timing);
            near(name, staleness, 1e-5);
            near(&format!("{name}_unexec"), dropped as f64, 0.0);
        }
    }
}

/// Refrain's plan is closer to the bound than the paper's, for hosts and rates of all kinds.
#[test]
fn balanced_plans_are_better() {
    type Rate = fn(f64) -> f64;
    let rates: [(&str, Rate); 4] = [
        ("uniform", uniform),
        // Zipf's law: the rate of the page at this share of the ranks.
        ("zipf 0.5", |spread| 0.05 * (spread + 1e-4).powf(-0.5)),
        ("zipf 1", |spread| 0.01 / (spread + 1e-4)),
        ("zipf 1.5", |spread| 0.002 * (spread + 1e-4).powf(-1.5)),
    ];
    for theta in [0.0, 0.5, 1.0, 1.5] {
        for (name, rate) in rates {
            let problem = instance(2_000, 4, theta, rate);
            let allocation = problem.allocate();
            let (psp, _) = planned(&problem, &allocation, Timing::Merged);
            let balanced = problem.plan(&CRAWLERS).staleness;
            let bound = allocation.staleness(&problem);
            assert!(bound <= balanced && balanced < psp, "theta {theta}, {name}: {bound} {balanced} {psp}");
        }
    }
}

/// A few pages on a few hosts, and crawlers that are fast or slow.
fn small() -> impl Strategy<Value = (Problem, Vec<Span>)> {
    let page = (
        prop_oneof![Just(0.0), 1e-6f64..1e-2],
        prop_oneof![1 => Just(0.0), 4 => 0.1f64..10.0],
        prop_oneof![Just(0.0), 0f64..5000.0, Just(f64::INFINITY)],
        0u32..3,
    );
    let gaps = proptest::collection::vec(prop_oneof![Just(0u64), 1u64..400, Just(100_000)], 3);
    let crawlers = proptest::collection::vec(1u64..200_000, 1..4);
    (proptest::collection::vec(page, 0..30), gaps, 0u64..120, 1f64..5000.0, crawlers).prop_map(
        |(pages, gaps, budget, horizon, crawlers)| {
            let host_of: Vec<u32> = pages.iter().map(|page| page.3).collect();
            let pages: Vec<PlanPage> = pages
                .iter()
                .map(|(rate, importance, age, _)| {
                    PlanPage::new(*rate, *importance).unwrap().fetched_before(*age).unwrap()
                })
                .collect();
            let gaps: Vec<Span> = gaps.into_iter().map(Span::from_whole_secs).collect();
            let problem = Problem::new(Span::from_secs(horizon), budget, &pages, &host_of, &gaps).unwrap();
            (problem, crawlers.into_iter().map(Span::from_millis).collect())
        },
    )
}

fn host_of(problem: &Problem, page: usize) -> usize {
    problem.hosts().iter().position(|host| host.pages().contains(&page)).unwrap()
}

proptest! {
    /// The price search gives what taking the greatest gain each time gives.
    #[test]
    fn allocations_are_greedy((problem, _) in small()) {
        let horizon = problem.horizon().as_secs();
        let allocation = problem.allocate();
        let mut counts = vec![0u64; problem.pages().len()];
        let mut room: Vec<u64> = problem.hosts().iter().map(|host| host.most(problem.horizon())).collect();
        let stale = |page: usize| (problem.pages()[page].importance(), problem.pages()[page].stale_time(horizon));
        let gain = |page: usize, count: u64| stale(page).0 * stale(page).1.gain(count);
        for _ in 0..problem.budget() {
            let open = (0..counts.len()).filter(|page| room[host_of(&problem, *page)] > 0);
            let best = open.max_by(|a, b| gain(*a, counts[*a]).total_cmp(&gain(*b, counts[*b])));
            let Some(page) = best.filter(|page| gain(*page, counts[*page]) > 0.0) else { break };
            counts[page] += 1;
            room[host_of(&problem, page)] -= 1;
        }
        prop_assert_eq!(allocation.total(), counts.iter().sum::<u64>());
        let cost = |count: &dyn Fn(usize) -> u64| -> f64 {
            (0..counts.len()).map(|page| stale(page).0 * stale(page).1.least(count(page))).sum()
        };
        let (ours, greedy) = (cost(&|page| u64::from(allocation.fetches(page))), cost(&|page| counts[page]));
        prop_assert!((ours - greedy).abs() <= 1e-9 * (1.0 + greedy), "{} {}", ours, greedy);
    }

    /// Whatever the timing: no host is asked too soon, no crawler does two things at once, nothing happens outside the horizon, every
    /// fetch is made once or dropped, and no plan beats the bound.
    #[test]
    fn plans_keep_the_rules((problem, crawlers) in small()) {
        for timing in [Timing::Ideal, Timing::Merged, Timing::Balanced] {
            let allocation = problem.allocate();
            let mut programme = allocation.programme(&problem, timing, &crawlers);
            prop_assert_eq!(programme.len(), allocation.total());
            let mut made = Vec::new();
            let assigned =
                programme.assign(&problem, &crawlers, |fetch| made.push((fetch.time, fetch.crawler, fetch.page())));
            prop_assert_eq!(assigned.executed as usize, made.len());
            prop_assert_eq!(assigned.executed + assigned.dropped, allocation.total());
            let mut asked = vec![None; problem.hosts().len()];
            let mut busy = vec![0u64; crawlers.len()];
            let mut counts = vec![0u32; problem.pages().len()];
            let mut before = 0;
            for (time, crawler, given) in made {
                prop_assert!(time >= before && time < problem.horizon().as_nanos());
                before = time;
                prop_assert!(time >= busy[crawler as usize]);
                busy[crawler as usize] = time + crawlers[crawler as usize].as_nanos();
                let page = (0..problem.pages().len()).find(|page| problem.given(*page) == given).unwrap();
                counts[page] += 1;
                // The balanced timing chooses other pages, too.
                prop_assert!(timing == Timing::Balanced || counts[page] <= allocation.fetches(page));
                let host = host_of(&problem, page);
                if let Some(last) = asked[host].replace(time) {
                    prop_assert!(time - last >= problem.hosts()[host].gap().as_nanos());
                }
            }
            let staleness = programme.staleness(&problem);
            prop_assert!(staleness >= allocation.staleness(&problem) - 1e-9 && staleness <= 1.0 + 1e-9);
            let timeline = programme.timeline(&problem, 7);
            prop_assert_eq!(timeline.fetches.iter().sum::<u64>(), assigned.executed);
            prop_assert!(timeline.staleness.iter().all(|part| (-1e-9..=1.0 + 1e-9).contains(part)));
        }
    }
}
