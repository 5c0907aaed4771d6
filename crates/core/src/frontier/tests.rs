//! The frontier against the same rules without any cleverness.

use std::num::NonZeroU32;

use super::*;
use crate::page::Belief;
use crate::value::ValueFunction;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

fn at(seconds: f64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
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
    let data: Value = serde_json::from_str(include_str!("../../tests/data/policies_small.json")).unwrap();
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
    let data: Value = serde_json::from_str(include_str!("../../tests/data/policies_small.json")).unwrap();
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

/// The same rules, every page looked at every time.
struct Plain {
    model: Known,
    pages: Vec<Option<PlainPage>>,
    hosts: Vec<Host>,
}

struct PlainPage {
    id: PageId,
    belief: Belief,
    since: SinceFetch,
    host: usize,
    limits: AgeLimits,
    not_before: Time,
    ordered: bool,
}

impl Plain {
    fn value(&self, page: &PlainPage, now: Time) -> f64 {
        let fetched = page.since.fetched();
        let age = page.since.elapsed(now);
        if now < page.not_before || now < fetched + page.limits.least {
            return 0.0;
        }
        if page.limits.most < Span::MAX && age >= page.limits.most {
            return 1e200 * (age.as_secs() / page.limits.most.as_secs().max(1e-9)).max(1.0);
        }
        self.model.value(&page.belief, &page.since, now)
    }

    fn best(&self, now: Time) -> Option<(PageId, f64)> {
        let mut best: Option<(PageId, f64)> = None;
        for page in self.pages.iter().flatten() {
            if page.ordered || self.hosts[page.host].ready_at() > now {
                continue;
            }
            let value = self.value(page, now);
            if best.is_none_or(|(id, most)| value > most || (value == most && page.id.index < id.index)) {
                best = Some((page.id, value));
            }
        }
        best.filter(|(_, value)| *value > 0.0)
    }

    fn page(&mut self, id: PageId) -> &mut PlainPage {
        self.pages.iter_mut().flatten().find(|page| page.id == id).unwrap()
    }
}

/// What may happen next.
#[derive(Clone, Debug)]
enum Step {
    Insert { belief: (f64, f64, f64, f64), host: u8, age: f64 },
    Remove(u8),
    Signal(u8),
    Update(u8, f64),
    Limits(u8, f64, f64),
    Rate(f64),
    Price(f64),
    Gap(u8, f64, u16),
    BackOff(u8, f64),
    Answer(u8, bool),
    Fail(u8, f64),
    Polls(u8),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    let belief = (0.01f64..2.0, 0.01f64..1.0, 0.0f64..1.0, 0.0f64..1.0);
    prop_oneof![
        4 => (belief, any::<u8>(), 0f64..20.0).prop_map(|(belief, host, age)| Step::Insert { belief, host, age }),
        1 => any::<u8>().prop_map(Step::Remove),
        6 => any::<u8>().prop_map(Step::Signal),
        1 => (any::<u8>(), 0.01f64..3.0).prop_map(|(page, rate)| Step::Update(page, rate)),
        1 => (any::<u8>(), 0f64..5.0, 0f64..40.0).prop_map(|(page, least, most)| Step::Limits(page, least, most)),
        1 => (0.5f64..20.0).prop_map(Step::Rate),
        1 => (0.01f64..0.8).prop_map(Step::Price),
        1 => (any::<u8>(), 0f64..3.0, 1u16..3).prop_map(|(host, gap, most)| Step::Gap(host, gap, most)),
        1 => (any::<u8>(), 0f64..3.0).prop_map(|(host, span)| Step::BackOff(host, span)),
        5 => (any::<u8>(), any::<bool>()).prop_map(|(order, changed)| Step::Answer(order, changed)),
        1 => (any::<u8>(), 0f64..3.0).prop_map(|(order, span)| Step::Fail(order, span)),
        6 => (1u8..6).prop_map(Step::Polls),
        1 => Just(Step::Restart),
    ]
}

/// A frontier and its plain twin.
struct Twins {
    frontier: Frontier<Known>,
    plain: Plain,
    orders: Vec<Order>,
}

impl Twins {
    fn new(function: ValueFunction, hosts: usize) -> Self {
        let lease = Span::from_secs(4.0);
        let settings = Settings { lease, ..Settings::default() };
        let model = Known::new(function);
        let mut frontier = Frontier::new(model, rate(4.0), settings, Time::ZERO).unwrap();
        for _ in 0..hosts {
            frontier.add_host(Manners::default());
        }
        let plain = Plain { model, pages: Vec::new(), hosts: vec![Host::new(Manners::default()); hosts] };
        Self { frontier, plain, orders: Vec::new() }
    }

    fn insert(&mut self, now: Time, (delta, mu, lambda, nu): (f64, f64, f64, f64), host: usize, age: f64) {
        let belief = Belief::new(delta, mu).unwrap().with_signals(lambda, nu).unwrap();
        let fetched = now - Span::from_secs(age);
        let id = self.frontier.insert(now, belief, HostId(host as u32), fetched).unwrap();
        let page = PlainPage {
            id,
            belief,
            since: SinceFetch::fetched_at(fetched),
            host,
            limits: AgeLimits::default(),
            not_before: Time::MIN,
            ordered: false,
        };
        self.plain.pages.push(Some(page));
    }

    fn any_page(&self, which: u8) -> Option<PageId> {
        let pages: Vec<PageId> = self.plain.pages.iter().flatten().map(|page| page.id).collect();
        (!pages.is_empty()).then(|| pages[usize::from(which) % pages.len()])
    }

    /// Leases that have ended.
    fn expire(&mut self, now: Time) {
        let (over, left) = self.orders.iter().partition(|order| order.expires <= now);
        self.orders = left;
        let over: Vec<Order> = over;
        for order in over {
            self.plain.hosts[order.host.0 as usize].finish(None);
            if let Some(page) = self.plain.pages.iter_mut().flatten().find(|page| page.id == order.page) {
                page.ordered = false;
            }
        }
    }

    fn take(&mut self, now: Time, which: u8, outcome: Outcome) {
        if self.orders.is_empty() {
            return;
        }
        let order = self.orders.swap_remove(usize::from(which) % self.orders.len());
        self.frontier.answer(now, order.id, outcome, Some(Span::from_millis(100))).unwrap();
        self.plain.hosts[order.host.0 as usize].finish(Some(Span::from_millis(100)));
        if let Some(page) = self.plain.pages.iter_mut().flatten().find(|page| page.id == order.page) {
            page.ordered = false;
            if let Outcome::Failed { retry_after } = outcome {
                page.not_before = now + retry_after;
            } else {
                page.since = SinceFetch::fetched_at(now);
                page.not_before = Time::MIN;
            }
        }
    }

    fn polls(&mut self, now: &mut Time, times: u8) -> Result<(), TestCaseError> {
        for _ in 0..times {
            let Some(wake) = self.frontier.next_wakeup() else { break };
            prop_assert!(wake >= *now, "{wake:?} {now:?}");
            *now = wake;
            self.expire(*now);
            let due = self.frontier.pace.next();
            let expected = self.plain.best(*now);
            let price = self.frontier.pace.budget().price();
            let order = self.frontier.poll(*now).unwrap();
            match order {
                None => {
                    let allowed = expected.filter(|(_, value)| *value >= price && *now >= due);
                    prop_assert!(allowed.is_none(), "nothing instead of {allowed:?} at {now:?}");
                }
                Some(order) => {
                    let Some((id, value)) = expected else {
                        return Err(TestCaseError::fail("nobody may be fetched"));
                    };
                    prop_assert_eq!(order.page, id, "{} instead of {}", order.value, value);
                    prop_assert_eq!(order.value, value);
                    prop_assert!(value >= price && *now >= due);
                    self.plain.hosts[order.host.0 as usize].start(*now);
                    self.plain.page(id).ordered = true;
                    self.orders.push(order);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, now: &mut Time, step: &Step) -> Result<(), TestCaseError> {
        let hosts = self.plain.hosts.len();
        match *step {
            Step::Insert { belief, host, age } => self.insert(*now, belief, usize::from(host) % hosts, age),
            Step::Remove(which) => {
                if let Some(id) = self.any_page(which) {
                    self.frontier.remove(*now, id).unwrap();
                    prop_assert!(self.frontier.remove(*now, id).is_err());
                    self.plain.pages.retain(|page| page.as_ref().is_some_and(|page| page.id != id));
                }
            }
            Step::Signal(which) => {
                if let Some(id) = self.any_page(which) {
                    self.frontier.signal(*now, id).unwrap();
                    self.plain.page(id).since.signal(*now, Span::ZERO);
                }
            }
            Step::Update(which, change_rate) => {
                if let Some(id) = self.any_page(which) {
                    let other =
                        |page: &mut Belief| *page = Belief::new(change_rate, page.importance()).unwrap();
                    self.frontier.update(*now, id, other).unwrap();
                    other(&mut self.plain.page(id).belief);
                }
            }
            Step::Limits(which, least, more) => {
                if let Some(id) = self.any_page(which) {
                    let limits =
                        AgeLimits { least: Span::from_secs(least), most: Span::from_secs(least + more) };
                    self.frontier.limit_age(*now, id, limits).unwrap();
                    self.plain.page(id).limits = limits;
                }
            }
            Step::Rate(other) => self.frontier.set_budget(*now, rate(other)).unwrap(),
            Step::Price(price) => self.frontier.set_budget(*now, Budget::Price { price, cap: 10.0 }).unwrap(),
            Step::Gap(host, gap, in_flight) => {
                let host = usize::from(host) % hosts;
                let manners = Manners { gap: Span::from_secs(gap), in_flight, patience: 2.0 };
                self.frontier.set_manners(*now, HostId(host as u32), manners).unwrap();
                self.plain.hosts[host].set_manners(manners);
            }
            Step::BackOff(host, span) => {
                let host = usize::from(host) % hosts;
                let until = *now + Span::from_secs(span);
                self.frontier.back_off(*now, HostId(host as u32), until).unwrap();
                self.plain.hosts[host].back_off(until);
            }
            Step::Answer(which, changed) => {
                let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                self.take(*now, which, Outcome::Seen(answer));
            }
            Step::Fail(which, span) => {
                self.take(*now, which, Outcome::Failed { retry_after: Span::from_secs(span) });
            }
            Step::Polls(times) => self.polls(now, times)?,
            Step::Restart => {
                let pages: Vec<_> = self.frontier.page_snapshots().collect();
                self.frontier = Frontier::restore(self.frontier.snapshot(), pages).unwrap();
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever happens, the picks are those of brute force.
    #[test]
    fn picks_are_those_of_brute_force(
        steps in proptest::collection::vec(step(), 1..400),
        hosts in 1usize..12,
        function in prop_oneof![
            Just(ValueFunction::Greedy),
            Just(ValueFunction::GreedyCis),
            Just(ValueFunction::GreedyNcis),
            Just(ValueFunction::Approximate(NonZeroU32::MIN)),
        ],
    ) {
        let mut twins = Twins::new(function, hosts);
        let mut now = Time::ZERO;
        for step in &steps {
            twins.step(&mut now, step)?;
        }
    }
}

/// Worlds large enough for every tier, with hosts that hold everyone up, and budgets that move the price both ways.
#[test]
fn large_worlds_are_exact() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(4);
    for (pages, hosts) in [(6000, 3000), (6000, 40)] {
        let mut twins = Twins::new(ValueFunction::GreedyNcis, hosts);
        let mut now = Time::ZERO;
        twins.frontier.set_budget(now, rate(300.0)).unwrap();
        for host in (0..hosts).step_by(2) {
            let manners = Manners { gap: Span::from_millis(300), ..Manners::default() };
            twins.frontier.set_manners(now, HostId(host as u32), manners).unwrap();
            twins.plain.hosts[host].set_manners(manners);
        }
        let mut draw = || rng.random::<f64>();
        for page in 0..pages {
            let belief = (0.01 + draw(), 0.01 + draw(), draw(), 0.1 + 0.5 * draw());
            twins.insert(now, belief, page % hosts, 20.0 * draw());
        }
        for round in 0..3000 {
            match round {
                1000 => twins.frontier.set_budget(now, rate(900.0)).unwrap(),
                2000 => twins.frontier.set_budget(now, rate(20.0)).unwrap(),
                _ => {}
            }
            twins.polls(&mut now, 1).unwrap();
            twins.take(now, 0, Outcome::Seen(Answer::Changed));
            for _ in 0..3 {
                let page = (draw() * pages as f64) as usize;
                let id = twins.plain.pages[page].as_ref().unwrap().id;
                twins.frontier.signal(now, id).unwrap();
                twins.plain.page(id).since.signal(now, Span::ZERO);
            }
        }
        assert!(twins.frontier.decisions() > 1000);
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

/// A page that is removed takes back what it taught about others.
#[test]
fn removed_pages_teach_nothing() {
    let mut frontier =
        Frontier::new(Learning::default(), rate(1.0), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners::default());
    let page = frontier.model_mut().page(host, 1, 1.0).unwrap();
    let untaught = page.belief().unwrap();
    let id = frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
    for second in 1..200 {
        let now = at(f64::from(second));
        let order = frontier.poll(now).unwrap().unwrap();
        frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
    }
    let taught = frontier.model_mut().page(host, 1, 1.0).unwrap().belief().unwrap();
    assert!(taught.mean() > 10.0 * untaught.mean());
    frontier.remove(at(200.0), id).unwrap();
    // Fits are renewed every few updates: teach and take back until they were.
    for _ in 0..40 {
        let page = frontier.model_mut().page(host, 1, 1.0).unwrap();
        let id = frontier.insert(frontier.now, page, host, Time::ZERO).unwrap();
        let order = frontier.poll(frontier.now + Span::from_whole_secs(1)).unwrap().unwrap();
        frontier.answer(frontier.now, order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
        frontier.remove(frontier.now, id).unwrap();
    }
    let forgotten = frontier.model_mut().page(host, 1, 1.0).unwrap().belief().unwrap();
    assert!(forgotten.mean() < 2.0 * untaught.mean(), "{forgotten:?} {untaught:?}");
}

#[test]
fn a_page_says_what_it_waits_for() {
    let mut frontier = Frontier::new(ncis(), rate(0.5), Settings::default(), Time::ZERO).unwrap();
    let host = frontier.add_host(Manners { gap: Span::from_whole_secs(10), ..Manners::default() });
    let page = |delta: f64, mu: f64| Belief::new(delta, mu).unwrap();
    let first = frontier.insert(Time::ZERO, page(0.1, 2.0), host, Time::ZERO).unwrap();
    let second = frontier.insert(Time::ZERO, page(0.1, 1.0), host, Time::ZERO).unwrap();
    let waits = |frontier: &mut Frontier<Known>, seconds: f64, id| {
        let told = frontier.explain(at(seconds), id).unwrap();
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
    assert!(told.value < told.price && told.due.unwrap() <= at(9.0) && told.due.unwrap() > at(8.999));
    let told = waits(&mut frontier, 12.0, second);
    assert_eq!(told.waits_for, WaitsFor::Host(at(14.0)));
    assert!(told.value > told.price && told.due == Some(at(12.0)));
    frontier
        .limit_age(at(12.0), second, AgeLimits { least: Span::from_whole_secs(100), ..AgeLimits::default() })
        .unwrap();
    assert_eq!(frontier.explain(at(12.0), second).unwrap().waits_for, WaitsFor::Age(at(100.0)));
    let gone = PageId { index: 7, generation: 0 };
    assert_eq!(frontier.explain(at(12.0), gone).unwrap_err(), FrontierError::UnknownPage(gone));
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

/// Learning frontiers against all values, computed anew for each decision: prices that fall and rise, beliefs that
/// change, signals.
fn learning_picks<M: Model>(model: M, make: impl Fn(&mut M, HostId, f32) -> M::Page, refresh: u32) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let settings = Settings { refresh, ..Settings::default() };
    let mut frontier = Frontier::new(model, rate(50.0), settings, Time::ZERO).unwrap();
    let mut ids = Vec::new();
    for _ in 0..1500 {
        let host = frontier.add_host(Manners::default());
        let page = make(frontier.model_mut(), host, random.random());
        ids.push(frontier.insert(Time::ZERO, page, host, at(-60.0 * random.random::<f64>())).unwrap());
    }
    for decision in 0..4500 {
        // Three times the budget, later a third.
        if decision % 1500 == 500 {
            let other = if decision < 1500 { 150.0 } else { 50.0 };
            frontier.set_budget(frontier.now, rate(other)).unwrap();
        }
        let now = frontier.next_wakeup().unwrap();
        for _ in 0..3 {
            frontier.signal(now, ids[random.random_range(0..ids.len())]).unwrap();
        }
        let order = frontier.poll(now).unwrap().unwrap();
        let worth = |id: &PageId| {
            let (page, since) = frontier.page(*id).unwrap();
            frontier.model.value(page, &since, now)
        };
        let best =
            ids.iter().map(|id| (worth(id), *id)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        assert_eq!((order.value, order.page), best.unwrap(), "decision {decision}");
        let answer = if random.random::<f64>() < 0.4 { Answer::Changed } else { Answer::Unchanged };
        frontier.answer(now, order.id, Outcome::Seen(answer), None).unwrap();
    }
}

#[test]
fn learning_frontiers_are_exact() {
    learning_picks(
        Learning::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        0,
    );
    learning_picks(
        Learning::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        3,
    );
    learning_picks(
        Attentive::default(),
        |model, host, importance| model.page(host, 0, importance).unwrap(),
        0,
    );
}

/// Any value function plugs in: mixtures and survival curves, picked as a scan of all would.
#[test]
fn given_functions_are_exact() {
    use crate::value::{CrawlValue, Greedy, GreedyNcis, Mixture, PiecewiseHazard, SurvivalValue};

    fn picks<V: CrawlValue + Clone>(make: impl Fn(f64, f64) -> V) {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut frontier =
            Frontier::new(Given::<V>::default(), rate(5.0), Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners { in_flight: 9, ..Manners::default() });
        let ids: Vec<PageId> = (0..400)
            .map(|_| {
                let page = make(random.random(), random.random());
                frontier.insert(Time::ZERO, page, host, at(-40.0 * random.random::<f64>())).unwrap()
            })
            .collect();
        for _ in 0..600 {
            let now = frontier.next_wakeup().unwrap();
            frontier.signal(now, ids[random.random_range(0..ids.len())]).unwrap();
            let order = frontier.poll(now).unwrap().unwrap();
            let worth = |id: PageId| {
                let (page, since) = frontier.page(id).unwrap();
                page.value(since.elapsed(now).as_secs(), since.signals())
            };
            let best = ids.iter().map(|id| worth(*id)).fold(0.0, f64::max);
            assert_eq!((order.value, worth(order.page)), (best, best));
            frontier.answer(now, order.id, Outcome::Seen(Answer::Changed), None).unwrap();
        }
    }

    picks(|x, y| Greedy::new(&Belief::new(0.02 + x, y).unwrap()));
    picks(|x, y| {
        let part =
            |rate: f64| GreedyNcis::new(&Belief::new(rate, y).unwrap().with_signals(0.5, 0.1).unwrap());
        Mixture::new([(0.7, part(0.02 + x)), (0.3, part(0.01 + 0.1 * x))]).unwrap()
    });
    picks(|x, y| {
        let daily = PiecewiseHazard::new([(0.0, 0.01 * x), (20.0 + 8.0 * x, 2.0), (30.0, 0.1)]).unwrap();
        SurvivalValue::new(daily, y)
    });
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
    assert!(each < 30.0, "{each} evaluations a decision");
}

/// With a bound on risk, pages of which little is known are fetched before they can be too stale.
#[test]
fn risk_bounds_the_age_of_unknown_pages() {
    use crate::estimate::risk::VeryStale;
    let fetched = |risk: Option<Risk>| {
        let model = Learning::default();
        let model = risk.map_or(model.clone(), |risk| model.with_risk(risk));
        let budget = Budget::Price { price: 40_000.0, cap: 1.0 };
        let mut frontier = Frontier::new(model, budget, Settings::default(), Time::ZERO).unwrap();
        let host = frontier.add_host(Manners::default());
        let page = frontier.model_mut().page(host, 0, 1.0).unwrap();
        frontier.insert(Time::ZERO, page, host, Time::ZERO).unwrap();
        let mut times = Vec::new();
        let mut now = Time::ZERO;
        while times.len() < 12 {
            now = frontier.next_wakeup().unwrap().max(now);
            if let Some(order) = frontier.poll(now).unwrap() {
                times.push(now.since(Time::ZERO).as_secs());
                frontier.answer(now, order.id, Outcome::Seen(Answer::Unchanged), None).unwrap();
            }
        }
        times
    };
    let risk = Risk { limit: VeryStale::After(3600.0), chance: 0.05, until_seen: 6 };
    let (free, careful) = (fetched(None), fetched(Some(risk)));
    // After the first look, which makes no difference, they come sooner,
    assert_eq!(free[0], careful[0]);
    assert!(careful[1] - careful[0] < 0.8 * (free[1] - free[0]), "{careful:?} {free:?}");
    // until enough is known.
    let (last, at_last) = (careful[11] - careful[10], free[11] - free[10]);
    assert!((last / at_last - 1.0).abs() < 0.3, "{last} {at_last}");
}
