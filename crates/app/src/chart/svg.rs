//! The same chart as a picture.

use plotters::coord::ranged1d::{KeyPointHint, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::Series;
use super::numbers::short;

const SIZE: (u32, u32) = (860, 480);
const COLOURS: [RGBColor; 2] = [RGBColor(0x1b, 0x6e, 0x8c), RGBColor(0x9a, 0x9a, 0x9a)];
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);

/// Draws curves of a share (0 to 1) against a logarithmic x axis; `None` if there is nothing to draw.
pub(crate) fn draw(title: &str, x_label: &str, series: &[Series], mark: Option<f64>) -> Option<String> {
    let xs = series.iter().flat_map(|s| &s.points).map(|(x, _)| *x).chain(mark).filter(|x| *x > 0.0);
    let (low, high) = xs.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    if !(high > low) {
        return None;
    }
    let mut picture = String::new();
    draw_on(&mut picture, title, x_label, series, mark, low..high).ok()?;
    Some(picture)
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

fn draw_on(
    picture: &mut String,
    title: &str,
    x_label: &str,
    series: &[Series],
    mark: Option<f64>,
    range: std::ops::Range<f64>,
) -> Drawn {
    let area = SVGBackend::with_string(picture, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(title, ("sans-serif", 20).into_font().color(&INK))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(Decades(range.log_scale().into()), 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc(x_label)
        .y_desc("freshness")
        .label_style(("sans-serif", 14).into_font().color(&INK))
        .y_label_formatter(&|y| format!("{:.0} %", 100.0 * y))
        .x_labels(9)
        .y_labels(11)
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(0xe4, 0xe4, 0xe4))
        .axis_style(INK)
        .draw()?;
    for (curve, colour) in series.iter().zip(COLOURS.into_iter().cycle()) {
        let points = curve.points.iter().copied().filter(|(x, _)| *x > 0.0);
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)));
    }
    if let Some(mark) = mark {
        let line = LineSeries::new([(mark, 0.0), (mark, 1.0)], RGBColor(0xc0, 0x50, 0x30).stroke_width(1));
        chart.draw_series(line)?.label("this budget").legend(|(x, y)| {
            PathElement::new([(x, y), (x + 24, y)], RGBColor(0xc0, 0x50, 0x30).stroke_width(1))
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE)
        .border_style(RGBColor(0xd0, 0xd0, 0xd0))
        .label_font(("sans-serif", 14).into_font().color(&INK))
        .draw()?;
    area.present()?;
    Ok(())
}

/// A logarithmic axis with ticks at 1, 2 and 5 times the powers of ten, or at the powers alone if there are many.
struct Decades(plotters::coord::combinators::LogCoord<f64>);

impl Ranged for Decades {
    type FormatOption = plotters::coord::ranged1d::NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.0.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let range = self.range();
        let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
        let steps: &[f64] = if last - first > 4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        ticks.filter(|tick| range.contains(tick)).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.0.range()
    }
}

impl ValueFormatter<f64> for Decades {
    fn format(value: &f64) -> String {
        short(*value)
    }
}
