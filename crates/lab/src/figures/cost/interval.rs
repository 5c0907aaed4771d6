//! Fig 1 to 3: the cheapest interval for a page whose rate of change is known.

use refrain_core::optimum::cost::cost_optimum;

use super::super::{
    Axis, Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look, Measured, Point, Scaling, Verdict,
};
use super::course::{Rule, chance, changes, cost_rate};
use super::{MEAN, formula};

/// The fractions of the mean time between changes that are tried.
const FRACTIONS: [f64; 17] =
    [0.08, 0.12, 0.16, 0.2, 0.24, 0.28, 0.3, 0.32, 0.34, 0.36, 0.4, 0.45, 0.5, 0.6, 0.8, 1.0, 1.3];
const HOURS: f64 = 1000.0;
/// Runs in one cell.
const PIECE: u64 = 250;

/// The cheapest interval as a fraction of the mean time between changes; `None` if no fetch is worth its cost.
fn cheapest(mean: f64, fetch: f64, stale: f64) -> Result<Option<f64>, FigureError> {
    let found = cost_optimum(1.0 / mean, fetch, stale).map_err(|why| FigureError(why.to_string()))?;
    Ok(found.interval.map(|interval| interval / mean))
}

/// As many whole intervals as fit: the one that is cut short would be paid for only in part.
fn whole(fraction: f64) -> f64 {
    // With room for the rounding of its end.
    (HOURS / (fraction * MEAN)).floor() * fraction * MEAN * (1.0 + 1e-12)
}

fn linear(label: &str) -> Axis {
    Axis { label: label.to_owned(), scaling: Scaling::Linear, range: None }
}

fn logarithmic(label: &str) -> Axis {
    Axis { scaling: Scaling::Logarithmic, ..linear(label) }
}

/// Fig 1.
pub(super) fn cost(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let runs: u64 = desk.pick(10_000, 100_000);
    // All fractions see the same changes: what differs is the fraction.
    let seed = desk.seed;
    let piece = |first: u64| {
        Cell::new(format!("runs from {first}"), move || {
            let run = |run: u64| {
                let changes = changes(&mut chance(seed, run), HOURS);
                FRACTIONS.map(|fraction| cost_rate(&changes, Rule::Known(fraction), whole(fraction)))
            };
            Ok((first..first + PIECE).flat_map(run).collect())
        })
    };
    let cells: Vec<_> = (0..runs).step_by(PIECE as usize).map(piece).collect();
    let measured: Vec<f64> = desk.measure(&cells)?.concat();
    let at = |place: usize| Measured::of(measured.iter().skip(place).step_by(FRACTIONS.len()).copied());
    let simulated: Vec<Measured> = (0..FRACTIONS.len()).map(at).collect();
    let best =
        (0..FRACTIONS.len()).min_by(|a, b| simulated[*a].mean.total_cmp(&simulated[*b].mean)).unwrap_or(0);
    let optimum = cheapest(MEAN, 1.0, 1.0)?.unwrap_or(f64::NAN);
    let gaps = FRACTIONS.iter().zip(&simulated).map(|(r, found)| found.mean - formula(*r, MEAN, 1.0, 1.0));
    let widest = gaps.clone().map(f64::abs).fold(0.0, f64::max);
    let errors = gaps.zip(&simulated).map(|(gap, found)| gap.abs() / found.error).fold(0.0, f64::max);
    let curve: Vec<Point> =
        (8..=130).map(|r| f64::from(r) / 100.0).map(|r| Point::at(r, formula(r, MEAN, 1.0, 1.0))).collect();
    let points = FRACTIONS.iter().zip(&simulated).map(|(r, found)| found.at(*r)).collect();
    Ok(Findings {
        asked: "Looking at a page costs something, and so does every hour in which the copy is out of date. If one looks every so often, what does that cost per hour, and where is it cheapest?".to_owned(),
        setting: format!("A page that changes by chance, every {MEAN} hours on average; a fetch costs as much as a stale hour. {runs} runs of {HOURS} hours, the same changes for every interval."),
        claims: vec![
            Claim {
                paper: "The formula and the simulation are the same line.".to_owned(),
                measured: format!("they differ by {widest:.5} at most, which is {errors:.1} standard errors"),
                // The largest of seventeen: 3.5 errors are exceeded by chance in one of a hundred runs.
                verdict: Verdict::of(errors < 3.5, widest < 0.005),
            },
            Claim {
                paper: "The cheapest interval is 0.3 of the mean time between changes.".to_owned(),
                measured: format!("the formula has its minimum at {optimum:.4}, the simulation at {} of those tried", FRACTIONS[best]),
                verdict: Verdict::of((optimum - 0.3).abs() < 0.05 && (FRACTIONS[best] - optimum).abs() < 0.05, (optimum - 0.3).abs() < 0.05),
            },
        ],
        use_of_it: "This is the crawl value without signals at a fixed price: `refrain optimum` takes costs (`--fetch-cost`, `--stale-cost`) in the place of a budget.".to_owned(),
        charts: vec![Chart {
            file: "cost",
            title: "The cost per hour of looking every so often".to_owned(),
            x: linear("interval, as a fraction of the mean time between changes"),
            y: linear("cost per hour"),
            curves: vec![
                Curve { name: "formula".to_owned(), look: Look::Line, points: curve },
                Curve { name: "simulation".to_owned(), look: Look::Dots, points },
            ],
        }],
        ..Findings::default()
    })
}

