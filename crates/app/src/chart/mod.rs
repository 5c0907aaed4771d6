//! Charts for terminals and for files.

mod bars;
mod line;
mod numbers;
mod svg;

pub(crate) use bars::bar;
pub(crate) use line::LineChart;
pub(crate) use numbers::{counted, grouped, percent, short};
pub(crate) use plotters::prelude::SeriesLabelPosition;
pub(crate) use svg::{SvgChart, XAxis, YAxis};

/// A named curve.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) style: Style,
}

/// How a curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// A line in a colour of its own.
    Line,
    /// Known exactly: dots in the colour of the curve before it.
    Exact,
    /// Dots in a colour of their own.
    Dots,
    /// What no curve can cross: dashes.
    Bound,
}
