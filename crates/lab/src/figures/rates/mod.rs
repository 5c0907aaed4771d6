//! The change-rate paper: a rate from nothing but "changed" or "unchanged".
//!
//! The scans lack the pictures, so that what its text says is what measurements are held against.

mod compared;
mod measure;
mod pace;
mod real;
mod steps;

use refrain_core::estimate::lln::Offset;
use refrain_core::estimate::sa::Step;
use refrain_core::estimate::sam::Momentum;
use refrain_core::estimate::{Method, Prior};

use super::{Axis, Desk, Experiment, FigureError, Findings, Paper, Scaling};

/// Its figures.
pub(super) const EXPERIMENTS: &[Experiment] =
    &[real::FIGURE, compared::FIGURE, pace::SLOW, pace::QUICK, steps::FIGURE];

const fn figure(
    name: &'static str,
    figure: &'static str,
    title: &'static str,
    run: fn(&Desk<'_>) -> Result<Findings, FigureError>,
) -> Experiment {
    Experiment { name, paper: Paper::Rates, figure, title, run }
}

/// The places of the estimators that [`estimators`] gives.
const NAIVE: usize = 0;
const LLN: usize = 1;
const SA: usize = 2;
const SAM: usize = 3;
const MLE: usize = 4;
const REFRAIN: usize = 5;

/// The paper's five, and Refrain's.
fn estimators(p: f64, momentum: Momentum) -> Vec<(&'static str, Method)> {
    vec![
        ("Naive", Method::Naive),
        ("LLN", Method::Lln(Offset::One)),
        ("SA", Method::Sa(momentum.step())),
        ("SAM", Method::Sam(momentum)),
        ("MLE", Method::Mle),
        ("Refrain", Method::Refrain(Prior::around(1.0 / p))),
    ]
}

fn step(eta: f64) -> Result<Step, FigureError> {
    let step = if eta == 0.5 { Some(Step::SLOWEST) } else { Step::new(eta) };
    step.ok_or_else(|| FigureError(format!("η = {eta} is no step")))
}

fn momentum(eta: f64, beta: f64) -> Result<Momentum, FigureError> {
    Momentum::new(step(eta)?, beta)
        .ok_or_else(|| FigureError(format!("β = {beta} is no momentum beside η = {eta}")))
}

fn logarithmic(label: &str) -> Axis {
    Axis { label: label.into(), scaling: Scaling::Logarithmic, range: None }
}

fn linear(label: &str) -> Axis {
    Axis { label: label.into(), scaling: Scaling::Linear, range: None }
}
