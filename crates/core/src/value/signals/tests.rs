use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;

const HARD: &str = include_str!("../../../tests/data/crawl_values_hard.csv");

struct Point {
    delta: f64,
    recall: f64,
    nu: f64,
    elapsed: f64,
    signals: u32,
    ncis: f64,
    approx2: f64,
    cis: f64,
    psi: f64,
    w: f64,
}

fn hard_points() -> Vec<Point> {
    HARD.lines()
        .skip(1)
        .map(|line| {
            let f: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            Point {
                delta: f[0],
                recall: f[1],
                nu: f[2],
                elapsed: f[3],
                signals: f[4] as u32,
                ncis: f[5],
                approx2: f[6],
                cis: f[7],
                psi: f[8],
                w: f[9],
            }
        })
        .collect()
}

/// |a/b - 1|, where both may be 0.
fn error(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b).abs() / b.abs().max(1e-300) }
}

#[test]
fn agrees_with_120_digits_where_double_precision_is_hard() {
    let two = NonZeroU32::new(2).unwrap();
    let points = hard_points();
    assert_eq!(points.len(), 1006);
    for p in &points {
        let model = SignalModel::new(p.delta, p.recall, p.nu);
        let state = model.state(p.elapsed, p.signals);
        let cycle = if model.nats == 0.0 { model.cycle(state.exponent) } else { model.cycle_at(state) };
        let trusting = SignalModel::new(p.delta, p.recall, 0.0);
        let cis = if p.signals > 0 { trusting.supremum() } else { trusting.value(p.elapsed, 0) };
        let found = [
            ("ncis", model.value(p.elapsed, p.signals), p.ncis),
            ("approx-2", model.truncated(two).value(p.elapsed, p.signals), p.approx2),
            ("cis", cis, p.cis),
            ("psi", cycle.length, p.psi),
            ("w", cycle.fresh, p.w),
        ];
        for (name, ours, exact) in found {
            let Point { delta, recall, nu, elapsed, signals, .. } = p;
            assert!(
                error(ours, exact) < 2e-13,
                "{name} at {delta} {recall} {nu}, {elapsed} {signals}: {ours}, not {exact}"
            );
        }
    }
}

/// Changing pages of every kind, from no signals at all to nothing but signals.
fn models() -> impl Strategy<Value = SignalModel> {
    let recall = prop_oneof![
        Just(0.0),
        Just(1.0),
        0.0..1.0,
        (-12f64..-1.0).prop_map(|e| 10f64.powf(e)),
        (-12f64..-1.0).prop_map(|e| 1.0 - 10f64.powf(e)),
    ];
    let false_share = prop_oneof![Just(0.0), (-9f64..4.0).prop_map(|e| 10f64.powf(e))];
    ((-8f64..8.0), recall, false_share).prop_map(|(exponent, recall, share)| {
        let delta = 10f64.powf(exponent);
        SignalModel::new(delta, recall, share * delta)
    })
}

/// The same, and their approximations.
fn any_models() -> impl Strategy<Value = SignalModel> {
    let terms = prop_oneof![Just(None), (1u32..6).prop_map(NonZeroU32::new)];
    (models(), terms).prop_map(|(model, terms)| SignalModel { terms, ..model })
}

