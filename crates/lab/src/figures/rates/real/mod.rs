//! Fig 1: a real page: are its changes Poisson, and what do estimators make of them?

mod busy;

use refrain_core::estimate::sam::Momentum;

use super::measure::truth;
use super::{LLN, MLE, NAIVE, REFRAIN, SA, SAM, estimators, figure, linear};
use crate::figures::measured::Measured;
use crate::figures::{
    Cell, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Point, Table, Verdict,
};
use busy::{Busy, busiest};

pub(super) const FIGURE: Experiment = figure(
    "rates-1",
    "Fig 1",
    "a recorded page: gaps between changes against an exponential law, and estimates",
    run,
);

/// Fetches per change, as in the paper: .5 and .1 per hour for 1.1098 changes.
const FETCHES: [f64; 2] = [0.5 / 1.1098, 0.1 / 1.1098];
/// Stephens: above this, gaps are exponential with a chance of less than 5 %.
const CRITICAL: f64 = 1.094;
/// "Comparable" is within this factor.
const COMPARABLE: f64 = 2.0;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let trace = desk.recorded.trace.as_ref().ok_or_else(|| {
        FigureError(
            "there is no recorded trace; expected one with the changes of pages, such as examples/scoop"
                .into(),
        )
    })?;
    let pages = busiest(trace)?;
    let (page, list) = (&pages[0], &Busy::list(trace));
    let runs = desk.pick(100, 1000);
    let cells: Vec<Cell<'_>> = [list, page]
        .into_iter()
        .flat_map(|page| FETCHES.iter().map(move |fetches| (page, fetches)))
        .flat_map(|(page, fetches)| {
            let one =
                Cell::new(format!("{}, {fetches:.4} fetches per change, one run", page.name), move || {
                    Ok(page.course(*fetches, desk.seed))
                });
            let many = Cell::new(
                format!("{}, {fetches:.4} fetches per change, {runs} runs", page.name),
                move || Ok(page.ends(*fetches, runs, desk.seed)),
            );
            [one, many]
        })
        .collect();
    let measured = desk.measure(&cells)?;
    let [often, often_ends, rarely, rarely_ends, _, page_often, _, page_rarely] = &measured[..] else {
        return Err(FigureError("nothing was measured".into()));
    };
    let ends = [often_ends, rarely_ends, page_often, page_rarely].map(|ends| Ends::of(ends));
    let exponential = pages.iter().filter(|page| page.test() <= CRITICAL).count();
    let rows = [list].into_iter().chain(&pages).map(|page| {
        vec![
            page.name.clone(),
            page.gaps.len().to_string(),
            format!("{:.2}", 1.0 / page.rate()),
            format!("{:.2}", page.spread()),
            format!("{:.2}", page.test()),
            if page.test() <= CRITICAL { "yes" } else { "no" }.into(),
        ]
    });
    let error_rows = (0..6).map(|place| {
        let each = ends.iter().flat_map(|ends| {
            let (bias, error) = (ends.bias(place), ends.rmse[place]);
            [format!("{bias:+.3}"), format!("{error:.3}")]
        });
        [estimators(1.0, Momentum::USUAL)[place].0.to_owned()].into_iter().chain(each).collect()
    });
    Ok(Findings {
        asked: "The estimators suppose that changes come at random, at one rate. Is that so for a real page, and do they work on it?".into(),
        setting: format!(
            "The recorded trace in place of the paper's page of Wikipedia, on which many people work together (4043 changes in five months). No single page of the \
             trace changes as often, so there are two: the list of all its pages, which changes whenever one of them does ({} changes, one in {:.2} days), and \
             of all pages the one with the most changes ({}: {} changes, one in {:.2} days). The recorder looked once an hour; its outages are cut out. Fetches at random times, \
             .45 and .09 per change as in the paper; there one run, here {runs} runs over the same changes for the errors. The test of the law is that of \
             Kolmogorov and Smirnov with an estimated mean, for the list and the {} pages with the most changes.",
            list.changes.len(),
            1.0 / list.rate(),
            page.name,
            page.changes.len(),
            1.0 / page.rate(),
            pages.len()
        ),
        claims: claims(list, page, &ends, (exponential, pages.len())),
        use_of_it: "Refrain's default is Poisson with an uncertain rate that may drift; hours of the week, and if asked gaps of regular pages, are learned on \
                    top where a page shows them."
            .into(),
        charts: vec![
            list.quantiles("quantiles-list"),
            page.quantiles("quantiles-page"),
            course("often", "Estimates for the list, .45 fetches per change (Fig 1b)", often, list.rate()),
            course("rarely", "The same with .09 fetches per change (Fig 1c)", rarely, list.rate()),
        ],
        tables: vec![
            Table {
                file: "errors",
                title: format!("After all fetches of the trace: bias and root mean squared error over {runs} runs, as shares of the rate"),
                columns: [
                    "estimator",
                    "list: bias at .45",
                    "error",
                    "list: bias at .09",
                    "error",
                    "page: bias at .45",
                    "error",
                    "page: bias at .09",
                    "error",
                ]
                .map(String::from)
                .into(),
                rows: error_rows.collect(),
            },
            Table {
                file: "law",
                title: "The list and the pages with the most changes: is the law of their gaps exponential? (The spread is 1 if so, 0 for a clock.)".into(),
                columns: ["page", "gaps", "mean, days", "spread / mean", "test (at most 1.094)", "exponential"].map(String::from).into(),
                rows: rows.collect(),
            },
        ],
        ..Findings::default()
    })
}

