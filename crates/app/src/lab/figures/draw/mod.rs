//! Charts. The same marks go into the report, where lines stretch with the page and words do not, and into pictures of a fixed size.

mod axis;
mod html;
mod marks;
mod svg;

use maud::{Markup, html as markup};
use refrain_lab::figures::Look;

use super::record::{Chart, Curve};
use axis::{Ends, Line};
use marks::{Drawn, FEW, SHADES};

pub(super) use html::html;
pub(super) use svg::file;

/// The plane on which marks are drawn.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
/// How many colours there are for curves; the first is Refrain's.
const COLOURS: usize = 9;

/// A chart with everything in its place.
struct Plot<'a> {
    chart: &'a Chart,
    x: Line,
    y: Line,
    colours: Vec<String>,
    /// Whether something lies outside.
    is_cut: bool,
}

impl<'a> Plot<'a> {
    fn new(chart: &'a Chart) -> Self {
        let has = |look: Look| chart.curves.iter().any(|curve| curve.look == look);
        let points = || chart.curves.iter().flat_map(|curve| &curve.points);
        let ys = points().flat_map(|point| [point.y - point.error, point.y + point.error]);
        let y = Line::new(&chart.y, ys, if has(Look::Bars) { Ends::FromZero } else { Ends::Round });
        let room = if has(Look::Bars) { narrowest(chart) / 2.0 } else { 0.0 };
        let xs = points().flat_map(|point| [point.x - room, point.x + room]);
        let x = Line::new(&chart.x, xs, Ends::Tight);
        let outside = |place: Option<f64>| place.is_some_and(|place| !(-1e-6..=1.0 + 1e-6).contains(&place));
        let is_cut = points().any(|point| outside(x.at(point.x)) || outside(y.at(point.y)));
        Self { chart, x, y, colours: colours(&chart.curves), is_cut }
    }

    /// What is drawn of the curves: what others are compared with behind all, ours before all.
    fn marks(&self) -> Markup {
        let bars: Vec<usize> = self.numbers(|curve| curve.look == Look::Bars);
        let width = self.bar_width() / bars.len().max(1) as f64;
        let drawn = |number: usize| {
            let beside = bars.iter().position(|bar| *bar == number).unwrap_or(0) as f64;
            let bar = (0.92 * width, (beside - (bars.len().max(1) - 1) as f64 / 2.0) * width);
            Drawn { curve: &self.chart.curves[number], colour: &self.colours[number], bar }
        };
        let is_behind = |curve: &Curve| matches!(curve.look, Look::Bars | Look::Dashes);
        let is_ours = |curve: &Curve| !is_behind(curve) && is_ours(curve);
        let others = self.numbers(|curve| !is_behind(curve) && !is_ours(curve));
        let order = [self.numbers(is_behind), others, self.numbers(is_ours)].concat();
        markup! {
            @for tick in &self.y.ticks {
                @let at = HEIGHT * (1.0 - tick.at);
                path.g d={ "M0 " (round(at)) "H" (WIDTH) } {}
            }
            @for tick in &self.x.ticks {
                @let at = WIDTH * tick.at;
                path.t d={ "M" (round(at)) " " (HEIGHT) "v5" } {}
            }
            path.a d={ "M0 " (round(HEIGHT * (1.0 - self.y.ground()))) "H" (WIDTH) } {}
            @for number in order { (drawn(number).marks(self.chart, &self.x, &self.y)) }
        }
    }

    fn numbers(&self, wanted: impl Fn(&Curve) -> bool) -> Vec<usize> {
        (0..self.chart.curves.len()).filter(|number| wanted(&self.chart.curves[*number])).collect()
    }

