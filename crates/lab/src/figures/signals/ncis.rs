//! Fig 4: signals that miss changes and cry wolf.

use std::num::NonZeroU32;

use refrain_core::value::ValueFunction;

use super::sweep::{Sweep, Swept, Trial, Who};
use super::{accuracy, against_pages, difference, figure};
use crate::figures::measured::Measured;
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::made_up::MadeUp;
use crate::policy::Policy;

pub(super) const FIGURE: Experiment = figure(
    "signals-4",
    "Fig 4",
    "GREEDY-NCIS, its approximations, GREEDY-CIS and GREEDY where signals may be false",
    run,
);

const GREEDY: Who = Who::Trial(0);
const CIS: Who = Who::Trial(1);
const NCIS: Who = Who::Trial(2);
const APPROXIMATIONS: [Who; 2] = [Who::Trial(3), Who::Trial(4)];
/// "Very close" is this near.
const NEAR: f64 = 0.005;
/// The paper's border between plenty and few fetches, in pages.
const PLENTY: usize = 500;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let approximate = |terms: NonZeroU32| Policy::Value(ValueFunction::Approximate(terms));
    let two = NonZeroU32::MIN.saturating_add(1);
    let sweep = Sweep {
        name: "noisy",
        sizes: desk.pick(
            vec![(100, 10), (200, 10), (500, 10), (750, 8), (1000, 8)],
            vec![(100, 100), (200, 100), (500, 100), (750, 100), (1000, 100), (10_000, 20)],
        ),
        horizon: desk.pick(300.0, 1000.0),
        trials: vec![
            Trial::of("GREEDY", Policy::Value(ValueFunction::Greedy)),
            Trial::of("GREEDY-CIS", Policy::Value(ValueFunction::GreedyCis)),
            Trial::of("GREEDY-NCIS", Policy::Value(ValueFunction::GreedyNcis)),
            Trial::of("APPROX-1", approximate(NonZeroU32::MIN)),
            Trial::of("APPROX-2", approximate(two)),
        ],
        pages: MadeUp::paper,
    };
    let swept = sweep.measure(desk)?;
    let size = desk.pick(
        "300 units of time (the paper: 1000), 8 to 10 instances of each size (the paper: 100)",
        "1000 units of time and 100 instances of each size, as in the paper, but 20 of 10 000 pages",
    );
    let all = [GREEDY, CIS, NCIS, APPROXIMATIONS[0], APPROXIMATIONS[1]];
    let curves = |than: Option<Who>| {
        let own = all.iter().map(|who| swept.curve(*who, than));
        let limits = [Who::Bound, Who::Baseline].map(|who| swept.curve(who, than));
        own.chain(limits).collect::<Vec<_>>()
    };
    Ok(Findings {
        asked: "A signal announces some changes, and some signals announce nothing. Who believes every signal runs after false ones; who \
                believes none misses the true ones. The exact crawl value weighs each signal by what it is worth."
            .into(),
        found: found(&swept),
        setting: format!(
            "100 fetches per unit of time, change and request rates uniform in [0, 1], recall Beta(¼, ¼), false signals at a rate \
             uniform in [.1, .6]; {size}. All policies see the same signals; differences are taken instance by instance."
        ),
        claims: claims(&swept),
        use_of_it: "Refrain computes the exact value, in some tens of nanoseconds for each term that counts, and so needs no approximation; \
                    the precision and recall it needs are learned from what fetches find."
            .into(),
        charts: vec![
            against_pages("accuracy", "Accuracy with noisy signals", accuracy(), curves(None)),
            against_pages(
                "gain",
                "What noisy signals add, and what believing them costs",
                difference("the optimum without signals"),
                curves(Some(Who::Baseline)),
            ),
        ],
        tables: vec![swept.table(
            "accuracy",
            "Accuracy, mean ± standard error",
            &[&[Who::Baseline, Who::Bound][..], &all[..]].concat(),
        )],
    })
}

/// At the border between plenty and few fetches.
fn found(swept: &Swept) -> Option<String> {
    let place = swept.sizes().iter().position(|size| *size == PLENTY)?;
    let percent = |who: Who| 100.0 * swept.accuracy(place, who).mean;
    Some(format!(
        "Where fetches are scarce ({PLENTY} pages, 100 fetches per unit of time), {:.1} % of requests find a fresh copy if signals are ignored, {:.1} % if all of them \
         are believed, and {:.1} % if each counts for what it is worth.",
        percent(GREEDY),
        percent(CIS),
        percent(NCIS)
    ))
}

