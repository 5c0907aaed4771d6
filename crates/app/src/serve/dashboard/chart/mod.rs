//! Charts: lines that stretch with the page (SVG), and words that do not (HTML beside it), so that both are readable at any width.
//!
//! The drawing is 1000 wide and 100 high. Labels are spread evenly, so scales are chosen such that their ticks are. What is under the pointer is said in
//! words that are on the page already; who sees no pictures has a table.

mod scale;

use maud::{Markup, html};
use serde::Serialize;

pub(super) use scale::{Scale, moments};

pub(super) const WIDTH: f64 = 1000.0;
pub(super) const HEIGHT: f64 = 100.0;

/// A chart.
pub(super) struct Chart<'a> {
    /// Its name in the page.
    pub(super) id: &'a str,
    /// What it is,
    pub(super) title: &'a str,
    /// and what it says, in a sentence.
    pub(super) says: String,
    /// How high it is: nothing, `low` or `band`.
    pub(super) class: &'static str,
    /// Labels from the top to the bottom,
    pub(super) ys: Vec<String>,
    /// and from the left to the right.
    pub(super) xs: Vec<String>,
    /// What is drawn.
    pub(super) drawing: Markup,
    /// What is said of each place.
    pub(super) points: Points,
    /// What the lines are.
    pub(super) legend: Vec<(Markup, String)>,
    /// The same as a table: its head, and its rows.
    pub(super) table: Option<Table>,
}

/// What is said of places, from the left (0) to the right (1).
#[derive(Default, Serialize)]
pub(super) struct Points {
    x: Vec<f64>,
    said: Vec<String>,
}

impl Points {
    pub(super) fn add(&mut self, x: f64, said: String) {
        if x.is_finite() && (0.0..=1.0).contains(&x) {
            self.x.push((1e4 * x).round() / 1e4);
            self.said.push(said);
        }
    }
}

