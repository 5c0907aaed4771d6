//! What every value function is held to.

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::*;
use crate::page::Belief;

/// A rate of any size that a unit of time can bring, or none.
fn rate() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 6 => (-9f64..9.0).prop_map(|e| 10f64.powf(e))]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.0f64..1.0]
}

fn beliefs() -> impl Strategy<Value = Belief> {
    (rate(), rate(), share(), rate()).prop_map(|(change, weight, recall, wrong)| {
        Belief::new(change, weight).unwrap().with_signals(recall, wrong).unwrap()
    })
}

/// Every value function there is, for one belief; where a function has another parameter, it follows from the belief.
fn every_value(belief: &Belief) -> Vec<(&'static str, Box<dyn CrawlValue>)> {
    let terms = |j| NonZeroU32::new(j).unwrap();
    let change = belief.change_rate().max(1e-9);
    let posterior = |shape: f64| GammaPosterior::new(shape, shape / change, belief.importance()).unwrap();
    let slower = Belief::new(0.1 * belief.change_rate(), belief.importance()).unwrap();
    let hazard =
        PiecewiseHazard::new([(0.0, 0.5 * change), (1.0 / change, change), (5.0 / change, 0.2 * change)])
            .unwrap();
    vec![
        ("greedy", Box::new(ValueFunction::Greedy.of(belief))),
        ("greedy-cis", Box::new(ValueFunction::GreedyCis.of(belief))),
        ("greedy-ncis", Box::new(ValueFunction::GreedyNcis.of(belief))),
        ("greedy-cis-plus", Box::new(ValueFunction::GreedyCisPlus.of(belief))),
        ("approx-1", Box::new(ValueFunction::Approximate(terms(1)).of(belief))),
        ("approx-3", Box::new(ValueFunction::Approximate(terms(3)).of(belief))),
        ("gamma .5", Box::new(posterior(0.5))),
        ("gamma 1", Box::new(posterior(1.0))),
        ("gamma 7", Box::new(posterior(7.0))),
        (
            "mixture",
            Box::new(
                Mixture::new([(0.3, GreedyNcis::new(belief)), (0.7, GreedyNcis::new(&slower))]).unwrap(),
            ),
        ),
        ("survival", Box::new(SurvivalValue::new(hazard, belief.importance()))),
    ]
}

/// In units of the mean time between changes.
fn elapsed() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(f64::INFINITY), 8 => (-12f64..12.0).prop_map(|e| 10f64.powf(e))]
}

fn in_time(belief: &Belief, elapsed: f64) -> f64 {
    if belief.change_rate() == 0.0 { elapsed } else { elapsed / belief.change_rate() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn values_are_numbers_and_grow(belief in beliefs(), elapsed in elapsed(), signals in 0u32..60) {
        let tau = in_time(&belief, elapsed);
        for (name, value) in every_value(&belief) {
            let here = value.value(tau, signals);
            prop_assert!(here >= 0.0, "{name}: {here}");
            // A posterior that may be arbitrarily slow has no bound, and reaches it only at infinity.
            prop_assert!(here.is_finite() || tau.is_infinite(), "{name}: {here}");
            prop_assert!(here <= value.supremum() * (1.0 + 1e-10), "{name}: {here} of {}", value.supremum());
            let (later, told) = (value.value(tau * 1.01, signals), value.value(tau, signals + 1));
            prop_assert!(later >= here * (1.0 - 1e-10), "{name}: {here}, later {later}");
            prop_assert!(told >= here * (1.0 - 1e-10), "{name}: {here}, after a signal {told}");
            prop_assert_eq!(value.value(-1.0, 0), value.value(0.0, 0), "{}: before the fetch", name);
        }
    }

    #[test]
    fn a_moment_is_the_inverse_of_a_value(belief in beliefs(), share in 1e-6f64..0.9999, signals in 0u32..6) {
        for (name, value) in every_value(&belief) {
            let top = value.supremum();
            if top == 0.0 {
                prop_assert_eq!(value.moment(1e-9, signals), None, "{}: nothing to gain", name);
                continue;
            }
            let target = if top.is_finite() { share * top } else { share * value.value(in_time(&belief, 10.0), 0) };
            prop_assert_eq!(value.moment(0.0, signals), Some(0.0));
            match value.moment(target, signals) {
                Some(0.0) => prop_assert!(value.value(0.0, signals) >= target * (1.0 - 1e-8), "{name} at once"),
                Some(moment) => {
                    let reached = value.value(moment, signals);
                    prop_assert!((reached / target - 1.0).abs() < 1e-8, "{name}: {reached} for {target} at {moment}");
                }
                None => {
                    let ever = value.value(f64::INFINITY, signals);
                    prop_assert!(ever <= target * (1.0 + 1e-8), "{name}: {ever} for {target}");
                }
            }
            prop_assert_eq!(value.moment(2.0 * top, signals), None, "{}: beyond the supremum", name);
        }
    }

    /// The unit of time does not matter: with all rates s times as high, everything happens s times as fast.
    #[test]
    fn units_do_not_matter(belief in beliefs(), elapsed in -3f64..3.0, signals in 0u32..9, scale in -3f64..3.0) {
        let scale = 10f64.powf(scale);
        let faster = Belief::new(scale * belief.change_rate(), belief.importance())
            .and_then(|page| page.with_signals(belief.recall(), scale * belief.false_rate()))
            .unwrap();
        let tau = in_time(&belief, 10f64.powf(elapsed));
        let values = every_value(&belief).into_iter().zip(every_value(&faster));
        // The stand-in rate of a page that never changes does not scale.
        for ((name, value), (_, other)) in values.filter(|_| belief.change_rate() > 1e-5) {
            let (here, there) = (value.value(tau, signals), scale * other.value(tau / scale, signals));
            prop_assert!((here - there).abs() <= 1e-9 * here, "{name}: {here} {there}");
        }
    }
}