fn course(file: &'static str, title: &str, rates: &[f64], rate: f64) -> Chart {
    let methods = estimators(1.0, Momentum::USUAL);
    let fetches = rates.len() / methods.len();
    let mut curves: Vec<Curve> = methods
        .iter()
        .enumerate()
        .map(|(place, (name, _))| {
            let own = rates.iter().skip(place).step_by(methods.len()).enumerate();
            let points = own.map(|(fetch, own)| Point::at((fetch + 1) as f64, own / rate));
            Curve { name: (*name).into(), look: Look::Line, points: points.collect() }
        })
        .collect();
    curves.push(truth(1.0, fetches as f64));
    Chart {
        file,
        title: title.into(),
        x: linear("fetches"),
        y: crate::figures::Axis { range: Some((0.0, 3.0)), ..linear("estimate, share of the rate") },
        curves,
    }
}

/// Estimates after all fetches, as shares of the rate.
struct Ends {
    mean: [Measured; 6],
    rmse: [f64; 6],
}

impl Ends {
    fn of(shares: &[f64]) -> Self {
        let of = |place: usize| shares.iter().skip(place).step_by(6).copied();
        let places = [NAIVE, LLN, SA, SAM, MLE, REFRAIN];
        let square = |place: usize| Measured::of(of(place).map(|share| (share - 1.0).powi(2))).mean;
        Self {
            mean: places.map(|place| Measured::of(of(place))),
            rmse: places.map(|place| square(place).sqrt()),
        }
    }

    fn bias(&self, place: usize) -> f64 {
        self.mean[place].mean - 1.0
    }

