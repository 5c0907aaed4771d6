//! Hubs (ECHO, the ephemeral-content paper): front pages, feeds and sitemaps that show links to short-lived pages.
//!
//! A hub shows new links at rate λ, each worth P e^{-δ·delay} when it is fetched. Visited every I it earns
//! λ P φ(δI) per unit of time, φ(x) = (1 - e^{-x})/x, and costs 1/I visits and λ fetches of what it shows. Its
//! marginal profit in the visit rate is (λP/δ) g(δI): the GREEDY value with μ = λP and Δ = δ. So visits are spread by
//! the same optimum as pages are.
//!
//! Only the links of visited hubs are fetched, so opening a hub has a fixed charge of λ. That makes the problem a
//! knapsack: [`open_and_visit`] opens a hub iff its profit exceeds the price of its visits and links, re-spends what
//! is left, and, where hubs are few enough for single ones to matter, improves the choice: up to ten hubs by trying
//! all choices, up to a few hundred by adding, dropping and swapping. The dual bound tells how much could be missed.
//! [`visit_all`] is the paper's own rule, which charges for every hub's links; [`visit_by_threshold`] its threshold, where those do not fit.

use super::allocate::{Infeasible, allocate};
use super::candidate::{Candidate, Page, Visit};
use crate::math::sum::Sum;
use crate::page::BeliefError;

/// What is known of a hub.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hub {
    link_rate: f64,
    profit: f64,
    decay: f64,
}

/// What the optimum gives to the hubs.
#[derive(Clone, Debug)]
pub struct HubPlan {
    /// Λ: the profit of the last visit worth making.
    pub price: f64,
    /// Profit per unit of time.
    pub profit: f64,
    /// Σ λP: the profit if every link were fetched the moment it appears.
    pub instant_profit: f64,
    /// No choice of hubs and visits within the budget earns more (Lagrangian dual): at most `instant_profit`.
    pub bound: f64,
    /// Fetches per unit of time: visits, and links of visited hubs.
    pub rate: f64,
    /// Each hub's part, in their order.
    pub hubs: Vec<HubVisit>,
}

/// One hub's part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HubVisit {
    /// Whether its links are fetched at all.
    pub open: bool,
    /// Visits per unit of time.
    pub rate: f64,
    /// Profit per unit of time.
    pub profit: f64,
}

/// Up to this many hubs all choices are tried.
const HANDFUL: usize = 10;
/// Up to this many, single hubs matter and the choice is improved by local search.
const FEW: usize = 400;
/// A hub that loses no more than this share of what it costs is as good as one that gains.
const JUST_NOT: f64 = 1e-6;
/// How many hubs at the margin the local search looks at.
const MARGIN: usize = 24;

impl Hub {
    /// A hub with new links at `link_rate`, each worth `profit` at once and less by `decay` per unit of time.
    ///
    /// # Errors
    /// If a number is negative, infinite or not a number.
    pub fn new(link_rate: f64, profit: f64, decay: f64) -> Result<Self, BeliefError> {
        for (name, value) in [("link_rate", link_rate), ("profit", profit), ("decay", decay)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BeliefError::NotARate { name, value });
            }
        }
        Ok(Self { link_rate, profit, decay })
    }

    /// λ: new links per unit of time.
    pub fn link_rate(&self) -> f64 {
        self.link_rate
    }

    /// P: what a link is worth when it is new.
    pub fn profit(&self) -> f64 {
        self.profit
    }

    /// δ: how fast that falls.
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// λP: what it earns if every link is fetched at once.
    pub fn instant_profit(&self) -> f64 {
        self.link_rate * self.profit
    }

    /// The page it is like.
    fn as_page(&self) -> Page {
        // A product that overflows is as good as the largest number.
        Page::trusted(self.decay, self.instant_profit().min(f64::MAX))
    }

    /// Profit less what visits and links cost at this price.
    fn net_gain(&self, price: f64) -> (f64, f64) {
        let visit = self.as_page().visit(price, &mut ());
        let spent = visit.rate + self.link_rate;
        (self.instant_profit() * visit.freshness - price * spent, spent)
    }
}

/// The best visits to all hubs, when every hub's links are fetched (and charged for) whether it is visited or not:
/// the ephemeral paper's rule. Leaves `budget` - Σ λ for visits.
///
/// # Errors
/// If the links alone exceed the budget.
pub fn visit_all(hubs: &[Hub], budget: f64) -> Result<HubPlan, Infeasible> {
    let links: f64 = hubs.iter().map(|hub| hub.link_rate).collect::<Sum>().get();
    if links >= budget {
        return Err(Infeasible { needed: links, budget });
    }
    Ok(plan(hubs, &vec![true; hubs.len()], budget))
}