/// Fig 2.
pub(super) fn costs(_desk: &Desk<'_>) -> Result<Findings, FigureError> {
    // The paper searches for the minimum; so do we, beside the solution of the equation.
    let mut dots = Vec::new();
    let mut apart: f64 = 0.0;
    for fetch in 1..=20 {
        for stale in 1..=20 {
            let (fetch, stale) = (f64::from(fetch) / 4.0, f64::from(stale) / 4.0);
            let Some(solved) = cheapest(MEAN, fetch, stale)? else { continue };
            apart = apart.max((searched(fetch, stale) / solved - 1.0).abs());
            dots.push(Point { x: stale, y: fetch, error: 0.0, shade: Some(solved.min(1.0)) });
        }
    }
    let (four_fetches, four_hours) = (cheapest(MEAN, 4.0, 1.0)?, cheapest(MEAN, 1.0, 4.0)?);
    let (four_fetches, four_hours) = (four_fetches.unwrap_or(f64::NAN), four_hours.unwrap_or(f64::NAN));
    let mut curves =
        vec![Curve { name: "cheapest fraction, by colour".to_owned(), look: Look::Dots, points: dots }];
    for r in [0.15, 0.3, 0.5, 0.8] {
        let slope = ratio(r);
        let end = (5.0 / slope).min(5.0);
        let points = vec![Point::at(0.0, 0.0), Point::at(end, slope * end)];
        curves.push(Curve { name: format!("fraction {r}"), look: Look::Dashes, points });
    }
    Ok(Findings {
        asked: "How does the cheapest interval depend on what a fetch costs and on what a stale hour costs?".to_owned(),
        setting: format!("A page that changes every {MEAN} hours on average. The minimum is searched for and, beside it, solved for; nothing is left to chance."),
        claims: vec![
            Claim {
                paper: "Searching for the minimum gives the solutions of the equation.".to_owned(),
                measured: format!("they differ by {apart:.1e} of the interval at most"),
                verdict: Verdict::of(apart < 1e-4, apart < 1e-2),
            },
            Claim {
                paper: "The fraction is 0.8 if a fetch costs about as much as four stale hours.".to_owned(),
                measured: format!("at four times it is {four_fetches:.3}; it is 0.8 at {:.2} times", ratio(0.8)),
                verdict: Verdict::of((four_fetches - 0.8).abs() < 0.05, (four_fetches - 0.8).abs() < 0.1),
            },
            Claim {
                paper: "It is about 0.15 if a stale hour costs as much as four fetches.".to_owned(),
                measured: format!("{four_hours:.4}"),
                verdict: Verdict::of((four_hours - 0.15).abs() < 0.005, (four_hours - 0.15).abs() < 0.02),
            },
        ],
        use_of_it: "Only the ratio of the costs matters: the price of a fetch in stale hours. With a budget in the place of costs, Refrain finds the price at which the budget is spent.".to_owned(),
        charts: vec![Chart {
            file: "fractions",
            title: "The cheapest interval as a fraction of the mean time between changes".to_owned(),
            x: Axis { range: Some((0.0, 5.25)), ..linear("cost of a stale hour") },
            y: Axis { range: Some((0.0, 5.25)), ..linear("cost of a fetch") },
            curves,
        }],
        ..Findings::default()
    })
}

/// How many stale hours a fetch costs if this fraction is the cheapest: D (1 - (1 + r) e^{-r}).
fn ratio(r: f64) -> f64 {
    MEAN * (1.0 - (1.0 + r) * (-r).exp())
}

/// The minimum of the cost, by golden sections; no equation is solved.
fn searched(fetch: f64, stale: f64) -> f64 {
    let section = (5_f64.sqrt() - 1.0) / 2.0;
    let cost = |r: f64| formula(r, MEAN, fetch, stale);
    let (mut low, mut high) = (1e-3, 30.0);
    while high - low > 1e-9 {
        let (left, right) = (high - section * (high - low), low + section * (high - low));
        if cost(left) < cost(right) { high = right } else { low = left }
    }
    0.5 * (low + high)
}