    fn say(&self, places: &[usize]) -> String {
        let names = estimators(1.0, Momentum::USUAL);
        places
            .iter()
            .map(|place| format!("{} {:.3}", names[*place].0, self.rmse[*place]))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

fn claims(list: &Busy, page: &Busy, ends: &[Ends; 4], (exponential, pages): (usize, usize)) -> Vec<Claim> {
    let [often, rarely, page_often, page_rarely] = ends;
    let good = [LLN, SA, SAM, MLE];
    let all = [NAIVE, LLN, SA, SAM, MLE, REFRAIN];
    let least = good.iter().map(|place| often.rmse[*place]).fold(f64::INFINITY, f64::min);
    let most = good.iter().map(|place| often.rmse[*place]).fold(0.0, f64::max);
    let say = |page: &Busy| {
        format!(
            "for {} the test gives {:.2}, a line describes {:.0} % of the quantiles, gaps spread by {:.2} of their mean",
            page.name,
            page.test(),
            100.0 * page.straight(),
            page.spread()
        )
    };
    vec![
        Claim {
            paper: "The gaps between changes of a page follow an exponential law: quantiles lie on a line close to the diagonal.".into(),
            measured: format!(
                "{}; {}. An exponential law exceeds {CRITICAL} in 5 % of cases; of the {pages} pages with the most changes, {exponential} stay below. Each of the two \
                 agrees if its test is passed, and in part if a line describes 90 %.",
                say(list),
                say(page)
            ),
            verdict: both([list, page].map(|page| law(page.test(), page.straight()))),
        },
        Claim {
            paper: "At .45 fetches per change MLE, LLN, SA and SAM are comparable, and all outperform Naive.".into(),
            measured: format!(
                "Errors after all fetches of the list: {}. (Of the page: {}.) Comparable means within a factor of {COMPARABLE}; the list decides.",
                often.say(&all),
                page_often.say(&all)
            ),
            verdict: Verdict::of_all(
                good.iter().map(|place| often.rmse[*place] < often.rmse[NAIVE]).chain([most <= COMPARABLE * least]),
            ),
        },
        Claim {
            paper: "At .09 fetches per change SAM and MLE are better than SA and LLN.".into(),
            measured: format!(
                "Errors after all fetches of the list: {}. (Of the page: {}.) The list decides.",
                rarely.say(&all),
                page_rarely.say(&all)
            ),
            verdict: Verdict::of_all(
                [SAM, MLE].into_iter().flat_map(|place| [SA, LLN].map(|other| rarely.rmse[place] < rarely.rmse[other])),
            ),
        },
    ]
}

/// What two verdicts say together.
fn both([one, other]: [Verdict; 2]) -> Verdict {
    if one == other { one } else { Verdict::Partly }
}

fn law(test: f64, straight: f64) -> Verdict {
    if test <= CRITICAL {
        Verdict::Agrees
    } else if straight >= 0.9 {
        Verdict::Partly
    } else {
        Verdict::Disagrees
    }
}

#[cfg(test)]
mod tests {
    use super::busy::tests::page;
    use super::*;
    use crate::figures::{Keeper, Recorded, Scale};

    struct Nobody;

    impl Keeper for Nobody {
        fn kept(&self, _cell: &str) -> Option<Vec<f64>> {
            None
        }

        fn keep(&self, _cell: &str, _numbers: &[f64]) {}

        fn expect(&self, _cells: usize) {}
    }

    #[test]
    fn without_a_trace_there_is_one_sentence() {
        let why = run(&Desk::new(Scale::Quick, 1, &Recorded::default(), &Nobody)).unwrap_err();
        assert!(why.to_string().starts_with("there is no recorded trace; expected one"), "{why}");
    }

    #[test]
    fn verdicts_have_two_sides() {
        let (chance, clock) = (page(|share| -(1.0 - share).ln(), 200), page(|share| 0.95 + 0.1 * share, 200));
        let ends = |rmse: [f64; 6]| Ends { mean: [Measured::default(); 6], rmse };
        let verdicts = |often, rarely, list, page| {
            let ends = [ends(often), ends(rarely), ends(often), ends(rarely)];
            claims(list, page, &ends, (1, 2)).iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        let (good, bad) = ([0.6, 0.3, 0.3, 0.2, 0.2, 0.2], [0.1, 0.2, 0.2, 0.9, 0.9, 0.2]);
        assert_eq!(verdicts(good, good, &chance, &chance), [Verdict::Agrees; 3]);
        assert_eq!(verdicts(bad, bad, &clock, &clock)[1..], [Verdict::Disagrees; 2]);
        assert_eq!(verdicts(good, bad, &chance, &clock)[0], Verdict::Partly);
        assert_eq!([law(2.0, 0.95), law(2.0, 0.5)], [Verdict::Partly, Verdict::Disagrees]);
    }
}
