use proptest::prelude::*;

use super::*;
use crate::made_up::Numbers;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

/// Worth, link rates and decays that differ by orders of magnitude; time is in seconds.
fn made_up(hubs: usize, seed: u64) -> Vec<Hub> {
    let made_up = MadeUpHubs {
        hubs,
        link_rate: Numbers::LogUniform(0.003, 0.3),
        profit: Numbers::LogUniform(0.1, 10.0),
        decay: Numbers::LogUniform(1e-4, 1e-3),
    };
    made_up.draw(seed).unwrap()
}

fn policy(name: &str) -> HubPolicy {
    name.parse().unwrap()
}

/// With known parameters the simulation comes to what theory says, and policies come in the order of the paper.
#[test]
fn simulations_land_on_theory() {
    let hubs = made_up(60, 4);
    let links: f64 = hubs.iter().map(Hub::link_rate).sum();
    for share in [0.5, 1.0] {
        let rate = share * links;
        let plan = theory(&hubs, rate);
        let world = HubWorld::by_chance(&hubs, Span::from_secs(100_000.0), 7).unwrap();
        let setting = Setting { from: Span::from_secs(20_000.0), ..Setting::at_rate(rate) };
        let of_theory = |name| run(policy(name), &world, &setting, |_, _| {}).unwrap().profit / plan.profit;
        let [schedule, newpages, refrain] = ["echo-schedule", "echo-newpages", "refrain"].map(of_theory);
        for earned in [schedule, newpages, refrain] {
            assert!((earned - 1.0).abs() < 0.03, "{share}: {schedule} {newpages} {refrain}");
        }
        let [greedy, bfs] = ["echo-greedy", "bfs"].map(of_theory);
        assert!(schedule.min(newpages) > greedy && greedy > bfs, "{share}: {greedy} {bfs}");
        for other in ["quota", "frequency", "miniflux"] {
            assert!(of_theory(other) < refrain, "{share}: {other}");
        }
    }
}

/// Who must learn loses something, and Refrain less than others, on average: hubs that look poor at first are not looked at again.
#[test]
fn learning_costs_refrain_less_than_others() {
    let setting = |hubs: &[Hub]| {
        let rate = 0.3 * hubs.iter().map(Hub::link_rate).sum::<f64>();
        Setting { from: Span::from_secs(10_000.0), ..Setting::at_rate(rate) }
    };
    let worlds: Vec<(HubWorld, Setting)> = (0..6)
        .map(|seed| {
            let hubs = made_up(60, seed);
            (HubWorld::by_chance(&hubs, Span::from_secs(50_000.0), seed).unwrap(), setting(&hubs))
        })
        .collect();
    let share = |policy, world: &HubWorld, setting: &Setting| {
        run(policy, world, setting, |_, _| {}).unwrap().share / worlds.len() as f64
    };
    let learned = |policy| {
        worlds.iter().map(|(world, setting)| share(policy, &world.clone().unknown(), setting)).sum::<f64>()
    };
    let known: f64 =
        worlds.iter().map(|(world, setting)| share(HubPolicy::REFRAIN, world, setting)).sum::<f64>();
    let ours = learned(HubPolicy::REFRAIN);
    assert!(ours > 0.85 * known, "{ours} of {known}");
    for other in HubPolicy::all().filter(|policy| *policy != HubPolicy::REFRAIN) {
        let others = learned(other);
        assert!(ours > others, "{other}: {others}, ours {ours}");
    }
}

/// Logs that arrive more often than there are fetches hold nothing back; those that never arrive leave nothing to learn from.
#[test]
fn logs_decide_when_it_is_known_what_pages_were_worth() {
    let world = HubWorld::by_chance(&made_up(30, 3), Span::from_secs(20_000.0), 5).unwrap().unknown();
    let setting = Setting::at_rate(0.5);
    let log = |world: &HubWorld, policy, setting: &Setting| {
        let mut log = Vec::new();
        run(policy, world, setting, |time, fetch| log.push((time, fetch))).unwrap();
        log
    };
    let mut worthless = world.clone();
    for item in worthless.hubs.iter_mut().flat_map(|hub| &mut hub.items) {
        item.profit = 0.0;
    }
    for policy in HubPolicy::all() {
        let at_once = log(&world, policy, &setting);
        let often = Setting { logs_every: Span::from_secs(0.5), ..setting };
        assert_eq!(at_once, log(&world, policy, &often), "{policy}");
        let never = Setting { logs_every: Span::from_secs(30_000.0), ..setting };
        assert_eq!(log(&world, policy, &never), log(&worthless, policy, &never), "{policy}");
        if policy == HubPolicy::REFRAIN {
            assert_ne!(at_once, log(&world, policy, &never));
        }
    }
}

