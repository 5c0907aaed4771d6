//! What an experiment brings back.

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// What is asked, for people who do not know the paper; one paragraph.
    pub asked: String,
    /// What was found, in a sentence that stands alone, for people who do not know the paper; of the most telling experiments only.
    pub found: Option<String>,
    /// What was done at this scale: sizes, distributions, repetitions; and where that differs from the paper, why.
    pub setting: String,
    /// What the paper claims, and what was measured.
    pub claims: Vec<Claim>,
    /// What Refrain does with it: one or two sentences.
    pub use_of_it: String,
    /// Pictures.
    pub charts: Vec<Chart>,
    /// Numbers that are read better than seen.
    pub tables: Vec<Table>,
}

/// One sentence of a paper, held against what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What the paper says, in our words.
    pub paper: String,
    /// What was measured, with numbers and standard errors.
    pub measured: String,
    /// Whether that agrees. It follows from the numbers, never from what was expected.
    pub verdict: Verdict,
}

/// Does it agree?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the error of the measurement, or the same order and size of effects where the paper gives no numbers.
    Agrees,
    /// In part; the measurement says in which.
    Partly,
    /// No.
    Disagrees,
    /// The paper's own number does not follow from its text, or it gives none.
    Unclear,
}

impl Verdict {
    /// All of it, some of it, or none.
    pub fn of(agrees: bool, partly: bool) -> Self {
        match (agrees, partly) {
            (true, _) => Self::Agrees,
            (false, true) => Self::Partly,
            (false, false) => Self::Disagrees,
        }
    }

    /// All that was looked at holds, some of it, or none; nothing was looked at.
    pub fn of_all(held: impl IntoIterator<Item = bool>) -> Self {
        let (mut all, mut some, mut any) = (true, false, false);
        for held in held {
            (all, some, any) = (all && held, some || held, true);
        }
        match (any, all, some) {
            (false, ..) => Self::Unclear,
            (_, true, _) => Self::Agrees,
            (_, _, true) => Self::Partly,
            _ => Self::Disagrees,
        }
    }
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What files of it are called, after the name of the experiment: `accuracy`; letters, digits and dashes.
    pub file: &'static str,
    /// What it shows, in a line.
    pub title: String,
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// With the unit: `days between changes`.
    pub label: String,
    /// How numbers are laid out along it.
    pub scaling: Scaling,
    /// From where to where; `None`: as far as the points go.
    pub range: Option<(f64, f64)>,
}

/// How numbers are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// Evenly.
    Linear,
    /// By their logarithm; numbers that are not positive are left out.
    Logarithmic,
    /// Evenly, and written in percent.
    Share,
}

/// A named set of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// As in the legend.
    pub name: String,
    /// How it is drawn.
    pub look: Look,
    /// In the order in which they are joined.
    pub points: Vec<Point>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Joined, with error bars where errors are known.
    Line,
    /// Each by itself.
    Dots,
    /// Dashes: a bound, a diagonal, what others are compared with.
    Dashes,
    /// Bars from 0.
    Bars,
    /// Joined by steps: what holds until the next point.
    Steps,
}

/// A point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Upwards.
    pub y: f64,
    /// The standard error of `y`; 0 if it is exact or unknown.
    pub error: f64,
    /// A third number between 0 and 1 that the colour of a dot tells.
    pub shade: Option<f64>,
}

impl Point {
    /// An exact one.
    pub fn at(x: f64, y: f64) -> Self {
        Self { x, y, ..Self::default() }
    }
}

/// Numbers in rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// What files of it are called, after the name of the experiment.
    pub file: &'static str,
    /// What it shows, in a line.
    pub title: String,
    /// One name for each column.
    pub columns: Vec<String>,
    /// Cells as they are shown; the first column is left-aligned, the others are numbers.
    pub rows: Vec<Vec<String>>,
}
