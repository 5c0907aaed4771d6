//! The frontier beside a twin without any cleverness.

use std::num::NonZeroU32;

use proptest::prelude::*;

use super::super::*;
use super::rate;
use crate::estimate::Answer;
use crate::page::Belief;
use crate::time::Span;
use crate::value::ValueFunction;

/// The same rules, every page looked at every time.
struct Plain {
    model: Known,
    pages: Vec<Option<PlainPage>>,
    hosts: Vec<Host>,
    /// Groups, and for each host those that it is in.
    groups: Vec<Host>,
    groups_of: Vec<Vec<usize>>,
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

    fn is_ready(&self, host: usize, now: Time) -> bool {
        let groups = self.groups_of[host].iter().map(|group| &self.groups[*group]);
        groups.chain([&self.hosts[host]]).all(|one| one.ready_at() <= now)
    }

    fn start(&mut self, host: usize, now: Time) {
        self.hosts[host].start(now);
        self.groups_of[host].iter().for_each(|group| self.groups[*group].start(now));
    }

    fn finish(&mut self, host: usize, response: Option<Span>) {
        self.hosts[host].finish(response);
        self.groups_of[host].iter().for_each(|group| self.groups[*group].finish(response));
    }

    fn set_groups(&mut self, host: usize, groups: Vec<usize>) {
        let Host { last_start, in_flight, .. } = self.hosts[host];
        self.groups_of[host].iter().for_each(|group| self.groups[*group].in_flight -= in_flight);
        for group in groups.iter().copied() {
            self.groups[group].in_flight += in_flight;
            self.groups[group].last_start = self.groups[group].last_start.max(last_start);
        }
        self.groups_of[host] = groups;
    }

