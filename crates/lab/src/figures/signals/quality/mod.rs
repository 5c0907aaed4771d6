//! Fig 10 and 11: how good signals are, estimated naively and by maximum likelihood.

mod watched;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::signals::pool::SignalPool;
use refrain_core::estimate::signals::trust::{SignalPrior, Trust};

use super::figure;
use super::sweep::seed;
use crate::figures::measured::Measured;
use crate::figures::{
    Axis, Cell, Chart, Claim, Curve, Desk, Experiment, FigureError, Findings, Look, Point, Scaling, Table,
    Verdict,
};
use watched::{Truth, Watched};

pub(super) const FIGURE: Experiment = figure(
    "signals-10",
    "Fig 10 and 11",
    "precision and recall of signals, estimated naively and by maximum likelihood",
    run,
);

/// Fetches per change.
const FETCHES: [f64; 5] = [4.0, 2.0, 1.0, 0.5, 0.25];
/// Those whose pages are drawn one by one.
const DRAWN: [usize; 3] = [0, 2, 4];
/// So many pages of each are drawn.
const DOTS: usize = 80;
/// The paper's error of the likelihood estimate.
const CLAIMED: f64 = 1e-4;

/// For each page: precision, recall, naive ones, likeliest ones.
const COLUMNS: usize = 6;

fn run(desk: &Desk<'_>) -> Result<Findings, FigureError> {
    let (pages, intervals) = (desk.pick(600, 2000), desk.pick(5000, 20_000));
    let counts: &[u32] = desk.pick(&[10, 30, 100, 300, 1000], &[10, 30, 100, 300, 1000, 10_000]);
    let few = desk.pick(400, 1000);
    let mut cells: Vec<Cell<'_>> = FETCHES
        .into_iter()
        .enumerate()
        .map(|(place, fetches)| {
            let seed = seed(desk, place, 0);
            Cell::new(format!("{fetches} fetches per change"), move || {
                Ok(watch(fetches, pages, intervals, seed))
            })
        })
        .collect();
    let learning = seed(desk, FETCHES.len(), 0);
    cells.push(Cell::new("by intervals", move || Ok(learn(counts, few, learning))));
    let mut measured = desk.measure(&cells)?;
    let learned = measured.pop().unwrap_or_default();
    let rows: Vec<Row> =
        FETCHES.iter().zip(&measured).map(|(fetches, pages)| Row::of(*fetches, pages)).collect();
    let table_rows = rows.iter().map(|row| {
        let numbers = [row.naive_precision, row.naive_recall, row.precision, row.recall];
        let each = numbers.map(|bias| format!("{bias:+}"));
        [&[row.fetches.to_string()][..], &each[..], &[format!("{:.4}", row.absolute.mean)][..]].concat()
    });
    Ok(Findings {
        asked: "To use a signal one has to know how often it is right (precision), and how many changes it announces (recall). All that is ever \
                seen is whether a page had changed by the next fetch, and how many signals came meanwhile. Counting intervals with both is \
                the obvious estimate; fitting the model to them is the other."
            .into(),
        setting: format!(
            "Precision and recall uniform in [.2, .95], mean time between changes uniform in [2, 20], regular fetches from four per change to one \
             in four changes, as in the paper; {pages} pages for each, {intervals} intervals per page (the paper names no number). For the \
             error by intervals, {few} pages fetched once per change. A naive precision is the share of intervals with signals that changed, a naive \
             recall the share of changed intervals with signals."
        ),
        claims: claims(&rows, intervals),
        use_of_it: "Refrain fits the model, never counts: 60 bytes for each page and kind of signal, under a prior that the pages of a site share, \
                    so that a page with ten looks is as well known as by plain likelihood after a hundred."
            .into(),
        charts: vec![
            scatter("naive", "Naive estimate of the worse of precision and recall (Fig 10)", &measured, 2),
            scatter("likelihood", "The same by maximum likelihood (Fig 11)", &measured, 4),
            biases(&rows),
            errors(counts, &learned),
        ],
        tables: vec![Table {
            file: "bias",
            title: "Bias, mean ± standard error over pages; last, the mean absolute error of the likeliest precision and recall".into(),
            columns: ["fetches per change", "naive precision", "naive recall", "likeliest precision", "likeliest recall", "absolute error"]
                .map(String::from)
                .into(),
            rows: table_rows.collect(),
        }],
        ..Findings::default()
    })
}

fn watch(fetches: f64, pages: usize, intervals: u32, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut numbers = Vec::with_capacity(COLUMNS * pages);
    while numbers.len() < COLUMNS * pages {
        let truth = Truth::draw(fetches, &mut random);
        let mut watched = Watched::new(truth.interval());
        for _ in 0..intervals {
            let look = truth.look(&mut random);
            watched.observe(look);
        }
        // A page that never showed both a signal and a change has no estimate.
        if let (Some(naive), Some(likeliest)) = (watched.naive(), watched.likeliest()) {
            numbers.extend([truth.precision, truth.recall, naive.0, naive.1, likeliest.0, likeliest.1]);
        }
    }
    numbers
}

