use serde_json::Value;

use super::*;
use crate::made_up::MadeUp;

const GOLDEN: &str = include_str!("../../../core/tests/data/policies_small.json");

fn setting(rate: f64, horizon: f64) -> Setting {
    Setting::steady(rate, Span::from_secs(horizon), 1)
}

fn golden_pages(golden: &Value) -> Vec<Belief> {
    let number = |name: &str, page: usize| golden[name][page].as_f64().unwrap();
    let page = |page| {
        let belief = Belief::new(number("Delta", page), number("mu", page)).unwrap();
        belief.with_signals(number("lam", page), number("nu", page)).unwrap()
    };
    (0..20).map(page).collect()
}

/// Every pick of every policy, signals given.
#[test]
fn golden_picks() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let pages = golden_pages(&golden);
    let signals: Vec<(Time, u32)> = golden["signals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|signal| {
            let time = Time::ZERO + Span::from_secs(signal[0].as_f64().unwrap());
            (time, signal[1].as_u64().unwrap() as u32)
        })
        .collect();
    let names = ["greedy", "greedy-cis", "greedy-ncis", "approx-1", "approx-2", "lds"];
    for name in names {
        let upper = name.to_uppercase();
        let expected =
            if name == "lds" { &golden["LDS"]["picks"] } else { &golden["policies"][&upper]["picks"] };
        let expected: Vec<u32> =
            expected.as_array().unwrap().iter().map(|pick| pick.as_u64().unwrap() as u32).collect();
        let mut picks = Vec::new();
        let policy: Policy = name.parse().unwrap();
        let world = World::known(&pages, Some(&signals));
        run(policy, world, &setting(5.0, 20.0), |_, page| picks.push(page)).unwrap();
        assert_eq!(picks, expected, "{name}");
    }
}

/// The score against small steps of time.
#[test]
fn scores_are_integrals() {
    let pages = MadeUp::paper(12).draw(3).unwrap();
    let setting = Setting { from: Span::from_secs(1.5), ..setting(3.0, 15.0) };
    let drawn: Vec<(Time, u32)> =
        Signals::new(&pages, None, 9).take_while(|(time, _)| *time <= Time::ZERO + setting.horizon).collect();
    let mut picks = Vec::new();
    let policy = Policy::Value(ValueFunction::GreedyNcis);
    let run =
        run(policy, World::known(&pages, Some(&drawn)), &setting, |time, page| picks.push((time, page)))
            .unwrap();
    let (steps, mut sum, mut all) = (20_000, 0.0, 0.0);
    for step in 0..steps {
        let time = 1.5 + 13.5 * (f64::from(step) + 0.5) / f64::from(steps);
        let now = Time::ZERO + Span::from_secs(time);
        for (number, page) in pages.iter().enumerate() {
            let last =
                picks.iter().filter(|(at, pick)| *pick as usize == number && *at <= now).map(|(at, _)| *at);
            let last = last.max().unwrap_or(Time::ZERO);
            let signals =
                drawn.iter().filter(|(at, pick)| *pick as usize == number && *at > last && *at <= now);
            let nats = (page.recall() * page.change_rate() / page.false_rate()).ln_1p();
            let silent = (1.0 - page.recall()) * page.change_rate();
            let exponent = silent * now.since(last).as_secs() + nats * signals.count() as f64;
            sum += page.importance() * (-exponent).exp();
            all += page.importance();
        }
    }
    assert!((run.accuracy - sum / all).abs() < 2e-4, "{} {}", run.accuracy, sum / all);
}

