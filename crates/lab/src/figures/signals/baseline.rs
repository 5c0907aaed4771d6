//! Fig 2: policies without signals, one fetch at a time, against the optimum of a continuous schedule.

use super::sweep::{Sweep, Swept, Trial, Who};
use super::{accuracy, against_pages, difference, figure};
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::made_up::{MadeUp, Numbers};
use crate::policy::Policy;
use refrain_core::value::ValueFunction;

pub(super) const FIGURE: Experiment =
    figure("signals-2", "Fig 2", "GREEDY and LDS against the continuous optimum, without signals", run);

const GREEDY: Who = Who::Trial(0);
const LDS: Who = Who::Trial(1);
/// "On par" and "very similar" are this near.
const NEAR: f64 = 0.005;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let sweep = Sweep {
        name: "no signals",
        sizes: desk.pick(
            vec![(100, 10), (500, 10), (1000, 10), (10_000, 3)],
            vec![(100, 100), (500, 100), (1000, 100), (10_000, 100)],
        ),
        horizon: desk.pick(500.0, 1000.0),
        trials: vec![
            Trial::of("GREEDY", Policy::Value(ValueFunction::Greedy)),
            Trial::of("LDS", Policy::LowDiscrepancy),
        ],
        pages: without_signals,
    };
    let swept = sweep.measure(desk)?;
    let size = desk.pick(
        "500 units of time (the paper: 1000), 10 instances of each size and 3 of the largest (the paper: 100)",
        "1000 units of time and 100 instances of each size, as in the paper",
    );
    Ok(Findings {
        asked: "A continuous schedule may fetch whenever it likes; a crawler fetches one page at a time, at an even pace. How much is \
                lost by that? GREEDY takes the page with the greatest crawl value, LDS follows the optimal rates as evenly as possible; \
                the baseline is the continuous optimum, which nobody can exceed for long."
            .into(),
        setting: format!(
            "100 fetches per unit of time, change and request rates uniform in [0, 1] as in the paper; {size}. Copies are fresh at the start, which the paper does not say: what that earns is seen in the second half \
             of the time, which stands beside."
        ),
        claims: claims(&swept),
        use_of_it: "Refrain schedules by crawl values alone: no optimisation has to be solved before the first fetch, and pages, rates and \
                    budgets may change at any moment."
            .into(),
        charts: vec![
            against_pages(
                "accuracy",
                "Accuracy without signals",
                accuracy(),
                vec![swept.curve(GREEDY, None), swept.curve(LDS, None), swept.curve(Who::Baseline, None)],
            ),
            against_pages(
                "difference",
                "What an even pace costs, in the second half of the time",
                difference("the continuous optimum"),
                vec![
                    swept.curve(Who::Settled(0), Some(Who::Baseline)),
                    swept.curve(Who::Settled(1), Some(Who::Baseline)),
                ],
            ),
        ],
        tables: vec![swept.table(
            "accuracy",
            "Accuracy, mean ± standard error",
            &[Who::Baseline, GREEDY, LDS, Who::Settled(0), Who::Settled(1)],
        )],
        ..Findings::default()
    })
}

pub(super) fn without_signals(pages: usize) -> MadeUp {
    MadeUp { recall: Numbers::Constant(0.0), false_rate: Numbers::Constant(0.0), ..MadeUp::paper(pages) }
}

fn claims(swept: &Swept) -> Vec<Claim> {
    let alike = swept.gains(GREEDY, LDS);
    let (greedy, lds) = (swept.gains(GREEDY, Who::Baseline), swept.gains(LDS, Who::Baseline));
    let settled = swept.gains(Who::Settled(0), Who::Baseline);
    vec![
        Claim {
            paper: "GREEDY and LDS perform very similarly, whatever the number of pages (the text gives no numbers).".into(),
            measured: format!("GREEDY minus LDS, by pages: {}. Similar means within {NEAR}.", swept.list(&alike)),
            verdict: Verdict::of_all(alike.iter().map(|gain| gain.is_near_zero(NEAR))),
        },
        Claim {
            paper: "Both are on par with the optimal continuous policy.".into(),
            measured: format!(
                "Minus the baseline, by pages: GREEDY {}; LDS {}; GREEDY in the second half {}. On par means within {NEAR}; where copies \
                 last long, the fresh start shows as more than the optimum.",
                swept.list(&greedy),
                swept.list(&lds),
                swept.list(&settled)
            ),
            verdict: Verdict::of_all(greedy.iter().chain(&lds).map(|gain| gain.is_near_zero(NEAR))),
        },
        Claim {
            paper: "GREEDY is a little better than LDS, though not significantly.".into(),
            measured: format!(
                "GREEDY minus LDS, by pages: {}. It holds where the difference is above 0 but below {NEAR}.",
                swept.list(&alike)
            ),
            verdict: Verdict::of_all(alike.iter().map(|gain| gain.mean > 0.0 && gain.mean < NEAR)),
        },
    ]
}