/// The paper's threshold, where the links of all hubs do not fit: as the price of a visit rises, hubs drop out whose first visit is not
/// worth it (λP/δ), and the links of the others are charged for, until those fit; what is left goes to them. That a hub's links cost
/// something, too, decides nothing.
pub fn visit_by_threshold(hubs: &[Hub], budget: f64) -> HubPlan {
    let visited = |price: f64| -> Vec<f64> {
        hubs.iter().map(|hub| hub.as_page().visit(price, &mut ()).rate).collect()
    };
    let spent = |price: f64| {
        let charged = hubs.iter().zip(visited(price)).filter(|(_, rate)| *rate > 0.0);
        charged.map(|(hub, rate)| hub.link_rate + rate).collect::<Sum>().get()
    };
    let first_visit = |hub: &Hub| if hub.decay > 0.0 { hub.instant_profit() / hub.decay } else { 0.0 };
    let (mut low, mut high) = (0.0, hubs.iter().map(first_visit).fold(0.0, f64::max));
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if spent(middle) > budget { low = middle } else { high = middle }
    }
    let open: Vec<bool> = visited(high).into_iter().map(|rate| rate > 0.0).collect();
    plan(hubs, &open, budget)
}

/// The rule of [`open_and_visit`] alone, without trying other choices: whoever gains at the price at which all that gain just fit.
pub fn visit_by_gain(hubs: &[Hub], budget: f64) -> HubPlan {
    plan(hubs, &worth_opening(hubs, dual(hubs, budget).0), budget)
}

/// The best choice of hubs to open and visits to make with `budget` fetches per unit of time (positive).
pub fn open_and_visit(hubs: &[Hub], budget: f64) -> HubPlan {
    let (price, bound) = dual(hubs, budget);
    let mut best = match hubs.len() {
        0..=HANDFUL => best_of_all(hubs, budget),
        _ if hubs.len() <= FEW => improve(hubs, worth_opening(hubs, price), budget, price),
        _ => plan(hubs, &worth_opening(hubs, price), budget),
    };
    if let Some(open) = fill(hubs, budget, price) {
        let filled = plan(hubs, &open, budget);
        if filled.profit > best.profit {
            best = filled;
        }
    }
    best.bound = bound.min(best.instant_profit);
    best
}

fn worth_opening(hubs: &[Hub], price: f64) -> Vec<bool> {
    hubs.iter().map(|hub| hub.net_gain(price).0 > 0.0).collect()
}

/// What the hubs worth opening leave of the budget, spent on those that only just are not: of hubs that are alike, all or none are
/// worth opening at any price, however many would fit. `None` if there are no such hubs.
fn fill(hubs: &[Hub], budget: f64, price: f64) -> Option<Vec<bool>> {
    let mut open = worth_opening(hubs, price);
    let mut filled = false;
    let gains: Vec<(f64, f64)> = hubs.iter().map(|hub| hub.net_gain(price)).collect();
    let mut left = budget - gains.iter().filter(|(net, _)| *net > 0.0).map(|(_, spent)| spent).sum::<f64>();
    for ((net, spent), open) in gains.iter().zip(&mut open) {
        let just_not = *net <= 0.0 && *net > -JUST_NOT * price * spent;
        if just_not && *spent <= left {
            (left, *open, filled) = (left - spent, true, true);
        }
    }
    filled.then_some(open)
}

/// The price at which the hubs worth opening just fit, and the dual bound there: Λ·budget + Σ max(0, net gain).
fn dual(hubs: &[Hub], budget: f64) -> (f64, f64) {
    let at = |price: f64| {
        let (mut spent, mut gain) = (Sum::default(), Sum::default());
        for (net, cost) in hubs.iter().map(|hub| hub.net_gain(price)) {
            if net > 0.0 {
                spent.add(cost);
                gain.add(net);
            }
        }
        (spent.get(), gain.get() + price * budget)
    };
    // Above max(P) no link is worth its own fetch.
    let (mut low, mut high) = (0.0, hubs.iter().map(|hub| hub.profit).fold(0.0, f64::max));
    let mut bound = at(high).1;
    for _ in 0..200 {
        let middle =
            if low > 0.0 && high > 4.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            break;
        }
        let (spent, dual) = at(middle);
        bound = bound.min(dual);
        if spent > budget { low = middle } else { high = middle }
    }
    (high, bound)
}

/// The best of all 2^n choices of hubs.
fn best_of_all(hubs: &[Hub], budget: f64) -> HubPlan {
    let mut best = plan(hubs, &vec![false; hubs.len()], budget);
    for choice in 1u32..1 << hubs.len() {
        let open: Vec<bool> = (0..hubs.len()).map(|i| choice >> i & 1 == 1).collect();
        if links(hubs, &open) < budget {
            let tried = plan(hubs, &open, budget);
            if tried.profit > best.profit {
                best = tried;
            }
        }
    }
    best
}

