//! Fig 7: do policies without signals fetch at the optimal rates?

use refrain_core::value::ValueFunction;

use super::allocation::{Allocated, Plan};
use super::{baseline, figure};
use crate::figures::measured::Measured;
use crate::figures::{Claim, Desk, Experiment, FigureError, Findings, Table, Verdict};
use crate::policy::Policy;

pub(super) const FIGURE: Experiment =
    figure("signals-7", "Fig 7", "empirical rates of GREEDY and LDS against the optimal ones", run);

const SIZES: [usize; 2] = [100, 500];
const GREEDY: usize = 0;
const LDS: usize = 1;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let (instances, horizon) = (10, desk.pick(400.0, 1000.0));
    let plan = Plan {
        sizes: SIZES.into(),
        instances,
        horizon,
        policies: vec![("GREEDY", Policy::Value(ValueFunction::Greedy)), ("LDS", Policy::LowDiscrepancy)],
        pages: baseline::without_signals,
    };
    let allocated = plan.measure(desk)?;
    let off: Vec<[Measured; 2]> =
        SIZES.iter().map(|size| [GREEDY, LDS].map(|policy| deviation(&allocated, *size, policy))).collect();
    let rows = SIZES.iter().zip(&off).map(|(size, [greedy, lds])| {
        vec![size.to_string(), greedy.to_string(), lds.to_string(), format!("{:.4}", 1.0 / horizon)]
    });
    let charts = ["100", "500"].into_iter().zip(SIZES).map(|(file, size)| {
        let curves = [GREEDY, LDS].map(|policy| allocated.dots(size, policy, plan.policies[policy].0, None));
        allocated.scatter(file, format!("Empirical against optimal rates, {size} pages"), size, curves.into())
    });
    Ok(Findings {
        asked: "Fig 2 shows that GREEDY and LDS are as good as the continuous optimum. Do they also fetch each page as often as it does?".into(),
        setting: format!(
            "100 fetches per unit of time for {horizon} units, without signals; {instances} instances of {} and {} pages (the paper: 10 of each). A \
             page is a dot; deviations are root mean squares over pages.",
            SIZES[0], SIZES[1]
        ),
        claims: claims(&off, horizon),
        use_of_it: "Rates need not be met: Refrain takes the most valuable page, and rates follow.".into(),
        charts: charts.collect(),
        tables: vec![Table {
            file: "deviation",
            title: "How far empirical rates are from the optimal ones: root mean square, fetches per unit of time".into(),
            columns: ["pages", "GREEDY", "LDS", "one fetch"].map(String::from).into(),
            rows: rows.collect(),
        }],
        ..Findings::default()
    })
}

/// The root mean square of what rates are off by.
fn deviation(allocated: &Allocated, size: usize, policy: usize) -> Measured {
    let square = allocated.mean(size, |page| Some((page.rate(policy) - page.optimal()).powi(2)));
    let root = square.mean.sqrt();
    Measured { mean: root, error: if root > 0.0 { 0.5 * square.error / root } else { 0.0 } }
}

fn claims(off: &[[Measured; 2]], horizon: f64) -> Vec<Claim> {
    let say = |of: usize| {
        let each = SIZES.iter().zip(off).map(|(size, both)| format!("{size}: {}", both[of]));
        each.collect::<Vec<_>>().join(", ")
    };
    let once = 1.0 / horizon;
    vec![
        Claim {
            paper: "LDS fetches at very nearly the optimal rates: its dots lie on the diagonal.".into(),
            measured: format!("LDS is off by, by pages: {}. On the diagonal means by at most one fetch ({once:.4}).", say(LDS)),
            verdict: Verdict::of_all(off.iter().map(|both| both[LDS].mean <= once)),
        },
        Claim {
            paper: "The rates of GREEDY differ from the optimal ones more than those of LDS, though it is as good.".into(),
            measured: format!("GREEDY is off by, by pages: {}. More means by two standard errors.", say(GREEDY)),
            verdict: Verdict::of_all(off.iter().map(|[greedy, lds]| greedy.is_above(lds.mean))),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fetch_decides() {
        let measured = |mean| Measured { mean, error: 1e-4 };
        let verdicts = |greedy, lds| {
            claims(&[[measured(greedy), measured(lds)]; 2], 1000.0)
                .iter()
                .map(|claim| claim.verdict)
                .collect::<Vec<_>>()
        };
        assert_eq!(verdicts(0.004, 0.0005), [Verdict::Agrees, Verdict::Agrees]);
        assert_eq!(verdicts(0.004, 0.02), [Verdict::Disagrees, Verdict::Disagrees]);
    }
}