/// A default that is much too low leaves hubs alone that nobody has looked at.
#[test]
fn pessimists_visit_fewer_hubs() {
    let world = HubWorld::by_chance(&made_up(60, 2), Span::from_secs(50_000.0), 5).unwrap().unknown();
    let rate = 0.2 * world.links() as f64 / 50_000.0;
    let visited = |unknown| {
        let mut hubs = std::collections::BTreeSet::new();
        let setting = Setting { unknown, ..Setting::at_rate(rate) };
        run(policy("echo-schedule"), &world, &setting, |_, fetch| {
            if let Fetch::Item(hub, _) = fetch {
                hubs.insert(hub);
            }
        })
        .unwrap();
        hubs.len()
    };
    let (pessimist, like_known) = (visited(Expectation::Fixed(1e-6)), visited(Expectation::LikeKnown));
    assert!(pessimist < like_known, "{pessimist} {like_known}");
}

/// Plans that are made less and less often earn as much, nearly.
#[test]
fn plans_need_not_be_made_often() {
    let world = HubWorld::by_chance(&made_up(60, 2), Span::from_secs(400_000.0), 5).unwrap().unknown();
    let setting =
        Setting { from: Span::from_secs(100_000.0), ..Setting::at_rate(0.5 * world.links() as f64 / 4e5) };
    let share =
        |plans| run(policy("echo-schedule"), &world, &Setting { plans, ..setting }, |_, _| {}).unwrap().share;
    let (often, seldom, never) =
        (share(Plans::Regular(400)), share(Plans::Growing(0.2)), share(Plans::Regular(1)));
    assert!((seldom / often - 1.0).abs() < 0.05, "{seldom} {often}");
    assert!(never < 0.9 * seldom, "{never} {seldom}");
}

/// Thinning leaves out what it is told to, and links of a hub differ around the same mean.
#[test]
fn worlds_can_be_thinned_and_made_uneven() {
    let hub = Hub::new(0.5, 2.0, 0.01).unwrap();
    let even = HubWorld::by_chance(&[hub, hub], Span::from_secs(20_000.0), 1).unwrap();
    let half = even.clone().thinned(3, |age| if age.as_secs() < 10_000.0 { 0.0 } else { 0.5 });
    assert!(half.hubs.iter().all(|hub| hub.items.iter().all(|item| item.born >= at(10_000.0))));
    let share = half.links() as f64 / even.links() as f64;
    assert!((share - 0.25).abs() < 0.01, "{share}");
    let uneven = even.clone().uneven(7);
    assert_eq!(uneven.links(), even.links());
    let mean = uneven.profit_from(at(0.0)) / uneven.links() as f64;
    assert!((mean / 2.0 - 1.0).abs() < 0.03, "{mean}");
    assert!(uneven.hubs[0].items[0].profit != uneven.hubs[1].items[0].profit);
}

/// A hub whose first links are worth nothing, and one whose links are not worth what was expected, stop nobody.
#[test]
fn disappointments_do_not_end_the_crawl() {
    let link = |born: u32, profit: f64| Item { born: at(f64::from(born)), profit };
    let nothing = (0..100).map(|k| link(10 * k, 0.0)).collect();
    let falling = (0..100).map(|k| link(10 * k + 5, if k == 0 { 500.0 } else { 1.0 })).collect();
    let world = HubWorld::recorded(vec![nothing, falling], Span::from_secs(100.0)).unwrap();
    for policy in HubPolicy::all() {
        let setting = Setting::at_rate(0.5);
        let run = run(policy, &world, &setting, |_, _| {}).unwrap();
        assert!(run.fetched > 50 && run.visits > 20, "{policy}: {run:?}");
    }
}

#[test]
fn worlds_that_are_none() {
    let hub = |rate, decay| Hub::new(rate, 1.0, decay).unwrap();
    let second = Span::from_secs(1.0);
    let drawn = HubWorld::by_chance(&[hub(1.0, 1.0), hub(1.0, 0.0)], second, 1);
    assert_eq!(drawn, Err(DiscoverError::Ageless(1)));
    let many = HubWorld::by_chance(&[hub(1e300, 1.0), hub(1e300, 1.0)], second, 1);
    assert!(matches!(many, Err(DiscoverError::TooManyLinks { .. })));
    assert_eq!(HubWorld::recorded(Vec::new(), second), Err(DiscoverError::NoTime));
    let item = Item { born: at(3.0), profit: 1.0 };
    assert_eq!(HubWorld::recorded(vec![vec![item, item]], second), Err(DiscoverError::NoTime));
    let world = HubWorld::by_chance(&[hub(1.0, 1.0)], second, 1).unwrap();
    let refused = |rate, from| {
        let setting = Setting { from: Span::from_secs(from), ..Setting::at_rate(rate) };
        run(HubPolicy::REFRAIN, &world, &setting, |_, _| {}).unwrap_err()
    };
    assert_eq!(refused(1.0, 1.0), DiscoverError::NothingToScore);
    assert!(matches!(refused(1e12, 0.0), DiscoverError::TooManySlots { .. }));
    assert!(matches!(refused(f64::NAN, 0.0), DiscoverError::Frontier(_)));
}

