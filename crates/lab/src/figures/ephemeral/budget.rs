//! The budget sum, literal and mended.
//!
//! The paper spends Σ (1/I + λ) over all sources: visits, and the links of everybody, visited or not. If the links alone are more than the budget,
//! that has no solution, and its threshold, with those charged for that are left, leaves out the wrong ones.

use refrain_core::optimum::hubs::{Hub, open_and_visit, visit_all, visit_by_gain, visit_by_threshold};

use super::super::{Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look, Measured, Table, Verdict};
use super::words::{magnitudes, percent, share};
use crate::discover::MadeUpHubs;
use crate::made_up::Numbers;

/// Budgets, in fetches for each link that appears.
const BUDGETS: [f64; 7] = [0.1, 0.2, 0.4, 0.8, 1.2, 2.0, 4.0];
/// The instance without chance: ten hubs, and fewer fetches than links.
const SMALL: (u32, f64) = (10, 0.012);
const RULES: [&str; 4] =
    ["all links charged", "threshold", "gain of each hub", "the same, improved by search"];

/// Hubs without chance, of which an independent implementation has the optimum by brute force.
fn golden(count: u32) -> Result<Vec<Hub>, FigureError> {
    let hub = |i: u32| {
        let i = f64::from(i);
        let u = ((i + 0.5) * 0.618_033_988_749_894_9).fract();
        let v = ((i + 0.5) * 0.754_877_666_246_692_7).fract();
        Hub::new(0.01 / (i + 1.0), -5.0 * (1.0 - u).ln(), 10f64.powf(-5.0 + 1.5 * v))
    };
    (0..count).map(hub).collect::<Result<_, _>>().map_err(|why| FigureError(why.to_string()))
}

/// What the rules earn; the first earns nothing where it has no solution. Then the bound, and how many hubs the rules open.
fn measure(hubs: &[Hub], budget: f64) -> Vec<f64> {
    let plans = [
        visit_all(hubs, budget).ok(),
        Some(visit_by_threshold(hubs, budget)),
        Some(visit_by_gain(hubs, budget)),
    ];
    let best = open_and_visit(hubs, budget);
    let bound = best.bound;
    let plans: Vec<_> = plans.into_iter().chain([Some(best)]).collect();
    let opened =
        |plan: &refrain_core::optimum::hubs::HubPlan| plan.hubs.iter().filter(|hub| hub.open).count() as f64;
    let profits = plans.iter().map(|plan| plan.as_ref().map_or(0.0, |plan| plan.profit));
    let open = plans.iter().map(|plan| plan.as_ref().map_or(0.0, opened));
    profits.chain([bound]).chain(open).collect()
}

/// A rule's profit in units of the bound.
fn of_bound(numbers: &[f64], rule: usize) -> f64 {
    numbers[rule] / numbers[RULES.len()]
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let (hubs, repetitions) = desk.pick((300, 10u64), (3000, 20));
    let small = Cell::new("ten hubs", || Ok(measure(&golden(SMALL.0)?, SMALL.1)));
    let mut cells = vec![small];
    for budget in BUDGETS {
        for repetition in 0..repetitions {
            cells.push(Cell::new(format!("{budget} fetches per link, {repetition}"), move || {
                let made_up = MadeUpHubs {
                    hubs,
                    link_rate: Numbers::LogUniform(0.05, 40.0),
                    profit: Numbers::LogUniform(0.01, 10.0),
                    decay: Numbers::LogUniform(0.5, 8.0),
                };
                let hubs = made_up
                    .draw(desk.seed.wrapping_add(repetition))
                    .map_err(|why| FigureError(why.to_string()))?;
                let links: f64 = hubs.iter().map(Hub::link_rate).sum();
                Ok(measure(&hubs, budget * links))
            }));
        }
    }
    let measured = desk.measure(&cells)?;
    let Some((small, many)) = measured.split_first() else {
        return Err(FigureError("nothing was measured".into()));
    };
    let shares: Vec<Vec<Measured>> = many
        .chunks(repetitions as usize)
        .map(|cells| {
            (0..RULES.len()).map(|rule| Measured::of(cells.iter().map(|of| of_bound(of, rule)))).collect()
        })
        .collect();
    Ok(findings(small, &shares, hubs, repetitions))
}

fn findings(small: &[f64], shares: &[Vec<Measured>], hubs: usize, repetitions: u64) -> Findings {
    Findings {
        asked: "A source that is visited costs its visits, and the fetches of what it shows; one that is not visited costs nothing. The paper's sum charges for \
                the links of all sources. What does that cost?"
            .into(),
        setting: format!(
            "No simulation: what the rules earn in the long run, by their own formulas, with all parameters known. Ten hubs without chance and {} fetches per \
             second (their links alone are {:.4}), of which all choices can be tried; and {hubs} hubs by chance, {repetitions} times, as in \
             `ephemeral-table`. The threshold is the paper's: as the price of a visit rises, sources drop out whose first visit is not worth it (λP/δ), \
             and the rest is charged for; what is left over is spent on them. By gain, a source is open if its profit exceeds the price of its visits and \
             of its links.",
            SMALL.1,
            golden(SMALL.0).map_or(f64::NAN, |hubs| hubs.iter().map(Hub::link_rate).sum())
        ),
        claims: vec![solution(shares), literal(small), many(shares)],
        use_of_it: "`refrain optimum --hubs` and the intervals of the ECHO policies charge for visited hubs only, and open a hub if it gains at the price; with few \
                    hubs the choice is improved by search."
            .into(),
        charts: vec![chart(shares)],
        tables: vec![table(small)],
        ..Findings::default()
    }
}