    /// The room that the bars of one place have.
    fn bar_width(&self) -> f64 {
        let mut places: Vec<f64> = bar_places(self.chart).iter().filter_map(|x| self.x.at(*x)).collect();
        places.sort_by(f64::total_cmp);
        let gaps = places.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-9);
        WIDTH * gaps.fold(0.2, f64::min) * 0.84
    }

    fn has_shades(&self) -> bool {
        self.chart.curves.iter().flat_map(|curve| &curve.points).any(|point| point.shade.is_some())
    }

    fn has_errors(&self) -> bool {
        self.chart.curves.iter().flat_map(|curve| &curve.points).any(|point| point.error > 0.0)
    }
}

fn bar_places(chart: &Chart) -> Vec<f64> {
    let bars = chart.curves.iter().filter(|curve| curve.look == Look::Bars);
    bars.flat_map(|curve| &curve.points).map(|point| point.x).collect()
}

/// The least distance between two bars.
fn narrowest(chart: &Chart) -> f64 {
    let mut places = bar_places(chart);
    places.sort_by(f64::total_cmp);
    places.dedup();
    let gap = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
    if gap.is_finite() { gap } else { 1.0 }
}

fn round(number: f64) -> f64 {
    (10.0 * number).round() / 10.0
}

/// Refrain, or what it ranks pages by.
fn is_ours(curve: &Curve) -> bool {
    curve.name.to_lowercase().starts_with("refrain") || curve.name == "GREEDY-NCIS"
}

/// Whether two curves are of the same thing, drawn in two ways, or its two bounds: `a` and `a, fitted`; `b, lower` and `b, upper`.
fn is_kin(curve: &Curve, other: &Curve) -> bool {
    let Some((stem, end)) = curve.name.rsplit_once(", ") else { return false };
    let (other_stem, other_end) = other.name.rsplit_once(", ").unwrap_or((&other.name, ""));
    let is_bound = |end: &str| ["lower", "upper"].contains(&end);
    (stem == other.name || stem == other_stem)
        && (curve.look != other.look || is_bound(end) && is_bound(other_end))
}

/// Refrain has its own colour in all charts, and nobody else has it; what belongs together has one; a single row of dashes is no colour.
fn colours(curves: &[Curve]) -> Vec<String> {
    let lone_dashes = curves.iter().filter(|curve| curve.look == Look::Dashes).count() == 1;
    let (mut next, mut has_ours) = (0, false);
    let mut colours: Vec<String> = Vec::with_capacity(curves.len());
    for curve in curves {
        let kin = curves.iter().zip(&colours).find(|(other, _)| is_kin(curve, other));
        let own = if lone_dashes && curve.look == Look::Dashes {
            "d".to_owned()
        } else if let Some((_, colour)) = kin {
            colour.clone()
        } else if is_ours(curve) && !has_ours {
            // The first of ours: a second one needs a colour as well.
            has_ours = true;
            "c0".to_owned()
        } else {
            next += 1;
            format!("c{}", 1 + (next - 1) % (COLOURS - 1))
        };
        colours.push(own);
    }
    colours
}

/// A mark for the legend, 26 by 10.
fn sample(curve: &Curve, colour: &str) -> Markup {
    let shades = curve.points.iter().any(|point| point.shade.is_some());
    markup! {
        g class=(colour) {
            @match curve.look {
                Look::Line => { path.l d="M1 5H25" {} @if curve.points.len() <= FEW { path.p d="M13 5h0" {} } },
                Look::Dashes => path.l.dash d="M1 5H25" {},
                Look::Steps => path.l d="M1 8H9V5H17V2H25" {},
                Look::Bars => rect.b x="6" y="0" width="14" height="10" {},
                Look::Dots => @if shades { path.p.h5 d="M13 5h0" {} } @else { path.p d="M13 5h0" {} },
            }
        }
    }
}

/// What the colours of dots stand for, 0 at the left and 1 at the right; 12 wide each.
fn shade_bar() -> Markup {
    markup! { @for number in 0..SHADES { rect class={ "b h" (number) } x=(12 * number) y="0" width="12" height="10" {} } }
}

#[cfg(test)]
pub(super) mod tests;
