use proptest::prelude::*;

use super::*;
use crate::page::Belief;

/// Importance, change rate, recall, false rate: from pages that never change to pages with perfect signals.
fn beliefs() -> impl Strategy<Value = Vec<Belief>> {
    let rate = prop_oneof![Just(0.0), 0.001f64..3.0];
    let recall = prop_oneof![Just(0.0), Just(1.0), 0.0f64..1.0];
    let page = (rate.clone(), rate.clone(), recall, rate)
        .prop_map(|(d, m, r, n)| Belief::new(d, m).unwrap().with_signals(r, n).unwrap());
    proptest::collection::vec(page, 1..30)
}

fn gain<C: Candidate>(candidates: &[C], visits: &[Visit]) -> f64 {
    candidates.iter().zip(visits).map(|(c, v)| c.importance() * v.freshness).sum()
}

/// What can be spent at all.
fn usable<C: Candidate>(candidates: &[C]) -> f64 {
    candidates.iter().map(|c| if c.ceiling() > 0.0 { c.bounds().1 } else { c.bounds().0 }).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn spends_the_budget_and_no_more(beliefs in beliefs(), budget in 1e-6f64..100.0) {
        let plain: Vec<Page> = beliefs.iter().map(Page::of).collect();
        let signalled: Vec<SignalPage> = beliefs.iter().map(SignalPage::of).collect();
        let (without, with) = (allocate(&plain, budget).unwrap(), allocate(&signalled, budget).unwrap());
        for (optimum, usable) in [(&without, usable(&plain)), (&with, usable(&signalled))] {
            let expected = budget.min(usable);
            prop_assert!((optimum.rate - expected).abs() <= 1e-8 * budget, "{} of {budget}", optimum.rate);
            prop_assert!((0.0..=1.0).contains(&optimum.freshness));
            prop_assert!(optimum.price.is_finite() && optimum.price >= 0.0);
            for visit in &optimum.visits {
                prop_assert!(visit.rate >= 0.0 && (0.0..=1.0).contains(&visit.freshness));
            }
        }
        // Knowing more never hurts.
        prop_assert!(with.freshness >= without.freshness * (1.0 - 1e-9), "{} {}", with.freshness, without.freshness);
    }

    /// No transfer of a little budget from one page to another gains anything.
    #[test]
    fn no_exchange_is_better(beliefs in beliefs(), budget in 0.01f64..20.0, from: prop::sample::Index, to: prop::sample::Index) {
        let pages: Vec<SignalPage> = beliefs.iter().map(SignalPage::of).collect();
        let optimum = allocate(&pages, budget).unwrap();
        let (from, to) = (from.index(pages.len()), to.index(pages.len()));
        if from == to {
            return Ok(());
        }
        let amount = 0.01 * optimum.visits[from].rate;
        let mut moved = optimum.visits.clone();
        moved[from] = pages[from].at_rate(moved[from].rate - amount);
        moved[to] = pages[to].at_rate(moved[to].rate + amount);
        let (before, after) = (gain(&pages, &optimum.visits), gain(&pages, &moved));
        prop_assert!(after <= before * (1.0 + 1e-9) + 1e-12, "{before} {after}");
    }

    #[test]
    fn bounds_hold_and_the_rest_is_optimal(
        beliefs in beliefs(), budget in 1.0f64..50.0, bounds in proptest::collection::vec((0.0f64..0.03, 0.0f64..2.0), 30)
    ) {
        let pages: Vec<Bounded<SignalPage>> = beliefs
            .iter()
            .zip(&bounds)
            .map(|(belief, (least, more))| Bounded::new(SignalPage::of(belief), *least, least + more).unwrap())
            .collect();
        let optimum = allocate(&pages, budget).unwrap();
        // Near its ceiling a page's threshold is known to a few digits fewer than its value.
        prop_assert!(optimum.rate <= budget * (1.0 + 1e-8));
        for (page, visit) in pages.iter().zip(&optimum.visits) {
            let (least, most) = page.bounds();
            prop_assert!(visit.rate >= least * (1.0 - 1e-9) && visit.rate <= most * (1.0 + 1e-9));
        }
        let expected = budget.min(usable(&pages));
        prop_assert!((optimum.rate - expected).abs() <= 1e-8 * budget, "{} {expected}", optimum.rate);
    }

    #[test]
    fn a_visit_at_a_rate_is_the_visit_at_its_price(belief in beliefs(), share in 0.01f64..0.99) {
        let page = SignalPage::of(&belief[0]);
        if page.ceiling() == 0.0 {
            return Ok(());
        }
        let visit = page.visit(share * page.ceiling(), &mut 0.0);
        prop_assert!(visit.rate > 0.0 && visit.rate.is_finite());
        let again = page.at_rate(visit.rate);
        prop_assert!((again.freshness - visit.freshness).abs() < 1e-6, "{visit:?} {again:?}");
    }

    #[test]
    fn the_curve_rises_and_bends_down(beliefs in beliefs()) {
        let pages: Vec<SignalPage> = beliefs.iter().map(SignalPage::of).collect();
        let top = pages.iter().map(Candidate::ceiling).fold(0.0, f64::max);
        if top == 0.0 {
            return Ok(());
        }
        let points = curve(&pages, (1..20).map(|k| top * 0.7f64.powi(k)), || ());
        for pair in points.windows(2) {
            prop_assert!(pair[1].rate >= pair[0].rate * (1.0 - 1e-9));
            prop_assert!(pair[1].freshness >= pair[0].freshness * (1.0 - 1e-9));
        }
    }
}

