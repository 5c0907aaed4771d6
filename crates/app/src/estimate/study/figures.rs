//! The curves of a setting as a picture.

use refrain_core::estimate::theory;
use refrain_lab::study::Measured;

use super::{AFTER, Setting};
use crate::chart::{Series, SeriesLabelPosition, Style, SvgChart, XAxis, YAxis};

pub(super) struct Figure<'a> {
    pub(super) setting: &'a Setting,
    pub(super) measured: &'a Measured,
}

impl Figure<'_> {
    /// Relative errors against the number of intervals, both on logarithmic axes.
    pub(super) fn draw(&self) -> Option<String> {
        let Self { setting, measured } = self;
        let study = &setting.study;
        let curve = |error: &dyn Fn(u32) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |k: u32| Some((f64::from(k), error(k)? / study.delta));
            AFTER.into_iter().filter_map(point).collect()
        };
        let mut series = Vec::new();
        for (row, (name, method)) in study.methods.iter().enumerate() {
            let points = curve(&|k| Some(measured.at(row, k).rmse()));
            series.push(Series { name, points, style: Style::Line });
            let exact = curve(&|k| study.exact(method, k).map(|exact| exact.rmse(study.delta)));
            if !exact.is_empty() {
                series.push(Series { name, points: exact, style: Style::Exact });
            }
        }
        let bound = curve(&|k| Some(theory::best_deviation(study.delta, study.p, k)));
        let worst = series.iter().flat_map(|s| &s.points).map(|(_, y)| *y).fold(0.0, f64::max);
        let best = series.iter().flat_map(|s| &s.points).map(|(_, y)| *y).fold(worst, f64::min);
        // The bound is only drawn where there is something to compare.
        let bound = bound.into_iter().filter(|(_, y)| (0.7 * best..=worst).contains(y)).collect();
        series.push(Series { name: "Cramér-Rao bound", points: bound, style: Style::Bound });
        let title = format!("Error of the change rate: {}", setting.title);
        let chart = SvgChart {
            x: XAxis::Logarithmic,
            title: &title,
            x_label: "intervals seen",
            y_label: "root mean squared error, relative",
            series: &series,
            mark: None,
            y: YAxis::Logarithmic,
            legend: SeriesLabelPosition::LowerLeft,
        };
        chart.draw()
    }
}
