//! The refresh-cost paper: a fetch costs something, and so does an hour with a stale copy.

mod censored;
mod course;
mod interval;
mod price;
mod very_stale;

use super::{Experiment, Paper, Verdict};

/// Hours between two changes of the paper's page, on average.
const MEAN: f64 = 24.0;
/// The fraction of them after which the paper looks again.
const THIRD: f64 = 1.0 / 3.0;

const fn experiment(
    name: &'static str,
    figure: &'static str,
    title: &'static str,
    run: fn(&super::Desk<'_>) -> Result<super::Findings, super::FigureError>,
) -> Experiment {
    Experiment { name, paper: Paper::Cost, figure, title, run }
}

pub(super) const EXPERIMENTS: [Experiment; 8] = [
    experiment("cost-1", "Fig 1", "the cost of an interval: formula against simulation", interval::cost),
    experiment(
        "cost-2",
        "Fig 2",
        "the cheapest interval for costs of fetches and of staleness",
        interval::costs,
    ),
    experiment(
        "cost-3",
        "Fig 3",
        "the cheapest interval for pages that change often or seldom",
        interval::pages,
    ),
    experiment("cost-4", "Fig 4", "what looking too seldom hides from naive counting", censored::run),
    experiment("cost-5", "Fig 5", "what not knowing the rate costs, for every fraction", price::by_fraction),
    experiment("cost-6", "Fig 6", "when not knowing the rate costs", price::over_time),
    experiment(
        "cost-7",
        "Fig 7",
        "a bad fraction of a known rate against a good one of an unknown rate",
        price::bad_fraction,
    ),
    experiment("cost-8", "Fig 8", "how long copies are stale if the rate is known, or not", very_stale::run),
];

fn verdict(agrees: bool, partly: bool) -> Verdict {
    match (agrees, partly) {
        (true, _) => Verdict::Agrees,
        (false, true) => Verdict::Partly,
        (false, false) => Verdict::Disagrees,
    }
}

/// The cost per hour of looking every `r` mean times between changes, if a fetch and a stale hour cost 1 each: the paper's formula.
fn formula(r: f64, mean: f64, fetch: f64, stale: f64) -> f64 {
    // 1 - (1 - e^{-r})/r
    stale * (1.0 + (-r).exp_m1() / r) + fetch / (r * mean)
}