fn claims(swept: &Swept) -> Vec<Claim> {
    let listening = [NCIS, APPROXIMATIONS[0], APPROXIMATIONS[1]];
    let better: Vec<bool> = listening
        .iter()
        .flat_map(|who| [GREEDY, CIS].map(|other| swept.gains(*who, other)))
        .flatten()
        .map(|gain| gain.is_above(0.0))
        .collect();
    let held = better.iter().filter(|held| **held).count();
    let plenty = |place: usize| swept.sizes()[place] <= PLENTY;
    let places = || 0..swept.sizes().len();
    let gap = |place: usize| APPROXIMATIONS.map(|who| swept.gain(place, NCIS, who));
    let say = |places: &mut dyn Iterator<Item = usize>| {
        let each = places.map(|place| {
            let [one, two] = gap(place);
            format!("{}: {one:+} (1 term), {two:+} (2 terms)", swept.sizes()[place])
        });
        each.collect::<Vec<_>>().join("; ")
    };
    let deaf = |place: usize| APPROXIMATIONS.map(|who| swept.gain(place, who, GREEDY));
    let cis = swept.gains(CIS, GREEDY);
    vec![
        Claim {
            paper: "The exact value and both approximations beat GREEDY and GREEDY-CIS in almost every case."
                .into(),
            measured: format!(
                "They do, by more than two standard errors, in {held} of {} comparisons. GREEDY-NCIS minus GREEDY, by pages: {}. Almost every \
                 case means four of five.",
                better.len(),
                swept.list(&swept.gains(NCIS, GREEDY))
            ),
            verdict: almost_all(held, better.len()),
        },
        Claim {
            paper: "With up to 500 pages the approximations are very close to the exact value.".into(),
            measured: format!(
                "Exact minus approximation: {}. Very close means within {NEAR}.",
                say(&mut places().filter(|place| plenty(*place)))
            ),
            verdict: Verdict::of_all(
                places().filter(|place| plenty(*place)).flat_map(gap).map(|gap| gap.is_near_zero(NEAR)),
            ),
        },
        Claim {
            paper:
                "With more pages the exact value is superior, and the approximations cannot use the signals."
                    .into(),
            measured: format!(
                "Exact minus approximation: {}. Approximation minus GREEDY: {}. Superior means by more than two standard errors; of no use \
                 means no better than GREEDY.",
                say(&mut places().filter(|place| !plenty(*place))),
                places()
                    .filter(|place| !plenty(*place))
                    .map(|place| {
                        let [one, two] = deaf(place);
                        format!("{}: {one:+}, {two:+}", swept.sizes()[place])
                    })
                    .collect::<Vec<_>>()
                    .join("; ")
            ),
            verdict: Verdict::of_all(places().filter(|place| !plenty(*place)).flat_map(|place| {
                let superior = gap(place).map(|gap| gap.is_above(0.0));
                let deaf = deaf(place).map(|gain| !gain.is_above(0.0));
                [superior, deaf].concat()
            })),
        },
        Claim {
            paper: "GREEDY-CIS, which believes every signal, gets worse with the number of pages.".into(),
            measured: format!(
                "GREEDY-CIS minus GREEDY, by pages: {}. It holds if this ends below 0, and lower than it began.",
                swept.list(&cis)
            ),
            verdict: deteriorates(&cis),
        },
    ]
}

/// Four of five agree; not even half of them does not.
fn almost_all(held: usize, all: usize) -> Verdict {
    Verdict::of(5 * held >= 4 * all, 2 * held >= all)
}

fn deteriorates(gains: &[Measured]) -> Verdict {
    let (Some(first), Some(last)) = (gains.first(), gains.last()) else { return Verdict::Unclear };
    Verdict::of_all([last.is_below(0.0), last.mean < first.mean])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_two_sides() {
        assert_eq!(
            [almost_all(8, 10), almost_all(7, 10), almost_all(4, 10)],
            [Verdict::Agrees, Verdict::Partly, Verdict::Disagrees]
        );
        let gain = |mean| Measured { mean, error: 0.001 };
        assert_eq!(deteriorates(&[gain(0.07), gain(-0.1)]), Verdict::Agrees);
        assert_eq!(deteriorates(&[gain(0.07), gain(0.01)]), Verdict::Partly);
        assert_eq!(deteriorates(&[gain(0.01), gain(0.07)]), Verdict::Disagrees);
    }
}