/// Adds, drops and swaps hubs near the margin as long as that earns more.
fn improve(hubs: &[Hub], mut open: Vec<bool>, budget: f64, price: f64) -> HubPlan {
    let mut best = plan(hubs, &open, budget);
    // Nearest first: how much of its own cost a hub would gain or lose by being flipped.
    let distance = |i: usize| {
        let (net, spent) = hubs[i].net_gain(price);
        (net / (price * spent).max(f64::MIN_POSITIVE)).abs()
    };
    let mut margin: Vec<usize> = (0..hubs.len()).filter(|&i| hubs[i].instant_profit() > 0.0).collect();
    margin.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    margin.truncate(MARGIN);

    let mut improved = true;
    while improved {
        improved = false;
        let single = margin.iter().map(|&i| (i, i));
        let pairs = margin.iter().flat_map(|&i| margin.iter().map(move |&j| (i, j))).filter(|(i, j)| i < j);
        for (i, j) in single.chain(pairs).collect::<Vec<_>>() {
            let mut tried = open.clone();
            tried[i] = !tried[i];
            if i != j {
                tried[j] = !tried[j];
            }
            make_room(hubs, &mut tried, [i, j], budget, price);
            let plan = plan(hubs, &tried, budget);
            if plan.profit > best.profit * (1.0 + 1e-12) {
                (best, open, improved) = (plan, tried, true);
            }
        }
    }
    best
}