/// Where the signals paper lands: differences to the optimum without signals.
#[test]
fn policies_land_where_the_paper_says() {
    let expected = [
        (100, 0.8319, vec![("greedy-cis", 0.0692), ("greedy-ncis", 0.0756), ("approx-1", 0.0754)]),
        (500, 0.5081, vec![("greedy-cis", -0.0690), ("greedy-ncis", 0.0377), ("approx-2", 0.0347)]),
    ];
    for (pages, baseline, rows) in expected {
        let policies: Vec<Policy> = rows.iter().map(|(name, _)| name.parse().unwrap()).collect();
        let setting = setting(100.0, 400.0);
        let instance = |repetition| Ok(MadeUp::paper(pages).draw(100 + repetition).unwrap());
        let results = repeat(&policies, 12, instance, None, &setting, || {}).unwrap();
        let (mean, error) = mean_and_error(results[0].baselines.iter().copied());
        assert!((mean - baseline).abs() < 4.0 * error + 1e-4, "{pages}: {mean} ± {error}");
        for (result, (name, difference)) in results.iter().zip(rows) {
            let (mean, error) = result.difference();
            assert!((mean - difference).abs() < 4.0 * error + 5e-4, "{pages}, {name}: {mean} ± {error}");
        }
    }
}

/// Without signals the discrete policies are as good as the continuous optimum, once they have settled.
#[test]
fn greedy_and_lds_reach_the_optimum() {
    let policies = [Policy::Value(ValueFunction::Greedy), Policy::LowDiscrepancy];
    let instance = |repetition| {
        let pages = MadeUp::paper(300).draw(repetition).unwrap();
        let plain = pages.iter().map(|page| Belief::new(page.change_rate(), page.importance()).unwrap());
        Ok(plain.collect())
    };
    let setting = Setting { from: Span::from_whole_secs(200), ..setting(100.0, 600.0) };
    for result in repeat(&policies, 4, instance, None, &setting, || {}).unwrap() {
        let (mean, _) = result.difference();
        assert!(mean.abs() < 5e-4, "{}: {mean}", result.policy);
    }
}

/// Peers' rules spend no more than their budget, and other policies all of it.
#[test]
fn everyone_runs() {
    let pages = MadeUp::paper(60).draw(5).unwrap();
    let scaled: Vec<Belief> = pages
        .iter()
        .map(|page| {
            let hour = 3600.0;
            let belief = Belief::new(page.change_rate() / hour, page.importance()).unwrap();
            belief.with_signals(page.recall(), page.false_rate() / hour).unwrap()
        })
        .collect();
    for policy in Policy::all().filter(|policy| !policy.needs_history()) {
        let run =
            run(policy, World::known(&scaled, None), &setting(20.0 / 3600.0, 100.0 * 3600.0), |_, _| {})
                .unwrap();
        assert!((0.0..=1.0).contains(&run.accuracy), "{policy}: {run:?}");
        assert_eq!(run.fetches, 2000, "{policy}");
    }
    assert_eq!(
        run(
            Policy::Refrain,
            World::known(&[Belief::new(1.0, 0.0).unwrap()], None),
            &setting(1.0, 9.0),
            |_, _| {}
        ),
        Err(SimulationError::Unimportant)
    );
}

/// Half the budget, or twice: ten units of time later the copies are as fresh as the new optimum.
#[test]
fn a_new_budget_is_soon_spent_as_it_should_be() {
    for then in [50.0, 200.0] {
        let setting = Setting {
            then: vec![(Span::from_whole_secs(100), then)],
            from: Span::from_whole_secs(110),
            ..setting(100.0, 300.0)
        };
        let instance = |seed| MadeUp::paper(500).draw(seed).map_err(SimulationError::Page);
        let found =
            repeat(&[Policy::Value(ValueFunction::Greedy)], 4, instance, None, &setting, || {}).unwrap();
        let (difference, error) = found[0].difference();
        assert!(difference.abs() < 0.002, "{then}: {difference} {error}");
        assert!((found[0].runs[0].fetches as f64 - (10_000.0 + 200.0 * then)).abs() < 3.0);
    }
    let setting = Setting { then: vec![(Span::from_whole_secs(1), 2.0)], ..setting(1.0, 9.0) };
    let planned = run(
        Policy::LowDiscrepancy,
        World::known(&[Belief::new(1.0, 1.0).unwrap()], None),
        &setting,
        |_, _| {},
    );
    assert_eq!(planned, Err(SimulationError::PlannedOnce));
}

