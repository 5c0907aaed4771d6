//! Fig 12 and 13: whom signals take fetches from, and whom they give them to.

use refrain_core::value::ValueFunction;

use super::allocation::{Allocated, Fetched, Plan};
use super::{cis, figure};
use crate::figures::measured::Measured;
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Table, Verdict};
use crate::policy::Policy;

pub(super) const FIGURE: Experiment = figure(
    "signals-12",
    "Fig 12 and 13",
    "empirical rates of GREEDY-CIS by recall and by change rate of pages",
    run,
);

const FEW: usize = 100;
const MANY: usize = 300;
const GREEDY: usize = 0;
const CIS: usize = 1;
/// Pages with many signals have a recall above this, those with few one below the other.
const LOUD: f64 = 0.9;
const QUIET: f64 = 0.1;
/// Rates that differ by less than this share are close; by up to twice as much, in part.
const CLOSE: f64 = 0.1;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let (instances, horizon) = (10, desk.pick(400.0, 1000.0));
    let plan = Plan {
        sizes: vec![FEW, MANY],
        instances,
        horizon,
        policies: vec![
            ("GREEDY", Policy::Value(ValueFunction::Greedy)),
            ("GREEDY-CIS", Policy::Value(ValueFunction::GreedyCis)),
        ],
        pages: cis::never_wrong,
    };
    let allocated = plan.measure(desk)?;
    let groups = Groups::of(&allocated);
    let scatter = |file, size, policy: usize, by: &str, shade| {
        let name = plan.policies[policy].0;
        let title = format!("{name}, {size} pages, coloured by {by}");
        allocated.scatter(file, title, size, vec![allocated.dots(size, policy, name, Some(shade))])
    };
    let recall: fn(Fetched<'_>) -> f64 = |page| page.recall();
    let changes: fn(Fetched<'_>) -> f64 = |page| page.change_rate();
    let rows_of_both = [FEW, MANY].into_iter().flat_map(|size| rows(&allocated, size));
    Ok(Findings {
        asked: "With signals the same budget gives fresher copies. Which pages are then fetched less often than without, and which more?".into(),
        setting: format!(
            "As in Fig 3, with {instances} instances of {FEW} and {MANY} pages for {horizon} units of time (the paper: how many instances it does not \
             say, 1000 units). Colours: recall in Fig 12, change rate in Fig 13. Many signals means a recall above {LOUD}, few one below {QUIET}."
        ),
        claims: groups.claims(),
        use_of_it: "The crawl value alone decides this: Refrain has no rule for pages with good signals.".into(),
        charts: vec![
            scatter("greedy-100-recall", FEW, GREEDY, "recall", recall),
            scatter("cis-100-recall", FEW, CIS, "recall", recall),
            scatter("cis-300-recall", MANY, CIS, "recall", recall),
            scatter("cis-100-changes", FEW, CIS, "change rate", changes),
            scatter("cis-300-changes", MANY, CIS, "change rate", changes),
        ],
        tables: vec![Table {
            file: "groups",
            title: "Empirical minus optimal rate under GREEDY-CIS, in shares of the mean optimal rate of the group".into(),
            columns: ["pages", "change rate below ½", "change rate above ½", "all"].map(String::from).into(),
            rows: rows_of_both.collect(),
        }],
        ..Findings::default()
    })
}

/// How much more often a group of pages is fetched than without signals, relatively.
fn shift(allocated: &Allocated, size: usize, group: impl Fn(Fetched<'_>) -> bool + Copy) -> Measured {
    let usual = allocated.mean(size, |page| group(page).then(|| page.optimal())).mean;
    let shift = allocated.mean(size, |page| group(page).then(|| page.rate(CIS) - page.optimal()));
    Measured { mean: shift.mean / usual, error: shift.error / usual }
}

fn loud(page: Fetched<'_>) -> bool {
    page.recall() > LOUD
}

fn quiet(page: Fetched<'_>) -> bool {
    page.recall() < QUIET
}

fn rows(allocated: &Allocated, size: usize) -> Vec<Vec<String>> {
    let row = |name: &str, group: fn(Fetched<'_>) -> bool| {
        let percent = |shift: Measured| format!("{:+.0} % ± {:.0}", 100.0 * shift.mean, 100.0 * shift.error);
        vec![
            format!("{size}, {name} signals"),
            percent(shift(allocated, size, |page| group(page) && page.change_rate() < 0.5)),
            percent(shift(allocated, size, |page| group(page) && page.change_rate() >= 0.5)),
            percent(shift(allocated, size, group)),
        ]
    };
    vec![row("many", loud), row("few", quiet)]
}

/// What the claims are about.
struct Groups {
    loud_few: Measured,
    quiet_few: Measured,
    quiet_many: Measured,
    /// Among those with many signals, where pages are many: the share that is fetched more.
    boosted: Measured,
    /// How much faster the boosted ones change than the others.
    faster: Measured,
}

impl Groups {
    fn of(allocated: &Allocated) -> Self {
        let more = |page: Fetched<'_>| page.rate(CIS) > page.optimal();
        let changes = |which: bool| {
            allocated.mean(MANY, move |page| (loud(page) && more(page) == which).then(|| page.change_rate()))
        };
        let (up, down) = (changes(true), changes(false));
        Self {
            loud_few: shift(allocated, FEW, loud),
            quiet_few: shift(allocated, FEW, quiet),
            quiet_many: shift(allocated, MANY, quiet),
            boosted: allocated.mean(MANY, |page| loud(page).then(|| f64::from(u8::from(more(page))))),
            faster: Measured { mean: up.mean - down.mean, error: up.error.hypot(down.error) },
        }
    }

    fn claims(&self) -> Vec<Claim> {
        let Self { loud_few, quiet_few, quiet_many, boosted, faster } = self;
        vec![
            Claim {
                paper: "With 100 pages GREEDY-CIS fetches pages with many signals less often, and those with few or none more often.".into(),
                measured: format!("Rates shift by {loud_few:+.2} of the optimal ones for many signals, by {quiet_few:+.2} for few; by more than two standard errors counts."),
                verdict: Verdict::of_all([loud_few.is_below(0.0), quiet_few.is_above(0.0)]),
            },
            Claim {
                paper: "With 300 pages some of those with many signals are fetched more often and some less, the fast-changing ones more.".into(),
                measured: format!(
                    "{:.0} % of those with many signals are fetched more often; they change faster than the others by {faster:+.2} per unit of time. Some of \
                     both means from 5 to 95 %.",
                    100.0 * boosted.mean
                ),
                verdict: Verdict::of_all([(0.05..=0.95).contains(&boosted.mean), faster.is_above(0.0)]),
            },
            Claim {
                paper: "There, pages with few or no signals keep about the rates of the optimum without signals.".into(),
                measured: format!("Their rates shift by {quiet_many:+.2} of the optimal ones. About means within {CLOSE}, in part within twice that."),
                verdict: Verdict::of_all([CLOSE, 2.0 * CLOSE].map(|close| quiet_many.is_near_zero(close))),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_two_sides() {
        let measured = |mean| Measured { mean, error: 0.01 };
        let groups = |sign: f64, boosted| Groups {
            loud_few: measured(-0.2 * sign),
            quiet_few: measured(0.2 * sign),
            quiet_many: measured(0.2 - 0.2 * sign),
            boosted: measured(boosted),
            faster: measured(0.2 * sign),
        };
        let verdicts =
            |groups: &Groups| groups.claims().iter().map(|claim| claim.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&groups(1.0, 0.4)), [Verdict::Agrees; 3]);
        assert_eq!(verdicts(&groups(-1.0, 1.0)), [Verdict::Disagrees; 3]);
    }
}