/// Closes hubs until the links of the rest fit, those first that gain least for what they cost; `kept` ones last.
fn make_room(hubs: &[Hub], open: &mut [bool], kept: [usize; 2], budget: f64, price: f64) {
    let worth = |&i: &usize| {
        let (net, spent) = hubs[i].net_gain(price);
        (kept.contains(&i), net / spent.max(f64::MIN_POSITIVE))
    };
    while links(hubs, open) >= budget {
        let opened = (0..hubs.len()).filter(|&i| open[i] && hubs[i].link_rate > 0.0);
        let least = opened.min_by(|a, b| {
            let (a, b) = (worth(a), worth(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        match least {
            Some(least) => open[least] = false,
            None => break,
        }
    }
}

fn links(hubs: &[Hub], open: &[bool]) -> f64 {
    hubs.iter().zip(open).filter(|(_, open)| **open).map(|(hub, _)| hub.link_rate).collect::<Sum>().get()
}

/// The best visits to the open hubs; what their links leave of the budget goes to visits.
fn plan(hubs: &[Hub], open: &[bool], budget: f64) -> HubPlan {
    let links = links(hubs, open);
    let pages: Vec<Page> =
        hubs.iter().zip(open).filter(|(_, open)| **open).map(|(hub, _)| hub.as_page()).collect();
    let (price, visits) = match allocate(&pages, budget - links) {
        Ok(allocation) => (allocation.price, allocation.visits),
        // Without minimum rates every budget can be met.
        Err(_) => (0.0, vec![Visit { rate: 0.0, freshness: 0.0 }; pages.len()]),
    };
    let mut visits = visits.into_iter();
    let parts: Vec<HubVisit> = hubs
        .iter()
        .zip(open)
        .map(|(hub, &open)| match if open { visits.next() } else { None } {
            Some(visit) => {
                HubVisit { open, rate: visit.rate, profit: hub.instant_profit() * visit.freshness }
            }
            None => HubVisit { open: false, rate: 0.0, profit: 0.0 },
        })
        .collect();
    let sum = |of: &dyn Fn(&HubVisit) -> f64| parts.iter().map(of).collect::<Sum>().get();
    let instant_profit = hubs.iter().map(Hub::instant_profit).collect::<Sum>().get();
    HubPlan {
        price,
        profit: sum(&|part| part.profit),
        instant_profit,
        bound: instant_profit,
        rate: links + sum(&|part| part.rate),
        hubs: parts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The hubs of the golden instances.
    fn golden(count: u32) -> Vec<Hub> {
        (0..count)
            .map(|i| {
                let i = f64::from(i);
                let u = ((i + 0.5) * 0.618_033_988_749_894_9).fract();
                let v = ((i + 0.5) * 0.754_877_666_246_692_7).fract();
                Hub::new(0.01 / (i + 1.0), -5.0 * (1.0 - u).ln(), 10f64.powf(-5.0 + 1.5 * v)).unwrap()
            })
            .collect()
    }

    fn close(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() < tolerance, "{found}, not {expected}");
    }

    #[test]
    fn golden_visits_to_all_hubs() {
        let plan = visit_all(&golden(50), 0.1).unwrap();
        close(plan.price, 0.070_492_728_380_636_25, 1e-8);
        close(plan.profit, 0.215_551_082_697_731_16, 1e-8);
        close(plan.instant_profit, 0.219_532_456_491_475_07, 1e-8);
        close(plan.hubs.iter().map(|hub| hub.rate).sum(), 0.055_007_946_616_705_75, 1e-8);
        let intervals =
            [457.690_422_599_8, 370.033_655_866_5, 227.585_342_259_4, 852.265_169_058_8, 488.455_316_159];
        for (hub, interval) in plan.hubs.iter().zip(intervals) {
            close(1.0 / hub.rate, interval, 1e-8);
        }
        // Charging only for opened hubs drops one of the fifty, and earns more.
        let better = open_and_visit(&golden(50), 0.1);
        assert!(better.profit > plan.profit && better.profit <= better.bound);
        assert_eq!(better.hubs.iter().filter(|hub| hub.open).count(), 49);
    }

    #[test]
    fn golden_choice_of_hubs() {
        let hubs = golden(10);
        assert!(visit_all(&hubs, 0.012).is_err());
        let found = open_and_visit(&hubs, 0.012);
        // Brute force over all subsets; the rule without improvement gives .09558830.
        close(found.profit, 0.096_769_995_314_018_32, 1e-8);
        let open: Vec<usize> = (0..10).filter(|&i| found.hubs[i].open).collect();
        assert_eq!(open, [1, 4, 5, 7, 9]);
        close(found.instant_profit, 0.137_027_060_532_628_45, 1e-8);
        assert!(found.profit <= found.bound && found.bound < found.instant_profit);
        assert!(found.rate <= 0.012 * (1.0 + 1e-12));
    }

    /// The rule alone, and the search that larger instances get, on the golden instance.
    #[test]
    fn the_rule_and_the_search() {
        let hubs = golden(10);
        let (price, _) = dual(&hubs, 0.012);
        close(visit_by_gain(&hubs, 0.012).profit, 0.095_588_300_868_109_06, 1e-8);
        // By the threshold alone, two hubs (1 and 9) are left.
        let literal = visit_by_threshold(&hubs, 0.012);
        close(literal.profit, 0.075_527_917_940_870_38, 1e-8);
        assert_eq!((0..10).filter(|&i| literal.hubs[i].open).collect::<Vec<_>>(), [1, 9]);
        close(
            improve(&hubs, worth_opening(&hubs, price), 0.012, price).profit,
            0.096_769_995_314_018_32,
            1e-8,
        );
        // With more hubs the knapsack's gap closes.
        let many = open_and_visit(&golden(200), 0.03);
        assert!(many.profit > 0.998 * many.bound, "{} of {}", many.profit, many.bound);
    }

    /// Of a thousand hubs that are alike, as many are opened as fit.
    #[test]
    fn hubs_that_are_alike_are_not_all_closed() {
        for count in [40, 1000] {
            let hubs = vec![Hub::new(0.01, 1.0, 0.001).unwrap(); count];
            let plan = open_and_visit(&hubs, 0.005 * count as f64);
            assert!(plan.profit > 0.95 * plan.bound, "{count}: {} of {}", plan.profit, plan.bound);
        }
    }

    #[test]
    fn hubs_that_earn_nothing_stay_closed() {
        let idle = Hub::new(0.0, 5.0, 0.1).unwrap();
        let worthless = Hub::new(1.0, 0.0, 0.1).unwrap();
        let plan = open_and_visit(&[idle, worthless], 1.0);
        assert_eq!(plan.profit, 0.0);
        assert!(plan.hubs.iter().all(|hub| hub.rate == 0.0));
        let empty = open_and_visit(&[], 1.0);
        assert_eq!((empty.profit, empty.rate), (0.0, 0.0));
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Hub::new(bad, 1.0, 1.0).is_err());
            assert!(Hub::new(1.0, bad, 1.0).is_err());
            assert!(Hub::new(1.0, 1.0, bad).is_err());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn searching_never_hurts_and_never_beats_the_bound(
            hubs in proptest::collection::vec((0.001f64..1.0, 0.1f64..10.0, 0.01f64..3.0), 1..8),
            share in 0.05f64..2.0,
        ) {
            let hubs: Vec<Hub> = hubs.into_iter().map(|(l, p, d)| Hub::new(l, p, d).unwrap()).collect();
            let budget = share * links(&hubs, &vec![true; hubs.len()]);
            let best = open_and_visit(&hubs, budget);
            prop_assert!(best.profit <= best.bound * (1.0 + 1e-9));
            prop_assert!(best.rate <= budget * (1.0 + 1e-9));
            let (price, _) = dual(&hubs, budget);
            let rule = plan(&hubs, &worth_opening(&hubs, price), budget);
            let searched = improve(&hubs, worth_opening(&hubs, price), budget, price);
            prop_assert!(rule.profit <= searched.profit * (1.0 + 1e-9));
            prop_assert!(searched.profit <= best.profit * (1.0 + 1e-9));
        }
    }
}
