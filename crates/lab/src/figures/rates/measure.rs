//! Errors of estimators over made-up pages, and how they are shown.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use refrain_core::estimate::theory;

use super::{linear, logarithmic};
use crate::figures::{Cell, Chart, Curve, Desk, FigureError, Look, Point, Table};
use crate::study::{Errors, Measured, PIECE, Study};

/// Errors are measured after so many intervals.
pub(super) const AFTER: [u32; 18] =
    [1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000];
/// Where tables have a column and claims look.
pub(super) const SHOWN: [u32; 4] = [10, 100, 300, 1000];
/// The last of them.
pub(super) const LAST: u32 = 1000;
/// Pieces of pages in a cell.
const PIECES: u32 = 10;

/// A study, done.
pub(super) struct Studied {
    pub(super) study: Study,
    pub(super) measured: Measured,
}

/// How many pages each study is over: the paper has 100.
pub(super) fn pages(desk: &Desk<'_>) -> u32 {
    desk.pick(2000, 20_000)
}

/// Measures studies, each under a name.
pub(super) fn measure(desk: &Desk<'_>, studies: Vec<(&str, Study)>) -> Result<Vec<Studied>, FigureError> {
    let pages = pages(desk);
    let parts = pages.div_ceil(PIECE).div_ceil(PIECES);
    let cells: Vec<Cell<'_>> = studies
        .iter()
        .flat_map(|(name, study)| (0..parts).map(move |part| (name, study, part)))
        .map(|(name, study, part)| {
            let pieces = part * PIECES..((part + 1) * PIECES).min(pages.div_ceil(PIECE));
            Cell::new(format!("{name}, part {part}"), move || {
                Ok(study.run_pieces(pieces.clone(), pages, desk.seed).numbers())
            })
        })
        .collect();
    let numbers = desk.measure(&cells)?;
    drop(cells);
    let done = studies.into_iter().zip(numbers.chunks(parts as usize)).map(|((_, study), numbers)| {
        let measured = study.sum_of_numbers(numbers);
        Studied { study, measured }
    });
    Ok(done.collect())
}

impl Studied {
    /// The errors of the estimator at this place.
    pub(super) fn at(&self, place: usize, k: u32) -> Errors {
        self.measured.at(place, k)
    }

    /// The root mean squared error, as a share of the rate.
    pub(super) fn error(&self, place: usize, k: u32) -> f64 {
        self.at(place, k).rmse() / self.study.delta
    }

    /// Better than another after `k` intervals, and not by chance: by two standard errors of both.
    pub(super) fn beats(&self, place: usize, other: usize, k: u32) -> bool {
        let (own, other) = (self.at(place, k), self.at(other, k));
        other.rmse() - own.rmse() > 2.0 * own.uncertainty().hypot(other.uncertainty())
    }

    /// "LLN 0.121 ± 0.003, ..."
    pub(super) fn say(&self, places: &[usize], k: u32) -> String {
        let delta = self.study.delta;
        let each = places.iter().map(|place| {
            let errors = self.at(*place, k);
            format!(
                "{} {:.3} ± {:.3}",
                self.study.methods[*place].0,
                errors.rmse() / delta,
                errors.uncertainty() / delta
            )
        });
        each.collect::<Vec<_>>().join(", ")
    }

    /// Errors by the number of intervals.
    pub(super) fn errors(&self, file: &'static str, title: impl Into<String>) -> Chart {
        let delta = self.study.delta;
        let mut curves: Vec<Curve> = (0..self.study.methods.len())
            .map(|place| Curve {
                name: self.study.methods[place].0.into(),
                look: Look::Line,
                points: AFTER
                    .iter()
                    .map(|k| {
                        let errors = self.at(place, *k);
                        let point = Point::at(f64::from(*k), errors.rmse() / delta);
                        Point { error: errors.uncertainty() / delta, ..point }
                    })
                    .collect(),
            })
            .collect();
        curves.push(Curve {
            name: "Cramér-Rao bound".into(),
            look: Look::Dashes,
            points: AFTER
                .iter()
                .map(|k| Point::at(f64::from(*k), theory::best_deviation(delta, self.study.p, *k) / delta))
                .collect(),
        });
        Chart {
            file,
            title: title.into(),
            x: logarithmic("intervals seen"),
            y: logarithmic("root mean squared error, share of the rate"),
            curves,
        }
    }

