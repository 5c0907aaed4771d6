use super::*;
use crate::Policy;
use crate::trace::{Announcement, Clock};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::frontier::{Rule, Share};

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_whole_secs(seconds)
}

fn page(number: u32, importance: f64, life: (u64, u64), changes: &[u64]) -> TracePage {
    TracePage {
        number,
        importance,
        source: 0,
        group: 0,
        directory: None,
        first: at(life.0),
        last: at(life.1),
        heard_from: Some(at(life.0)),
        changes: changes.iter().map(|time| at(*time)).collect(),
    }
}

fn trace(pages: Vec<TracePage>, outages: &[(u64, u64)]) -> Trace {
    let outages = outages.iter().map(|(start, end)| (at(*start), at(*end))).collect();
    Trace { pages, sources: vec![Clock::new(outages)], groups: 1, ..Trace::default() }
}

fn crawl(policy: Policy, trace: &Trace, rate: f64) -> Vec<(Time, u32)> {
    let setting = Setting { rate, dated: false, own_pace: false, floor: None, delay: Span::ZERO };
    fetches(policy, trace, &setting).unwrap()
}

#[test]
fn fetches_are_scored_as_the_conventions_say() {
    let two = trace(vec![page(0, 3.0, (0, 100), &[10, 40, 90]), page(1, 1.0, (20, 100), &[60])], &[]);
    // Page 0 is stale from 10 to 20, from 40 to 50 and from 90 on; the fetch at 30 finds nothing; page 1 from 60 on.
    let score = Score::of(&two, &[(at(20), 0), (at(30), 0), (at(50), 0)]);
    assert!((score.freshness - (3.0 * 70.0 + 40.0) / (3.0 * 100.0 + 80.0)).abs() < 1e-12);
    assert!((score.plain_freshness - 110.0 / 180.0).abs() < 1e-12);
    assert!((score.age - (3.0 * 150.0 + 800.0) / 380.0).abs() < 1e-9);
    assert_eq!((score.fetches, score.wasted, score.never_fetched, score.starved), (3, 1, 1, 1));
    // A fetch sees what changes at its very moment.
    let seen = Score::of(&two, &[(at(10), 0), (at(40), 0), (at(60), 1), (at(90), 0)]);
    assert_eq!((seen.freshness, seen.age, seen.wasted), (1.0, 0.0, 0));
}

#[test]
fn outages_are_not_scored_and_lose_their_slots() {
    let one = trace(vec![page(0, 1.0, (0, 100), &[15, 50, 95])], &[(20, 60)]);
    let made = crawl(Policy::Shares(Share::Uniform), &one, 0.1);
    assert_eq!(made, [10, 60, 70, 80, 90].map(|time| (at(time), 0)));
    let score = Score::of(&one, &[(at(10), 0), (at(70), 0)]);
    // 60 usable seconds: 15 fresh, 5 stale, then 10 stale (it changed unseen), 25 fresh, 5 stale.
    assert!((score.freshness - 40.0 / 60.0).abs() < 1e-12, "{}", score.freshness);
}

/// A trace by chance: pages that come and go, with changes, outages and signals of any quality.
fn any_trace() -> impl Strategy<Value = Trace> {
    let drawn = (0u64..300, 50u64..600, 0.0f64..5.0, 0.0f64..0.2, 0.0f64..1.0, 0u32..3);
    let pages = proptest::collection::vec(drawn, 1..12);
    let outages = proptest::collection::vec((0u64..800, 1u64..80), 0..4);
    (pages, outages, any::<u64>()).prop_map(|(pages, outages, seed)| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut all = Vec::new();
        let mut announcements = Vec::new();
        for (number, (first, life, importance, change, recall, group)) in pages.into_iter().enumerate() {
            let last = first + life;
            let changes: Vec<u64> = (first + 1..=last).filter(|_| random.random::<f64>() < change).collect();
            for time in first..=last {
                let is_change = changes.contains(&time) && random.random::<f64>() < recall;
                if is_change || random.random::<f64>() < 0.02 {
                    announcements.push(Announcement {
                        time: at(time),
                        page: number as u32,
                        kind: 0,
                        is_change,
                    });
                }
            }
            let directory = (number % 3 > 0).then_some(group);
            let page = page(number as u32, importance, (first, last), &changes);
            all.push(TracePage { group, directory, ..page });
        }
        announcements.sort_by_key(|told| (told.time, told.page));
        let outages: Vec<(u64, u64)> =
            outages.into_iter().map(|(start, length)| (start, start + length)).collect();
        Trace { announcements, kinds: vec!["signal".to_owned()], groups: 3, ..trace(all, &outages) }
    })
}

