//! Fig 4: changes between two looks are seen as one.

use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::naive::naive;
use refrain_core::estimate::regular::regular;

use super::super::{
    Axis, Cell, Chart, Claim, Curve, Desk, FigureError, Findings, Look as Style, Measured, Point, Scaling,
    Verdict,
};
use super::MEAN;
use super::course::{Look, Rule, chance, changes, looks};

/// The paper's page: seven changes in eight cycles of the first crawler, on average.
const CYCLE: f64 = 7.0 / 8.0;
const CYCLES: f64 = 8.0;
/// Cycles as fractions of the mean time between changes.
const FRACTIONS: [f64; 9] = [0.1, 0.25, 0.5, CYCLE, 1.25, 2.0 * CYCLE, 2.25, 2.75, 3.5];
const PIECE: u64 = 500;

/// What the looks of a cycle over a span say: naively, and with the bias of missed changes taken out; as multiples of the truth.
fn estimates(changes: &[f64], fraction: f64, span: f64) -> [f64; 2] {
    // A look at the very end belongs to it.
    let seen = looks(changes, Rule::Known(fraction), span * (1.0 + 1e-9)).0;
    let changed = seen.iter().filter(|look| look.changed.is_some()).count() as f64;
    let counts =
        Counts { changed, all: seen.len() as f64, span: seen.iter().map(|look| look.interval).sum() };
    [MEAN * naive(&counts, counts.fetch_rate()), MEAN * regular(&counts)]
}

pub(super) fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let runs: u64 = desk.pick(5_000, 50_000);
    let (seed, span) = (desk.seed, CYCLES * CYCLE * MEAN);
    // As many looks for each cycle as the paper's first crawler has: eight.
    let piece = |first: u64| {
        Cell::new(format!("runs from {first}"), move || {
            let run = |run: u64| {
                let changes = changes(&mut chance(seed, run), CYCLES * 4.0 * MEAN);
                let each = FRACTIONS.map(|fraction| estimates(&changes, fraction, CYCLES * fraction * MEAN));
                each.into_iter().flatten().chain(estimates(&changes, 2.0 * CYCLE, span))
            };
            Ok((first..first + PIECE).flat_map(run).collect())
        })
    };
    let cells: Vec<_> = (0..runs).step_by(PIECE as usize).map(piece).collect();
    let measured = desk.measure(&cells)?.concat();
    let each = 2 * FRACTIONS.len() + 2;
    let at = |place: usize| Measured::of(measured.iter().skip(place).step_by(each).copied());
    let of = |fraction: usize, method: usize| at(2 * fraction + method);
    let (once, twice) = (of(3, 0), at(2 * FRACTIONS.len()));
    let (corrected, corrected_twice) = (of(3, 1), at(2 * FRACTIONS.len() + 1));
    let curve = |name: &str, method: usize| Curve {
        name: name.to_owned(),
        look: Style::Line,
        points: (0..FRACTIONS.len()).map(|place| of(place, method).at(FRACTIONS[place])).collect(),
    };
    let expected = |fraction: f64| -(-fraction).exp_m1() / fraction;
    let theory = (10..=350).step_by(5).map(|r| f64::from(r) / 100.0).map(|r| Point::at(r, expected(r)));
    let off = |found: Measured| (found.mean - 1.0).abs();
    Ok(Findings {
        asked: "A crawler that comes by once in a while sees that a page has changed, but not how often. How far off is counting what one sees?".to_owned(),
        setting: format!(
            "A page with {} changes in {CYCLES} cycles of a crawler on average, as in the paper's picture, and a crawler that comes half as often; {runs} pages. The second chart has eight \
             looks for every length of cycle. The picture is of one page by chance, not of the paper's.",
            CYCLES * CYCLE
        ),
        claims: vec![
            Claim {
                paper: "Counting changes that were seen is too low: 6 of 7 in the paper's example.".to_owned(),
                measured: format!("{once:.3} of the truth on average; theory says {:.3}", expected(CYCLE)),
                verdict: Verdict::of(once.is_below(1.0), false),
            },
            Claim {
                paper: "The seldomer one looks, the lower it is: 4 of 7 with half as many looks.".to_owned(),
                measured: format!("{twice:.3} of the truth on average; theory says {:.3}", expected(2.0 * CYCLE)),
                verdict: Verdict::of(twice.is_below(1.0) && twice.mean < once.mean, twice.is_below(1.0)),
            },
            Claim {
                paper: "An estimator that knows that changes hide behind one another (Cho and Garcia-Molina) is much less biased.".to_owned(),
                measured: format!("{corrected:.3} of the truth with eight looks, {corrected_twice:.3} with four"),
                verdict: Verdict::of(
                    off(corrected) < 0.5 * off(once) && off(corrected_twice) < 0.5 * off(twice),
                    off(corrected) < off(once),
                ),
            },
        ],
        use_of_it: "Refrain never counts changes: it weighs each interval by its length and by whether a change was seen in it, whatever the lengths are.".to_owned(),
        charts: vec![
            picture(desk.seed, span),
            Chart {
                file: "bias",
                title: "What eight looks say of the rate of change, on average".to_owned(),
                x: Axis { label: "time between two looks, in mean times between changes".to_owned(), scaling: Scaling::Linear, range: None },
                y: Axis { label: "estimated rate, as a multiple of the true one".to_owned(), scaling: Scaling::Linear, range: Some((0.0, 1.2)) },
                curves: vec![
                    curve("bias taken out (Cho and Garcia-Molina)", 1),
                    curve("naive", 0),
                    Curve { name: "naive, in theory".to_owned(), look: Style::Dashes, points: theory.collect() },
                ],
            },
        ],
        ..Findings::default()
    })
}

/// A page like the paper's: two crawlers, and what they see of it.
fn picture(seed: u64, span: f64) -> Chart {
    // The first page by chance that has as many changes as the paper's.
    let pages = (0..1000).map(|page| changes(&mut chance(seed, page), span));
    let page = pages.into_iter().find(|changes| changes.len() == 7).unwrap_or_default();
    let cycle = CYCLE * MEAN;
    // What has been counted so far, from nothing at the start to everything at the end.
    let counted = |name: String, times: Vec<f64>| {
        let count = times.len() as f64;
        let each = (1u32..).zip(times).map(|(so_far, time)| Point::at(time / cycle, f64::from(so_far)));
        let ends = [Point::at(0.0, 0.0), Point::at(CYCLES, count)];
        Curve {
            name,
            look: Style::Steps,
            points: [ends[0]].into_iter().chain(each).chain([ends[1]]).collect(),
        }
    };
    let seen = |cycles: f64| -> Vec<f64> {
        let looks = looks(&page, Rule::Known(cycles * CYCLE), span * (1.0 + 1e-9)).0;
        looks.iter().filter(|look| look.changed.is_some()).map(|look: &Look| look.at).collect()
    };
    let (once, twice) = (seen(1.0), seen(2.0));
    Chart {
        file: "cycles",
        title: "Changes of a page, and changes that two crawlers count".to_owned(),
        x: Axis {
            label: "time, in cycles of the first crawler".to_owned(),
            scaling: Scaling::Linear,
            range: Some((0.0, CYCLES)),
        },
        y: Axis { label: "changes so far".to_owned(), scaling: Scaling::Linear, range: Some((0.0, 8.0)) },
        curves: vec![
            counted(format!("the page: {} changes", page.len()), page.clone()),
            counted(format!("a crawler: {} of 8 looks find a change", once.len()), once),
            counted(format!("one that comes half as often: {} of 4 do", twice.len()), twice),
        ],
    }
}