/// Figures, for those who want them in rows.
pub(super) struct Table {
    pub(super) head: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// So many rows are enough.
const MOST_ROWS: usize = 24;

impl Table {
    fn html(&self, id: &str, title: &str) -> Markup {
        let step = self.rows.len().div_ceil(MOST_ROWS).max(1);
        // The last is always among them.
        let skip = self.rows.len().saturating_sub(1) % step;
        html! {
            details id={ (id) "-figures" } {
                summary { "Figures" }
                div.scroll tabindex="0" role="group" aria-label={ "Figures: " (title) } {
                    table {
                        caption { (title) @if step > 1 { ", every " (step) ". of them" } }
                        thead { tr { @for (place, name) in self.head.iter().enumerate() { th scope="col" .n[place > 0] { (name) } } } }
                        tbody {
                            @for row in self.rows.iter().skip(skip).step_by(step) {
                                tr { @for (place, cell) in row.iter().enumerate() {
                                    @if place == 0 { th scope="row" { (cell) } } @else { td.n { (cell) } }
                                } }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Chart<'_> {
    pub(super) fn html(&self) -> Markup {
        let (id, lines) = (self.id, self.ys.len().saturating_sub(1).max(1));
        // Texts and numbers always become JSON.
        let points = serde_json::to_string(&self.points).unwrap_or_default();
        html! {
            figure id=(id) {
                div.chart.(self.class) {
                    ul.ys aria-hidden="true" { @for label in &self.ys { li { (label) } } }
                    div.area data-points=[(!self.points.x.is_empty()).then_some(points)] tabindex=[(!self.points.x.is_empty()).then_some("0")]
                        role="group" aria-label={ (self.title) ": chart; arrow keys read it out" } {
                        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                            aria-labelledby={ (id) "-title " (id) "-desc" } {
                            title id={ (id) "-title" } { (self.title) }
                            desc id={ (id) "-desc" } { (self.says) }
                            @if !self.ys.is_empty() {
                                @for line in 0..=lines {
                                    line.grid x1="0" x2=(WIDTH) y1=(one(HEIGHT * line as f64 / lines as f64)) y2=(one(HEIGHT * line as f64 / lines as f64)) {}
                                }
                            }
                            (self.drawing)
                        }
                    }
                    ul.xs.five[self.xs.len() == 5] aria-hidden="true" { @for label in &self.xs { li { (label) } } }
                }
                @if !self.legend.is_empty() {
                    ul.legend { @for (mark, name) in &self.legend {
                        li { svg viewBox="0 0 24 10" aria-hidden="true" { (mark) } (name) }
                    } }
                }
                output.readout aria-live="off" {}
                @if let Some(table) = &self.table { (table.html(id, self.title)) }
            }
        }
    }
}

/// A number with one digit after the point, if it has one.
pub(super) fn one(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A line through points, each in \[0, 1\]², the origin at the bottom left; where there is none it is interrupted.
pub(super) fn line(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> String {
    let mut path = String::new();
    let finite = |point: &Option<(f64, f64)>| point.filter(|(x, y)| x.is_finite() && y.is_finite());
    let points: Vec<Option<(f64, f64)>> = points.into_iter().map(|point| finite(&point)).collect();
    for stretch in points.split(Option::is_none) {
        for (number, (x, y)) in stretch.iter().flatten().enumerate() {
            let (x, y) = (one(WIDTH * x.clamp(0.0, 1.0)), one(HEIGHT * (1.0 - y.clamp(0.0, 1.0))));
            path.push_str(&format!("{}{x} {y}", if number > 0 { 'L' } else { 'M' }));
        }
        // A point by itself is no line: it is a dot, which round ends make of nothing.
        if stretch.len() == 1 {
            path.push_str("h0");
        }
    }
    path
}

/// What is between two lines that go along together.
pub(super) fn between(points: &[(f64, f64, f64)]) -> String {
    let above = points.iter().map(|(x, _, high)| Some((*x, *high)));
    let mut path = line(above);
    for (x, low, _) in points.iter().rev() {
        let (x, y) = (x.clamp(0.0, 1.0), low.clamp(0.0, 1.0));
        path.push_str(&format!("L{} {}", one(WIDTH * x), one(HEIGHT * (1.0 - y))));
    }
    if !path.is_empty() {
        path.push('Z');
    }
    path
}

/// A dot that stays round however the drawing is stretched.
pub(super) fn dot(x: f64, y: f64) -> String {
    format!("M{} {}h0", one(WIDTH * x.clamp(0.0, 1.0)), one(HEIGHT * (1.0 - y.clamp(0.0, 1.0))))
}

/// Marks in legends, which are 24 by 10.
pub(super) fn line_mark(class: &str) -> Markup {
    html! { path class={ "line " (class) } d="M0 5H24" {} }
}

pub(super) fn tick_mark(class: &str) -> Markup {
    html! { path class={ "tick " (class) } d="M12 0V10" {} }
}

pub(super) fn dot_mark(class: &str) -> Markup {
    html! { path class={ "pin " (class) } d="M12 5h0" {} }
}

pub(super) fn rule_mark(class: &str) -> Markup {
    html! { path class={ "mark " (class) } d="M0 5H24" {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_interrupted_where_nothing_is_known() {
        let points = [Some((0.0, 0.0)), Some((0.5, 1.0)), None, Some((1.0, 0.25)), Some((f64::NAN, 0.0))];
        assert_eq!(line(points), "M0 100L500 0M1000 75h0");
        assert_eq!(between(&[(0.0, 0.1, 0.9), (1.0, 0.2, 0.8)]), "M0 10L1000 20L1000 80L0 90Z");
        assert_eq!((between(&[]), dot(2.0, -1.0)), (String::new(), "M1000 100h0".to_owned()));
    }

    #[test]
    fn a_chart_says_the_same_in_words() {
        let mut points = Points::default();
        points.add(0.5, "<b>halfway</b>".to_owned());
        points.add(1.5, "outside".to_owned());
        let chart = Chart {
            id: "c",
            title: "Fresh",
            says: "It rises.".to_owned(),
            class: "low",
            ys: vec!["100 %".to_owned(), "0 %".to_owned()],
            xs: Vec::new(),
            drawing: html! {},
            points,
            legend: Vec::new(),
            table: Some(Table {
                head: vec!["time", "fresh"],
                rows: (0..100).map(|row| vec![row.to_string(), format!("{row} %")]).collect(),
            }),
        };
        let text = chart.html().into_string();
        assert!(text.contains("&lt;b&gt;halfway") && !text.contains("outside"));
        assert!(text.contains(">99<") && text.matches("<tr>").count() <= MOST_ROWS + 1);
        assert!(!text.contains("style="));
    }
}
