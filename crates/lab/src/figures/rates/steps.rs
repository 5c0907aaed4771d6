//! Fig 5: how much the steps of the online estimators matter.

use refrain_core::estimate::Method;
use refrain_core::estimate::lln::Offset;

use super::measure::{AFTER, LAST, Studied, measure, pages};
use super::{figure, momentum, step};
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::study::Study;

pub(super) const FIGURE: Experiment = figure(
    "rates-5",
    "Fig 5",
    "the offset of LLN, the steps of SA, the momentum of SAM at Δ = 500, p = 10",
    run,
);

const DELTA: f64 = 500.0;
const P: f64 = 10.0;
/// "More or less the same" is within this factor.
const ALIKE: f64 = 1.25;

/// The paper does not say after how many intervals; theory tells for more.
const LATER: [u32; 5] = [2000, 5000, 10_000, 30_000, 100_000];

/// Places of the studies.
const OFFSETS: usize = 0;
const STEPS: usize = 1;
const MOMENTUM: usize = 2;
const BESIDE: usize = 3;

fn studies() -> Result<Vec<(&'static str, Study)>, FigureError> {
    let study = |methods| Study { delta: DELTA, p: P, methods, after: AFTER.to_vec() };
    let sam = |eta, beta| momentum(eta, beta).map(Method::Sam);
    Ok(vec![
        (
            "offsets",
            study(vec![
                ("1", Method::Lln(Offset::One)),
                ("√k", Method::Lln(Offset::Root)),
                ("k^.75", Method::Lln(Offset::ThreeQuarters)),
            ]),
        ),
        (
            "steps",
            study(vec![
                ("η = .5", Method::Sa(step(0.5)?)),
                ("η = .75", Method::Sa(step(0.75)?)),
                ("η = 1", Method::Sa(step(1.0)?)),
            ]),
        ),
        (
            "momentum",
            study(vec![
                ("β = .4", sam(0.8, 0.4)?),
                ("β = .5", sam(0.8, 0.5)?),
                ("β = .6", sam(0.8, 0.6)?),
                ("β = .7", sam(0.8, 0.7)?),
            ]),
        ),
        (
            "beside",
            study(vec![
                ("η = .5", sam(0.5, 0.4)?),
                ("η = .6", sam(0.6, 0.4)?),
                ("η = .7", sam(0.7, 0.4)?),
                ("η = .8", sam(0.8, 0.4)?),
            ]),
        ),
    ])
}

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let studied = measure(desk, studies()?)?;
    let titles = [
        ("offsets", "LLN with different offsets (Fig 5a)"),
        ("steps", "SA with different steps (Fig 5b)"),
        ("momentum", "SAM with η = .8 and different momentum (Fig 5c)"),
        ("beside", "SAM with β = .4 and different steps (Fig 5d)"),
    ];
    let charts = titles.iter().zip(&studied).map(|((file, title), studied)| studied.errors(file, *title));
    let tables = titles.iter().zip(&studied).map(|((file, title), studied)| studied.table(file, title));
    Ok(Findings {
        asked: "The online estimators have knobs: an offset, steps that shrink, momentum. Which settings are good, and how much do they matter?".into(),
        setting: format!(
            "A page that changes at rate 500 and is fetched at random times of rate 10, as in the paper; {} such pages, up to {LAST} intervals (the paper shows \
             single runs, and names few of its settings: k^.75 for the offset, .5 for the steps, .4 and .6 for the momentum; the others are chosen here). \
             η = .5 is on the edge of the paper's theorem, and β = .4 beyond it.",
            pages(desk)
        ),
        claims: claims(&studied),
        use_of_it: "Refrain's default has no such knobs; LLN, SA and SAM are there as `refrain estimate --method`.".into(),
        charts: charts.collect(),
        tables: tables.collect(),
        ..Findings::default()
    })
}

/// The place with the least error after `k` intervals.
fn best(studied: &Studied, k: u32) -> usize {
    let places = 0..studied.study.methods.len();
    places.min_by(|a, b| studied.error(*a, k).total_cmp(&studied.error(*b, k))).unwrap_or(0)
}

