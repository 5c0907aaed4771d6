//! Fig 6: the crawl value, and what is left of it when its sums are cut off.

use std::num::NonZeroU32;

use refrain_core::page::Belief;
use refrain_core::value::{CrawlValue, GreedyNcis};

use super::figure;
use super::sweep::{draw, seed};
use crate::figures::{
    Axis, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Point, Scaling, Table, Verdict,
};
use crate::made_up::MadeUp;

pub(super) const FIGURE: Experiment =
    figure("signals-6", "Fig 6", "the crawl value over time, and its first one, two and three terms", run);

/// Δ, λ and ν of the page that is drawn.
const PAGE: (f64, f64, f64) = (0.5, 0.5, 0.3);
const TERMS: [u32; 3] = [1, 2, 3];
/// So many jumps of a signal are drawn.
const JUMPS: f64 = 6.0;
const POINTS: u32 = 240;
/// "Very well" is this near, relatively.
const NEAR: f64 = 0.05;
/// Pages of Fig 4, to see what cutting off means for them.
const PAGES: usize = 10_000;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let wrong = |why: refrain_core::page::BeliefError| FigureError(why.to_string());
    let (delta, recall, false_rate) = PAGE;
    let page =
        Belief::new(delta, 1.0).and_then(|page| page.with_signals(recall, false_rate)).map_err(wrong)?;
    // β: the time that one signal stands for.
    let jump = (1.0 + recall * delta / false_rate).ln() / ((1.0 - recall) * delta);
    let times: Vec<f64> = (0..=POINTS).map(|at| JUMPS * jump * f64::from(at) / f64::from(POINTS)).collect();
    let exact = GreedyNcis::new(&page);
    let cut = TERMS.map(|terms| approximation(&page, terms));
    let curve = |name: String, look: Look, value: &dyn Fn(f64) -> f64| Curve {
        name,
        look,
        points: times.iter().map(|time| Point::at(*time, value(*time))).collect(),
    };
    let mut curves = vec![curve("exact".into(), Look::Line, &|time| exact.value(time, 0))];
    for (terms, cut) in TERMS.iter().zip(&cut) {
        curves.push(curve(first(*terms), Look::Dashes, &|time| cut.value(time, 0)));
    }
    curves.push(curve("limit μ/Δ".into(), Look::Dashes, &|_| exact.supremum()));
    let shortfalls: Vec<Shortfall> =
        TERMS.iter().zip(&cut).map(|(terms, cut)| Shortfall::of(*terms, &exact, cut, &times)).collect();
    let pages = draw(&MadeUp::paper(PAGES), seed(desk, PAGES, 0))?;
    let typical = TERMS.map(|terms| {
        let short =
            |page: &Belief| 1.0 - approximation(page, terms).supremum() / GreedyNcis::new(page).supremum();
        let changing = pages.iter().filter(|page| page.change_rate() > 0.0);
        changing.clone().map(short).sum::<f64>() / changing.count() as f64
    });
    let rows = shortfalls.iter().zip(typical).map(|(short, typical)| {
        let percent = |share: f64| format!("{:.2}", 100.0 * share);
        vec![short.terms.to_string(), percent(short.drawn), percent(short.limit), percent(typical)]
    });
    Ok(Findings {
        asked: "The crawl value of a page grows while nobody fetches it, as if every signal moved the clock forward by some time. It is a sum \
                with one more term after each such time. How many terms are needed?"
            .into(),
        setting: format!(
            "A page with change rate {delta}, recall {recall}, false signals at rate {false_rate} and importance 1 (the paper does not say which \
             page it drew), up to {JUMPS} times the time that a signal stands for ({jump:.2}). Exact formulas: nothing is drawn by chance but \
             the {PAGES} pages of Fig 4 for the last column of the table."
        ),
        claims: claims(&shortfalls, typical[2]),
        use_of_it: "Refrain sums all terms that count, with a bound on the rest, and is exact to 12 digits where closed forms cancel.".into(),
        charts: vec![Chart {
            file: "value",
            title: "Crawl value by effective time since the last fetch".into(),
            x: axis("effective time since the last fetch, units of time"),
            y: axis("crawl value, fresh requests gained"),
            curves,
        }],
        tables: vec![Table {
            file: "shortfall",
            title: "How much is missing when the sums are cut off, in percent of the exact value".into(),
            columns: ["terms", "at worst where drawn", "in the limit", "in the limit, pages of Fig 4"].map(String::from).into(),
            rows: rows.collect(),
        }],
        ..Findings::default()
    })
}