    fn best(&self, now: Time) -> Option<(PageId, f64)> {
        let mut best: Option<(PageId, f64)> = None;
        for page in self.pages.iter().flatten() {
            if page.ordered || !self.is_ready(page.host, now) {
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
    Insert {
        belief: (f64, f64, f64, f64),
        host: u8,
        age: f64,
    },
    /// Many that are the same, on all hosts.
    Crowd {
        belief: (f64, f64, f64, f64),
        age: f64,
        pages: u16,
    },
    Remove(u8),
    Signal(u8),
    Update(u8, f64),
    Limits(u8, f64, f64),
    Rate(f64),
    Price(f64),
    Gap(u8, f64, u16),
    BackOff(u8, f64),
    /// A host is in these groups: a bit for each.
    Groups(u8, u8),
    Hold(u8, bool),
    /// The copy is so many seconds old, and so many signals came since.
    Answer(u8, bool, (f64, u8)),
    Fail(u8, f64),
    Polls(u8),
    Restart,
}

fn step() -> impl Strategy<Value = Step> {
    // Where nearly every change is announced, only signals bring a page to a level within a lifetime.
    let nearly = (9f64..13.0).prop_map(|digits| 1.0 - 10f64.powf(-digits));
    let recall = prop_oneof![4 => 0.0f64..1.0, 1 => nearly, 1 => Just(1.0)];
    let belief = (0.01f64..2.0, 0.01f64..1.0, recall, 0.0f64..1.0);
    let copy = prop_oneof![Just((0.0, 0)), (0f64..6.0, 0u8..3)];
    prop_oneof![
        4 => (belief.clone(), any::<u8>(), 0f64..20.0).prop_map(|(belief, host, age)| Step::Insert { belief, host, age }),
        1 => (belief.clone(), 0f64..20.0, 30u16..400).prop_map(|(belief, age, pages)| Step::Crowd { belief, age, pages }),
        1 => any::<u8>().prop_map(Step::Remove),
        6 => any::<u8>().prop_map(Step::Signal),
        1 => (any::<u8>(), 0.01f64..3.0).prop_map(|(page, rate)| Step::Update(page, rate)),
        1 => (any::<u8>(), 0f64..5.0, 0f64..40.0).prop_map(|(page, least, most)| Step::Limits(page, least, most)),
        1 => (0.5f64..20.0).prop_map(Step::Rate),
        1 => (0.01f64..0.8).prop_map(Step::Price),
        1 => (any::<u8>(), 0f64..3.0, 1u16..3).prop_map(|(host, gap, most)| Step::Gap(host, gap, most)),
        1 => (any::<u8>(), 0f64..3.0).prop_map(|(host, span)| Step::BackOff(host, span)),
        2 => (any::<u8>(), 0u8..8).prop_map(|(host, groups)| Step::Groups(host, groups)),
        1 => (any::<u8>(), proptest::bool::weighted(0.3)).prop_map(|(host, held)| Step::Hold(host, held)),
        5 => (any::<u8>(), any::<bool>(), copy).prop_map(|(order, changed, copy)| Step::Answer(order, changed, copy)),
        1 => (any::<u8>(), 0f64..3.0).prop_map(|(order, span)| Step::Fail(order, span)),
        6 => (1u8..6).prop_map(Step::Polls),
        1 => Just(Step::Restart),
    ]
}

/// Gaps and parallel requests of groups.
const GROUPS: [(u64, u16); 3] = [(1500, 1), (700, 2), (0, 1)];

/// A frontier and its plain twin.
struct Twins {
    frontier: Frontier<Known>,
    plain: Plain,
    orders: Vec<Order>,
}

impl Twins {
    fn new(function: ValueFunction, hosts: usize) -> Self {
        Self::starting(Time::ZERO, function, hosts)
    }

    fn starting(start: Time, function: ValueFunction, hosts: usize) -> Self {
        let lease = Span::from_secs(4.0);
        let settings = Settings { lease, ..Settings::default() };
        let model = Known::new(function);
        let mut frontier = Frontier::new(model, rate(4.0), settings, start).unwrap();
        for _ in 0..hosts {
            frontier.add_host(Manners::default());
        }
        let groups =
            GROUPS.map(|(gap, in_flight)| Manners { gap: Span::from_millis(gap), in_flight, patience: 1.0 });
        for manners in groups {
            frontier.add_group(manners, None);
        }
        let plain = Plain {
            model,
            pages: Vec::new(),
            hosts: vec![Host::new(Manners::default()); hosts],
            groups: groups.map(Host::new).to_vec(),
            groups_of: vec![Vec::new(); hosts],
        };
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
            self.plain.finish(order.host.0 as usize, None);
            if let Some(page) = self.plain.pages.iter_mut().flatten().find(|page| page.id == order.page) {
                page.ordered = false;
            }
        }
    }

    fn take(&mut self, now: Time, which: u8, outcome: Outcome, (ago, signals): (f64, u8)) {
        if self.orders.is_empty() {
            return;
        }
        let order = self.orders.swap_remove(usize::from(which) % self.orders.len());
        let copy = SinceFetch::with_signals(now - Span::from_secs(ago), signals.into());
        let response = Some(Span::from_millis(100));
        self.frontier.answer_as_of(now, order.id, outcome, response, copy).unwrap();
        self.plain.finish(order.host.0 as usize, Some(Span::from_millis(100)));
        if let Some(page) = self.plain.pages.iter_mut().flatten().find(|page| page.id == order.page) {
            page.ordered = false;
            if let Outcome::Failed { retry_after } = outcome {
                page.not_before = now + retry_after;
            } else {
                page.since = copy.within(page.since.fetched(), now);
                page.not_before = Time::MIN;
            }
        }
    }

    /// Who asks at this moment asks in time: nobody could be fetched before.
    fn nobody_before(&self, now: Time, wake: Time) -> Result<(), TestCaseError> {
        let before = wake - Span::from_nanos(1);
        let pause = Span::from_nanos(self.frontier.pace.period().as_nanos() / 4 + 1);
        // After asking in vain there is a pause, whatever comes.
        let is_pause = self.frontier.idle == Some(now) && wake <= now + pause;
        if before <= now || before < self.frontier.pace.next() || is_pause {
            return Ok(());
        }
        let price = self.frontier.pace.budget().price();
        let missed = self.plain.best(before).filter(|(_, value)| *value >= price);
        prop_assert!(missed.is_none(), "{missed:?} before {wake:?}, after {now:?}");
        Ok(())
    }

    fn polls(&mut self, now: &mut Time, times: u8) -> Result<(), TestCaseError> {
        for _ in 0..times {
            let Some(wake) = self.frontier.next_wakeup() else { break };
            prop_assert!(wake >= *now, "{wake:?} {now:?}");
            self.nobody_before(*now, wake)?;
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
                    self.plain.start(order.host.0 as usize, *now);
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
            Step::Crowd { belief, age, pages } => {
                if self.plain.pages.len() < 2000 {
                    for page in 0..usize::from(pages) {
                        self.insert(*now, belief, page % hosts, age);
                    }
                }
            }
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
            Step::Groups(host, groups) => {
                let host = usize::from(host) % hosts;
                let groups: Vec<usize> = (0..GROUPS.len()).filter(|group| groups >> group & 1 == 1).collect();
                let ids = groups.iter().map(|group| GroupId(*group as u32)).collect();
                self.frontier.set_groups(*now, HostId(host as u32), ids).unwrap();
                self.plain.set_groups(host, groups);
            }
            Step::Hold(host, held) => {
                let host = usize::from(host) % hosts;
                self.frontier.hold(*now, HostId(host as u32), held).unwrap();
                self.plain.hosts[host].held = held;
            }
            Step::Answer(which, changed, copy) => {
                let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                self.take(*now, which, Outcome::Seen(answer), copy);
            }
            Step::Fail(which, span) => {
                self.take(*now, which, Outcome::Failed { retry_after: Span::from_secs(span) }, (0.0, 0));
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
        start in prop_oneof![
            9 => Just(Time::ZERO),
            1 => (0u64..60).prop_map(|left| Time::LAST - Span::from_whole_secs(left)),
        ],
    ) {
        let mut twins = Twins::starting(start, function, hosts);
        let mut now = start;
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
            twins.take(now, 0, Outcome::Seen(Answer::Changed), (0.0, 0));
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Pages of equal age and different beliefs: the price rises as they all age, and falls when the budget grows.
    #[test]
    fn equal_ages_are_exact(
        seed in any::<u64>(),
        pages in 300usize..2500,
        function in prop_oneof![
            2 => Just(ValueFunction::Greedy),
            1 => Just(ValueFunction::GreedyCis),
            2 => Just(ValueFunction::GreedyNcis),
        ],
        signals in 0usize..3,
        phases in proptest::collection::vec((-2.5f64..0.5, 20u32..250), 2..6),
    ) {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || rng.random::<f64>();
        let hosts = pages / 2;
        let mut twins = Twins::new(function, hosts);
        let mut now = Time::ZERO;
        for page in 0..pages {
            twins.insert(now, (draw(), draw() * draw(), draw(), 0.1 + draw()), page % hosts, 0.0);
        }
        for (laps, polls) in phases {
            // From one page in 300 per unit of time to three times all of them.
            twins.frontier.set_budget(now, rate(pages as f64 * 10f64.powf(laps))).unwrap();
            for _ in 0..polls {
                for _ in 0..signals {
                    let page = (draw() * pages as f64) as usize;
                    let id = twins.plain.pages[page].as_ref().unwrap().id;
                    twins.frontier.signal(now, id).unwrap();
                    twins.plain.page(id).since.signal(now, Span::ZERO);
                }
                twins.polls(&mut now, 1)?;
                twins.take(now, 0, Outcome::Seen(Answer::Changed), (0.0, 0));
            }
        }
    }
}

/// A host that everyone waits for: thousands race in its room, and what they sleep on is swept now and then.
#[test]
fn crowded_rooms_are_exact() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(5);
    let mut draw = || rng.random::<f64>();
    let mut twins = Twins::new(ValueFunction::GreedyNcis, 1);
    let mut now = Time::ZERO;
    let manners = Manners { gap: Span::from_millis(100), ..Manners::default() };
    twins.frontier.set_budget(now, rate(100.0)).unwrap();
    twins.frontier.set_manners(now, HostId(0), manners).unwrap();
    twins.plain.hosts[0].set_manners(manners);
    for _ in 0..6000 {
        twins.insert(now, (0.01 + draw(), 0.01 + draw(), draw(), 0.1 + 0.5 * draw()), 0, 0.1 * draw());
    }
    for _ in 0..1500 {
        twins.polls(&mut now, 1).unwrap();
        twins.take(now, 0, Outcome::Seen(Answer::Changed), (0.0, 0));
        for _ in 0..3 {
            let page = (draw() * 6000.0) as usize;
            let id = twins.plain.pages[page].as_ref().unwrap().id;
            twins.frontier.signal(now, id).unwrap();
            twins.plain.page(id).since.signal(now, Span::ZERO);
        }
    }
    assert!(twins.frontier.decisions() > 500);
}

/// Who is worth its price only a few years before the end of time is not told to come at the end.
#[test]
fn nobody_is_late_by_years() {
    for fetched in [Time::ZERO, Time::from_nanos(-5_000_000_000_000_000_000)] {
        let mut twins = Twins::starting(fetched, ValueFunction::GreedyNcis, 1);
        let mut now = fetched;
        let steps = [
            Step::Price(0.277_742_921_981_756_54),
            Step::Insert {
                belief: (
                    0.396_115_350_190_101_97,
                    0.728_149_351_707_164,
                    0.999_999_999_941_691_5,
                    0.096_322_458,
                ),
                host: 0,
                age: 14.0,
            },
            Step::Polls(2),
        ];
        for step in &steps {
            twins.step(&mut now, step).unwrap();
        }
        assert!(now < Time::LAST);
    }
}

/// At the last moment there is, a signal still wakes who was to sleep for ever.
#[test]
fn the_end_of_time_is_exact() {
    let mut twins = Twins::new(ValueFunction::GreedyNcis, 1);
    let mut now = Time::ZERO;
    let steps = [
        Step::Crowd {
            belief: (1.209_852_895_740_861_9, 0.795_177_767_873_577_9, 0.999_999_999_975_203, 0.0),
            age: 0.0,
            pages: 137,
        },
        Step::Price(0.390_601_016_137_463_73),
        Step::Crowd {
            belief: (
                0.117_616_105_594_761_89,
                0.715_673_345_480_471_8,
                0.999_999_999_980_93,
                0.212_619_324_735_113_83,
            ),
            age: 0.0,
            pages: 103,
        },
        Step::Polls(3),
        Step::Insert { belief: (0.01, 0.01, 0.0, 0.0), host: 0, age: 0.0 },
        Step::Restart,
        Step::Signal(137),
        Step::Polls(1),
    ];
    for step in &steps {
        twins.step(&mut now, step).unwrap();
    }
}
