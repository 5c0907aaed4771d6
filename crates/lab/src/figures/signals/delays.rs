//! Fig 8: signals that come late.

use refrain_core::value::ValueFunction;

use super::sweep::{Sweep, Swept, Trial, Who};
use super::{RATE, accuracy, against_pages, figure};
use crate::figures::measured::Measured;
use crate::figures::{
    Axis, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Scaling, Verdict,
};
use crate::made_up::MadeUp;
use crate::policy::Policy;

pub(super) const FIGURE: Experiment =
    figure("signals-8", "Fig 8", "signals that come late, and a rule that ignores those after a fetch", run);

/// The mean delay, and for how long the paper's rule ignores signals: in steps between fetches.
const LATE: f64 = 6.0;
const IGNORED: f64 = 5.0;
/// Others, to see what the rule can do at best.
const LENGTHS: [f64; 6] = [0.0, 2.0, 5.0, 8.0, 12.0, 20.0];

const AT_ONCE: Who = Who::Trial(0);
const DELAYED: Who = Who::Trial(1);
const RULE: Who = Who::Trial(2);
const GREEDY: Who = Who::Trial(3);
/// "On par" and "marginal" are this near.
const NEAR: f64 = 0.003;
/// Where the paper sees the delay, in pages.
const PLENTY: usize = 100;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let ncis = Policy::Value(ValueFunction::GreedyNcis);
    let late = |name, policy, ignored| Trial { name, policy, late: Some(LATE), ignored };
    let trials = vec![
        // Changes are drawn here, too: the same ones, so that the differences are those of the signals.
        Trial { name: "GREEDY-NCIS, no delay", policy: ncis, late: Some(0.0), ignored: 0.0 },
        late("GREEDY-NCIS", ncis, 0.0),
        late("GREEDY-NCIS-D", Policy::Delayed, IGNORED),
        late("GREEDY", Policy::Value(ValueFunction::Greedy), 0.0),
    ];
    let horizon = desk.pick(300.0, 1000.0);
    let lengths = Sweep {
        name: "length of the rule",
        sizes: vec![(PLENTY, desk.pick(12, 50))],
        horizon,
        trials: trials
            .iter()
            .take(1)
            .copied()
            .chain(LENGTHS.map(|ignored| late("", Policy::Delayed, ignored)))
            .collect(),
        pages: MadeUp::paper,
    };
    let lengths = lengths.measure(desk)?;
    let sweep = Sweep {
        name: "late",
        sizes: desk.pick(
            vec![(PLENTY, 24), (200, 12), (500, 10), (1000, 8)],
            vec![(PLENTY, 100), (200, 100), (500, 100), (750, 100), (1000, 100)],
        ),
        horizon,
        trials,
        pages: MadeUp::paper,
    };
    let swept = sweep.measure(desk)?;
    let size = desk.pick(
        "300 units of time (the paper: 1000), 24 instances of 100 pages and 8 to 12 of more (the paper: 100)",
        "1000 units of time and 100 instances of each size, as in the paper",
    );
    Ok(Findings {
        asked: "A signal takes time. If the page was fetched meanwhile, it announces what the fetch has seen, and sends the crawler there \
                again for nothing. The paper's remedy is to ignore signals that come soon after a fetch."
            .into(),
        found: found(&swept),
        setting: format!(
            "As in Fig 4, but every signal comes a Poisson(6) number of steps of 1/R late (the paper names the distribution and not its \
             unit; its rule ignores signals within 5/R of a fetch, so the unit must be 1/R); {size}. Late signals break the formula for the \
             chance that a copy is fresh, so announced changes are drawn and copies are scored by the truth; the run without delays has the \
             same changes."
        ),
        claims: claims(&swept),
        use_of_it: "Where a signal tells the moment of the change (lastmod, a feed's date), Refrain compares that with its last fetch, which no \
                    delay can mislead; the rule of the paper is there as `greedy-ncis-d` and as a setting of the frontier."
            .into(),
        charts: vec![
            against_pages(
                "accuracy",
                "Accuracy with late signals",
                accuracy(),
                vec![
                    swept.curve(AT_ONCE, None),
                    swept.curve(DELAYED, None),
                    swept.curve(RULE, None),
                    swept.curve(GREEDY, None),
                    swept.curve(Who::Baseline, None),
                ],
            ),
            by_length(&lengths),
        ],
        tables: vec![swept.table(
            "accuracy",
            "Accuracy, mean ± standard error",
            &[Who::Baseline, AT_ONCE, DELAYED, RULE, GREEDY],
        )],
    })
}

