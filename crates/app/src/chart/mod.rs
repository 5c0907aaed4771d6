//! Charts for terminals and for files.

mod bars;
mod line;
mod numbers;
mod svg;

pub(crate) use bars::bar;
pub(crate) use line::LineChart;
pub(crate) use numbers::{counted, grouped, percent, short};
pub(crate) use svg::draw as draw_svg;

/// A named curve.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}
