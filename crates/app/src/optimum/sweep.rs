//! `refrain optimum --sweep`: which budget buys which freshness.

use std::io::{self, Write};

use refrain_core::optimum::{Candidate, CurvePoint, curve, rates_for_freshness};
use serde::Serialize;

use super::problem::{Problem, with_candidates};
use crate::chart::{LineChart, Series, SeriesLabelPosition, Style, SvgChart, XAxis, YAxis, percent, short};
use crate::cli::OptimumArgs;
use crate::failure::Failure;
use crate::input::Pages;
use crate::output::{to_file, to_stdout};
use crate::progress::Progress;

/// What people ask for.
const TARGETS: [f64; 6] = [0.5, 0.8, 0.9, 0.95, 0.99, 0.999];
const POINTS: u32 = 48;
/// The curve is drawn from this freshness on: below it there is nothing to see.
const SHOWN_FROM: f64 = 0.005;
/// Passes that a search for one target takes, about.
const SEARCH: u32 = 6;

/// The curve, and the budgets that people ask for.
pub(crate) struct Sweep {
    points: Vec<CurvePoint>,
    without_signals: Option<Vec<CurvePoint>>,
    targets: Vec<(f64, Option<CurvePoint>)>,
    rate: Option<f64>,
}

#[derive(Serialize)]
struct JsonPoint {
    rate: f64,
    freshness: f64,
    price: f64,
}

#[derive(Serialize)]
struct JsonTarget {
    freshness: f64,
    /// Nothing if no budget buys it.
    rate: Option<f64>,
    price: Option<f64>,
}

#[derive(Serialize)]
struct JsonSweep {
    points: Vec<JsonPoint>,
    #[serde(skip_serializing_if = "Option::is_none")]
    without_signals: Option<Vec<JsonPoint>>,
    targets: Vec<JsonTarget>,
}

pub(super) fn run(
    args: &OptimumArgs,
    pages: &Pages,
    with_signals: bool,
    rate: Option<f64>,
) -> Result<(), Failure> {
    let sweep = Sweep::new(pages, with_signals, rate)?;
    if let Some(path) = &args.svg {
        let picture = sweep.svg().ok_or_else(|| {
            Failure::input("nothing to draw: no page gains anything from a fetch (all change rates or importances are 0)")
        })?;
        to_file(path, |out| out.write_all(picture.as_bytes()))?;
    }
    if args.json {
        return to_stdout(|out| {
            serde_json::to_writer(&mut *out, &sweep.json())?;
            writeln!(out)
        });
    }
    to_stdout(|out| sweep.write(out))
}

impl Sweep {
    pub(crate) fn new(pages: &Pages, with_signals: bool, rate: Option<f64>) -> Result<Self, Failure> {
        let curves = if with_signals { 2 } else { 1 };
        let passes = TARGETS.len() as u32 * SEARCH + POINTS * curves;
        let progress = Progress::steps("sweeping", u64::from(passes));
        let problem = Problem::new(pages, with_signals, 1.0)?;
        let (targets, points) = with_candidates!(&problem, candidates => {
            let points = rates_for_freshness(candidates, &TARGETS, || progress.step());
            let targets: Vec<_> = TARGETS.into_iter().zip(points).collect();
            let reached = targets.iter().filter_map(|(_, point)| *point).next_back();
            (targets, sample(candidates, reached, &progress))
        });
        let without_signals = if with_signals {
            let lowest = points.last().copied();
            let plain = Problem::new(pages, false, 1.0)?;
            Some(with_candidates!(&plain, candidates => sample(candidates, lowest, &progress)))
        } else {
            None
        };
        Ok(Self { points, without_signals, targets, rate })
    }

    fn series(&self) -> Vec<Series> {
        let to_series = |name, points: &[CurvePoint]| {
            let points = points
                .iter()
                .filter(|p| p.rate > 0.0 && p.freshness >= SHOWN_FROM)
                .map(|p| (p.rate, p.freshness))
                .collect();
            Series { name, points, style: Style::Line }
        };
        let main = if self.without_signals.is_some() { "with signals" } else { "freshness" };
        let mut series = vec![to_series(main, &self.points)];
        series.extend(self.without_signals.as_deref().map(|points| to_series("without signals", points)));
        series
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let chart = LineChart { width: 64, height: 13, x_label: "fetches per unit of time" };
        let dotted = if self.without_signals.is_some() { " (dotted: without signals)" } else { "" };
        writeln!(out, "Freshness for a budget{dotted}\n")?;
        let drawn = chart.draw(&self.series(), self.rate);
        if drawn.is_empty() {
            return writeln!(
                out,
                "No page gains anything from a fetch: all change rates or importances are 0."
            );
        }
        writeln!(out, "{drawn}")?;
        writeln!(out, "  {:>9}  {:>14}  {:>12}", "freshness", "needs a rate of", "at a price of")?;
        for (target, point) in &self.targets {
            match point {
                Some(point) => writeln!(
                    out,
                    "  {:>9}  {:>14}  {:>12}",
                    percent(*target),
                    short(point.rate),
                    short(point.price)
                )?,
                None => writeln!(out, "  {:>9}  out of reach with these maximum rates", percent(*target))?,
            }
        }
        Ok(())
    }

    fn svg(&self) -> Option<String> {
        let chart = SvgChart {
            x: XAxis::Logarithmic,
            title: "Freshness for a budget",
            x_label: "fetches per unit of time",
            y_label: "freshness",
            series: &self.series(),
            mark: self.rate.map(|rate| (rate, "this budget")),
            y: YAxis::Share,
            legend: SeriesLabelPosition::LowerRight,
        };
        chart.draw()
    }

    fn json(&self) -> JsonSweep {
        let convert = |points: &[CurvePoint]| {
            points
                .iter()
                .map(|p| JsonPoint { rate: p.rate, freshness: p.freshness, price: p.price })
                .collect()
        };
        JsonSweep {
            points: convert(&self.points),
            without_signals: self.without_signals.as_deref().map(convert),
            targets: self
                .targets
                .iter()
                .map(|(freshness, point)| JsonTarget {
                    freshness: *freshness,
                    rate: point.map(|p| p.rate),
                    price: point.map(|p| p.price),
                })
                .collect(),
        }
    }
}

/// The curve from next to nothing up to the budget of `last` (or as far as prices tell).
fn sample<C: Candidate>(candidates: &[C], last: Option<CurvePoint>, progress: &Progress) -> Vec<CurvePoint> {
    let ceiling = candidates.iter().map(Candidate::ceiling).fold(0.0, f64::max).min(f64::MAX);
    if ceiling == 0.0 {
        return Vec::new();
    }
    let lowest = last.map_or(1e-9 * ceiling, |point| point.price.clamp(1e-12 * ceiling, 0.5 * ceiling));
    let ratio = (lowest / ceiling).ln();
    // Squared steps: dense near the ceiling, where the first pages come in.
    let prices = (1..=POINTS).map(|k| ceiling * (ratio * (f64::from(k) / f64::from(POINTS)).powf(1.5)).exp());
    curve(candidates, prices, || progress.step())
}
