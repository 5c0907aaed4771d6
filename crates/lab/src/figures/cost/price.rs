//! Fig 5 to 7: what it costs not to know how often a page changes.

use super::super::{
    Axis, Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look, Measured, Point, Scaling, Verdict,
};
use super::course::{Rule, chance, changes, cost_rate, costs, looks};
use super::{MEAN, THIRD, formula};

const FRACTIONS: [f64; 12] = [0.12, 0.16, 0.2, 0.24, 0.28, THIRD, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0];
/// Where the paper looks: a third.
const AT_THIRD: usize = 5;

fn axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), scaling: Scaling::Linear, range: None }
}

fn curve(name: &str, look: Look, points: Vec<Point>) -> Curve {
    Curve { name: name.to_owned(), look, points }
}

/// Fig 5.
pub(super) fn by_fraction(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    const HOURS: f64 = 1000.0;
    const PIECE: u64 = 100;
    let runs: u64 = desk.pick(5000, 20_000);
    let seed = desk.seed;
    let piece = |first: u64| {
        Cell::new(format!("runs from {first}"), move || {
            let run = |run: u64| {
                let changes = changes(&mut chance(seed, run), HOURS);
                let both = FRACTIONS.map(|fraction| {
                    [Rule::Known(fraction), Rule::Estimated(fraction)]
                        .map(|rule| cost_rate(&changes, rule, HOURS))
                });
                both.into_iter().flatten()
            };
            Ok((first..first + PIECE).flat_map(run).collect())
        })
    };
    let cells: Vec<_> = (0..runs).step_by(PIECE as usize).map(piece).collect();
    let measured = desk.measure(&cells)?.concat();
    let each = 2 * FRACTIONS.len();
    let of = |place: usize| measured.iter().skip(place).step_by(each).copied();
    let known = |fraction: usize| Measured::of(of(2 * fraction));
    let unknown = |fraction: usize| Measured::of(of(2 * fraction + 1));
    // The same changes for both: their difference is sharper than either.
    let price = |fraction: usize| {
        Measured::of(of(2 * fraction + 1).zip(of(2 * fraction)).map(|(with, without)| with - without))
    };
    let least = |cost: &dyn Fn(usize) -> Measured| {
        (0..FRACTIONS.len()).min_by(|a, b| cost(*a).mean.total_cmp(&cost(*b).mean)).unwrap_or(0)
    };
    let (best_known, best_unknown) = (FRACTIONS[least(&known)], FRACTIONS[least(&unknown)]);
    let is_dearer = |fraction: &usize| price(*fraction).is_above(0.0);
    let dearer = (0..FRACTIONS.len()).filter(is_dearer).count();
    let others: Vec<String> = (0..FRACTIONS.len())
        .filter(|place| !is_dearer(place))
        .map(|place| FRACTIONS[place].to_string())
        .collect();
    let too_small =
        (0..FRACTIONS.len()).filter(|place| !is_dearer(place)).all(|place| FRACTIONS[place] < best_known);
    let why = if too_small {
        ": there it is cheaper to look less often, which is what the made-up observations lead to"
    } else {
        ""
    };
    let not = if others.is_empty() {
        "and at every other".to_owned()
    } else {
        format!("but no dearer at {}{why}", others.join(", "))
    };
    let points = |cost: &dyn Fn(usize) -> Measured| {
        (0..FRACTIONS.len()).map(|place| cost(place).at(FRACTIONS[place])).collect()
    };
    let theory = (12..=100).map(|r| f64::from(r) / 100.0).map(|r| Point::at(r, formula(r, MEAN, 1.0, 1.0)));
    Ok(Findings {
        asked: "So far the rate of change was known. A new page's is not: it has to be found out by looking. How much does that cost?".to_owned(),
        found: Some(format!(
                "A page that changes once a day costs {:.3} an hour if one looks after a third of that time and a fetch costs as much as a stale hour. Who has to find out how often \
                 it changes pays {:.3} more an hour in the first {HOURS:.0} hours.",
                known(AT_THIRD).mean,
                price(AT_THIRD).mean
            )),
        setting: format!("A page that changes every {MEAN} hours on average; a fetch costs as much as a stale hour. {runs} runs of {HOURS} hours, the same changes for both. Who does not know the rate starts with the paper's two made-up observations (changed within 1 hour, unchanged for 57) and looks after a fraction of the estimate."),
        claims: vec![
            Claim {
                paper: "Not knowing the rate costs more: the curves are apart.".to_owned(),
                measured: format!(
                    "at a third by {} an hour, on top of {:.4}; {not}",
                    price(AT_THIRD),
                    known(AT_THIRD).mean
                ),
                verdict: Verdict::of(dearer == FRACTIONS.len(), 2 * dearer > FRACTIONS.len()),
            },
            Claim {
                paper: "The cheapest fraction is the same, whether the rate is known or not.".to_owned(),
                measured: format!("{best_known:.2} if it is known, {best_unknown:.2} if not, of those tried; between 0.24 and 0.4 the costs hardly differ"),
                verdict: Verdict::of((best_known - best_unknown).abs() < 0.1, (best_known - best_unknown).abs() < 0.2),
            },
        ],
        use_of_it: "Refrain does not look at a fraction of one estimate: it averages the value of a fetch over all rates that are still possible, so that what it does not know yet is part of what a fetch is worth.".to_owned(),
        charts: vec![Chart {
            file: "cost",
            title: "The cost per hour, if the rate is known and if it is not".to_owned(),
            x: axis("interval, as a fraction of the (estimated) mean time between changes"),
            y: axis("cost per hour"),
            curves: vec![
                curve("the rate is not known", Look::Line, points(&unknown)),
                curve("the rate is known", Look::Line, points(&known)),
                curve("formula", Look::Dashes, theory.collect()),
            ],
        }],
        tables: Vec::new(),
    })
}