/// What the rule gives back at 100 pages, by how long it ignores signals.
fn by_length(swept: &Swept) -> Chart {
    let points = LENGTHS.iter().enumerate().filter_map(|(place, length)| {
        Some(swept.gain_at(PLENTY, Who::Trial(place + 1), AT_ONCE)?.at(*length))
    });
    let curve = Curve { name: "GREEDY-NCIS-D".into(), look: Look::Line, points: points.collect() };
    let axis = |label: String| Axis { label, scaling: Scaling::Linear, range: None };
    Chart {
        file: "rule",
        title: format!("How long to ignore signals after a fetch, at {PLENTY} pages"),
        x: axis(format!("ignored after a fetch, in steps of 1/{RATE}")),
        y: axis("accuracy, difference to no delay".into()),
        curves: vec![curve],
    }
}

fn found(swept: &Swept) -> Option<String> {
    let loss = swept.gain_at(PLENTY, DELAYED, AT_ONCE)?;
    Some(format!(
        "Signals that come a little late cost {:.1} % of requests their fresh copy where fetches are plenty. To ignore those that come soon after a fetch, the paper's remedy, \
         gives back {}.",
        -100.0 * loss.mean,
        share(swept.gain_at(PLENTY, RULE, DELAYED)?, loss)
    ))
}

fn claims(swept: &Swept) -> Vec<Claim> {
    let losses = swept.gains(DELAYED, AT_ONCE);
    let (loss, rest, given_back) = (
        swept.gain_at(PLENTY, DELAYED, AT_ONCE).unwrap_or_default(),
        swept.gain_at(PLENTY, RULE, AT_ONCE).unwrap_or_default(),
        swept.gain_at(PLENTY, RULE, DELAYED).unwrap_or_default(),
    );
    // The mean of a recall from Beta(¼, ¼) and of a change rate from [0, 1].
    let announced = 0.5 * 0.5;
    vec![
        Claim {
            paper: "Delays cost accuracy where fetches are plenty (100 pages), and next to nothing where they are scarce.".into(),
            measured: format!(
                "GREEDY-NCIS with late signals minus without delay, by pages: {}. It holds if the loss is certain at {PLENTY} pages and at most a \
                 quarter of the greatest loss at the most pages.",
                swept.list(&losses)
            ),
            verdict: fades(&losses),
        },
        Claim {
            paper: "At 100 pages GREEDY-NCIS-D is on par with GREEDY-NCIS without delay: the rule almost undoes the damage.".into(),
            measured: format!(
                "The delay costs {loss:+}; with the rule {rest:+} is left: it gives back {} ({given_back:+}). On par means within {NEAR}, almost \
                 undone at least three quarters of the loss. No rule can give back much: until its signal comes nobody knows of a change, and \
                 announced changes come at {announced} per page, so that copies are stale for {announced} · {LATE}/{RATE} = {:.3} of the time \
                 even if every signal is followed at once.",
                share(given_back, loss),
                announced * LATE / RATE
            ),
            verdict: recovers(loss, rest),
        },
    ]
}

/// Certain where pages are fewest, and little of the worst where they are most.
fn fades(losses: &[Measured]) -> Verdict {
    let worst = losses.iter().map(|loss| -loss.mean).fold(0.0, f64::max);
    let [first, .., last] = losses else { return Verdict::Unclear };
    Verdict::of_all([first.is_below(0.0), -last.mean <= worst / 4.0])
}

fn share(given_back: Measured, loss: Measured) -> String {
    if loss.mean < 0.0 {
        format!("{:.0} % of it", -100.0 * given_back.mean / loss.mean)
    } else {
        "nothing".into()
    }
}

fn recovers(loss: Measured, rest: Measured) -> Verdict {
    if !loss.is_below(0.0) {
        return Verdict::Unclear;
    }
    let given_back = 1.0 - rest.mean / loss.mean;
    Verdict::of(rest.is_near_zero(NEAR) && given_back >= 0.75, given_back >= 0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_judged_by_what_it_gives_back() {
        let measured = |mean| Measured { mean, error: 0.0005 };
        let loss = measured(-0.013);
        assert_eq!(recovers(loss, measured(-0.001)), Verdict::Agrees);
        assert_eq!(recovers(loss, measured(-0.008)), Verdict::Partly);
        assert_eq!(recovers(loss, measured(-0.012)), Verdict::Disagrees);
        assert_eq!(recovers(measured(0.0), measured(0.0)), Verdict::Unclear);
        assert_eq!(fades(&[loss, measured(-0.001)]), Verdict::Agrees);
        assert_eq!(fades(&[loss, measured(-0.01)]), Verdict::Partly);
        assert_eq!(fades(&[measured(0.0), loss]), Verdict::Disagrees);
    }
}