/// Precision and recall, or nothing.
type Estimate<'a> = &'a dyn Fn(&Truth, &Watched) -> Option<(f64, f64)>;

/// For each number of intervals, the mean absolute error (of precision and recall together) and its standard error: naive, by
/// likelihood, and Refrain's.
fn learn(counts: &[u32], pages: usize, seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let truths: Vec<Truth> = (0..pages).map(|_| Truth::draw(1.0, &mut random)).collect();
    let mut watched: Vec<Watched> = truths.iter().map(|truth| Watched::new(truth.interval())).collect();
    let mut pool = SignalPool::default();
    let (mut seen, mut numbers) = (0, Vec::new());
    for count in counts {
        for _ in seen..*count {
            for (truth, watched) in truths.iter().zip(&mut watched) {
                let (signals, changed) = truth.look(&mut random);
                watched.observe((signals, changed));
                pool.observe(1.0 / truth.fetches, signals, changed);
            }
        }
        seen = *count;
        let trust = pool.trust(Trust::START);
        let own = |truth: &Truth, watched: &Watched| {
            let quality = watched.history.quality(&SignalPrior::new(trust, 1.0 / truth.length))?;
            Some((quality.precision(), quality.recall()))
        };
        let estimates: [Estimate<'_>; 3] =
            [&|_, watched| watched.naive(), &|_, watched| watched.likeliest(), &own];
        for estimate in estimates {
            let errors = truths.iter().zip(&watched).map(|(truth, watched)| {
                // Who cannot say is taken to say that every other one is.
                let (precision, recall) = estimate(truth, watched).unwrap_or((0.5, 0.5));
                0.5 * ((precision - truth.precision).abs() + (recall - truth.recall).abs())
            });
            let error = Measured::of(errors);
            numbers.extend([error.mean, error.error]);
        }
    }
    numbers
}

/// What estimates are off by, over all pages.
struct Row {
    fetches: f64,
    naive_precision: Measured,
    naive_recall: Measured,
    precision: Measured,
    recall: Measured,
    /// The mean absolute error of the likeliest precision and recall.
    absolute: Measured,
}

impl Row {
    fn of(fetches: f64, pages: &[f64]) -> Self {
        let bias = |of: usize, truth: usize| {
            Measured::of(pages.chunks_exact(COLUMNS).map(move |page| page[of] - page[truth]))
        };
        let absolute = pages
            .chunks_exact(COLUMNS)
            .map(|page| 0.5 * ((page[4] - page[0]).abs() + (page[5] - page[1]).abs()));
        Self {
            fetches,
            naive_precision: bias(2, 0),
            naive_recall: bias(3, 1),
            precision: bias(4, 0),
            recall: bias(5, 1),
            absolute: Measured::of(absolute),
        }
    }
}

fn scatter(file: &'static str, title: &str, measured: &[Vec<f64>], column: usize) -> Chart {
    let curves = DRAWN.iter().map(|place| {
        let dots = measured[*place].chunks_exact(COLUMNS).take(DOTS);
        let points = dots.map(|page| Point::at(page[0].min(page[1]), page[column].min(page[column + 1])));
        let name = format!("{} fetches per change", FETCHES[*place]);
        Curve { name, look: Look::Dots, points: points.collect() }
    });
    let diagonal = Curve {
        name: "right".into(),
        look: Look::Dashes,
        points: vec![Point::at(0.2, 0.2), Point::at(0.95, 0.95)],
    };
    let axis = |label: &str| Axis { label: label.into(), scaling: Scaling::Linear, range: None };
    Chart {
        file,
        title: title.into(),
        x: axis("the lesser of precision and recall"),
        y: axis("the lesser of their estimates"),
        curves: curves.chain([diagonal]).collect(),
    }
}

fn biases(rows: &[Row]) -> Chart {
    type Column = (&'static str, fn(&Row) -> Measured);
    let columns: [Column; 4] = [
        ("naive precision", |row| row.naive_precision),
        ("naive recall", |row| row.naive_recall),
        ("likeliest precision", |row| row.precision),
        ("likeliest recall", |row| row.recall),
    ];
    let curves = columns.map(|(name, column)| Curve {
        name: name.into(),
        look: Look::Line,
        points: rows.iter().map(|row| column(row).at(row.fetches)).collect(),
    });
    Chart {
        file: "bias",
        title: "How much estimates are too high".into(),
        x: Axis { label: "fetches per change".into(), scaling: Scaling::Logarithmic, range: None },
        y: Axis { label: "bias".into(), scaling: Scaling::Linear, range: None },
        curves: curves.into(),
    }
}

fn errors(counts: &[u32], learned: &[f64]) -> Chart {
    let names = ["naive", "maximum likelihood", "Refrain: 60 bytes and a shared prior"];
    let curves = names.iter().enumerate().map(|(row, name)| {
        let points = counts.iter().zip(learned.chunks_exact(2 * names.len())).map(|(count, numbers)| {
            Measured { mean: numbers[2 * row], error: numbers[2 * row + 1] }.at(f64::from(*count))
        });
        Curve { name: (*name).into(), look: Look::Line, points: points.collect() }
    });
    let axis = |label: &str| Axis { label: label.into(), scaling: Scaling::Logarithmic, range: None };
    Chart {
        file: "learning",
        title: "Error of precision and recall by the number of fetches".into(),
        x: axis("fetches of a page, one per change"),
        y: axis("mean absolute error"),
        curves: curves.collect(),
    }
}

fn claims(rows: &[Row], intervals: u32) -> Vec<Claim> {
    let naive = |row: &Row| format!("{}: {:+} and {:+}", row.fetches, row.naive_precision, row.naive_recall);
    let likeliest = |row: &Row| format!("{}: {:+} and {:+}", row.fetches, row.precision, row.recall);
    let list = |say: &dyn Fn(&Row) -> String| rows.iter().map(say).collect::<Vec<_>>().join("; ");
    let absolute = rows.iter().map(|row| row.absolute.mean).fold(0.0, f64::max);
    vec![
        Claim {
            paper: "Naive precision and recall are biased, between four fetches per change and one in four changes (the text gives no numbers).".into(),
            measured: format!(
                "Bias of naive precision and recall, by fetches per change: {}. Biased means off by more than .05 and two standard errors at every \
                 pace.",
                list(&naive)
            ),
            verdict: Verdict::of_all(
                rows.iter().flat_map(|row| [row.naive_precision, row.naive_recall]).map(|bias| bias.is_above(0.05)),
            ),
        },
        Claim {
            paper: "Fitting the model is more faithful.".into(),
            measured: format!(
                "Bias by maximum likelihood: {}. More faithful means that it is less than a fifth of the naive bias at every pace.",
                list(&likeliest)
            ),
            verdict: Verdict::of_all(rows.iter().flat_map(|row| {
                let pairs = [(row.precision, row.naive_precision), (row.recall, row.naive_recall)];
                pairs.map(|(own, naive)| own.mean.abs() < 0.2 * naive.mean.abs())
            })),
        },
        Claim {
            paper: format!("The absolute error of the fit is of the order of {CLAIMED:e} (of how many intervals, the text does not say; its figure is missing)."),
            measured: format!(
                "After {intervals} intervals the mean absolute error is {absolute:.4} at the worst pace. It falls with the root of the number of intervals, \
                 so that {CLAIMED:e} takes about {:.0e} of them. It agrees if the error is at most three times as much, and is unclear otherwise.",
                f64::from(intervals) * (absolute / CLAIMED).powi(2)
            ),
            verdict: order_of(absolute),
        },
    ]
}

fn order_of(absolute: f64) -> Verdict {
    if absolute <= 3.0 * CLAIMED { Verdict::Agrees } else { Verdict::Unclear }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Biased by .07 at four fetches per change and by .4 at a quarter; the likelihood is not.
    #[test]
    fn naive_estimates_are_biased_as_theory_says() {
        for (fetches, expected) in [(4.0, 0.07), (0.25, 0.40)] {
            let row = Row::of(fetches, &watch(fetches, 400, 400, 3));
            let naive = 0.5 * (row.naive_precision.mean + row.naive_recall.mean);
            assert!((naive - expected).abs() < 0.02, "{fetches}: {naive}");
            assert!(row.precision.mean.abs() < 0.03, "{fetches}: {}", row.precision);
        }
    }

    #[test]
    fn a_shared_prior_helps_where_looks_are_few() {
        let learned = learn(&[10, 300], 150, 1);
        let [naive, likeliest, own] = [learned[0], learned[2], learned[4]];
        assert!(own < likeliest && own < naive, "{learned:?}");
        // And costs nothing later.
        assert!(learned[10] < 1.1 * learned[8] && learned[8] < 0.5 * learned[6], "{learned:?}");
    }

    #[test]
    fn verdicts_have_two_sides() {
        let measured = |mean| Measured { mean, error: 0.001 };
        let row = |naive, own| Row {
            fetches: 1.0,
            naive_precision: measured(naive),
            naive_recall: measured(naive),
            precision: measured(own),
            recall: measured(own),
            absolute: measured(own),
        };
        let verdicts = |rows: &[Row]| claims(rows, 100).iter().map(|claim| claim.verdict).collect::<Vec<_>>();
        assert_eq!(verdicts(&[row(0.3, 0.0001)]), [Verdict::Agrees; 3]);
        assert_eq!(verdicts(&[row(0.02, 0.01)]), [Verdict::Disagrees, Verdict::Disagrees, Verdict::Unclear]);
    }
}
