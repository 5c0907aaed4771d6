//! Line charts as pictures.

use plotters::coord::combinators::LogCoord;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::numbers::short;
use super::{Series, Style};

const SIZE: (u32, u32) = (860, 480);
const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GRID: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);
const MARK: RGBColor = RGBColor(0xc0, 0x50, 0x30);
/// Told apart by people who see colours differently, too (after Okabe and Ito).
const COLOURS: [RGBColor; 9] = [
    RGBColor(0x1b, 0x6e, 0x8c),
    RGBColor(0x9a, 0x9a, 0x9a),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x7a, 0x52, 0x30),
    RGBColor(0x11, 0x11, 0x11),
];

/// A chart of curves.
pub(crate) struct SvgChart<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
    pub(crate) series: &'a [Series],
    /// An upright line at this x, with a name.
    pub(crate) mark: Option<(f64, &'static str)>,
    pub(crate) x: XAxis,
    /// Shares from 0 to 1, or any numbers on a logarithmic axis.
    pub(crate) y: YAxis,
    pub(crate) legend: SeriesLabelPosition,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum XAxis {
    /// From 0.
    Linear,
    Logarithmic,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum YAxis {
    Share,
    /// From here to 1.
    ShareFrom(f64),
    Logarithmic,
}

type Drawn = Result<(), Box<dyn std::error::Error>>;

impl SvgChart<'_> {
    /// The picture; `None` if there is nothing to draw.
    pub(crate) fn draw(&self) -> Option<String> {
        let points = || self.series.iter().flat_map(|s| &s.points);
        let (low, high) = spread(points().map(|(x, _)| *x).chain(self.mark.map(|(x, _)| x)));
        if !(high > low) {
            return None;
        }
        let mut picture = String::new();
        {
            let area = SVGBackend::with_string(&mut picture, SIZE).into_drawing_area();
            area.fill(&WHITE).ok()?;
            let mut builder = ChartBuilder::on(&area);
            builder
                .caption(self.title, ("sans-serif", 20).into_font().color(&INK))
                .margin(16)
                .x_label_area_size(44)
                .y_label_area_size(64);
            match self.x {
                XAxis::Linear => self.draw_against(&mut builder, Numbers(0.0..high)).ok()?,
                XAxis::Logarithmic => {
                    self.draw_against(&mut builder, Decades((low..high).log_scale().into())).ok()?;
                }
            }
            area.present().ok()?;
        }
        Some(picture)
    }

    fn draw_against<'a, 'b: 'a, X>(&self, builder: &mut ChartBuilder<'a, '_, SVGBackend<'b>>, x: X) -> Drawn
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        match self.y {
            YAxis::Share => {
                let chart = builder.build_cartesian_2d(x, Shares(0.0..1.0))?;
                self.fill(chart, 0.0..1.0)
            }
            YAxis::ShareFrom(low) => {
                let chart = builder.build_cartesian_2d(x, Shares(low..1.0))?;
                self.fill(chart, low..1.0)
            }
            YAxis::Logarithmic => {
                let (low, high) = spread(self.series.iter().flat_map(|s| &s.points).map(|(_, y)| *y));
                let range = low * 0.9..high * 1.1;
                let chart = builder.build_cartesian_2d(x, Decades(range.clone().log_scale().into()))?;
                self.fill(chart, range)
            }
        }
    }

    fn fill<'a, 'b: 'a, X, Y>(
        &self,
        mut chart: ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, Y>>,
        range: std::ops::Range<f64>,
    ) -> Drawn
    where
        X: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        chart
            .configure_mesh()
            .x_desc(self.x_label)
            .y_desc(self.y_label)
            .label_style(("sans-serif", 14).into_font().color(&INK))
            .x_labels(9)
            .y_labels(11)
            .light_line_style(TRANSPARENT)
            .bold_line_style(GRID)
            .axis_style(INK)
            .draw()?;
        let mut colours = COLOURS.into_iter().cycle();
        let mut colour = COLOURS[0];
        for curve in self.series {
            let points = curve
                .points
                .iter()
                .copied()
                .filter(|(x, y)| (*x > 0.0 || self.x == XAxis::Linear) && range.contains(y));
            match curve.style {
                Style::Exact => {
                    let dots = points.map(|point| Circle::new(point, 3, colour.filled()));
                    chart.draw_series(dots)?;
                }
                Style::Dots => {
                    let own = colours.next().unwrap_or(INK);
                    let dots = points.map(|point| Circle::new(point, 3, own.mix(0.6).filled()));
                    chart
                        .draw_series(dots)?
                        .label(curve.name)
                        .legend(move |(x, y)| Circle::new((x + 12, y), 3, own.filled()));
                }
                Style::Bound => {
                    let dashes = DashedLineSeries::new(points, 4, 4, INK.stroke_width(1));
                    chart.draw_series(dashes)?.label(curve.name).legend(|at| {
                        let dash = |from, to| PathElement::new([(from, 0), (to, 0)], INK.stroke_width(1));
                        EmptyElement::at(at) + dash(0, 6) + dash(9, 15) + dash(18, 24)
                    });
                }
                Style::Line => {
                    colour = colours.next().unwrap_or(INK);
                    let own = colour;
                    chart
                        .draw_series(LineSeries::new(points, own.stroke_width(2)))?
                        .label(curve.name)
                        .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], own.stroke_width(2)));
                }
            }
        }
        if self.series.iter().any(|curve| curve.style == Style::Exact) {
            let nothing: [Circle<(f64, f64), i32>; 0] = [];
            chart
                .draw_series(nothing)?
                .label("exact")
                .legend(|(x, y)| Circle::new((x + 12, y), 3, INK.filled()));
        }
        if let Some((at, name)) = self.mark {
            let line = LineSeries::new([(at, range.start), (at, range.end)], MARK.stroke_width(1));
            chart
                .draw_series(line)?
                .label(name)
                .legend(|(x, y)| PathElement::new([(x, y), (x + 24, y)], MARK.stroke_width(1)));
        }
        chart
            .configure_series_labels()
            .position(self.legend.clone())
            .background_style(WHITE)
            .border_style(RGBColor(0xd0, 0xd0, 0xd0))
            .label_font(("sans-serif", 14).into_font().color(&INK))
            .draw()?;
        Ok(())
    }
}

