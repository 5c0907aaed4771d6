//! Fig 3 and 4: a page that changes far more often than it is fetched.

use super::measure::{AFTER, LAST, Studied, measure, pages};
use super::{LLN, MLE, REFRAIN, SA, SAM, estimators, figure, momentum};
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::study::Study;

pub(super) const SLOW: Experiment = figure(
    "rates-3",
    "Fig 3",
    "estimators where hardly any fetch finds a page unchanged: Δ = 500, p = 3",
    slow,
);
pub(super) const QUICK: Experiment = figure(
    "rates-4",
    "Fig 4",
    "estimators where one fetch in eleven finds a page unchanged: Δ = 500, p = 50",
    quick,
);

const DELTA: f64 = 500.0;
const RARELY: f64 = 3.0;
const OFTEN: f64 = 50.0;
/// Where the paper says that the advantage of SAM ends, and how near to that is near.
const TURN: u32 = 400;
const NEAR: u32 = 100;

fn study(p: f64) -> Result<Study, FigureError> {
    Ok(Study { delta: DELTA, p, methods: estimators(p, momentum(0.8, 0.5)?), after: AFTER.to_vec() })
}

fn slow(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    findings(
        desk,
        RARELY,
        "A page that changes 167 times between two fetches looks the same as one that changes every time: nearly all fetches find a change. What can \
         still be learned?",
        slow_claims,
    )
}

fn quick(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    findings(
        desk,
        OFTEN,
        "The same page, fetched more often: now and then a fetch finds it unchanged, and those tell.",
        quick_claims,
    )
}

fn findings(
    desk: &Desk<'_>,
    p: f64,
    asked: &str,
    claims: fn(&Studied) -> Vec<Claim>,
) -> Result<Findings, FigureError> {
    let studied = measure(desk, vec![("fast changes", study(p)?)])?;
    let Some(studied) = studied.first() else { return Err(FigureError("nothing was measured".into())) };
    Ok(Findings {
        asked: asked.into(),
        setting: format!(
            "A page that changes at rate 500 and is fetched at random times of rate {p}; LLN with α = 1, SA with η = .8, SAM with β = .5, as in the paper; {} such \
             pages (the paper: 100), up to {LAST} intervals. MLE, which the paper leaves out for its run time, and Refrain's posterior stand beside.",
            pages(desk)
        ),
        claims: claims(studied),
        use_of_it: "Refrain never needs a rate that is far above its fetches: what counts is whether the next fetch pays, and the posterior says how little is \
                    known."
            .into(),
        charts: vec![
            studied.one_page("one-page", "What one page makes them say", desk.seed),
            studied.spread("spread", "Where 95 % of estimates lie: mean ± 1.96 deviations", &[LLN, SA, SAM]),
            studied.errors("error", format!("Error by the number of intervals, Δ = 500, p = {p}")),
        ],
        tables: vec![studied.table("error", "Root mean squared errors as shares of the rate, ± standard error")],
        ..Findings::default()
    })
}

/// "bias -0.20, spread 0.10"
fn moments(studied: &Studied, place: usize, k: u32) -> String {
    let (errors, delta) = (studied.at(place, k), studied.study.delta);
    let name = studied.study.methods[place].0;
    format!("{name} bias {:+.3}, spread {:.3}", errors.bias() / delta, errors.deviation() / delta)
}

fn deviation(studied: &Studied, place: usize) -> f64 {
    studied.at(place, LAST).deviation()
}