/// Costs of a rule minus those of another over time, for each run: run by run, time by time.
fn differences(
    desk: &Desk<'_>,
    runs: u64,
    piece: u64,
    times: &[f64],
    rules: [Rule; 2],
) -> Result<Vec<Vec<f64>>, FigureError> {
    let seed = desk.seed;
    let horizon = times.last().copied().unwrap_or(0.0);
    let cell = |first: u64| {
        Cell::new(format!("runs from {first}"), move || {
            let run = |run: u64| {
                let changes = changes(&mut chance(seed, run), horizon);
                let [one, other] = rules.map(|rule| {
                    let (looks, open) = looks(&changes, rule, horizon);
                    costs(&looks, &open, times)
                });
                one.into_iter().zip(other).map(|(one, other)| one - other).collect::<Vec<_>>()
            };
            Ok((first..first + piece).flat_map(run).collect())
        })
    };
    let cells: Vec<_> = (0..runs).step_by(piece as usize).map(cell).collect();
    let measured = desk.measure(&cells)?.concat();
    Ok(measured.chunks(times.len()).map(<[f64]>::to_vec).collect())
}

/// What half of the runs are between, and the mean with its error, at each time.
struct Summary {
    mean: Vec<Measured>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Summary {
    fn new(runs: &[Vec<f64>], times: usize) -> Self {
        let at = |time: usize| {
            let mut all: Vec<f64> = runs.iter().map(|run| run[time]).collect();
            all.sort_by(f64::total_cmp);
            let quarter = |share: f64| all[((all.len() - 1) as f64 * share).round() as usize];
            (Measured::of(all.iter().copied()), quarter(0.25), quarter(0.75))
        };
        let (mut mean, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
        for (found, first, third) in (0..times).map(at) {
            mean.push(found);
            low.push(first);
            high.push(third);
        }
        Self { mean, low, high }
    }

    fn curves(&self, times: &[f64], lag: usize, lagged: &str) -> Vec<Curve> {
        let points = |numbers: &[f64]| times.iter().zip(numbers).map(|(x, y)| Point::at(*x, *y)).collect();
        // Errors now and then: one after the other they would be a band.
        let mean = times.iter().zip(&self.mean).enumerate().map(|(place, (x, found))| {
            if place % 10 == 0 { found.at(*x) } else { Point::at(*x, found.mean) }
        });
        let change = (lag..times.len())
            .map(|place| Point::at(times[place], self.mean[place].mean - self.mean[place - lag].mean));
        vec![
            curve("mean", Look::Line, mean.collect()),
            curve(lagged, Look::Line, change.collect()),
            curve("a quarter of runs is below", Look::Dashes, points(&self.low)),
            curve("a quarter of runs is above", Look::Dashes, points(&self.high)),
        ]
    }
}

/// Fig 6.
pub(super) fn over_time(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let runs: u64 = desk.pick(1000, 4000);
    let times: Vec<f64> = (0..=120).map(|k| 100.0 * f64::from(k)).collect();
    let rules = [Rule::Known(THIRD), Rule::Estimated(THIRD)];
    let found = differences(desk, runs, 10, &times, rules)?;
    let summary = Summary::new(&found, times.len());
    let between = |from: usize, to: usize| Measured::of(found.iter().map(move |run| run[from] - run[to]));
    // At 1500 hours, and over the last 6000.
    let (early, all, late) = (between(0, 15), between(0, 120), between(60, 120));
    let share = early.mean / all.mean;
    let (per_hour_early, per_hour_late) = (early.mean / 1500.0, late.mean / 6000.0);
    Ok(Findings {
        asked: "Not knowing the rate costs more at first. For how long?".to_owned(),
        setting: format!("As for Fig 5, both at a third; {runs} runs of 12,000 hours, the same changes for both. What the known case has cost so far, minus what the unknown case has."),
        claims: vec![
            Claim {
                paper: "The price of not knowing is paid mostly in the first 1500 hours or so.".to_owned(),
                measured: format!("{early:.1} by then, of {all:.1} in 12,000 hours: {:.0} %", 100.0 * share),
                verdict: Verdict::of(share > 0.75, share > 0.5),
            },
            Claim {
                paper: "In the long run it costs nothing more: the estimate converges.".to_owned(),
                measured: format!(
                    "{per_hour_late:.5} ± {:.5} an hour in the second half, {per_hour_early:.5} in the first 1500 hours",
                    late.error / 6000.0
                ),
                verdict: Verdict::of(per_hour_late < 0.1 * per_hour_early, per_hour_late < 0.3 * per_hour_early),
            },
        ],
        use_of_it: "Most of the price is paid for pages that are new. Refrain starts from what pages of the same host and shape have shown, so that new pages are not strangers.".to_owned(),
        charts: vec![Chart {
            file: "difference",
            title: "How much less it has cost to know the rate".to_owned(),
            x: axis("hours since the page was found"),
            y: axis("cost so far, known minus unknown"),
            curves: summary.curves(&times, 5, "change of the mean in 500 hours"),
        }],
        ..Findings::default()
    })
}

/// Fig 7.
pub(super) fn bad_fraction(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    const BAD: f64 = 0.8;
    let runs: u64 = desk.pick(2000, 5000);
    let times: Vec<f64> = (0..=100).map(|k| 10.0 * f64::from(k)).collect();
    let found = differences(desk, runs, 50, &times, [Rule::Known(BAD), Rule::Estimated(THIRD)])?;
    let summary = Summary::new(&found, times.len());
    let slope = Measured::of(found.iter().map(|run| (run[100] - run[50]) / 500.0));
    let expected = formula(BAD, MEAN, 1.0, 1.0) - formula(THIRD, MEAN, 1.0, 1.0);
    let end = summary.mean[100];
    let lowest =
        (0..=100).min_by(|a, b| summary.mean[*a].mean.total_cmp(&summary.mean[*b].mean)).unwrap_or(0);
    let dip = summary.mean[lowest];
    Ok(Findings {
        asked: "Which is worse: not to know how often a page changes, or to know it and to look too seldom?".to_owned(),
        found: Some(format!(
                "To look too seldom is worse than not to know how often a page changes: after 1000 hours, by the cost of {:.0} fetches.",
                end.mean
            )),
        setting: format!("As for Fig 5, but who knows the rate looks after {BAD} of the mean time between changes, and who does not after a third of the estimate; {runs} runs of 1000 hours, the same changes for both."),
        claims: vec![
            Claim {
                paper: "Over time, not knowing the rate but choosing well is cheaper than knowing it and choosing badly.".to_owned(),
                measured: format!("cheaper by {end:.1} after 1000 hours"),
                verdict: Verdict::of(end.is_above(0.0), end.mean > 0.0),
            },
            Claim {
                paper: "The difference grows evenly, as fast as the formulas of the two fractions differ.".to_owned(),
                measured: format!("by {slope} an hour from 500 to 1000 hours; the formulas differ by {expected:.4}, less what not knowing still costs then"),
                verdict: Verdict::of((slope.mean - expected).abs() < 2.0 * slope.error + 0.01, (slope.mean - expected).abs() < 0.5 * expected),
            },
            Claim {
                paper: "In the first few hours it is the other way round.".to_owned(),
                measured: format!("the difference is lowest after {} hours, at {dip:.2}", times[lowest]),
                verdict: Verdict::of(dip.is_below(0.0) && times[lowest] <= 100.0, dip.mean < 0.0),
            },
        ],
        use_of_it: "The rule matters more than the estimate: Refrain's is the cheapest one, and its estimates begin with what is known of other pages.".to_owned(),
        charts: vec![Chart {
            file: "difference",
            title: "How much more it has cost to know the rate and to look too seldom".to_owned(),
            x: axis("hours since the page was found"),
            y: axis("cost so far, known and badly chosen minus unknown and well chosen"),
            curves: summary.curves(&times, 10, "change of the mean in 100 hours"),
        }],
        tables: Vec::new(),
    })
}
