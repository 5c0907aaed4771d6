//! Fig 1: a real page: are its changes Poisson, and what do estimators make of them?

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::observation::SHORTEST;
use refrain_core::estimate::sam::Momentum;
use refrain_core::estimate::{Answer, Observation};
use refrain_core::time::Time;

use super::measure::truth;
use super::{LLN, MLE, NAIVE, REFRAIN, SA, SAM, estimators, figure, linear};
use crate::figures::measured::Measured;
use crate::figures::{
    Cell, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Point, Table, Verdict,
};
use crate::study::Watching;
use crate::trace::{Clock, Trace, TracePage};

pub(super) const FIGURE: Experiment = figure(
    "rates-1",
    "Fig 1",
    "A recorded page: gaps between changes against an exponential law, and estimates",
    run,
);

/// Fetches per change, as in the paper: .5 and .1 per hour for 1.1098 changes.
const FETCHES: [f64; 2] = [0.5 / 1.1098, 0.1 / 1.1098];
/// So many pages with the most changes are tested.
const BUSIEST: usize = 20;
/// Fewer changes than this say little about their law.
const FEWEST: usize = 30;
/// Stephens: above this, gaps are exponential with a chance of less than 5 %.
const CRITICAL: f64 = 1.094;
const DAY: f64 = 86_400.0;
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
             of all pages the one with the most changes ({}: {} changes, one in {:.2} days). Outages of the recorder are cut out. Fetches at random times, \
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
    })
}

/// A page, in days of usable time since it was first seen.
struct Busy {
    name: String,
    changes: Vec<f64>,
    /// Between changes, sorted.
    gaps: Vec<f64>,
    end: f64,
}

/// The pages with the most changes, the busiest first; among equals, in their order.
fn busiest(trace: &Trace) -> Result<Vec<Busy>, FigureError> {
    let mut pages: Vec<&TracePage> = trace.pages.iter().filter(|page| page.changes.len() >= FEWEST).collect();
    pages.sort_by_key(|page| std::cmp::Reverse(page.changes.len()));
    if pages.is_empty() {
        return Err(FigureError(format!(
            "no page of the recorded trace has {FEWEST} changes; expected one at least"
        )));
    }
    Ok(pages.into_iter().take(BUSIEST).map(|page| Busy::of(trace, page)).collect())
}

impl Busy {
    /// The list of all pages: it changes whenever one of them does, once if several do at the same moment.
    fn list(trace: &Trace) -> Self {
        let (first, last) = trace.span().unwrap_or_default();
        let mut changes: Vec<Time> =
            trace.pages.iter().flat_map(|page| page.changes.iter().copied()).collect();
        changes.sort_unstable();
        changes.dedup();
        // One recorder's outages stand for all.
        let clock = trace.sources.first().cloned().unwrap_or_default();
        Self::new("the list".into(), &clock, (first, last), &changes)
    }

    fn of(trace: &Trace, page: &TracePage) -> Self {
        Self::new(format!("page {}", page.number), trace.clock(page), (page.first, page.last), &page.changes)
    }

    fn new(name: String, clock: &Clock, (first, last): (Time, Time), changes: &[Time]) -> Self {
        let changes: Vec<f64> = changes.iter().map(|change| clock.between(first, *change) / DAY).collect();
        let mut gaps: Vec<f64> = changes.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_by(f64::total_cmp);
        Self { name, changes, gaps, end: clock.between(first, last) / DAY }
    }

    /// Changes per day: one over the mean gap, as in the paper.
    fn rate(&self) -> f64 {
        self.gaps.len() as f64 / self.gaps.iter().sum::<f64>()
    }

    /// The deviation of gaps by their mean.
    fn spread(&self) -> f64 {
        let mean = 1.0 / self.rate();
        let square = self.gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        (square / self.gaps.len() as f64).sqrt() / mean
    }

    /// Stephens' statistic: how far the gaps are from an exponential law with their mean.
    fn test(&self) -> f64 {
        let (count, rate) = (self.gaps.len() as f64, self.rate());
        let distance = self.gaps.iter().enumerate().map(|(place, gap)| {
            let expected = -(-rate * gap).exp_m1();
            (expected - place as f64 / count).abs().max(((place + 1) as f64 / count - expected).abs())
        });
        let distance = distance.fold(0.0, f64::max);
        (distance - 0.2 / count) * (count.sqrt() + 0.26 + 0.5 / count.sqrt())
    }

    /// How well a straight line describes the quantiles: the square of their correlation.
    fn straight(&self) -> f64 {
        let pairs = self.pairs();
        let count = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let product = mean(&|pair| (pair.0 - x) * (pair.1 - y));
        product * product / (mean(&|pair| (pair.0 - x).powi(2)) * mean(&|pair| (pair.1 - y).powi(2)))
    }

    /// Quantiles of the exponential law and of the gaps.
    fn pairs(&self) -> Vec<(f64, f64)> {
        let (count, rate) = (self.gaps.len() as f64, self.rate());
        let expected = |place: usize| -(1.0 - (place as f64 + 0.5) / count).ln() / rate;
        self.gaps.iter().enumerate().map(|(place, gap)| (expected(place), *gap)).collect()
    }

