//! What the frontier promises.

mod beliefs;
mod discovery;
mod looks;
mod twins;

use std::num::NonZeroU32;

use super::*;
use crate::estimate::Answer;
use crate::page::Belief;
use crate::time::Span;
use crate::value::ValueFunction;
use serde_json::Value;

fn at(seconds: f64) -> Time {
    if seconds < 0.0 { Time::ZERO - Span::from_secs(-seconds) } else { Time::ZERO + Span::from_secs(seconds) }
}

fn ncis() -> Known {
    Known::new(ValueFunction::GreedyNcis)
}

fn rate(rate: f64) -> Budget {
    Budget::Rate(rate)
}

/// The picks of every policy on twenty pages, as an independent implementation has them.
#[test]
fn golden_picks() {
    let data: Value = serde_json::from_str(include_str!("../../../tests/data/policies_small.json")).unwrap();
    let numbers = |name: &str| -> Vec<f64> {
        data[name].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
    };
    let (delta, mu, lambda, nu) = (numbers("Delta"), numbers("mu"), numbers("lam"), numbers("nu"));
    let approx = |terms| ValueFunction::Approximate(NonZeroU32::new(terms).unwrap());
    for (name, function) in [
        ("GREEDY", ValueFunction::Greedy),
        ("GREEDY-CIS", ValueFunction::GreedyCis),
        ("GREEDY-NCIS", ValueFunction::GreedyNcis),
        ("APPROX-1", approx(1)),
        ("APPROX-2", approx(2)),
    ] {
        let mut frontier =
            Frontier::new(Known::new(function), rate(5.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners { in_flight: 1000, ..Manners::default() });
        let pages: Vec<PageId> = (0..20)
            .map(|i| {
                let page = Belief::new(delta[i], mu[i]).unwrap().with_signals(lambda[i], nu[i]).unwrap();
                frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap()
            })
            .collect();
        let mut signals = data["signals"].as_array().unwrap().iter().peekable();
        let picks = data["policies"][name]["picks"].as_array().unwrap();
        assert_eq!(picks.len(), 100);
        for (k, pick) in picks.iter().enumerate() {
            let now = at((k + 1) as f64 / 5.0);
            while let Some(signal) = signals.next_if(|signal| at(signal[0].as_f64().unwrap()) <= now) {
                let page = pages[signal[1].as_u64().unwrap() as usize];
                frontier.signal(at(signal[0].as_f64().unwrap()), page).unwrap();
            }
            let order = frontier.poll(now).unwrap().unwrap();
            assert_eq!(u64::from(order.page.index()), pick.as_u64().unwrap(), "{name}, pick {k}");
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        }
    }
}

/// The picks of the low-discrepancy schedule of the optimal rates.
#[test]
fn golden_sequence() {
    let data: Value = serde_json::from_str(include_str!("../../../tests/data/policies_small.json")).unwrap();
    let numbers =
        |list: &Value| -> Vec<f64> { list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect() };
    let rates = numbers(&data["baseline"]["xi"]);
    let total: f64 = rates.iter().sum();
    let model = Sequence::new(5.0, Time::ZERO);
    let mut frontier = Frontier::new(model, rate(5.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    for share in &rates {
        frontier.insert(Time::ZERO, SharePage::new(share / total).unwrap(), host, Time::ZERO).unwrap();
    }
    for (k, pick) in numbers(&data["LDS"]["picks"]).into_iter().enumerate() {
        let now = at((k + 1) as f64 / 5.0);
        let order = frontier.poll(now).unwrap().unwrap();
        assert_eq!(f64::from(order.page.index()), pick, "pick {k}");
        frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
    }
}

#[test]
fn mistakes_are_named() {
    assert!(Frontier::new(ncis(), rate(0.0), Settings::default(), Time::ZERO).is_err());
    assert!(Frontier::new(ncis(), rate(f64::NAN), Settings::default(), Time::ZERO).is_err());
    let mut frontier = Frontier::new(ncis(), rate(1.0), Settings::default(), at(10.0)).unwrap();
    let host = frontier.add_host(Manners::default());
    let page = Belief::new(1.0, 1.0).unwrap();
    assert!(matches!(frontier.insert(at(9.0), page, host, at(0.0)), Err(FrontierError::Backwards { .. })));
    assert_eq!(
        frontier.insert(at(10.0), page, HostId(7), at(0.0)),
        Err(FrontierError::UnknownHost(HostId(7)))
    );
    assert_eq!(frontier.next_wakeup(), None);
    assert_eq!(frontier.poll(at(12.0)), Ok(None));
    let id = frontier.insert(at(12.0), page, host, at(0.0)).unwrap();
    let order = frontier.poll(at(12.0)).unwrap().unwrap();
    frontier.answer(at(12.5), order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    let again = frontier.answer(at(12.5), order.id, Outcome::Seen(Answer::Unchanged), None);
    assert_eq!(again, Err(FrontierError::UnknownOrder(order.id)));
    frontier.remove(at(13.0), id).unwrap();
    assert_eq!(frontier.signal(at(13.0), id), Err(FrontierError::UnknownPage(id)));
    assert!(frontier.is_empty());
    // The place is used again, by another page.
    let new = frontier.insert(at(13.0), page, host, at(0.0)).unwrap();
    assert!(new.index() == id.index() && new != id);
    assert!(frontier.page(id).is_err() && frontier.page(new).is_ok());
}

/// A million signals for one page in a second are a million signals.
#[test]
fn a_flood_of_signals() {
    let mut frontier = Frontier::new(ncis(), rate(1.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    let page = Belief::new(0.1, 1.0).unwrap().with_signals(0.5, 10.0).unwrap();
    let pages: Vec<_> =
        (0..200).map(|_| frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap()).collect();
    for i in 1..=1_000_000i64 {
        frontier.signal(Time::from_nanos(i * 1000), pages[150]).unwrap();
    }
    assert_eq!(frontier.page(pages[150]).unwrap().1.signals(), 1_000_000);
    assert_eq!(frontier.poll(at(1.0)).unwrap().unwrap().page, pages[150]);
}

/// A lease that ends makes the page due again; a late answer counts once, unless a later order was answered.
#[test]
fn leases() {
    let settings = Settings { lease: Span::from_whole_secs(10), ..Settings::default() };
    let mut frontier = Frontier::new(ncis(), rate(1.0), settings, Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    let id = frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, Time::ZERO).unwrap();
    let first = frontier.poll(at(1.0)).unwrap().unwrap();
    // The host takes one request at a time, and the only page is under way.
    assert_eq!(frontier.poll(at(5.0)).unwrap(), None);
    assert_eq!(frontier.next_wakeup(), Some(at(11.0)));
    let second = frontier.poll(at(11.0)).unwrap().unwrap();
    assert_eq!(second.page, id);
    // Late, but welcome: the page is as fresh as that look.
    frontier.answer(at(12.0), first.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert_eq!(frontier.page(id).unwrap().1.fetched(), at(12.0));
    assert!(frontier.answer(at(12.0), first.id, Outcome::Seen(Answer::Changed), None).is_err());
    frontier.answer(at(13.0), second.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    let third = frontier.poll(at(14.0)).unwrap().unwrap();
    let fourth = frontier.poll(at(24.0)).unwrap().unwrap();
    // The later one is answered first: the earlier one is void.
    frontier.answer(at(25.0), fourth.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    let late = frontier.answer(at(26.0), third.id, Outcome::Seen(Answer::Unchanged), None);
    assert_eq!(late, Err(FrontierError::UnknownOrder(third.id)));
}

#[test]
fn what_nobody_fetches_makes_room_for_others() {
    let mut frontier = Frontier::new(ncis(), rate(1.0), Settings::default(), Time::ZERO).unwrap();
    let mut insert = |importance| {
        let host = frontier.add_host(Manners::default());
        frontier.insert(Time::ZERO, Belief::new(1.0, importance).unwrap(), host, Time::ZERO).unwrap()
    };
    let (better, other) = (insert(2.0), insert(1.0));
    let order = frontier.poll(at(1.0)).unwrap().unwrap();
    assert_eq!(order.page, better);
    assert_eq!(frontier.poll(at(1.0)).unwrap(), None, "one a second");
    frontier.set_aside(at(1.0), order.id, Span::from_whole_secs(60)).unwrap();
    let order = frontier.poll(at(1.0)).unwrap().unwrap();
    assert_eq!(order.page, other, "at the cost of nothing");
    frontier.answer(at(1.0), order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    for second in 2..60 {
        let order = frontier.poll(at(f64::from(second))).unwrap().unwrap();
        assert_eq!(order.page, other);
        frontier.answer(at(f64::from(second)), order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    }
    assert_eq!(frontier.poll(at(61.0)).unwrap().unwrap().page, better);
    assert!(frontier.set_aside(at(61.0), order.id, Span::ZERO).is_err(), "it was answered");
}

/// A crawler paces its requests by itself: the host may be asked again after its gap, and is free once.
#[test]
fn an_order_without_a_place_leaves_its_host_to_others() {
    let mut frontier = Frontier::new(ncis(), rate(100.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners { gap: Span::from_whole_secs(1), ..Manners::default() });
    for _ in 0..4 {
        frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, Time::ZERO).unwrap();
    }
    let first = frontier.poll(at(10.0)).unwrap().unwrap();
    assert_eq!(frontier.poll(at(12.0)).unwrap(), None, "one at a time");
    frontier.free_place(at(12.0), first.id).unwrap();
    frontier.free_place(at(12.0), first.id).unwrap();
    let second = frontier.poll(at(12.1)).unwrap().unwrap();
    frontier.free_place(at(12.1), second.id).unwrap();
    assert_eq!(frontier.poll(at(13.0)).unwrap(), None, "the gap holds");
    let third = frontier.poll(at(13.2)).unwrap().unwrap();
    // An answer to an order without a place frees no place of another.
    frontier.answer(at(13.3), first.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert_eq!(frontier.host_state(host).unwrap().in_flight, 1);
    assert_eq!(frontier.poll(at(15.0)).unwrap(), None);
    // Neither does the end of its lease.
    let after = second.expires.max(third.expires);
    frontier.answer(after, third.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert!(frontier.poll(after + Span::from_whole_secs(1)).unwrap().is_some());
    assert_eq!(frontier.host_state(host).unwrap().in_flight, 1);
}

#[test]
fn a_page_says_what_it_waits_for() {
    let mut frontier = Frontier::new(ncis(), rate(0.5), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners { gap: Span::from_whole_secs(10), ..Manners::default() });
    let page = |delta: f64, mu: f64| Belief::new(delta, mu).unwrap();
    let first = frontier.insert(Time::ZERO, page(0.1, 2.0), host, Time::ZERO).unwrap();
    let second = frontier.insert(Time::ZERO, page(0.1, 1.0), host, Time::ZERO).unwrap();
    let waits = |frontier: &mut Frontier<Known>, seconds: f64, id| {
        let price = frontier.mean_price();
        let told = frontier.explain(at(seconds), id, price).unwrap();
        let (belief, since) = frontier.page(id).unwrap();
        assert_eq!((told.page, told.since), (*belief, since));
        assert_eq!(told.value, frontier.model.value(belief, &since, at(seconds)));
        told
    };
    assert_eq!(waits(&mut frontier, 1.0, first).waits_for, WaitsFor::Budget(at(2.0)));
    assert_eq!(waits(&mut frontier, 2.0, first).waits_for, WaitsFor::Nothing);
    let order = frontier.poll(at(4.0)).unwrap().unwrap();
    assert_eq!(order.page, first);
    assert_eq!(waits(&mut frontier, 5.0, first).waits_for, WaitsFor::Answer);
    assert_eq!(waits(&mut frontier, 5.0, second).waits_for, WaitsFor::Value);
    frontier.answer(at(5.0), order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
    // It is below the price until it is as old as it was when it was fetched.
    let told = waits(&mut frontier, 8.0, first);
    assert_eq!(told.waits_for, WaitsFor::Value);
    let price = frontier.mean_price();
    assert!(told.value < price && told.due.unwrap() <= at(9.0) && told.due.unwrap() > at(8.999));
    let told = waits(&mut frontier, 12.0, second);
    assert_eq!(told.waits_for, WaitsFor::Host(at(14.0)));
    assert!(told.value > price && told.due == Some(at(12.0)));
    frontier
        .limit_age(at(12.0), second, AgeLimits { least: Span::from_whole_secs(100), ..AgeLimits::default() })
        .unwrap();
    assert_eq!(frontier.explain(at(12.0), second, price).unwrap().waits_for, WaitsFor::Age(at(100.0)));
    let gone = PageId { index: 7, generation: 0 };
    assert_eq!(frontier.explain(at(12.0), gone, price).unwrap_err(), FrontierError::UnknownPage(gone));
}

#[test]
fn snapshots_that_cannot_be() {
    let mut frontier = Frontier::new(ncis(), rate(1.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    for _ in 0..3 {
        frontier.insert(Time::ZERO, Belief::new(1.0, 1.0).unwrap(), host, Time::ZERO).unwrap();
    }
    let pages: Vec<_> = frontier.page_snapshots().collect();
    let missing = Frontier::restore(frontier.snapshot(), pages.clone().into_iter().skip(1));
    assert_eq!(missing.unwrap_err(), FrontierError::UnknownPage(pages[1].id));
    let nowhere = Snapshot { hosts: Vec::new(), ..frontier.snapshot() };
    assert!(Frontier::restore(nowhere, pages.clone()).is_err());
    let twice = [pages[0].clone(), pages[0].clone()];
    assert!(Frontier::restore(frontier.snapshot(), twice).is_err());
    assert_eq!(Frontier::restore(frontier.snapshot(), pages).unwrap().len(), 3);
}

/// A host with very many pages, all worth more than the others', and a gap of an hour: it gets its fetch an hour, the others
/// all the rest, and nobody pays for it.
#[test]
fn a_crowded_host_costs_nothing() {
    let crowd = 20_000;
    let mut frontier =
        Frontier::new(Known::new(ValueFunction::Greedy), rate(10.0), Settings::default(), Time::ZERO)
            .unwrap();
    let slow = frontier.add_host(Manners { gap: Span::from_whole_secs(3600), ..Manners::default() });
    for page in 0..crowd {
        let belief = Belief::new(0.01, 50.0 + f64::from(page % 100)).unwrap();
        frontier.insert(Time::ZERO, belief, slow, Time::ZERO).unwrap();
    }
    let others: Vec<HostId> = (0..50).map(|_| frontier.add_host(Manners::default())).collect();
    for page in 0..500u32 {
        let belief = Belief::new(0.01, 1.0 + 0.01 * f64::from(page)).unwrap();
        frontier.insert(Time::ZERO, belief, others[page as usize % 50], Time::ZERO).unwrap();
    }
    let mut crowded = 0;
    let mut spent = 0;
    for k in 1..=7_250u32 {
        let now = at(f64::from(k));
        let order = frontier.poll(now).unwrap().unwrap();
        crowded += u32::from(order.host == slow);
        frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        if k == 250 {
            spent = frontier.evaluations();
        }
    }
    assert_eq!(crowded, 3, "7250 seconds");
    let each = (frontier.evaluations() - spent) as f64 / 7_000.0;
    // At each of two openings all in the room are looked at once: two times 20,000 looks and moments in 7000 decisions.
    assert!(each < 40.0, "{each} evaluations a decision");
}

/// Limits of age for every page, and pages that start all at once: exact, and cheap.
#[test]
fn limits_for_all_cost_little() {
    for (spread, most_looks) in [(20.0, 25.0), (0.0, 90.0)] {
        let pages = 20_000u32;
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, rate(1000.0), Settings::default(), Time::ZERO).unwrap();
        let mut ids = Vec::new();
        for page in 0..pages {
            let host = frontier.add_host(Manners::default());
            let belief =
                Belief::new(0.01 + 0.0001 * f64::from(page % 97), 1.0 + f64::from(page % 89)).unwrap();
            let fetched = at(-spread * f64::from(page) / f64::from(pages));
            let id = frontier.insert(Time::ZERO, belief, host, fetched).unwrap();
            let (least, most) = (Span::from_secs(1.0), Span::from_secs(15.0 + f64::from(page % 53)));
            frontier.limit_age(Time::ZERO, id, AgeLimits { least, most }).unwrap();
            ids.push((id, most));
        }
        let before = frontier.evaluations();
        let decisions = 30_000;
        let (mut overdue, mut decision) = (0, 0);
        while decision < decisions {
            let now = frontier.next_wakeup().unwrap();
            let Some(order) = frontier.poll(now).unwrap() else { continue };
            decision += 1;
            overdue += u32::from(order.value >= 1e200);
            if decision % 500 == 0 {
                let worth = |(id, most): &(PageId, Span)| {
                    let (belief, since) = frontier.page(*id).unwrap();
                    let age = since.elapsed(now);
                    if age < Span::from_secs(1.0) {
                        0.0
                    } else if age >= *most {
                        1e200 * (age.as_secs() / most.as_secs())
                    } else {
                        frontier.model.value(belief, &since, now)
                    }
                };
                let all = ids.iter().map(|page| (worth(page), page.0));
                let best = all.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
                assert_eq!((order.value, order.page), best.unwrap(), "decision {decision}");
            }
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        }
        assert!(overdue > 1000 && overdue < decisions - 1000, "{overdue} of {decisions} were overdue");
        let each = (frontier.evaluations() - before) as f64 / f64::from(decisions);
        assert!(each < most_looks, "{each} evaluations a decision");
    }
}