/// The same by theory, for numbers of intervals that would take long to try.
fn exactly_best(study: &Study, k: u32) -> Option<usize> {
    let errors = study.methods.iter().map(|(_, method)| Some(study.exact(method, k)?.rmse(study.delta)));
    let errors: Vec<f64> = errors.collect::<Option<_>>()?;
    (0..errors.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b]))
}

fn claims(studied: &[Studied]) -> Vec<Claim> {
    let all = |study: usize, k: u32| {
        studied[study].say(&(0..studied[study].study.methods.len()).collect::<Vec<_>>(), k)
    };
    let momentum = &studied[MOMENTUM];
    let spread = |place: usize| momentum.at(place, LAST).deviation() / DELTA;
    let calmer = (1..momentum.study.methods.len()).map(|place| spread(place) < spread(place - 1));
    let from = LATER.into_iter().find(|k| exactly_best(&momentum.study, *k) == Some(2));
    let beside: Vec<f64> = (0..4).map(|place| studied[BESIDE].error(place, LAST)).collect();
    let factor =
        beside.iter().copied().fold(0.0, f64::max) / beside.iter().copied().fold(f64::INFINITY, f64::min);
    vec![
        Claim {
            paper: "LLN with α = k^.75 is the worst.".into(),
            measured: format!(
                "Errors after 100: {}; after {LAST}: {}.",
                all(OFFSETS, 100),
                all(OFFSETS, LAST)
            ),
            verdict: Verdict::of_all(
                [100, LAST].into_iter().flat_map(|k| [0, 1].map(|place| studied[OFFSETS].beats(place, 2, k))),
            ),
        },
        Claim {
            paper: "SA with η = .5 is better than with greater η.".into(),
            measured: format!("Errors after 100: {}; after {LAST}: {}.", all(STEPS, 100), all(STEPS, LAST)),
            verdict: Verdict::of_all(
                [100, LAST].into_iter().flat_map(|k| [1, 2].map(|other| studied[STEPS].beats(0, other, k))),
            ),
        },
        Claim {
            paper:
                "SAM with β = .4 is there soonest but stays noisy; the greater β, the calmer and the slower."
                    .into(),
            measured: format!(
                "Errors after 30: {}; spreads after {LAST}: {}. It holds if β = .4 is best after 30 intervals, and each greater β spreads less.",
                all(MOMENTUM, 30),
                (0..4)
                    .map(|place| format!("{} {:.3}", momentum.study.methods[place].0, spread(place)))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            verdict: Verdict::of_all([best(momentum, 30) == 0].into_iter().chain(calmer)),
        },
        Claim {
            paper: "SAM with β = .6 does best.".into(),
            measured: format!(
                "Errors after {LAST}: {}. Exactly, β = .6 has the least of the four {}. It agrees if that is so after {LAST} intervals, in part if only later.",
                all(MOMENTUM, LAST),
                match from {
                    Some(from) => format!("after {from}"),
                    None => format!("not even after {}", LATER[LATER.len() - 1]),
                }
            ),
            verdict: Verdict::of_all([best(momentum, LAST) == 2, from.is_some()]),
        },
        Claim {
            paper: "With β = .4 the step η hardly matters.".into(),
            measured: format!(
                "Errors after {LAST}: {}: within a factor of {factor:.2}. Hardly means within {ALIKE}.",
                all(BESIDE, LAST)
            ),
            verdict: Verdict::of_all([factor <= ALIKE]),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each claim holds somewhere and fails elsewhere: at the paper's rate, and on a page that is fetched far more often than it changes.
    #[test]
    fn verdicts_follow_the_errors() {
        let verdicts = |delta: f64| {
            let done = studies().unwrap().into_iter().map(|(_, study)| {
                let study = Study { delta, ..study };
                Studied { measured: study.run(100, 5), study }
            });
            claims(&done.collect::<Vec<_>>()).iter().map(|claim| claim.verdict).collect::<Vec<_>>()
        };
        let (paper, calm) = (verdicts(DELTA), verdicts(1.0));
        assert_eq!(paper[0], Verdict::Agrees, "{paper:?}");
        assert_eq!(paper[1], Verdict::Agrees, "{paper:?}");
        assert_eq!(calm[1], Verdict::Disagrees, "{calm:?}");
    }
}
