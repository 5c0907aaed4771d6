//! Fig 3: signals that miss changes, but are never wrong.

use refrain_core::value::ValueFunction;

use super::sweep::{Sweep, Swept, Trial, Who};
use super::{accuracy, against_pages, difference, figure};
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Verdict};
use crate::made_up::{MadeUp, Numbers};
use crate::policy::Policy;

pub(super) const FIGURE: Experiment =
    figure("signals-3", "Fig 3", "GREEDY-CIS against GREEDY: signals that miss changes and never lie", run);

const GREEDY: Who = Who::Trial(0);
const CIS: Who = Who::Trial(1);

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let sweep = Sweep {
        name: "never false",
        sizes: desk.pick(
            vec![(100, 12), (200, 12), (500, 12), (1000, 12)],
            vec![(100, 100), (200, 100), (500, 100), (1000, 100), (10_000, 20)],
        ),
        horizon: desk.pick(300.0, 1000.0),
        trials: vec![
            Trial::of("GREEDY", Policy::Value(ValueFunction::Greedy)),
            Trial::of("GREEDY-CIS", Policy::Value(ValueFunction::GreedyCis)),
        ],
        pages: never_wrong,
    };
    let swept = sweep.measure(desk)?;
    let size = desk.pick(
        "300 units of time (the paper: 1000), 12 instances of each size (the paper: 100)",
        "1000 units of time and 100 instances of each size, as in the paper, but 20 of the largest",
    );
    Ok(Findings {
        asked: "A signal announces some changes of a page (the share is its recall) and is never false. What is that worth to a \
                scheduler that believes it?"
            .into(),
        setting: format!(
            "100 fetches per unit of time, change and request rates uniform in [0, 1], recall Beta(¼, ¼): most pages announce nearly \
             all changes or nearly none; {size}. The optimum with signals is the paper's equation 4, which it does not show."
        ),
        claims: claims(&swept),
        use_of_it: "Signals are worth listening to: Refrain reads sitemaps, feeds, WebSub and webhooks, and weighs each by how often it \
                    was right on that site."
            .into(),
        charts: vec![
            against_pages(
                "accuracy",
                "Accuracy with signals that are never false",
                accuracy(),
                vec![
                    swept.curve(CIS, None),
                    swept.curve(GREEDY, None),
                    swept.curve(Who::Baseline, None),
                    swept.curve(Who::Bound, None),
                ],
            ),
            against_pages(
                "gain",
                "What signals add",
                difference("the optimum without signals"),
                vec![
                    swept.curve(CIS, Some(Who::Baseline)),
                    swept.curve(GREEDY, Some(Who::Baseline)),
                    swept.curve(Who::Bound, Some(Who::Baseline)),
                ],
            ),
        ],
        tables: vec![swept.table(
            "accuracy",
            "Accuracy, mean ± standard error",
            &[Who::Baseline, Who::Bound, GREEDY, CIS],
        )],
        ..Findings::default()
    })
}

pub(super) fn never_wrong(pages: usize) -> MadeUp {
    MadeUp { false_rate: Numbers::Constant(0.0), ..MadeUp::paper(pages) }
}

fn claims(swept: &Swept) -> Vec<Claim> {
    let gains = swept.gains(CIS, GREEDY);
    let short = swept.gains(CIS, Who::Bound);
    vec![
        Claim {
            paper: "Signals improve accuracy significantly, however scarce fetches are compared with changes (no numbers in the text).".into(),
            measured: format!(
                "GREEDY-CIS minus GREEDY, by pages: {}. Significant means by more than two standard errors.",
                swept.list(&gains)
            ),
            verdict: Verdict::of_all(gains.iter().map(|gain| gain.is_above(0.0))),
        },
        Claim {
            paper: "(Not in the figure.) The discrete policy comes from the continuous optimum, and should come close to it with signals, too.".into(),
            measured: format!(
                "GREEDY-CIS minus the continuous optimum with signals, by pages: {}. Close means no less than .01 below it.",
                swept.list(&short)
            ),
            verdict: Verdict::of_all(short.iter().map(|gap| gap.mean > -0.01)),
        },
    ]
}
