//! What a look promises of the future.

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::super::*;
use super::at;
use crate::estimate::Answer;
use crate::page::Belief;
use crate::time::Span;
use crate::value::ValueFunction;

/// A value stays below the line of its look as long as that holds, and below the parabola for ever.
fn keeps_its_promise<M: Model>(
    model: &M,
    page: &M::Page,
    since: &SinceFetch,
    now: Time,
) -> Result<(), TestCaseError> {
    let look = model.look(page, since, now);
    let value = model.value(page, since, now);
    prop_assert!((look.value - value).abs() <= 1e-12 * value);
    let age = since.elapsed(now).as_secs();
    for ages in [1e-6, 0.001, 0.01, 0.1, 0.5, 1.0, 3.0, 20.0, 1000.0] {
        let moment = now + Span::from_secs(ages * age);
        let wait = moment.since(now).as_secs();
        let later = model.value(page, since, moment);
        let line = value + look.growth * wait;
        let more = if look.bend.is_finite() { 0.5 * look.bend * wait * wait } else { f64::INFINITY };
        let parabola = line + more;
        prop_assert!(moment > look.until || later <= line * (1.0 + 1e-9), "{later} above the line {line}");
        prop_assert!(later <= parabola * (1.0 + 1e-9), "{later} above the parabola {parabola}");
    }
    Ok(())
}

fn some_age() -> impl Strategy<Value = f64> {
    (-4f64..4.0).prop_map(|digits| 10f64.powf(digits))
}

proptest! {
    #[test]
    fn known_values_stay_below(
        (delta, mu) in (0.001f64..3.0, 0.01f64..1.0),
        (lambda, nu) in (0.0f64..1.0, 0.0f64..1.0),
        function in prop_oneof![
            Just(ValueFunction::Greedy),
            Just(ValueFunction::GreedyCis),
            Just(ValueFunction::GreedyNcis),
            Just(ValueFunction::Approximate(NonZeroU32::MIN)),
        ],
        signals in 0u32..4,
        age in some_age(),
    ) {
        let page = Belief::new(delta, mu).unwrap().with_signals(lambda, nu).unwrap();
        let since = SinceFetch::with_signals(Time::ZERO, signals);
        keeps_its_promise(&Known::new(function), &page, &since, at(age))?;
    }

    #[test]
    fn learned_values_stay_below(
        looks in proptest::collection::vec((some_age(), any::<bool>()), 0..8),
        age in some_age(),
    ) {
        let mut frontier =
            Frontier::new(Learning::default(), Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners::default());
        let page = frontier.model_mut().page(host, 0, 1.0).unwrap();
        let id = frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
        for (wait, changed) in looks {
            let now = frontier.next_wakeup().unwrap() + Span::from_secs(wait);
            let order = frontier.poll(now).unwrap().unwrap();
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            frontier.answer(now, order.id, Outcome::Seen(answer), None).unwrap();
        }
        let (page, since) = frontier.page(id).unwrap();
        keeps_its_promise(frontier.model(), page, &since, since.fetched() + Span::from_secs(age))?;
    }
}
