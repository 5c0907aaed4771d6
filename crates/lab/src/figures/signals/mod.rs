//! The signals paper: optimal scheduling with noisy change signals.
//!
//! The scans lack the pictures, so that what its text says is what measurements are held against.

mod allocation;
mod baseline;
mod budget;
mod cis;
mod corrupted;
mod curves;
mod delays;
mod followed;
mod misled;
mod ncis;
mod quality;
mod shifted;
mod sweep;

use super::{Axis, Chart, Curve, Experiment, FigureError, Paper, Scaling};
use crate::simulate::SimulationError;

/// Its figures.
pub(super) const EXPERIMENTS: &[Experiment] = &[
    baseline::FIGURE,
    cis::FIGURE,
    ncis::FIGURE,
    corrupted::FIGURE,
    curves::FIGURE,
    followed::FIGURE,
    delays::FIGURE,
    budget::FIGURE,
    quality::FIGURE,
    shifted::FIGURE,
    misled::FIGURE,
];

/// The budget of all its experiments: fetches per unit of time.
const RATE: f64 = 100.0;

impl From<SimulationError> for FigureError {
    fn from(why: SimulationError) -> Self {
        Self(why.to_string())
    }
}

const fn figure(
    name: &'static str,
    figure: &'static str,
    title: &'static str,
    run: fn(&super::Desk<'_>) -> Result<super::Findings, FigureError>,
) -> Experiment {
    Experiment { name, paper: Paper::Signals, figure, title, run }
}

/// Accuracy against the number of pages.
fn against_pages(file: &'static str, title: impl Into<String>, y: Axis, curves: Vec<Curve>) -> Chart {
    let x = Axis { label: "pages".into(), scaling: Scaling::Logarithmic, range: None };
    Chart { file, title: title.into(), x, y, curves }
}

/// The share of requests that find a fresh copy.
fn accuracy() -> Axis {
    Axis { label: "requests that find a fresh copy".into(), scaling: Scaling::Share, range: None }
}

/// A difference of such shares.
fn difference(to: &str) -> Axis {
    Axis { label: format!("accuracy, difference to {to}"), scaling: Scaling::Linear, range: None }
}