/// Fig 3, and the asymptote of section 3.4.
pub(super) fn pages(_desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let costs = [
        ("a fetch costs 4 stale hours", 4.0, 1.0),
        ("a fetch costs a stale hour", 1.0, 1.0),
        ("a fetch costs a quarter of a stale hour", 1.0, 4.0),
    ];
    let means: Vec<f64> = (0..=60).map(|k| 1.05 * (1e4_f64 / 1.05).powf(f64::from(k) / 60.0)).collect();
    let (mut fractions, mut intervals) = (Vec::new(), Vec::new());
    for (name, fetch, stale) in costs {
        let mut points = Vec::new();
        for mean in &means {
            points.extend(cheapest(*mean, fetch, stale)?.map(|r| Point::at(*mean, r)));
        }
        let spans = points.iter().map(|point| Point::at(point.x, point.x * point.y)).collect();
        fractions.push(Curve { name: name.to_owned(), look: Look::Line, points });
        intervals.push(Curve { name: name.to_owned(), look: Look::Line, points: spans });
    }
    let falls = fractions.iter().all(|curve| curve.points.windows(2).all(|pair| pair[1].y < pair[0].y));
    let at_all = |above: usize, below: usize| {
        let other = |x: f64| fractions[below].points.iter().find(|point| point.x == x);
        fractions[above].points.iter().all(|point| other(point.x).is_some_and(|other| other.y < point.y))
    };
    let ordered = at_all(0, 1) && at_all(1, 2);
    let end = 1e4;
    let slope = cheapest(4.0 * end, 1.0, 1.0)?
        .zip(cheapest(end, 1.0, 1.0)?)
        .map_or(f64::NAN, |(far, near)| (4.0 * far / near).ln() / 4_f64.ln());
    let off = cheapest(end, 1.0, 1.0)?.map_or(f64::NAN, |r| r * end / (2.0 * end).sqrt() - 1.0);
    let (never, barely) = (cheapest(1.0, 1.0, 1.0)?, cheapest(1.01, 1.0, 1.0)?);
    let root = means.iter().map(|mean| Point::at(*mean, (2.0 * mean).sqrt())).collect();
    intervals.push(Curve {
        name: "√(2 D): the asymptote for equal costs".to_owned(),
        look: Look::Dashes,
        points: root,
    });
    Ok(Findings {
        asked: "Is there one fraction that suits pages that change often and pages that change seldom?".to_owned(),
        setting: "The cheapest interval of pages with mean times D between changes from an hour to more than a year, for three ratios of costs. Nothing is left to chance.".to_owned(),
        claims: vec![
            Claim {
                paper: "The seldomer a page changes, the smaller the fraction.".to_owned(),
                measured: format!("{} for all three ratios of costs", if falls { "it falls all the way" } else { "it does not fall all the way" }),
                verdict: Verdict::of(falls, false),
            },
            Claim {
                paper: "If fetches are dearer, the fraction is greater, for all pages.".to_owned(),
                measured: if ordered { "at every mean time between changes" } else { "not everywhere" }.to_owned(),
                verdict: Verdict::of(ordered, false),
            },
            Claim {
                paper: "For pages that change seldom, the interval grows with the square root: t ≈ √(2 D × fetch cost / stale cost).".to_owned(),
                measured: format!("at {end} hours it is {:.2} % off, and grows with the power {slope:.3}", 100.0 * off),
                verdict: Verdict::of(off.abs() < 0.01 && (slope - 0.5).abs() < 0.01, off.abs() < 0.1),
            },
            Claim {
                paper: "A page that goes stale before a fetch has paid for itself (fetch cost ≥ stale cost × D) is never worth one.".to_owned(),
                measured: format!("no interval at D = 1 h; {:.2} mean times at D = 1.01 h", barely.unwrap_or(f64::NAN)),
                verdict: Verdict::of(never.is_none() && barely.is_some(), false),
            },
        ],
        use_of_it: "Refrain fetches what is worth its price: pages that change too often for it are left alone, unless a floor says otherwise.".to_owned(),
        charts: vec![
            Chart {
                file: "fractions",
                title: "The cheapest interval as a fraction of the mean time between changes".to_owned(),
                x: logarithmic("D: mean time between changes, hours"),
                y: Axis { range: Some((0.0, 3.0)), ..linear("fraction") },
                curves: fractions,
            },
            Chart {
                file: "intervals",
                title: "The same in hours".to_owned(),
                x: logarithmic("D: mean time between changes, hours"),
                y: logarithmic("cheapest interval, hours"),
                curves: intervals,
            },
        ],
        ..Findings::default()
    })
}
