//! Fig 14: where false signals send a crawler that believes them.

use refrain_core::value::ValueFunction;

use super::allocation::{Allocated, Fetched, Plan};
use super::figure;
use crate::figures::measured::Measured;
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Table, Verdict};
use crate::made_up::MadeUp;
use crate::policy::Policy;

pub(super) const FIGURE: Experiment = figure(
    "signals-14",
    "Fig 14",
    "empirical rates of GREEDY, GREEDY-CIS and GREEDY-NCIS where signals may be false",
    run,
);

const SIZES: [usize; 2] = [100, 500];
const CIS: usize = 1;
const NCIS: usize = 2;
/// Pages that announce most of their changes.
const LOUD: f64 = 0.9;
/// "Some" of them is more than this share.
const SOME: f64 = 0.05;
/// Rates that differ by less than this do not count: a few fetches.
const LEAST: f64 = 0.02;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let (instances, horizon) = (10, desk.pick(400.0, 1000.0));
    let plan = Plan {
        sizes: SIZES.into(),
        instances,
        horizon,
        policies: vec![
            ("GREEDY", Policy::Value(ValueFunction::Greedy)),
            ("GREEDY-CIS", Policy::Value(ValueFunction::GreedyCis)),
            ("GREEDY-NCIS", Policy::Value(ValueFunction::GreedyNcis)),
        ],
        pages: MadeUp::paper,
    };
    let allocated = plan.measure(desk)?;
    let recall: fn(Fetched<'_>) -> f64 = |page| page.recall();
    let files = [["greedy-100", "cis-100", "ncis-100"], ["greedy-500", "cis-500", "ncis-500"]];
    let charts = SIZES.iter().zip(files).flat_map(|(size, files)| {
        let (allocated, plan) = (&allocated, &plan);
        files.into_iter().enumerate().map(move |(policy, file)| {
            let name = plan.policies[policy].0;
            let title = format!("{name} with false signals, {size} pages, coloured by recall");
            allocated.scatter(file, title, *size, vec![allocated.dots(*size, policy, name, Some(recall))])
        })
    });
    let chased: Vec<Chased> = SIZES.iter().map(|size| Chased::of(&allocated, *size)).collect();
    let rows = chased.iter().map(|chased| {
        let rates = [chased.change_rate, chased.cis, chased.ncis, chased.optimal];
        let share = format!("{:.0} % ± {:.0}", 100.0 * chased.share.mean, 100.0 * chased.share.error);
        [chased.size.to_string(), share].into_iter().chain(rates.map(|rate| format!("{rate:.2}"))).collect()
    });
    Ok(Findings {
        asked: "GREEDY-CIS fetches a page as soon as it is announced. Where signals are often false, how much of the budget goes there?".into(),
        setting: format!(
            "As in Fig 4, {instances} instances of {} and {} pages for {horizon} units of time (the paper says neither how many instances nor how \
             many pages; 1000 units). Good signals means a recall above {LOUD}.",
            SIZES[0], SIZES[1]
        ),
        claims: claims(&chased),
        use_of_it: "Refrain weighs a signal by its precision, learned for each site: a page that cries wolf is not fetched for it.".into(),
        charts: charts.collect(),
        tables: vec![Table {
            file: "chased",
            title: format!("Pages with recall above {LOUD} that GREEDY-CIS fetches more than twice as often as GREEDY-NCIS, and their mean rates per unit of time"),
            columns: ["pages", "share of those with good signals", "changes", "GREEDY-CIS", "GREEDY-NCIS", "optimum without signals"]
                .map(String::from)
                .into(),
            rows: rows.collect(),
        }],
        ..Findings::default()
    })
}

/// Pages with good signals that one who believes all of them fetches far more often than one who weighs them.
struct Chased {
    size: usize,
    /// Of those with good signals.
    share: Measured,
    change_rate: Measured,
    cis: Measured,
    ncis: Measured,
    optimal: Measured,
}

impl Chased {
    fn of(allocated: &Allocated, size: usize) -> Self {
        let chased = |page: Fetched<'_>| page.rate(CIS) > 2.0 * page.rate(NCIS) + LEAST;
        let mean = |of: fn(Fetched<'_>) -> f64| {
            allocated.mean(size, move |page| (page.recall() > LOUD && chased(page)).then(|| of(page)))
        };
        Self {
            size,
            share: allocated
                .mean(size, |page| (page.recall() > LOUD).then(|| f64::from(u8::from(chased(page))))),
            change_rate: mean(|page| page.change_rate()),
            cis: mean(|page| page.rate(CIS)),
            ncis: mean(|page| page.rate(NCIS)),
            optimal: mean(|page| page.optimal()),
        }
    }
}

fn claims(chased: &[Chased]) -> Vec<Claim> {
    let say = |chased: &Chased| {
        format!(
            "{} pages: {:.0} % of those with good signals, which change at {:.2} per unit of time, at {:.2} by GREEDY-CIS, {:.2} by GREEDY-NCIS, {:.2} in the optimum \
             without signals",
            chased.size,
            100.0 * chased.share.mean,
            chased.change_rate.mean,
            chased.cis.mean,
            chased.ncis.mean,
            chased.optimal.mean
        )
    };
    vec![Claim {
        paper: "GREEDY-CIS fetches some pages with good signals far too often, since it believes false ones, too; GREEDY-NCIS does not.".into(),
        measured: format!(
            "More than twice as often as by GREEDY-NCIS are fetched, of {}. Some means more than {:.0} %, by two standard errors.",
            chased.iter().map(say).collect::<Vec<_>>().join("; of "),
            100.0 * SOME
        ),
        verdict: Verdict::of_all(chased.iter().map(|chased| chased.share.is_above(SOME))),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_have_two_sides() {
        let chased = |share: f64| {
            let measured = |mean| Measured { mean, error: 0.01 };
            let rate = measured(0.1);
            Chased {
                size: 100,
                share: measured(share),
                change_rate: rate,
                cis: rate,
                ncis: rate,
                optimal: rate,
            }
        };
        assert_eq!(claims(&[chased(0.2), chased(0.3)])[0].verdict, Verdict::Agrees);
        assert_eq!(claims(&[chased(0.06), chased(0.3)])[0].verdict, Verdict::Partly);
        assert_eq!(claims(&[chased(0.0), chased(0.06)])[0].verdict, Verdict::Disagrees);
    }
}
