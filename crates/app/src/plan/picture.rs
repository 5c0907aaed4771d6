//! The horizon as a picture.

use refrain_core::plan::{Problem, Timeline};
use refrain_core::time::Span;

use super::Figures;
use crate::chart::{Series, SeriesLabelPosition, Style, SvgChart, XAxis, YAxis};

/// How finely the horizon is cut.
pub(super) const PARTS: usize = 96;

/// Staleness over the horizon, its bound, and how busy the crawlers are.
pub(super) fn draw(problem: &Problem, timeline: &Timeline, figures: &Figures, crawlers: &[Span]) -> String {
    let seconds = problem.horizon().as_secs();
    let (unit, x_label) = match seconds {
        s if s < 300.0 => (1.0, "seconds"),
        s if s < 10_800.0 => (60.0, "minutes"),
        s if s < 432_000.0 => (3600.0, "hours"),
        _ => (86_400.0, "days"),
    };
    let part = seconds / PARTS as f64;
    let can: f64 = crawlers.iter().map(|busy| part / busy.as_secs().max(1e-9)).sum();
    let end = |number: usize| (number + 1) as f64 * part / unit;
    let mut staleness = vec![(0.0, figures.staleness_at_start)];
    staleness.extend(timeline.staleness.iter().enumerate().map(|(k, stale)| (end(k), *stale)));
    let busy = timeline.fetches.iter().enumerate();
    let busy =
        busy.map(|(k, fetches)| (end(k) - 0.5 * part / unit, (*fetches as f64 / can).min(0.999))).collect();
    let flat = |y: f64| vec![(0.0, y), (seconds / unit, y)];
    let series = [
        Series { name: "stale copies", points: staleness, style: Style::Line },
        Series { name: "fetches, of what crawlers can make", points: busy, style: Style::Line },
        Series { name: "staleness, in the mean", points: flat(figures.staleness), style: Style::Line },
        Series {
            name: "no polite plan is below",
            points: flat(figures.bounds.weak_politeness),
            style: Style::Bound,
        },
    ];
    let chart = SvgChart {
        title: "Fetches and staleness over the horizon",
        x_label,
        y_label: "share",
        series: &series,
        mark: None,
        x: XAxis::Linear,
        y: YAxis::Share,
        legend: roomiest(&series, seconds / unit),
    };
    chart.draw().unwrap_or_default()
}

/// Where on the right the fewest curves are.
fn roomiest(series: &[Series], end: f64) -> SeriesLabelPosition {
    let hidden = |band: std::ops::Range<f64>| {
        let points = series.iter().flat_map(|curve| &curve.points);
        points.filter(|(x, y)| *x > 0.6 * end && band.contains(y)).count()
    };
    let places = [
        (hidden(0.7..1.0), SeriesLabelPosition::UpperRight),
        (hidden(0.35..0.65), SeriesLabelPosition::MiddleRight),
        (hidden(0.0..0.3), SeriesLabelPosition::LowerRight),
    ];
    let [first, others @ ..] = places;
    others.into_iter().fold(first, |best, other| if other.0 < best.0 { other } else { best }).1
}
