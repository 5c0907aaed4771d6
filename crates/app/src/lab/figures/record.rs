//! Findings as a file: what everything else is made from, by this program or others.

use refrain_lab::figures::{self, Experiment, Findings, Look, Scaling, Verdict};
use serde::{Deserialize, Serialize};

use super::papers::About;

/// What an experiment found, and how.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The version that measured.
    pub(super) refrain: String,
    pub(super) name: String,
    pub(super) paper: String,
    pub(super) figure: String,
    pub(super) title: String,
    pub(super) scale: String,
    pub(super) seed: u64,
    /// What to type for the same numbers.
    pub(super) command: String,
    /// How long it took, if it was all measured at once.
    pub(super) seconds: Option<f64>,
    pub(super) asked: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<String>,
    pub(super) setting: String,
    pub(super) use_of_it: String,
    pub(super) claims: Vec<Claim>,
    pub(super) charts: Vec<Chart>,
    pub(super) tables: Vec<Table>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) paper: String,
    pub(super) measured: String,
    #[serde(with = "VerdictName")]
    pub(super) verdict: Verdict,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Chart {
    pub(super) file: String,
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) curves: Vec<Curve>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Axis {
    pub(super) label: String,
    #[serde(with = "ScalingName")]
    pub(super) scaling: Scaling,
    pub(super) range: Option<(f64, f64)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Curve {
    pub(super) name: String,
    #[serde(with = "LookName")]
    pub(super) look: Look,
    pub(super) points: Vec<Point>,
}

/// Finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) error: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shade: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Table {
    pub(super) file: String,
    pub(super) title: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "lowercase")]
enum VerdictName {
    Agrees,
    Partly,
    Disagrees,
    Unclear,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Scaling", rename_all = "lowercase")]
enum ScalingName {
    Linear,
    Logarithmic,
    Share,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Look", rename_all = "lowercase")]
enum LookName {
    Line,
    Dots,
    Dashes,
    Bars,
    Steps,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A line of a list as a heading, or the beginning of a sentence.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A verdict as it is said.
pub(super) fn said(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Partly => "partly",
        Verdict::Disagrees => "disagrees",
        Verdict::Unclear => "unclear",
    }
}

impl Record {
    pub(super) fn new(experiment: &Experiment, scale: &str, seed: u64, found: Findings) -> Self {
        let claim = |claim: figures::Claim| Claim {
            paper: claim.paper,
            measured: claim.measured,
            verdict: claim.verdict,
        };
        let table = |table: figures::Table| Table {
            file: table.file.to_owned(),
            title: table.title,
            columns: table.columns,
            rows: table.rows,
        };
        Self {
            refrain: env!("CARGO_PKG_VERSION").to_owned(),
            name: experiment.name.to_owned(),
            paper: About::of(experiment.paper).name.to_owned(),
            figure: experiment.figure.to_owned(),
            title: experiment.title.to_owned(),
            scale: scale.to_owned(),
            seed,
            command: format!("refrain lab run {} --scale {scale} --seed {seed}", experiment.name),
            seconds: None,
            asked: found.asked,
            found: found.found,
            setting: found.setting,
            use_of_it: found.use_of_it,
            claims: found.claims.into_iter().map(claim).collect(),
            charts: found.charts.into_iter().map(Chart::from).collect(),
            tables: found.tables.into_iter().map(table).collect(),
        }
    }
}

impl From<figures::Chart> for Chart {
    fn from(chart: figures::Chart) -> Self {
        let axis = |axis: figures::Axis| Axis { label: axis.label, scaling: axis.scaling, range: axis.range };
        // JSON has no word for what is not finite, and no chart a place.
        let point = |point: &figures::Point| {
            let error = if point.error.is_finite() { point.error } else { 0.0 };
            let shade = point.shade.filter(|shade| shade.is_finite());
            (point.x.is_finite() && point.y.is_finite()).then_some(Point {
                x: point.x,
                y: point.y,
                error,
                shade,
            })
        };
        let curve = |curve: figures::Curve| Curve {
            name: curve.name,
            look: curve.look,
            points: curve.points.iter().filter_map(point).collect(),
        };
        Self {
            file: chart.file.to_owned(),
            title: chart.title,
            x: axis(chart.x),
            y: axis(chart.y),
            curves: chart.curves.into_iter().map(curve).collect(),
        }
    }
}
