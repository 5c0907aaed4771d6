//! Fig 2: all estimators on a page that is fetched about as often as it changes.

use refrain_core::estimate::sam::Momentum;

use super::measure::{AFTER, LAST, Studied, measure, pages};
use super::{LLN, MLE, NAIVE, REFRAIN, SA, SAM, estimators, figure};
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::study::Study;

pub(super) const FIGURE: Experiment =
    figure("rates-2", "Fig 2", "naive, LLN, SA, SAM, MLE and Refrain's posterior at Δ = 5, p = 3", run);

const DELTA: f64 = 5.0;
const P: f64 = 3.0;
/// The paper's consistent estimators.
const GOOD: [usize; 4] = [LLN, SA, SAM, MLE];
/// "Comparable" is within this factor.
const COMPARABLE: f64 = 2.0;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let study = Study { delta: DELTA, p: P, methods: estimators(P, Momentum::USUAL), after: AFTER.to_vec() };
    let studied = measure(desk, vec![("comparable", study)])?;
    let Some(studied) = studied.first() else { return Err(FigureError("nothing was measured".into())) };
    Ok(Findings {
        asked: "How often a page changes has to be learned from fetches that say no more than changed or unchanged. Which estimator comes \
                close to the truth after how many fetches?"
            .into(),
        found: Some(found(studied)),
        setting: format!(
            "A page that changes at rate 5 and is fetched at random times of rate 3; LLN with α = 1, SA with η = .75, SAM with β = .6, as in the paper; \
             {} such pages (the paper: 100), up to {LAST} intervals. Where everything or nothing changed so far, MLE has no solution; the paper proposes to \
             clip it, and so it is here: to the rate at which half an unchanged interval is expected. Refrain's posterior keeps 64 bytes per page, and \
             does not know p.",
            pages(desk)
        ),
        claims: claims(studied),
        use_of_it: "Refrain's estimator is a posterior: as good as the MLE of all intervals where there are many, finite where there are few, and \
                    it tells how sure it is, which the crawl value uses."
            .into(),
        charts: vec![
            studied.one_page("one-page", "What one page makes them say (Fig 2a)", desk.seed),
            studied.spread("spread", "Where 95 % of estimates lie (Fig 2b): mean ± 1.96 deviations", &GOOD),
            studied.errors("error", "Error by the number of intervals (Fig 2c), Δ = 5, p = 3"),
        ],
        tables: vec![studied.table("error", "Root mean squared errors as shares of the rate, ± standard error")],
    })
}

fn found(studied: &Studied) -> String {
    let percent = |place: usize| 100.0 * studied.error(place, 100);
    format!(
        "After 100 looks at a page that changes {:.1} times between two of them, counting what one sees is off by {:.0} % of the true rate, the best that uses all looks \
         (maximum likelihood) by {:.0} %, and Refrain, with 64 bytes for all of them, by {:.0} %.",
        DELTA / P,
        percent(NAIVE),
        percent(MLE),
        percent(REFRAIN)
    )
}

fn claims(studied: &Studied) -> Vec<Claim> {
    let later = [100, LAST];
    let errors = GOOD.map(|place| studied.error(place, LAST));
    let factor =
        errors.iter().copied().fold(0.0, f64::max) / errors.iter().copied().fold(f64::INFINITY, f64::min);
    let outperform = later.iter().flat_map(|k| GOOD.map(|place| studied.beats(place, NAIVE, *k)));
    let all = [NAIVE, LLN, SA, SAM, MLE];
    let spread = |place: usize| studied.at(place, 3).deviation() / studied.study.delta;
    vec![
        Claim {
            paper: "MLE, LLN, SA and SAM are comparable, and all of them outperform Naive.".into(),
            measured: format!(
                "After 100 intervals: {}. After {LAST}: {}. Comparable means within a factor of {COMPARABLE} of each other after {LAST} (it is {factor:.1}); \
                 outperform, by two standard errors.",
                studied.say(&all, 100),
                studied.say(&all, LAST)
            ),
            verdict: Verdict::of_all(outperform.chain([factor <= COMPARABLE])),
        },
        Claim {
            paper: "The error of MLE decays faster than the others', since it uses the lengths of intervals.".into(),
            measured: format!(
                "After {LAST}: {}. It holds for each other that MLE beats by two standard errors.",
                studied.say(&[MLE, LLN, SA, SAM, REFRAIN], LAST)
            ),
            verdict: Verdict::of_all([LLN, SA, SAM].map(|other| studied.beats(MLE, other, LAST))),
        },
        Claim {
            paper: "MLE varies much in the first few samples.".into(),
            measured: format!(
                "After 3 intervals estimates spread by {:.2} of the rate for MLE (clipped), {:.2} for LLN, {:.2} for SA, {:.2} for SAM, {:.2} for Refrain. Much \
                 means more than for each of the paper's others.",
                spread(MLE),
                spread(LLN),
                spread(SA),
                spread(SAM),
                spread(REFRAIN)
            ),
            verdict: Verdict::of_all([LLN, SA, SAM].map(|other| spread(MLE) > spread(other))),
        },
        Claim {
            paper: "(Not in the paper.) Refrain's 64 bytes per page should be as good as the MLE of all intervals.".into(),
            measured: format!(
                "After 10: {}; after {LAST}: {}. As good means at most 5 % worse.",
                studied.say(&[REFRAIN, MLE], 10),
                studied.say(&[REFRAIN, MLE], LAST)
            ),
            verdict: Verdict::of_all([10, 100, LAST].map(|k| studied.error(REFRAIN, k) <= 1.05 * studied.error(MLE, k))),
        },
    ]
}

#[cfg(test)]
mod tests {
    use refrain_core::estimate::Method;

    use super::*;

    /// A page that is fetched as often as it changes agrees; one that is hardly ever fetched does not.
    #[test]
    fn verdicts_have_two_sides() {
        let studied = |p: f64, delta: f64| {
            let study =
                Study { delta, p, methods: estimators(p, Momentum::USUAL), after: vec![3, 10, 100, LAST] };
            let measured = study.run(150, 3);
            Studied { study, measured }
        };
        let (usual, starved) = (claims(&studied(P, DELTA)), claims(&studied(1.0, 300.0)));
        assert_eq!([usual[1].verdict, usual[2].verdict], [Verdict::Agrees; 2], "{usual:?}");
        assert_ne!(starved[1].verdict, Verdict::Agrees, "{starved:?}");
        // Five naive estimators are alike, and none of them beats the naive one.
        let mut naive = studied(P, DELTA);
        naive.study.methods.iter_mut().for_each(|method| *method = ("Naive", Method::Naive));
        naive.measured = naive.study.run(150, 3);
        assert_eq!(claims(&naive)[0].verdict, Verdict::Partly);
    }
}
