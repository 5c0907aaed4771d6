//! What is drawn for points: lines, dots, bars, errors, and what is said when the pointer is on them.
//!
//! All is strokes that keep their width however the drawing is stretched; dots are lines without length and with round ends. Thousands of dots are one
//! path, so that they stay small.

use std::collections::HashSet;

use maud::{Markup, html};
use refrain_lab::figures::Look;

use super::super::record::{Chart, Curve, Point};
use super::axis::Line;
use super::{HEIGHT, WIDTH};

/// How many shades of dots there are.
pub(super) const SHADES: usize = 8;
/// So many points of a curve can be pointed at.
const MOST_SAID: usize = 80;
/// A line of so few points shows where they are.
pub(super) const FEW: usize = 40;
/// Dots that are many are small.
const MANY: usize = 400;

/// Points of a curve on a drawing, and how it looks.
pub(super) struct Drawn<'a> {
    pub(super) curve: &'a Curve,
    /// Its colour: a class of the style sheet.
    pub(super) colour: &'a str,
    /// The width of its bars, and how far they stand beside their place.
    pub(super) bar: (f64, f64),
}

/// Where a point is on the drawing.
fn place(point: &Point, x: &Line, y: &Line) -> Option<(f64, f64)> {
    Some((WIDTH * x.at(point.x)?, HEIGHT * (1.0 - y.at(point.y)?)))
}

fn is_inside((x, y): (f64, f64)) -> bool {
    (-0.5..=WIDTH + 0.5).contains(&x) && (-0.5..=HEIGHT + 0.5).contains(&y)
}

/// Half a pixel is seen, a tenth is not.
fn one(number: f64) -> String {
    // Far outside is outside; and no -0.
    let text = format!("{:.1}", number.clamp(-1e5, 1e5) + 0.0);
    text.strip_suffix(".0")
        .map_or(text.clone(), |whole| if whole == "-0" { "0".to_owned() } else { whole.to_owned() })
}

impl Drawn<'_> {
    pub(super) fn marks(&self, chart: &Chart, x: &Line, y: &Line) -> Markup {
        let spots: Vec<(&Point, (f64, f64))> =
            self.curve.points.iter().filter_map(|point| Some((point, place(point, x, y)?))).collect();
        let places = || spots.iter().map(|(_, place)| *place);
        let marks = match self.curve.look {
            Look::Line => html! {
                path.l d=(joined(places())) {}
                @if spots.len() <= FEW { path.p d=(dots(places())) {} }
            },
            Look::Dashes => html! { path.l.dash d=(joined(places())) {} },
            Look::Steps => html! { path.l d=(steps(places())) {} },
            Look::Dots => Self::scattered(&spots),
            Look::Bars => self.bars(&spots, chart, x, y),
        };
        html! {
            g class=(self.colour) {
                @if self.curve.look != Look::Bars { (self.errors(&spots, y)) }
                (marks)
                @if self.curve.look == Look::Bars { (self.errors(&spots, y)) }
                @if self.curve.look != Look::Bars { (self.said(&spots, chart, x, y)) }
            }
        }
    }

    fn scattered(spots: &[(&Point, (f64, f64))]) -> Markup {
        let size = if spots.len() > MANY { "p small" } else { "p" };
        let of_shade = |wanted: Option<usize>| {
            let own = spots.iter().filter(|(point, _)| point.shade.map(shade) == wanted);
            dots(own.map(|(_, place)| *place))
        };
        html! {
            @for number in 0..SHADES {
                @let path = of_shade(Some(number));
                @if !path.is_empty() { path class={ (size) " h" (number) } d=(path) {} }
            }
            @let path = of_shade(None);
            @if !path.is_empty() { path class=(size) d=(path) {} }
        }
    }

    fn bars(&self, spots: &[(&Point, (f64, f64))], chart: &Chart, x: &Line, y: &Line) -> Markup {
        let ground = HEIGHT * (1.0 - y.ground());
        let (width, beside) = self.bar;
        html! {
            @for (point, (at, top)) in spots {
                rect.b x=(one(at + beside - width / 2.0)) width=(one(width)) y=(one(top.min(ground))) height=(one((top - ground).abs())) {
                    title { (self.sentence(point, chart, x, y)) }
                }
            }
        }
    }

    /// A standard error up and down.
    fn errors(&self, spots: &[(&Point, (f64, f64))], y: &Line) -> Markup {
        let mut path = String::new();
        for (point, (at, _)) in spots.iter().filter(|(point, place)| point.error > 0.0 && is_inside(*place)) {
            let end =
                |number: f64| y.at(number).map_or(HEIGHT, |place| HEIGHT * (1.0 - place.clamp(0.0, 1.0)));
            let beside = if self.curve.look == Look::Bars { self.bar.1 } else { 0.0 };
            let (low, high) = (end(point.y - point.error), end(point.y + point.error));
            path.push_str(&format!("M{} {}V{}", one(at + beside), one(low), one(high)));
        }
        html! { @if !path.is_empty() { path.e.over[self.curve.look == Look::Bars] d=(path) {} } }
    }

    /// Invisible dots that say what they stand for.
    fn said(&self, spots: &[(&Point, (f64, f64))], chart: &Chart, x: &Line, y: &Line) -> Markup {
        let each = spots.len().div_ceil(MOST_SAID).max(1);
        let said = spots.iter().step_by(each).filter(|(_, place)| is_inside(*place));
        html! {
            @for (point, place) in said {
                path.s d=(dots([*place].into_iter())) { title { (self.sentence(point, chart, x, y)) } }
            }
        }
    }

    fn sentence(&self, point: &Point, chart: &Chart, x: &Line, y: &Line) -> String {
        let error = if point.error > 0.0 { format!(" ± {}", y.said(point.error)) } else { String::new() };
        let shade = point.shade.map(|shade| format!("; colour {}", crate::chart::short(shade)));
        format!(
            "{}\n{}: {}\n{}: {}{error}{}",
            self.curve.name,
            chart.x.label,
            x.said(point.x),
            chart.y.label,
            y.said(point.y),
            shade.unwrap_or_default()
        )
    }
}

/// Which of the shades this is.
fn shade(share: f64) -> usize {
    ((share.clamp(0.0, 1.0) * SHADES as f64) as usize).min(SHADES - 1)
}

/// A line; points that would fall on the one before are left out.
fn joined(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    let mut before = (String::new(), String::new());
    for (x, y) in places {
        let now = (one(x), one(y));
        if now != before {
            path.push_str(&format!("{}{} {}", if path.is_empty() { 'M' } else { 'L' }, now.0, now.1));
            before = now;
        }
    }
    path
}

fn steps(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in places {
        let (x, y) = (one(x), one(y));
        path.push_str(&if path.is_empty() { format!("M{x} {y}") } else { format!("H{x}V{y}") });
    }
    path
}

/// Dots inside the drawing; of those on one place, one.
fn dots(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut seen = HashSet::new();
    let dots = places.filter(|place| is_inside(*place)).map(|(x, y)| format!("M{} {}h0", one(x), one(y)));
    dots.filter(|dot| seen.insert(dot.clone())).collect()
}