/// With no delay the same signals come, and what is drawn has the mean that is integrated otherwise.
#[test]
fn drawn_changes_with_no_delay_are_the_same_world() {
    let pages = MadeUp::paper(100).draw(4).unwrap();
    let world = World::known(&pages, None);
    let exact = setting(100.0, 300.0);
    let step = Span::from_secs(0.01);
    let drawn = Setting { late: Some(Lateness { steps: 0.0, step }), ..exact.clone() };
    let late = Setting { late: Some(Lateness { steps: 6.0, step }), ..exact.clone() };
    let policy = Policy::Value(ValueFunction::GreedyNcis);
    let trial = |setting: &Setting| {
        let mut picks = Vec::new();
        let run = run(policy, world, setting, |_, page| picks.push(page)).unwrap();
        (run.accuracy, picks)
    };
    let (exact, drawn, late) = (trial(&exact), trial(&drawn), trial(&late));
    assert_eq!(exact.1, drawn.1);
    assert!((exact.0 - drawn.0).abs() < 0.004, "{} {}", exact.0, drawn.0);
    assert!(late.0 < drawn.0 - 0.005, "{} {}", late.0, drawn.0);
}

/// A signal that comes long after what it announces: by then the copy has been stale, whatever the model says.
#[test]
fn changes_happen_before_their_signals_come() {
    let page = Belief::new(1.0, 1.0).unwrap().with_signals(1.0, 0.0).unwrap();
    let (pages, step) = ([page], Span::from_whole_secs(1));
    let signals = [(Time::ZERO + Span::from_whole_secs(10), 0)];
    let world = World::known(&pages, Some(&signals));
    let setting = Setting { late: Some(Lateness { steps: 1e-9, step }), ..setting(1e-3, 40.0) };
    // Never fetched: fresh for 10 of 40 seconds.
    let run = run(Policy::Refrain, world, &setting, |_, _| {}).unwrap();
    assert_eq!((run.fetches, run.accuracy), (0, 0.25));
}

/// What a policy believes moves its picks, and what is true decides what they earn.
#[test]
fn wrong_beliefs_cost() {
    let pages = MadeUp::paper(200).draw(8).unwrap();
    let mut shuffled = pages.clone();
    shuffled.rotate_left(1);
    let policy = Policy::Value(ValueFunction::GreedyNcis);
    let earned = |believed: &[Belief]| {
        let world = World { pages: &pages, believed, signals: None };
        run(policy, world, &setting(100.0, 100.0), |_, _| {}).map(|run| run.accuracy)
    };
    assert!(earned(&shuffled).unwrap() < earned(&pages).unwrap() - 0.02);
    let apart = SimulationError::BeliefsApart { pages: 200, believed: 3 };
    assert_eq!(earned(&pages[..3]), Err(apart));
}

/// The freshness of stretches of time has the freshness of all as its mean.
#[test]
fn stretches_add_up() {
    let pages = MadeUp::paper(50).draw(2).unwrap();
    let setting = Setting {
        then: vec![(Span::from_whole_secs(10), 60.0), (Span::from_whole_secs(20), 5.0)],
        every: Some(Span::from_secs(2.5)),
        ..setting(20.0, 30.0)
    };
    let run = run(Policy::Refrain, World::known(&pages, None), &setting, |_, _| {}).unwrap();
    assert_eq!(run.series.len(), 12);
    assert!((run.series.iter().sum::<f64>() / 12.0 - run.accuracy).abs() < 1e-9);
    assert!(run.series[6] > run.series[3] && run.series[11] < run.series[3], "{:?}", run.series);
    assert!((run.fetches as f64 - 850.0).abs() < 4.0, "{}", run.fetches);
}