fn spread(numbers: impl Iterator<Item = f64>) -> (f64, f64) {
    let positive = numbers.filter(|number| *number > 0.0 && number.is_finite());
    positive.fold((f64::INFINITY, 0.0), |(low, high), number| (low.min(number), high.max(number)))
}

/// A logarithmic axis with ticks at 1, 2 and 5 times the powers of ten, or at the powers alone if there are many.
struct Decades(LogCoord<f64>);

impl Ranged for Decades {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        self.0.map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let range = self.range();
        let (first, last) = (range.start.log10().floor() as i32, range.end.log10().ceil() as i32);
        let steps: &[f64] = if last - first > 4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = (first..=last).flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)));
        // With room for the rounding of a tick at the very end.
        let (low, high) = (range.start * (1.0 - 1e-9), range.end * (1.0 + 1e-9));
        ticks.filter(|tick| (low..=high).contains(tick)).collect()
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

/// An axis from 0, with ticks at 1, 2, 3, 5 or 6 times a power of ten: hours of a day have their quarters.
struct Numbers(std::ops::Range<f64>);

impl Ranged for Numbers {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        along(&self.0, *value, from, to)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        let power = 10f64.powf((self.0.end / 10.0).log10().floor());
        let steps = [1.0, 2.0, 3.0, 5.0, 6.0, 10.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| self.0.end / step <= 10.0).unwrap_or(self.0.end);
        (0..=10).map(|k| f64::from(k) * step).take_while(|tick| *tick <= self.0.end * (1.0 + 1e-9)).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.0.clone()
    }
}

impl ValueFormatter<f64> for Numbers {
    fn format(value: &f64) -> String {
        short(*value)
    }
}

/// Where a value of a range is between two pixels.
fn along(range: &std::ops::Range<f64>, value: f64, from: i32, to: i32) -> i32 {
    let share = (value - range.start) / (range.end - range.start);
    from + (share * f64::from(to - from)).round() as i32
}

/// An axis of shares, in percent.
struct Shares(std::ops::Range<f64>);

impl Ranged for Shares {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        along(&self.0, *value, from, to)
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.0.clone()
    }
}

impl ValueFormatter<f64> for Shares {
    fn format(value: &f64) -> String {
        format!("{:.0} %", 100.0 * value)
    }
}
