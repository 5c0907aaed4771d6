//! A chart in the report: the drawing stretches with the page, words keep their size.

use maud::{Markup, html as markup};

use super::super::record::Chart;
use super::axis::Tick;
use super::{HEIGHT, Plot, WIDTH, sample, shade_bar};

/// Not more rows than a person reads.
const MOST_ROWS: usize = 40;

/// A chart that is called `id` in its page.
pub(in super::super) fn html(chart: &Chart, id: &str) -> Markup {
    let plot = Plot::new(chart);
    let widest = plot.y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(1);
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    let label = format!("{}: {}, over {}; {}", chart.title, chart.y.label, chart.x.label, names.join(", "));
    markup! {
        figure.chart id=(id) {
            figcaption { (chart.title) }
            p.up { (chart.y.label) }
            div.frame style={ "--ys:" (widest) "ch" } {
                ul.ys aria-hidden="true" {
                    @for tick in &plot.y.ticks { li style={ "bottom:" (percent(tick.at)) } { (tick.label) } }
                }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) .cut[plot.is_cut] { (plot.marks()) }
                ul.xs aria-hidden="true" { (along(&plot.x.ticks)) }
            }
            p.along { (chart.x.label) }
            ul.legend {
                @for (curve, colour) in chart.curves.iter().zip(&plot.colours) {
                    li { svg viewBox="0 0 26 10" aria-hidden="true" { (sample(curve, colour)) } (curve.name) }
                }
                @if plot.has_shades() {
                    li { "0 " svg.shades viewBox="0 0 96 10" preserveAspectRatio="none" aria-hidden="true" { (shade_bar()) } "1" }
                }
                @if plot.has_errors() { li.soft { "upright lines: ± one standard error" } }
            }
            (numbers(chart, &plot))
        }
    }
}

fn percent(share: f64) -> String {
    format!("{}%", (1e4 * share).round() / 100.0)
}

/// Where there is little room, every other label is left out.
fn along(ticks: &[Tick]) -> Markup {
    markup! {
        @for (number, tick) in ticks.iter().enumerate() {
            li.odd[number % 2 == 1] style={ "left:" (percent(tick.at)) } { (tick.label) }
        }
    }
}

/// The same as a table, for those who want numbers or see no pictures; if it is short enough to be read.
fn numbers(chart: &Chart, plot: &Plot<'_>) -> Markup {
    let mut xs: Vec<f64> = chart.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    if xs.len() > MOST_ROWS || plot.has_shades() {
        return markup! {};
    }
    let cell = |curve: usize, x: f64| {
        let point = chart.curves[curve].points.iter().find(|point| point.x == x)?;
        let error =
            if point.error > 0.0 { format!(" ± {}", plot.y.said(point.error)) } else { String::new() };
        Some(format!("{}{error}", plot.y.said(point.y)))
    };
    markup! {
        details {
            summary { "The numbers" }
            div.scroll tabindex="0" role="group" aria-label={ "The numbers: " (chart.title) } {
                table {
                    thead { tr { th scope="col" { (chart.x.label) } @for curve in &chart.curves { th.n scope="col" { (curve.name) } } } }
                    tbody { @for x in xs { tr {
                        th scope="row" { (plot.x.said(x)) }
                        @for curve in 0..chart.curves.len() { td.n { (cell(curve, x).unwrap_or_default()) } }
                    } } }
                }
            }
        }
    }
}