fn is_out(trace: &Trace, time: Time) -> bool {
    trace.sources[0].outages().iter().any(|(start, end)| *start <= time && time < *end)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Whatever the policy: fetches are made in their slots, of pages that are there and not in an outage; nobody beats the bound.
    #[test]
    fn every_policy_keeps_to_the_rules(trace in any_trace(), rate in 0.02f64..1.0) {
        for policy in Policy::all() {
            let made = crawl(policy, &trace, rate);
            let (start, _) = trace.span().unwrap();
            let mut slot = 0;
            for (time, place) in &made {
                let page = &trace.pages[*place as usize];
                prop_assert!(page.first <= *time && *time < page.last, "{policy}");
                prop_assert!(!is_out(&trace, *time), "{policy}");
                let number = (time.since(start).as_secs() * rate).round();
                prop_assert!((number / rate - time.since(start).as_secs()).abs() < 1e-6, "{policy}");
                prop_assert!(number as u64 > slot, "{policy}");
                slot = number as u64;
            }
            let score = Score::of(&trace, &made);
            prop_assert!(score.freshness <= bound(&trace, made.len()) + 1e-9, "{policy}: {score:?}");
            prop_assert!(policy != Policy::Clairvoyant || score.wasted == 0);
        }
    }

    /// Nobody sees the future: what happens after a moment does not change what was fetched before it.
    #[test]
    fn the_future_is_not_known(trace in any_trace(), rate in 0.02f64..1.0, cut in 100u64..500) {
        let mut other = trace.clone();
        for page in &mut other.pages {
            page.changes.retain(|change| *change <= at(cut) || change.as_nanos() % 3 == 0);
        }
        other.announcements.retain(|told| told.time <= at(cut) || told.time.as_nanos() % 2 == 0);
        let knowing = |policy: &Policy| matches!(policy, Policy::Informed | Policy::Clairvoyant);
        for policy in Policy::all().filter(|policy| !knowing(policy)) {
            let before = |trace: &Trace| {
                let made = crawl(policy, trace, rate);
                made.into_iter().filter(|(time, _)| *time <= at(cut)).collect::<Vec<_>>()
            };
            prop_assert_eq!(before(&trace), before(&other), "{}", policy);
        }
    }
}

/// Who trusts good signals is fresher; what is learned is nearly as good as what is known.
#[test]
fn refrain_learns_to_listen() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut pages, mut announcements) = (Vec::new(), Vec::new());
    for number in 0..60u32 {
        let chance = 0.02 * random.random::<f64>();
        let changes: Vec<u64> = (1..5000).filter(|_| random.random::<f64>() < chance).collect();
        for time in &changes {
            announcements.push(Announcement { time: at(*time), page: number, kind: 0, is_change: true });
        }
        pages.push(page(number, random.random::<f64>(), (0, 5000), &changes));
    }
    announcements.sort_by_key(|told| (told.time, told.page));
    let heard = Trace { announcements, kinds: vec!["honest".to_owned()], ..trace(pages, &[]) };
    let silent = heard.clone().with_kinds(|_| false);
    let freshness = |policy, trace: &Trace| Score::of(trace, &crawl(policy, trace, 0.5)).freshness;
    let (with, without) = (freshness(Policy::Refrain, &heard), freshness(Policy::Refrain, &silent));
    assert!(with > without + 0.1, "{with} {without}");
    assert!(freshness(Policy::Informed, &heard) < with + 0.03);
    assert!(without > freshness(Policy::Shares(Share::Uniform), &silent));
    // Another kind cries wolf, for every page, all the time.
    let mut noisy = heard.clone();
    noisy.kinds.push("wolf".to_owned());
    for page in 0..60u32 {
        let cries = (1..5000).filter(|_| random.random::<f64>() < 0.2).map(at).collect::<Vec<_>>();
        let cry = |time| Announcement { time, page, kind: 1, is_change: false };
        noisy.announcements.extend(cries.into_iter().map(cry));
    }
    noisy.announcements.sort_by_key(|told| (told.time, told.page));
    let noisy = freshness(Policy::Refrain, &noisy);
    assert!(noisy > with - 0.03, "{noisy} {with}");
}

/// Where the pages of a directory change together, the first change that is found tells of the others; without directories there is
/// nothing to tell.
#[test]
fn pages_that_change_together_announce_each_other() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut pages = Vec::new();
    for directory in 0..8u32 {
        let changes: Vec<u64> = (1..40_000).filter(|_| random.random::<f64>() < 0.001).collect();
        let alike = (0..8).map(|file| page(8 * directory + file, 1.0, (0, 40_000), &changes));
        pages.extend(alike.map(|page| TracePage { directory: Some(directory), ..page }));
    }
    let together = trace(pages, &[]).with_kinds(|_| false);
    let freshness = |policy| Score::of(&together, &crawl(policy, &together, 0.06)).freshness;
    let (with, without) = (freshness(Policy::Affinity), freshness(Policy::Refrain));
    assert!(with > without + 0.05, "{with} {without}");
    let mut apart = together.clone();
    apart.pages.iter_mut().for_each(|page| page.directory = None);
    assert_eq!(crawl(Policy::Affinity, &apart, 0.06), crawl(Policy::Refrain, &apart, 0.06));
}

/// Rules at their own pace: as many fetches as they want.
#[test]
fn rules_may_keep_their_own_pace() {
    let day = 86_400;
    let one = trace(vec![page(0, 1.0, (0, 10 * day), &[day / 2])], &[]);
    let setting = Setting { rate: 1e-9, dated: false, own_pace: true, floor: None, delay: Span::ZERO };
    let daily = fetches(Policy::Rule(Rule::Every(Span::from_whole_secs(day))), &one, &setting).unwrap();
    assert_eq!(daily.len(), 9, "{daily:?}");
}
