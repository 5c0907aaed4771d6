//! The plan that is the best of several, against the paper's, the bound and brute force.

use proptest::prelude::*;

use super::*;

/// Ages of the copies at the start, in seconds, by the number of the page.
#[derive(Clone, Copy, Debug)]
enum Ages {
    Fresh,
    Old,
    Never,
    Mixed,
}

impl Ages {
    const ALL: [Self; 4] = [Self::Fresh, Self::Old, Self::Never, Self::Mixed];

    fn of(self, spread: f64) -> f64 {
        match self {
            Self::Fresh => 0.0,
            Self::Never => f64::INFINITY,
            Self::Mixed if spread < 0.25 => f64::INFINITY,
            Self::Mixed if spread < 0.5 => 0.0,
            Self::Old | Self::Mixed => 172_800.0 * spread,
        }
    }
}

/// The mean staleness of a plan of the paper: its allocation, its times, carried out.
fn paper(problem: &Problem, allocation: &Allocation, timing: Timing, crawlers: &[Span]) -> f64 {
    let mut programme = allocation.programme(problem, timing, crawlers);
    programme.assign(problem, crawlers, |_| {});
    programme.staleness(problem)
}

/// Pages whose rates, importances and ages are drawn, on hosts with these gaps.
#[derive(Debug)]
struct World {
    ages: Ages,
    unit: f64,
    pages: usize,
    gaps: Vec<u64>,
    horizon: u64,
    budget: u64,
    /// Seeds the rates, importances and ages.
    seed: u64,
}