/// Elapsed times in units of the mean time between changes, from next to nothing to nearly for ever.
fn elapsed() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(f64::INFINITY), (-12f64..12.0).prop_map(|e| 10f64.powf(e))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn value_is_a_number_and_grows(model in any_models(), elapsed in elapsed(), signals in 0u32..400) {
        let tau = elapsed / model.delta;
        let here = model.value(tau, signals);
        prop_assert!(here.is_finite() && here >= 0.0);
        prop_assert!(here <= model.supremum() * (1.0 + 1e-12));
        let slack = 1.0 - 1e-12;
        prop_assert!(model.value(tau * 1.001, signals) >= here * slack);
        prop_assert!(model.value(tau, signals + 1) >= here * slack);
    }

    #[test]
    fn early_moments_are_early_by_little(
        model in any_models(),
        signals in 0u32..40,
        share in prop_oneof![1e-9f64..0.999_999, (-12f64..-0.001).prop_map(|digits| 10f64.powf(digits))],
        tolerance in prop_oneof![Just(1e-3), Just(1e-2)],
    ) {
        let target = share * model.supremum();
        let (early, exact) = (model.moment_early(target, signals, tolerance), model.moment(target, signals));
        prop_assert_eq!(early.is_some(), exact.is_some());
        if let Some((early, exact)) = early.zip(exact) {
            prop_assert!(early <= exact * (1.0 + 1e-9), "{early} {exact}");
            let exponents = [early, exact].map(|moment| model.exponent(moment, signals));
            prop_assert!(exponents[0] >= exponents[1] * (1.0 - 3.0 * tolerance), "{exponents:?}");
            prop_assert!(early == 0.0 || model.value(early, signals) <= target * (1.0 + 1e-9));
        }
    }

    #[test]
    fn moment_is_the_inverse(model in any_models(), signals in 0u32..40, share in 1e-9f64..0.999_999) {
        let target = share * model.supremum();
        let Some(moment) = model.moment(target, signals) else {
            // Only where waiting does nothing.
            prop_assert!(model.alpha == 0.0);
            return Ok(());
        };
        let reached = model.value(moment, signals);
        if moment == 0.0 {
            prop_assert!(reached >= target * (1.0 - 1e-10));
        } else {
            prop_assert!(error(reached, target) < 1e-9, "{reached} for {target} at {moment}");
        }
    }

    #[test]
    fn no_moment_beyond_the_supremum(model in any_models(), factor in 1.0f64..10.0) {
        prop_assert_eq!(model.moment(factor * model.supremum(), 0), None);
    }

    /// w' = e^{-αι} ψ' and V' = α e^{-αι} ψ: the value's slope in q is e^{-q} ψ.
    #[test]
    fn slopes_are_the_sums(model in models(), q in 1e-4f64..20.0) {
        if model.alpha <= 1e-6 * model.delta {
            return Ok(());
        }
        // With many signals per unannounced change, ψ is a rounded staircase: look at less than a stair.
        let stair = model.nats / (1.0 + model.gamma * model.nats / model.alpha);
        let step = 1e-4 * if stair > 0.0 { q.min(stair) } else { q };
        let (low, high) = (model.cycle(q - step), model.cycle(q + step));
        let value = |q: f64| model.value_at(model.threshold_state(q)).value;
        let rise = value(q + step) - value(q - step);
        let expected = 2.0 * step * (-q).exp() * model.cycle(q).length;
        prop_assert!((rise - expected).abs() <= 1e-5 * expected + 2e-13 / model.delta, "{rise} {expected}");
        let fresh = high.fresh - low.fresh;
        let lasting = (-q).exp() * (high.length - low.length);
        prop_assert!((fresh - lasting).abs() <= 1e-3 * fresh + 2e-13 * high.fresh, "{fresh} {lasting}");
    }

    #[test]
    fn a_higher_threshold_means_fewer_fetches(model in models(), q in 1e-9f64..40.0) {
        let (low, high) = (model.cycle(q), model.cycle(1.01 * q));
        prop_assert!(high.rate() <= low.rate() * (1.0 + 1e-12));
        prop_assert!(high.freshness() <= low.freshness() * (1.0 + 1e-9));
        prop_assert!((0.0..=1.0).contains(&low.freshness()));
    }
}

#[test]
fn limits_are_ordinary_inputs() {
    let (delta, tau) = (0.7, 2.5);
    let greedy = g(delta * tau) / delta;
    // Recall 0: false signals say nothing, however many there are.
    assert_eq!(SignalModel::new(delta, 0.0, 3.0).value(tau, 9), greedy);
    assert_eq!(SignalModel::new(delta, 0.0, 0.0).value(tau, 9), greedy);
    // A recall that is nearly 0 is nearly that.
    let nearly = SignalModel::new(delta, 1e-13, 3.0).value(tau, 0);
    assert!(error(nearly, greedy) < 1e-11, "{nearly} {greedy}");
    // Recall 1: V depends on the signals alone, V_n = [(1-ρ^n)/(1-ρ) - nρ^n]/γ.
    let all = SignalModel::new(delta, 1.0, 0.4);
    let rho: f64 = 0.4 / 1.1;
    for n in [0u32, 1, 2, 5, 30] {
        let power = rho.powi(n as i32);
        let expected = ((1.0 - power) / (1.0 - rho) - f64::from(n) * power) / 1.1;
        for tau in [0.0, tau, 1e9] {
            assert!((all.value(tau, n) - expected).abs() < 1e-14);
        }
    }
    // Signals that are never false: one is proof.
    let honest = SignalModel::new(delta, 0.5, 0.0);
    assert_eq!(honest.value(0.0, 1), honest.supremum());
    // A page that never changes is worth nothing, ever.
    let dead = SignalModel::new(0.0, 0.5, 1.0);
    assert_eq!((dead.value(1e9, 5), dead.supremum(), dead.moment(1e-9, 5)), (0.0, 0.0, None));
}

/// A million weak signals do not mean a million terms.
#[test]
fn a_flood_of_signals_stays_cheap_and_right() {
    let model = SignalModel::new(1e-3, 0.5, 1e4);
    let flooded = model.value(100.0, 1_000_000);
    assert!(flooded > model.value(100.0, 999_999) && flooded < model.supremum());
    let every_change = SignalModel::new(1e-3, 1.0, 1e4);
    let expected = {
        let (n, b) = (1e6, (1e-3f64 / 1e4).ln_1p());
        (-(-n * b).exp_m1() / -(-b).exp_m1() - n * (-n * b).exp()) / (1e4 + 1e-3)
    };
    assert!(error(every_change.value(0.0, 1_000_000), expected) < 1e-6);
}