    fn quantiles(&self, file: &'static str) -> Chart {
        let pairs = self.pairs();
        let most = pairs.iter().map(|pair| pair.0.max(pair.1)).fold(0.0, f64::max);
        let points = pairs.iter().map(|(expected, gap)| Point::at(*expected, *gap));
        let diagonal = vec![Point::at(0.0, 0.0), Point::at(most, most)];
        Chart {
            file,
            title: format!("Gaps between changes of {} against an exponential law (Fig 1a)", self.name),
            x: linear("quantile of the exponential law, days"),
            y: linear("quantile of the gaps, days"),
            curves: vec![
                Curve { name: "gaps".into(), look: Look::Dots, points: points.collect() },
                Curve { name: "the same law".into(), look: Look::Dashes, points: diagonal },
            ],
        }
    }

    /// Fetches at random times, and what they see.
    fn fetches(&self, p: f64, seed: u64) -> Vec<Observation> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut now, mut seen) = (0.0, Vec::new());
        loop {
            let elapsed = (-(1.0 - random.random::<f64>()).ln() / p).max(SHORTEST);
            let until = |time: f64| self.changes.partition_point(|change| *change <= time);
            let changed = until(now + elapsed) > until(now);
            now += elapsed;
            if now > self.end {
                return seen;
            }
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            seen.extend(Observation::new(elapsed, 0, answer).ok());
        }
    }

    /// What each estimator says after each fetch: fetch by fetch.
    fn course(&self, fetches: f64, seed: u64) -> Vec<f64> {
        let p = fetches * self.rate();
        let mut watching =
            Watching::new(estimators(p, Momentum::USUAL).into_iter().map(|(_, method)| method));
        let mut rates = Vec::new();
        for seen in self.fetches(p, seed) {
            watching.observe(&seen);
            rates.extend(watching.rates(p));
        }
        rates
    }

    /// What each estimator says in the end, as shares of the rate: run by run.
    fn ends(&self, fetches: f64, runs: u32, seed: u64) -> Vec<f64> {
        let p = fetches * self.rate();
        let methods = estimators(p, Momentum::USUAL);
        let mut ends = Vec::new();
        for run in 0..runs {
            let mut watching = Watching::new(methods.iter().map(|(_, method)| *method));
            for seen in self.fetches(p, seed.wrapping_add(u64::from(run))) {
                watching.observe(&seen);
            }
            ends.extend(watching.rates(p).map(|rate| rate / self.rate()));
        }
        ends
    }
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
            verdict: Verdict::of(
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
            verdict: Verdict::of(
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
    use refrain_core::time::Span;

    use super::*;

    fn page(gap: impl Fn(f64) -> f64, count: u32) -> Busy {
        // Quantiles, in an order that mixes them.
        let gaps: Vec<f64> =
            (0..count).map(|place| gap((f64::from(place * 37 % count) + 0.5) / f64::from(count))).collect();
        let changes: Vec<f64> = gaps
            .iter()
            .scan(0.0, |now, gap| {
                *now += gap;
                Some(*now)
            })
            .collect();
        let end = changes.last().copied().unwrap_or(0.0);
        let mut sorted = gaps;
        sorted.sort_by(f64::total_cmp);
        Busy { name: "a page".into(), changes, gaps: sorted, end }
    }

    #[test]
    fn a_clock_is_not_exponential_and_chance_is() {
        let chance = page(|share| -(1.0 - share).ln(), 200);
        assert!(chance.test() < CRITICAL && chance.straight() > 0.99 && (chance.spread() - 1.0).abs() < 0.1);
        let clock = page(|share| 0.95 + 0.1 * share, 200);
        assert!(clock.test() > 5.0 && clock.spread() < 0.1, "{}", clock.test());
        assert_eq!(law(chance.test(), chance.straight()), Verdict::Agrees);
        assert_eq!([law(2.0, 0.95), law(2.0, 0.5)], [Verdict::Partly, Verdict::Disagrees]);
    }

    #[test]
    fn fetches_see_what_changed_in_between() {
        let page = page(|share| -(1.0 - share).ln(), 2000);
        let seen = page.fetches(1.0, 4);
        assert!((seen.len() as f64 / page.end - 1.0).abs() < 0.1);
        // Half of them, as many fetches as changes.
        let changed = seen.iter().filter(|seen| seen.changed()).count() as f64 / seen.len() as f64;
        assert!((changed - 0.5).abs() < 0.05, "{changed}");
        let ends = Ends::of(&page.ends(FETCHES[0], 40, 1));
        assert!(ends.bias(NAIVE) < -0.5 && ends.bias(MLE).abs() < 0.05 && ends.bias(REFRAIN).abs() < 0.05);
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
    }

    /// Two pages that change at the same moment are one change of the list.
    #[test]
    fn the_list_changes_with_its_pages() {
        let at = |day: u64| Time::ZERO + Span::from_whole_secs(86_400 * day);
        let page = |changes: &[u64]| TracePage {
            number: 0,
            importance: 1.0,
            source: 0,
            group: 0,
            directory: None,
            first: at(1),
            last: at(11),
            heard_from: None,
            changes: changes.iter().map(|day| at(*day)).collect(),
        };
        let pages = vec![page(&[2, 5]), page(&[3, 5, 9])];
        let trace = Trace { pages, sources: vec![Clock::default()], groups: 1, ..Trace::default() };
        let list = Busy::list(&trace);
        assert_eq!(
            (list.changes, list.gaps, list.end),
            (vec![1.0, 2.0, 4.0, 8.0], vec![1.0, 2.0, 4.0], 10.0)
        );
        assert!(busiest(&trace).is_err());
    }
}