/// Hubs by chance, known or not; some show nothing, some are worth nothing.
fn any_world() -> impl Strategy<Value = HubWorld> {
    let hub = (
        prop_oneof![1 => Just(0.0), 9 => 0.001f64..0.5],
        prop_oneof![1 => Just(0.0), 9 => 0.01f64..100.0],
        1e-4f64..1.0,
    );
    (proptest::collection::vec(hub, 1..12), any::<u64>(), any::<bool>(), any::<bool>()).prop_map(
        |(hubs, seed, known, uneven)| {
            let hubs: Vec<Hub> = hubs.into_iter().map(|(l, p, d)| Hub::new(l, p, d).unwrap()).collect();
            let mut world = HubWorld::by_chance(&hubs, Span::from_secs(1000.0), seed).unwrap();
            if uneven {
                // Links of the same hub that are not worth the same.
                for (k, item) in world.hubs.iter_mut().flat_map(|hub| &mut hub.items).enumerate() {
                    item.profit *= (k * k % 7) as f64;
                }
            }
            if known { world } else { world.unknown() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever the policy: one fetch in a slot, nothing twice, nothing that no visit has shown; what is earned is what the log says.
    #[test]
    fn every_policy_keeps_to_the_rules(world in any_world(), rate in 0.02f64..2.0, from in 0.0f64..900.0) {
        let setting = Setting { from: Span::from_secs(from), ..Setting::at_rate(rate) };
        for policy in HubPolicy::all() {
            let mut log = Vec::new();
            let run = run(policy, &world, &setting, |time, fetch| log.push((time, fetch))).unwrap();
            let mut slot = 0.0;
            for (time, _) in &log {
                let number = (time.since(Time::ZERO).as_secs() * rate).round();
                prop_assert!((number / rate - time.since(Time::ZERO).as_secs()).abs() < 1e-6, "{policy}");
                prop_assert!(number > slot && *time <= world.end(), "{policy}");
                slot = number;
            }
            let (mut profit, mut visits, mut fetched) = (0.0, 0, 0);
            for (position, (time, fetch)) in log.iter().enumerate() {
                let before = &log[..position];
                let Fetch::Item(hub, place) = *fetch else {
                    visits += 1;
                    continue;
                };
                fetched += 1;
                let of = &world.hubs[hub as usize];
                let item = of.items[place as usize];
                prop_assert!(!before.iter().any(|(_, other)| other == fetch), "{policy}: twice");
                let shown = |(visit, other): &(Time, Fetch)| *other == Fetch::Hub(hub) && item.born <= *visit;
                prop_assert!(before.iter().any(shown), "{policy}: never shown");
                if *time >= at(from) {
                    profit += item.profit * (-of.decay * time.since(item.born).as_secs()).exp();
                }
            }
            let slots = (1000.0 * rate).floor() as u64;
            prop_assert_eq!((run.visits, run.fetched), (visits, fetched), "{}", policy);
            prop_assert_eq!(run.visits + run.fetched + run.lost, slots, "{}", policy);
            prop_assert!((run.profit * (1000.0 - from) - profit).abs() <= 1e-9 * profit.max(1e-3), "{policy}");
        }
    }

    /// Nobody sees the future, or what a page is worth before it is fetched.
    #[test]
    fn the_future_is_not_known(world in any_world(), rate in 0.02f64..2.0, cut in 100.0f64..900.0) {
        let world = world.unknown();
        let setting = Setting::at_rate(rate);
        for policy in HubPolicy::all() {
            let crawl = |world: &HubWorld| {
                let mut log = Vec::new();
                run(policy, world, &setting, |time, fetch| log.push((time, fetch))).unwrap();
                log
            };
            let log = crawl(&world);
            let mut other = world.clone();
            for (hub, items) in other.hubs.iter_mut().enumerate() {
                let seen = |place: usize| {
                    log.iter().any(|(time, fetch)| {
                        *time <= at(cut) && *fetch == Fetch::Item(hub as u32, place as u32)
                    })
                };
                for (place, item) in items.items.iter_mut().enumerate() {
                    item.profit *= if seen(place) { 1.0 } else { 3.0 };
                }
                items.items.retain(|item| item.born <= at(cut) || item.born.as_nanos() % 2 == 0);
            }
            let before = |log: Vec<(Time, Fetch)>| {
                log.into_iter().take_while(|(time, _)| *time <= at(cut)).collect::<Vec<_>>()
            };
            prop_assert_eq!(before(log), before(crawl(&other)), "{}", policy);
        }
    }
}