impl World {
    fn problem(&self) -> Problem {
        let mut state = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = || {
            // A xorshift generator: good enough to spread pages.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut pages = Vec::new();
        let mut host_of = Vec::new();
        for _ in 0..self.pages {
            let rate = 1e-6 * 1000f64.powf(random());
            let importance = 0.1 * 100f64.powf(random());
            let page = PlanPage::new(rate, importance * self.unit).unwrap();
            pages.push(page.fetched_before(self.ages.of(random())).unwrap());
            host_of.push((random() * self.gaps.len() as f64) as u32);
        }
        let gaps: Vec<Span> = self.gaps.iter().map(|gap| Span::from_whole_secs(*gap)).collect();
        Problem::new(Span::from_whole_secs(self.horizon), self.budget, &pages, &host_of, &gaps).unwrap()
    }
}

/// The issue of a nightly crawl: 500 slow pages, all copies two days old, and a fetch for each. Every fetch is wanted at once, so the best
/// plan makes one each gap from the start.
#[test]
fn old_copies_are_fetched_at_once() {
    let pages: Vec<PlanPage> = (0..500)
        .map(|page| PlanPage::new(0.01 / 3600.0 * (1.0 + f64::from(page % 7)), 1.0).unwrap())
        .map(|page| page.fetched_before(172_800.0).unwrap())
        .collect();
    let gap = Span::from_whole_secs(5);
    let problem = Problem::new(Span::from_whole_secs(28_800), 500, &pages, &[0; 500], &[gap]).unwrap();
    let crawlers = [Span::from_whole_secs(1)];
    let plan = problem.plan(&crawlers);
    let times = &plan.programme.hosts[0].times;
    assert!(times.iter().zip(0u64..).all(|(time, rank)| *time == rank * gap.as_nanos()), "{times:?}");
    let own = problem.allocate_by_paper();
    let mp2 = paper(&problem, &own, Timing::Ideal, &crawlers);
    let psp = paper(&problem, &own, Timing::Merged, &crawlers);
    assert!(plan.staleness < mp2 && plan.staleness < 0.5 * psp, "{} {mp2} {psp}", plan.staleness);
}

/// ⌊T/P⌋ requests, spread by the paper's MERGE, all fit before the end, though the gap does not divide the horizon.
#[test]
fn the_papers_plan_drops_nothing() {
    for (horizon, gap) in [(28_801, 77), (1000, 999), (1000, 1001), (86_400, 15), (100, 33)] {
        let world = World {
            ages: Ages::Old,
            unit: 1.0,
            pages: 50,
            gaps: vec![gap],
            horizon,
            budget: 1_000_000,
            seed: 1,
        };
        let problem = world.problem();
        let allocation = problem.allocate_by_paper();
        assert_eq!(allocation.total(), horizon / gap, "{horizon} {gap}");
        let crawlers = [Span::from_millis(1)];
        let mut programme = allocation.programme(&problem, Timing::Merged, &crawlers);
        assert_eq!(programme.assign(&problem, &crawlers, |_| {}).dropped, 0, "{horizon} {gap}");
    }
}

/// With few slots, neither exchanging two of them nor giving one to another page makes a plan better.
#[test]
fn no_single_change_is_better() {
    for ages in Ages::ALL {
        for seed in 0..5 {
            let world =
                World { ages, unit: 1.0, pages: 30, gaps: vec![700, 300], horizon: 28_801, budget: 90, seed };
            let (problem, crawlers) = (world.problem(), [Span::from_whole_secs(60)]);
            let plan = problem.plan(&crawlers);
            let better = |changed: &Programme| {
                assert!(changed.staleness(&problem) > plan.staleness - 1e-6, "{ages:?} {seed}");
            };
            for (number, host) in problem.hosts().iter().enumerate() {
                let slots = plan.programme.hosts[number].pages.len();
                let mut changed = plan.programme.clone();
                for early in 0..slots {
                    for late in early + 1..slots {
                        // Exchanges that do not change the order of the fetches of a page.
                        let pages = &changed.hosts[number].pages;
                        let between = &pages[early + 1..late];
                        if between.contains(&pages[early]) || between.contains(&pages[late]) {
                            continue;
                        }
                        changed.hosts[number].pages.swap(early, late);
                        better(&changed);
                        changed.hosts[number].pages.swap(early, late);
                    }
                    for page in host.pages() {
                        let own = std::mem::replace(&mut changed.hosts[number].pages[early], page as u32);
                        better(&changed);
                        changed.hosts[number].pages[early] = own;
                    }
                }
            }
        }
    }
}

/// Against all ways to give five slots to three pages: the best one is nearly always found, and never missed by much.
#[test]
fn few_slots_get_the_best_pages() {
    let (mut found, mut all) = (0, 0);
    for ages in Ages::ALL {
        for seed in 0..20 {
            let world =
                World { ages, unit: 1.0, pages: 3, gaps: vec![2000], horizon: 10_001, budget: 5, seed };
            let problem = world.problem();
            let plan = problem.plan(&[Span::from_whole_secs(1)]);
            let mut changed = plan.programme.clone();
            let slots = changed.hosts[0].pages.len() as u32;
            let mut best = f64::INFINITY;
            for way in 0..3u32.pow(slots) {
                for slot in 0..slots {
                    changed.hosts[0].pages[slot as usize] = way / 3u32.pow(slot) % 3;
                }
                best = best.min(changed.staleness(&problem));
            }
            all += 1;
            found += u32::from(plan.staleness < best + 1e-9);
            assert!(plan.staleness < 1.05 * best, "{ages:?} {seed}: {} {best}", plan.staleness);
        }
    }
    assert!(10 * found >= 9 * all, "{found} of {all}");
}

fn worlds() -> impl Strategy<Value = (World, Vec<Span>)> {
    // Gaps that leave room and gaps that do not; hardly any divides the horizon.
    let gaps = proptest::collection::vec(prop_oneof![Just(0u64), 1u64..60, 60u64..2000, Just(100_000)], 1..4);
    let crawlers = proptest::collection::vec(1u64..300_000, 1..4);
    let ages = proptest::sample::select(&Ages::ALL[..]);
    (ages, 1usize..40, gaps, 1000u64..30_000, 0u64..200, any::<u64>(), crawlers).prop_map(
        |(ages, pages, gaps, horizon, budget, seed, crawlers)| {
            let world = World { ages, unit: 1.0, pages, gaps, horizon, budget, seed };
            (world, crawlers.into_iter().map(Span::from_millis).collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Never staler than the paper's plans or the merged order of its own fetches, never below the bound, in any unit of importance.
    #[test]
    fn never_worse_than_the_paper((mut world, crawlers) in worlds()) {
        let problem = world.problem();
        let plan = problem.plan(&crawlers);
        let reachable = problem.clone().within_reach(&crawlers).allocate();
        prop_assert!(plan.staleness >= reachable.staleness(&problem) - 1e-9);
        let own = problem.allocate_by_paper();
        let impolite = problem.allocate_impolitely();
        for (allocation, timing) in [
            (&own, Timing::Merged),
            (&own, Timing::Ideal),
            (&reachable, Timing::Merged),
            (&impolite, Timing::Ideal),
        ] {
            let other = paper(&problem, allocation, timing, &crawlers);
            prop_assert!(plan.staleness <= other, "{timing:?}: {} {other}", plan.staleness);
        }
        for unit in [1e-9, 3e7] {
            world.unit = unit;
            let other = world.problem().plan(&crawlers).staleness;
            prop_assert!((plan.staleness - other).abs() < 1e-9, "in units of {unit}: {} {other}", plan.staleness);
        }
        // It can be carried out as it is: the same fetches at the same times.
        let mut again = plan.programme.clone();
        let mut made = vec![0; problem.pages().len()];
        let assigned = again.assign(&problem, &crawlers, |fetch| made[fetch.page()] += 1);
        prop_assert_eq!((assigned.executed, assigned.dropped), (plan.allocation.total(), 0));
        prop_assert!(assigned.executed <= problem.budget());
        for (one, other) in again.hosts.iter().zip(&plan.programme.hosts) {
            prop_assert_eq!(&one.times, &other.times);
        }
        for page in 0..made.len() {
            prop_assert_eq!(made[problem.given(page)], plan.allocation.fetches(page));
        }
    }
}