fn axis(label: &str) -> Axis {
    Axis { label: label.into(), scaling: Scaling::Linear, range: None }
}

fn first(terms: u32) -> String {
    if terms == 1 { "the first term".into() } else { format!("the first {terms} terms") }
}

fn approximation(page: &Belief, terms: u32) -> GreedyNcis {
    GreedyNcis::approximate(page, NonZeroU32::new(terms).unwrap_or(NonZeroU32::MIN))
}

/// What is missing of the exact value, relatively.
#[derive(Clone, Copy, Debug)]
struct Shortfall {
    terms: u32,
    /// At worst, at the times that are drawn.
    drawn: f64,
    /// In the end.
    limit: f64,
}

impl Shortfall {
    fn of(terms: u32, exact: &GreedyNcis, cut: &GreedyNcis, times: &[f64]) -> Self {
        let at = |time: &f64| 1.0 - cut.value(*time, 0) / exact.value(*time, 0);
        let drawn = times.iter().filter(|time| **time > 0.0).map(at).fold(0.0, f64::max);
        Self { terms, drawn, limit: 1.0 - cut.supremum() / exact.supremum() }
    }
}

fn claims(shortfalls: &[Shortfall], typical: f64) -> Vec<Claim> {
    let say = |short: &Shortfall| format!("{}: {:.1} %", first(short.terms), 100.0 * short.limit);
    let limits = shortfalls.iter().map(say).collect::<Vec<_>>().join(", ");
    let three = shortfalls.iter().find(|short| short.terms == 3);
    let drawn = three.map_or(f64::NAN, |short| short.drawn);
    vec![
        Claim {
            paper: "A few terms, three for example, approximate the value very well.".into(),
            measured: format!(
                "Three terms miss {:.1} % of this page's value at worst where it is drawn, and {:.1} % in the limit on average over the pages of Fig 4. \
                 Very well means at most {:.0} % in both.",
                100.0 * drawn,
                100.0 * typical,
                100.0 * NEAR
            ),
            verdict: Verdict::of_all([drawn, typical].map(|short| short <= NEAR)),
        },
        Claim {
            paper: "All the curves tend to the same limit, drawn as one line.".into(),
            measured: format!(
                "The exact value tends to μ/Δ; cut off, it tends to μ Σ νⁱ/(Δ+ν)ⁱ⁺¹ over the terms that are left, which is less by: {limits}. It holds \
                 if nothing is missing."
            ),
            verdict: Verdict::of_all(shortfalls.iter().map(|short| short.limit < 1e-9)),
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_decides() {
        let short = |terms, drawn, limit| Shortfall { terms, drawn, limit };
        let verdicts = |all: &[Shortfall], typical| -> Vec<Verdict> {
            claims(all, typical).iter().map(|claim| claim.verdict).collect()
        };
        assert_eq!(verdicts(&[short(3, 0.001, 0.0)], 0.002), [Verdict::Agrees, Verdict::Agrees]);
        assert_eq!(
            verdicts(&[short(2, 0.2, 0.0), short(3, 0.001, 0.1)], 0.2),
            [Verdict::Partly, Verdict::Partly]
        );
        assert_eq!(verdicts(&[short(3, 0.06, 0.1)], 0.2), [Verdict::Disagrees, Verdict::Disagrees]);
    }

    /// Reference figures: Δ = λ = ½, ν = .3 after 2, and after 4 with 5 signals.
    #[test]
    fn the_curves_pass_through_known_points() {
        let page = Belief::new(0.5, 1.0).unwrap().with_signals(0.5, 0.3).unwrap();
        let (late, two) = (16.122_716_071_406_312, approximation(&page, 2));
        let near =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
        near(GreedyNcis::new(&page).value(2.0, 0), 0.261_930_913_019_448);
        near(GreedyNcis::new(&page).value(late, 0), 1.841_555_529_929_297_2);
        near(two.value(late, 0), 1.654_211_119_988_247);
        near(approximation(&page, 1).value(late, 0), 1.217_706_394_737_120_3);
    }
}