fn slow_claims(studied: &Studied) -> Vec<Claim> {
    let said = [LLN, SA, SAM].map(|place| moments(studied, place, LAST)).join("; ");
    let decay = |place: usize, from: u32, to: u32| studied.error(place, to) / studied.error(place, from);
    let faster = |from, to| decay(LLN, from, to) < decay(SAM, from, to);
    let bias = |place: usize| studied.at(place, LAST).bias().abs() / studied.study.delta;
    vec![
        Claim {
            paper: "LLN and SAM do quite well compared with SA.".into(),
            measured: format!(
                "Errors after 100 intervals: {}; after {LAST}: {}. Better means by two standard errors.",
                studied.say(&[LLN, SA, SAM, MLE, REFRAIN], 100),
                studied.say(&[LLN, SA, SAM, MLE, REFRAIN], LAST)
            ),
            verdict: Verdict::of_all(
                [100, LAST].into_iter().flat_map(|k| [LLN, SAM].map(|place| studied.beats(place, SA, k))),
            ),
        },
        Claim {
            paper: "SA varies very little, but is far from the truth.".into(),
            measured: format!(
                "After {LAST}: {said}. It holds if SA spreads least of the three, and is off by more than half of the rate."
            ),
            verdict: Verdict::of_all([
                [LLN, SAM].iter().all(|other| deviation(studied, SA) < deviation(studied, *other)),
                bias(SA) > 0.5,
            ]),
        },
        Claim {
            paper: "LLN varies more than SAM, but its error decays much faster.".into(),
            measured: format!(
                "After {LAST}: {said}. The error falls from 10 to 100 intervals to {:.2} of what it was for LLN and {:.2} for SAM, from 100 to {LAST} to {:.2} \
                 and {:.2}. It holds if LLN spreads more, and decays faster in both stretches.",
                decay(LLN, 10, 100),
                decay(SAM, 10, 100),
                decay(LLN, 100, LAST),
                decay(SAM, 100, LAST)
            ),
            verdict: Verdict::of_all([
                deviation(studied, LLN) > deviation(studied, SAM),
                faster(10, 100),
                faster(100, LAST),
            ]),
        },
    ]
}

fn quick_claims(studied: &Studied) -> Vec<Claim> {
    let before = |place: usize| {
        let slow = study(RARELY).ok()?;
        let (_, method) = slow.methods.get(place)?;
        slow.exact(method, LAST).map(|exact| exact.rmse(DELTA) / DELTA)
    };
    let improved =
        [LLN, SA, SAM].map(|place| before(place).is_some_and(|before| studied.error(place, LAST) < before));
    let turn = studied.study.overtaken();
    let early = [10, 30, 50];
    vec![
        Claim {
            paper: "All three are better than at p = 3.".into(),
            measured: format!(
                "After {LAST} intervals: {}; at p = 3, exactly: LLN {:.3}, SA {:.3}, SAM {:.3}.",
                studied.say(&[LLN, SA, SAM, MLE, REFRAIN], LAST),
                before(LLN).unwrap_or(f64::NAN),
                before(SA).unwrap_or(f64::NAN),
                before(SAM).unwrap_or(f64::NAN)
            ),
            verdict: Verdict::of_all(improved),
        },
        Claim {
            paper: "SAM is noisier than the others now.".into(),
            measured: format!(
                "After {LAST}: {}.",
                [LLN, SA, SAM].map(|place| moments(studied, place, LAST)).join("; ")
            ),
            verdict: Verdict::of_all(
                [LLN, SA].map(|other| deviation(studied, SAM) > deviation(studied, other)),
            ),
        },
        Claim {
            paper:
                "The error of SAM drops faster than the others' at first; after 400 intervals LLN is better."
                    .into(),
            measured: format!(
                "After 10 intervals: {}; after 30: {}. Exactly, LLN is better for good from interval {} on. It holds if SAM beats both after 10, 30 and 50, and the turn is \
                 within {NEAR} of {TURN}.",
                studied.say(&[LLN, SA, SAM], 10),
                studied.say(&[LLN, SA, SAM], 30),
                turn.map_or_else(|| "never".into(), |turn| turn.to_string())
            ),
            verdict: Verdict::of_all(
                early
                    .into_iter()
                    .map(|k| [LLN, SA].iter().all(|other| studied.error(SAM, k) < studied.error(*other, k)))
                    .chain([turn.is_some_and(|turn| turn.abs_diff(TURN) <= NEAR)]),
            ),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn studied(p: f64, delta: f64) -> Studied {
        let study = Study { delta, ..study(p).unwrap() };
        let measured = study.run(150, 3);
        Studied { study, measured }
    }

    /// What holds where a page outruns its fetches does not where it does not.
    #[test]
    fn verdicts_have_two_sides() {
        let verdicts = |claims: &[Claim]| claims.iter().map(|claim| claim.verdict).collect::<Vec<_>>();
        let slow = slow_claims(&studied(RARELY, DELTA));
        assert_eq!(verdicts(&slow)[0], Verdict::Agrees, "{slow:?}");
        assert_ne!(verdicts(&slow_claims(&studied(RARELY, 1.0)))[1], Verdict::Agrees);
        let quick = quick_claims(&studied(OFTEN, DELTA));
        assert_eq!(verdicts(&quick)[0], Verdict::Agrees, "{quick:?}");
        assert!(quick[2].measured.contains("from interval 418 on"), "{quick:?}");
    }
}