    /// Where 95 % of estimates lie, as mean and two deviations.
    pub(super) fn spread(&self, file: &'static str, title: impl Into<String>, places: &[usize]) -> Chart {
        let delta = self.study.delta;
        let mut curves = Vec::new();
        for place in places {
            let name = self.study.methods[*place].0;
            for (which, sign) in [("lower", -1.96), ("upper", 1.96)] {
                let bound = |errors: Errors| (errors.bias() + sign * errors.deviation()) / delta + 1.0;
                let points = AFTER
                    .iter()
                    .filter(|k| **k >= 10)
                    .map(|k| Point::at(f64::from(*k), bound(self.at(*place, *k))));
                curves.push(Curve {
                    name: format!("{name}, {which}"),
                    look: Look::Line,
                    points: points.collect(),
                });
            }
        }
        curves.push(truth(10.0, f64::from(LAST)));
        Chart {
            file,
            title: title.into(),
            x: logarithmic("intervals seen"),
            y: linear("estimate, share of the rate"),
            curves,
        }
    }

    /// What one page makes each estimator say.
    pub(super) fn one_page(&self, file: &'static str, title: impl Into<String>, seed: u64) -> Chart {
        let after: Vec<u32> = (1..=200).map(|step| 5 * step).collect();
        let course =
            Study { after: after.clone(), ..self.study.clone() }.course(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut curves: Vec<Curve> = course
            .iter()
            .zip(&self.study.methods)
            .map(|(rates, (name, _))| Curve {
                name: (*name).into(),
                look: Look::Line,
                points: after
                    .iter()
                    .zip(rates)
                    .map(|(k, rate)| Point::at(f64::from(*k), rate / self.study.delta))
                    .collect(),
            })
            .collect();
        curves.push(truth(1.0, f64::from(LAST)));
        Chart {
            file,
            title: title.into(),
            x: linear("intervals seen"),
            y: linear("estimate, share of the rate"),
            curves,
        }
    }

    /// Errors, biases and spreads.
    pub(super) fn table(&self, file: &'static str, title: &str) -> Table {
        let delta = self.study.delta;
        let mut columns = vec!["estimator".to_owned()];
        columns.extend(SHOWN.map(|k| format!("error after {k}")));
        columns.extend([
            format!("bias after {LAST}"),
            format!("spread after {LAST}"),
            format!("exact error after {LAST}"),
        ]);
        let rows = self.study.methods.iter().enumerate().map(|(place, (name, method))| {
            let mut row = vec![(*name).to_owned()];
            row.extend(SHOWN.map(|k| {
                let errors = self.at(place, k);
                format!("{:.4} ± {:.4}", errors.rmse() / delta, errors.uncertainty() / delta)
            }));
            let last = self.at(place, LAST);
            let exact =
                self.study.exact(method, LAST).map(|exact| format!("{:.4}", exact.rmse(delta) / delta));
            row.extend([
                format!("{:+.4}", last.bias() / delta),
                format!("{:.4}", last.deviation() / delta),
                exact.unwrap_or_default(),
            ]);
            row
        });
        Table { file, title: title.to_owned(), columns, rows: rows.collect() }
    }
}

/// The rate itself.
pub(super) fn truth(from: f64, to: f64) -> Curve {
    Curve { name: "truth".into(), look: Look::Dashes, points: vec![Point::at(from, 1.0), Point::at(to, 1.0)] }
}
