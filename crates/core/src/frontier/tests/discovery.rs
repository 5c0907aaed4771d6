//! Hubs and new pages: exact against brute force, and worth more in one currency than by any rule.

use std::collections::HashMap;

use super::super::*;
use super::at;
use crate::estimate::Answer;
use crate::estimate::interest::clicks::Interest;
use crate::page::Belief;
use crate::time::Span;
use crate::value::ValueFunction;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn settings(discovery: Discovery) -> Settings {
    Settings { discovery, ..Settings::default() }
}

fn greedy(rate: f64, discovery: Discovery) -> Frontier<Known> {
    let model = Known::new(ValueFunction::Greedy);
    Frontier::new(model, Budget::Rate(rate), settings(discovery), Time::ZERO).unwrap()
}

/// A page that is nothing but a hub.
fn nothing() -> Belief {
    Belief::new(1.0, 0.0).unwrap()
}

fn interest(profit: f64, decay: f64) -> Interest {
    Interest { profit, decay }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Pages, hubs and new pages on polite hosts: each pick is the best of all.
    #[test]
    fn picks_are_those_of_brute_force(seed in any::<u64>(), gap in 0.0f64..3.0) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
        let mut frontier = greedy(1.0, Discovery::OneCurrency);
        let manners = Manners { gap: Span::from_secs(gap), ..Manners::default() };
        let hosts: Vec<HostId> = (0..4).map(|_| frontier.add_host(manners)).collect();
        let group = frontier.add_group(manners, None);
        for host in &hosts[..3] {
            frontier.set_groups(Time::ZERO, *host, vec![group]).unwrap();
        }
        let mut known: Vec<PageId> = Vec::new();
        let mut new: Vec<(PageId, Time, Interest)> = Vec::new();
        for k in 0..12 {
            let host = hosts[draw(0.0, 4.0) as usize];
            let belief = Belief::new(draw(0.01, 0.5), if k % 3 == 0 { 0.0 } else { draw(0.0, 2.0) }).unwrap();
            let page = frontier.insert(Time::ZERO, belief, host, Time::ZERO).unwrap();
            if k % 2 == 0 {
                let hub = HubState::new(draw(0.0, 1.0), interest(draw(0.1, 3.0), draw(0.01, 0.5))).unwrap();
                frontier.make_hub(Time::ZERO, page, hub).unwrap();
            }
            known.push(page);
        }
        let mut now = Time::ZERO;
        for step in 0..150 {
            if step % 40 == 39 {
                let pages: Vec<_> = frontier.page_snapshots().collect();
                frontier = Frontier::restore(frontier.snapshot(), pages).unwrap();
            }
            now = now + Span::from_secs(draw(0.1, 1.5));
            if draw(0.0, 1.0) < 0.4 {
                let (born, of) = (now - Span::from_secs(draw(0.0, 5.0)), interest(draw(0.1, 4.0), draw(0.01, 0.5)));
                let host = hosts[draw(0.0, 4.0) as usize];
                let page = Belief::new(0.1, 0.1).unwrap();
                new.push((frontier.discover(now, Found { page, host, born, interest: of }).unwrap(), born, of));
            }
            let ready: Vec<bool> =
                (0..4).map(|host| frontier.hosts.ready_at(host) <= now).collect();
            let order = frontier.poll(now).unwrap();
            let due = order.is_some() || frontier.pace.next() <= now;
            if !due {
                continue;
            }
            let picked = order.map(|order| order.page);
            let worth = |page: PageId| -> f64 {
                if let Some((_, born, of)) = new.iter().find(|(id, ..)| *id == page) {
                    return of.profit * (-of.decay * now.since(*born).as_secs()).exp();
                }
                let (belief, since) = frontier.page(page).unwrap();
                let hub = frontier.hub(page).unwrap().map_or(0.0, |hub| {
                    hub.value(since.elapsed(now).as_secs(), Discovery::OneCurrency, frontier.hub_price)
                });
                frontier.model.value(belief, &since, now) + hub
            };
            let all = known.iter().chain(new.iter().map(|(id, ..)| id)).copied();
            let free = all.filter(|page| ready[frontier.names[page.index as usize].host as usize]);
            let best = free.map(|page| (worth(page), page)).filter(|(value, _)| *value > 0.0);
            let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            prop_assert_eq!(picked.map(&worth), best.map(|(value, _)| value));
            let Some(order) = order else { continue };
            if draw(0.0, 1.0) < 0.1 {
                let failed = Outcome::Failed { retry_after: Span::ZERO };
                frontier.answer(now, order.id, failed, None).unwrap();
                continue;
            }
            frontier.answer(now, order.id, Outcome::Links { answer: Answer::Changed, new: 1 }, None).unwrap();
            if let Some(place) = new.iter().position(|(id, ..)| *id == order.page) {
                known.push(new.swap_remove(place).0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Many hubs, most of them far from mattering: each visit is to the one that is worth most to the policy.
    #[test]
    fn hubs_of_all_policies_are_those_of_brute_force(seed in any::<u64>(), rate in 0.05f64..5.0) {
        use Discovery::{BreadthFirst, EchoGreedy, EchoNewPages, EchoSchedule, FixedQuota, Frequency, OneCurrency};
        for policy in [OneCurrency, EchoSchedule, EchoNewPages, EchoGreedy, FixedQuota, Frequency, BreadthFirst] {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut draw = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
            let mut frontier = greedy(rate, policy);
            let mut add = |k: usize| {
                let host = frontier.add_host(Manners::default());
                // A few are worth something as pages, too.
                let page = if k.is_multiple_of(50) { Belief::new(draw(0.01, 0.5), draw(0.0, 2.0)).unwrap() } else { nothing() };
                let page = frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
                let of = interest(10f64.powf(draw(-2.0, 1.0)), 10f64.powf(draw(-4.0, -1.0)));
                frontier.make_hub(Time::ZERO, page, HubState::new(10f64.powf(draw(-4.0, 0.0)), of).unwrap()).unwrap();
                page
            };
            let hubs: Vec<PageId> = (0..400).map(&mut add).collect();
            let mut now = Time::ZERO;
            for step in 0..1500 {
                now = now + Span::from_secs(draw(0.5, 1.5) / rate);
                if step % 97 == 0 {
                    let page = hubs[draw(0.0, 400.0) as usize];
                    frontier.set_interest(now, page, interest(draw(0.0, 3.0), draw(0.001, 0.1))).unwrap();
                }
                let order = frontier.poll(now).unwrap();
                let worth = |page: &PageId| -> f64 {
                    let (belief, since) = frontier.page(*page).unwrap();
                    let hub = frontier.hub(*page).unwrap().unwrap();
                    let elapsed = since.elapsed(now).as_secs();
                    frontier.model.value(belief, &since, now) + hub.value(elapsed, policy, frontier.hub_price)
                };
                let Some(order) = order else { continue };
                let best = hubs.iter().map(worth).fold(0.0, f64::max);
                prop_assert_eq!(worth(&order.page), best, "{:?} at step {}", policy, step);
                let seen = Outcome::Links { answer: Answer::Changed, new: draw(0.0, 3.0) as u32 };
                frontier.answer(now, order.id, seen, None).unwrap();
            }
        }
    }
}

/// A web of hubs: what a policy earns in it, per second, as a share of what could be had by fetching all at once.
fn earned(policy: Discovery, seed: u64, rate: f64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut frontier = greedy(rate, policy);
    let hubs: Vec<(f64, Interest)> = (0..40)
        .map(|_| {
            let link_rate = 10f64.powf(-3.0 + 2.0 * random.random::<f64>());
            (
                link_rate,
                interest(
                    10f64.powf(2.0 * random.random::<f64>() - 1.0),
                    10f64.powf(-3.0 + random.random::<f64>()),
                ),
            )
        })
        .collect();
    let pages: Vec<PageId> = hubs
        .iter()
        .map(|(link_rate, of)| {
            let host = frontier.add_host(Manners::default());
            let page = frontier.insert(Time::ZERO, nothing(), host, Time::ZERO).unwrap();
            frontier.make_hub(Time::ZERO, page, HubState::new(*link_rate, *of).unwrap()).unwrap();
            page
        })
        .collect();
    // Links that appear, hub by hub.
    let mut appeared: Vec<Vec<Time>> = hubs
        .iter()
        .map(|(link_rate, _)| {
            let mut time = 0.0;
            let mut times = Vec::new();
            while time < 20_000.0 {
                time += -(1.0 - random.random::<f64>()).ln() / link_rate;
                times.push(at(time));
            }
            times.reverse();
            times
        })
        .collect();
    let mut worth: HashMap<PageId, (Time, Interest)> = HashMap::new();
    let (mut profit, mut possible) = (0.0, 0.0);
    for (link_rate, of) in &hubs {
        possible += link_rate * of.profit * 20_000.0;
    }
    let elsewhere = frontier.add_host(Manners { in_flight: 1000, ..Manners::default() });
    for k in 1..=(20_000.0 * rate) as u32 {
        let now = at(f64::from(k) / rate);
        let Some(order) = frontier.poll(now).unwrap() else { continue };
        if let Some((born, of)) = worth.remove(&order.page) {
            profit += of.profit * (-of.decay * now.since(born).as_secs()).exp();
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
            // What is short-lived is not fetched again.
            frontier.remove(now, order.page).unwrap();
            continue;
        }
        let hub = pages.iter().position(|page| *page == order.page).unwrap();
        let mut links = Vec::new();
        while appeared[hub].last().is_some_and(|time| *time <= now) {
            links.extend(appeared[hub].pop());
        }
        let seen = Outcome::Links { answer: Answer::Changed, new: links.len() as u32 };
        frontier.answer(now, order.id, seen, None).unwrap();
        for born in links {
            let found = Found { page: nothing(), host: elsewhere, born, interest: hubs[hub].1 };
            worth.insert(frontier.discover(now, found).unwrap(), (born, hubs[hub].1));
        }
    }
    profit / possible
}

#[test]
fn one_currency_earns_most() {
    use Discovery::{
        BreadthFirst, EchoGreedy, EchoNewPages, EchoSchedule, FixedQuota, Frequency, OneCurrency,
    };
    let policies = [OneCurrency, EchoSchedule, EchoNewPages, EchoGreedy, FixedQuota, Frequency, BreadthFirst];
    for rate in [0.2, 0.6] {
        let mean = |policy| (0..4).map(|seed| earned(policy, seed, rate)).sum::<f64>() / 4.0;
        let earned: Vec<f64> = policies.into_iter().map(mean).collect();
        let [ours, schedule, new_pages, greedy, quota, frequency, breadth] = earned[..] else { panic!() };
        for other in [schedule, new_pages, greedy, quota, frequency, breadth] {
            assert!(ours > other - 0.005, "{rate}: {earned:.4?}");
        }
        assert!(schedule > breadth && new_pages > breadth && greedy > breadth, "{rate}: {earned:.4?}");
    }
}

/// A hub whose links are not worth the price of a fetch is not visited, however many it shows.
#[test]
fn many_worthless_links_are_worth_nothing() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    frontier.set_budget(Time::ZERO, Budget::Price { price: 1.0, cap: 1.0 }).unwrap();
    let host = frontier.add_host(Manners::default());
    let page = frontier.insert(Time::ZERO, nothing(), host, Time::ZERO).unwrap();
    frontier.make_hub(Time::ZERO, page, HubState::new(100.0, interest(0.5, 0.01)).unwrap()).unwrap();
    assert_eq!(frontier.poll(at(1000.0)).unwrap(), None);
    frontier.set_interest(at(1000.0), page, interest(2.0, 0.01)).unwrap();
    assert!(frontier.poll(at(1001.0)).unwrap().is_some());
}

#[test]
fn new_pages_become_pages() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    let host = frontier.add_host(Manners::default());
    let page = Belief::new(0.1, 0.1).unwrap();
    let found = |born: f64| Found { page, host, born: at(born), interest: interest(5.0, 0.1) };
    let first = frontier.discover(at(0.0), found(0.0)).unwrap();
    let second = frontier.discover(at(1.0), found(-3.0)).unwrap();
    let order = frontier.poll(at(1.0)).unwrap().unwrap();
    assert_eq!(order.page, first);
    assert!((order.value - 5.0 * (-0.1f64).exp()).abs() < 1e-9);
    // It fails, is late, and is fetched at last.
    frontier
        .answer(at(1.5), order.id, Outcome::Failed { retry_after: Span::from_whole_secs(10) }, None)
        .unwrap();
    let other = frontier.poll(at(2.0)).unwrap().unwrap();
    assert_eq!(other.page, second);
    frontier.answer(at(2.0), other.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert_eq!(frontier.page(second).unwrap().1.fetched(), at(2.0));
    let again = frontier.poll(at(11.6)).unwrap().unwrap();
    assert_eq!(again.page, first);
    // No answer: due again after the lease, and the late answer counts once.
    let third = frontier.poll(at(400.0)).unwrap().unwrap();
    assert!(third.page == first || third.page == second);
    frontier.answer(at(401.0), again.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert!(frontier.answer(at(401.0), again.id, Outcome::Seen(Answer::Changed), None).is_err());
    assert!(frontier.finds.is_empty());
    assert!(frontier.discover(at(402.0), Found { interest: interest(f64::NAN, 1.0), ..found(0.0) }).is_err());
    // A page that is removed before it was ever fetched is gone.
    let gone = frontier.discover(at(402.0), found(402.0)).unwrap();
    frontier.remove(at(402.0), gone).unwrap();
    assert!(frontier.page(gone).is_err());
    assert_eq!(frontier.len(), 2);
}

/// Where the order of finding decides, a page that is worth nothing any more has its turn and holds up nobody.
#[test]
fn worthless_new_pages_hold_up_nobody() {
    for policy in [Discovery::BreadthFirst, Discovery::EchoNewPages, Discovery::EchoSchedule] {
        let mut frontier = greedy(1.0, policy);
        let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
        let mut find = |born: f64, of: Interest| {
            frontier
                .discover(at(1000.0), Found { page: nothing(), host, born: at(born), interest: of })
                .unwrap()
        };
        let (old, free, good) =
            (find(0.0, interest(1.0, 1.0)), find(999.0, interest(0.0, 1.0)), find(999.0, interest(1.0, 0.1)));
        let mut picked: Vec<PageId> =
            (0..3).map(|k| frontier.poll(at(1001.0 + f64::from(k))).unwrap().unwrap().page).collect();
        picked.sort();
        assert_eq!(picked, [old, free, good], "{policy:?}");
    }
}

/// Links that were expected to be worth more than any hub's turn out to be: the price must not stay there.
#[test]
fn a_disappointment_does_not_stop_the_hubs() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
    let page = frontier.insert(Time::ZERO, nothing(), host, Time::ZERO).unwrap();
    frontier.make_hub(Time::ZERO, page, HubState::new(0.1, interest(500.0, 0.01)).unwrap()).unwrap();
    let found = Found { page: nothing(), host, born: at(1.0), interest: interest(500.0, 0.01) };
    let new = frontier.discover(at(1.0), found).unwrap();
    let order = frontier.poll(at(1.0)).unwrap().unwrap();
    assert_eq!(order.page, new);
    frontier.answer(at(1.0), order.id, Outcome::Seen(Answer::Changed), None).unwrap();
    frontier.set_interest(at(1.0), page, interest(1.0, 0.01)).unwrap();
    let order = frontier.poll(at(2.0)).unwrap().unwrap();
    assert_eq!(order.page, page);
}

/// What fetches of new pages are worth, which is far more than the price, does not keep hubs from being visited.
#[test]
fn finds_above_the_price_do_not_raise_it() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
    let page = frontier.insert(Time::ZERO, nothing(), host, Time::ZERO).unwrap();
    frontier.make_hub(Time::ZERO, page, HubState::new(0.1, interest(1.0, 0.01)).unwrap()).unwrap();
    let first = frontier.poll(at(1.0)).unwrap().unwrap();
    frontier.answer(at(1.0), first.id, Outcome::Links { answer: Answer::Changed, new: 1 }, None).unwrap();
    let found = Found { page: nothing(), host, born: at(1.0), interest: interest(100.0, 0.01) };
    let new = frontier.discover(at(1.0), found).unwrap();
    let order = frontier.poll(at(2.0)).unwrap().unwrap();
    assert_eq!((order.page, frontier.margin), (new, first.value));
    frontier.answer(at(2.0), order.id, Outcome::Seen(Answer::Changed), None).unwrap();
    assert_eq!(frontier.poll(at(3.0)).unwrap().map(|order| order.page), Some(page));
}

/// What is learned of others reaches hubs that were not visited, and pages that were not fetched.
#[test]
fn what_is_learned_later_counts() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
    let hub = frontier.insert(Time::ZERO, nothing(), host, Time::ZERO).unwrap();
    frontier.make_hub(Time::ZERO, hub, HubState::new(0.1, interest(1.0, 0.01)).unwrap()).unwrap();
    frontier.expect_links(at(1.0), hub, 0.7).unwrap();
    assert_eq!(frontier.hub(hub).unwrap().unwrap().link_rate(), 0.7);
    assert!(frontier.expect_links(at(1.0), hub, f64::NAN).is_err());
    let mut find = |profit: f64| {
        let found = Found { page: nothing(), host, born: at(1.0), interest: interest(profit, 0.01) };
        frontier.discover(at(1.0), found).unwrap()
    };
    let (low, high) = (find(50.0), find(60.0));
    // The best is known; then it changes.
    assert_eq!(frontier.poll(at(0.5 + 1.0)).unwrap().unwrap().page, high);
    let third = frontier
        .discover(at(1.5), Found { page: nothing(), host, born: at(1.0), interest: interest(40.0, 0.01) })
        .unwrap();
    frontier.set_interest(at(1.5), third, interest(90.0, 0.01)).unwrap();
    frontier.set_interest(at(1.5), low, interest(20.0, 0.01)).unwrap();
    assert!(frontier.set_interest(at(1.5), low, interest(f64::NAN, 0.01)).is_err());
    assert_eq!(frontier.poll(at(3.0)).unwrap().unwrap().page, third);
    let last = frontier.poll(at(4.0)).unwrap().unwrap();
    assert!(last.page == low && (last.value - 20.0 * (-0.03f64).exp()).abs() < 1e-9);
}

#[test]
fn a_page_that_failed_comes_after_those_that_were_never_tried() {
    let mut frontier = greedy(1.0, Discovery::OneCurrency);
    let host = frontier.add_host(Manners::default());
    let found = || Found { page: nothing(), host, born: Time::ZERO, interest: interest(10.0, 1e-30) };
    let failing = frontier.discover(Time::ZERO, found()).unwrap();
    let others: Vec<PageId> = (0..3).map(|_| frontier.discover(Time::ZERO, found()).unwrap()).collect();
    let mut picks = Vec::new();
    for second in 1..=5 {
        let now = at(f64::from(second));
        let order = frontier.poll(now).unwrap().unwrap();
        picks.push(order.page);
        let outcome = if order.page == failing {
            Outcome::Failed { retry_after: Span::ZERO }
        } else {
            Outcome::Seen(Answer::Changed)
        };
        frontier.answer(now, order.id, outcome, None).unwrap();
        if order.page == failing {
            frontier.discount_first(now, failing, 2.0 / 3.0).unwrap();
        }
    }
    assert_eq!(picks, [&[failing], &others[..], &[failing]].concat(), "and again when they are through");
    assert!(frontier.discount_first(at(5.0), failing, f64::NAN).is_err());
}