#[test]
fn identical_pages_share_even_a_budget_too_small_for_any_price() {
    // Every page would be fetched at Δ/40 or not at all: no float lies between.
    let pages = vec![Page::new(1.0, 1.0).unwrap(); 7];
    for budget in [1e-9, 0.01, 7.0 / 39.0, 1.0] {
        let optimum = allocate(&pages, budget).unwrap();
        assert!((optimum.rate / budget - 1.0).abs() < 1e-12, "{} of {budget}", optimum.rate);
        for visit in &optimum.visits {
            assert!((visit.rate / (budget / 7.0) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn perfect_signals_are_served_or_not() {
    // Fetched at every signal, or at some of them: the rate jumps from 0 to 2 at one price.
    let page = SignalPage::of(&Belief::new(2.0, 1.0).unwrap().with_signals(1.0, 0.0).unwrap());
    let some = allocate(&[page], 0.5).unwrap();
    assert!((some.rate - 0.5).abs() < 1e-12 && (some.freshness - 0.25).abs() < 1e-12);
    // More than there are changes cannot be used.
    let all = allocate(&[page], 2.0).unwrap();
    assert!((all.freshness - 1.0).abs() < 1e-9);
}

#[test]
fn which_budget_buys_ninety_percent() {
    let pages: Vec<Page> = (1..=50).map(|i| Page::new(0.02 * f64::from(i), 1.0).unwrap()).collect();
    let points = rates_for_freshness(&pages, &[0.5, 0.9], || ());
    assert!(points[0].unwrap().rate < points[1].unwrap().rate);
    let point = points[1].unwrap();
    assert!((point.freshness - 0.9).abs() < 1e-6);
    let check = allocate(&pages, point.rate).unwrap();
    assert!((check.freshness - 0.9).abs() < 1e-6);
    let capped: Vec<Bounded<Page>> = pages.iter().map(|p| Bounded::new(*p, 0.0, 0.1).unwrap()).collect();
    assert_eq!(rates_for_freshness(&capped, &[0.9], || ()), [None]);
}

#[test]
fn minimum_rates_may_be_too_much() {
    let page = Bounded::new(Page::new(1.0, 1.0).unwrap(), 2.0, 3.0).unwrap();
    let error = allocate(&[page], 1.0).unwrap_err();
    assert_eq!(error.to_string(), "the minimum rates add up to 2, more than the budget of 1");
    assert!(Bounded::new(Page::new(1.0, 1.0).unwrap(), 3.0, 2.0).is_none());
}

/// The result does not depend on how the work is spread over threads.
#[test]
fn the_same_on_any_number_of_threads() {
    let pages: Vec<Page> = (0..20_000)
        .map(|i| {
            let u = (f64::from(i) * 0.618_033_988_749_894_9).fract();
            Page::new(0.01 + u, 1.0 / (1.0 + f64::from(i))).unwrap()
        })
        .collect();
    let solve = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| allocate(&pages, 500.0).unwrap())
    };
    let (one, three) = (solve(1), solve(3));
    assert_eq!((one.price, one.rate, one.freshness), (three.price, three.rate, three.freshness));
    assert_eq!(one.visits, three.visits);
}