fn solution(shares: &[Vec<Measured>]) -> Claim {
    let scarce: Vec<f64> = BUDGETS
        .into_iter()
        .zip(shares)
        .filter(|(_, rules)| rules[0].mean == 0.0)
        .map(|(budget, _)| budget)
        .collect();
    let solved = scarce.iter().all(|budget| *budget > 1.0);
    Claim {
        paper: "Resources are spent exactly: the sum over all sources of 1/I + λ is the crawl rate; and the rate is much smaller than that of new links.".into(),
        measured: format!(
            "With {} fetches per link there is no such schedule: the links alone are more than the budget. The two sentences exclude each other.",
            scarce.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        ),
        verdict: Verdict::of(solved, false),
    }
}

fn literal(small: &[f64]) -> Claim {
    let best = small[RULES.len() - 1];
    let part = small[1] / best;
    Claim {
        paper: "The threshold on what sources are worth solves the problem completely.".into(),
        measured: format!(
            "Of ten hubs it leaves {:.0} and earns {:.4} per second. The best of all choices opens {:.0} and earns {best:.4}; by gain {:.4}. The threshold has {} \
             of the optimum. (99 % agrees.)",
            small[RULES.len() + 2],
            small[1],
            small[2 * RULES.len()],
            small[2],
            percent(part)
        ),
        verdict: near(part),
    }
}

/// Optimal within a percent, nearly, or not.
fn near(part: f64) -> Verdict {
    Verdict::of(part >= 0.99, part >= 0.95)
}

fn many(shares: &[Vec<Measured>]) -> Claim {
    let worst = |rule: usize| {
        let all = BUDGETS.into_iter().zip(shares).map(|(budget, rules)| (budget, rules[rule]));
        all.min_by(|a, b| a.1.mean.total_cmp(&b.1.mean)).unwrap_or_default()
    };
    let (threshold, gain) = (worst(1), worst(2));
    Claim {
        paper: "(As before, with many sources.)".into(),
        measured: format!(
            "At its worst, with {} fetches per link, the threshold earns {} of what no schedule exceeds; by gain it is never less than {} (at {}).",
            threshold.0,
            threshold.1.percent(),
            gain.1.percent(),
            gain.0
        ),
        verdict: near(threshold.1.mean),
    }
}

fn chart(shares: &[Vec<Measured>]) -> Chart {
    let curve = |(rule, name): (usize, &str)| Curve {
        name: name.to_owned(),
        look: Look::Line,
        points: BUDGETS
            .into_iter()
            .zip(shares)
            .filter(|(_, rules)| rules[rule].mean > 0.0)
            .map(|(budget, rules)| rules[rule].at(budget))
            .collect(),
    };
    Chart {
        file: "budgets",
        title: "What rules earn of what no schedule exceeds".into(),
        x: magnitudes("fetches for each link that appears"),
        y: share("share of the dual bound", 1.0),
        curves: RULES.into_iter().enumerate().map(curve).collect(),
    }
}

fn table(small: &[f64]) -> Table {
    let row = |(rule, name): (usize, &str)| {
        let profit = if small[rule] > 0.0 { format!("{:.4}", small[rule]) } else { "no solution".into() };
        vec![name.to_owned(), profit, format!("{:.0}", small[RULES.len() + 1 + rule])]
    };
    Table {
        file: "ten-hubs",
        title: format!("Ten hubs, {} fetches per second", SMALL.1),
        columns: ["rule", "profit per second", "hubs opened"].map(str::to_owned).to_vec(),
        rows: RULES.into_iter().enumerate().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of an independent implementation.
    #[test]
    fn ten_hubs_are_as_brute_force_has_them() {
        let numbers = measure(&golden(10).unwrap(), SMALL.1);
        for (rule, expected) in [(0, 0.0), (1, 0.075_527_9), (2, 0.095_588_3), (3, 0.096_770_0)] {
            assert!((numbers[rule] - expected).abs() < 1e-6, "{rule}: {}", numbers[rule]);
        }
        assert_eq!(&numbers[5..], [0.0, 2.0, 4.0, 5.0]);
        assert_eq!(literal(&numbers).verdict, Verdict::Disagrees);
    }

    #[test]
    fn verdicts_turn_with_the_numbers() {
        assert_eq!(
            [near(0.995), near(0.96), near(0.8)],
            [Verdict::Agrees, Verdict::Partly, Verdict::Disagrees]
        );
        let shares = |literal: f64| {
            let rules = [literal, 0.99, 0.99, 1.0].map(|mean| Measured { mean, error: 0.0 });
            vec![rules.to_vec(); BUDGETS.len()]
        };
        assert_eq!(solution(&shares(0.9)).verdict, Verdict::Agrees);
        assert_eq!(solution(&shares(0.0)).verdict, Verdict::Disagrees);
        assert_eq!(many(&shares(0.9)).verdict, Verdict::Agrees);
    }
}
