//! A chart as a picture by itself.

use maud::{Markup, PreEscaped, html as markup};

use super::super::record::Chart;
use super::{HEIGHT, Plot, WIDTH, sample, shade_bar};

/// Colours as they are: not every program that shows pictures knows variables.
const STYLE: &str = include_str!("picture.css");
const LEFT: f64 = 72.0;
const TOP: f64 = 64.0;
const RIGHT: f64 = 28.0;
/// About how wide a letter is.
const LETTER: f64 = 6.7;

/// The picture.
pub(in super::super) fn file(chart: &Chart) -> String {
    let plot = Plot::new(chart);
    let (legend, rows) = legend(&plot);
    let (width, height) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + 64.0 + 22.0 * rows);
    let overflow = if plot.is_cut { "hidden" } else { "visible" };
    let picture = markup! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            font-family="system-ui, 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif" font-size="13" {
            style { (PreEscaped(STYLE)) }
            rect.sheet width="100%" height="100%" {}
            text.title x="16" y="28" { (chart.title) }
            text.soft x="16" y="50" { (chart.y.label) }
            @for tick in &plot.y.ticks {
                text.soft x=(LEFT - 10.0) y=(super::round(TOP + HEIGHT * (1.0 - tick.at) + 4.5)) text-anchor="end" { (tick.label) }
            }
            @for tick in &plot.x.ticks {
                text.soft x=(super::round(LEFT + WIDTH * tick.at)) y=(TOP + HEIGHT + 22.0) text-anchor="middle" { (tick.label) }
            }
            text.soft x=(LEFT + WIDTH / 2.0) y=(TOP + HEIGHT + 44.0) text-anchor="middle" { (chart.x.label) }
            svg x=(LEFT) y=(TOP) width=(WIDTH) height=(HEIGHT) viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } overflow=(overflow) { (plot.marks()) }
            g transform={ "translate(" (LEFT) " " (TOP + HEIGHT + 62.0) ")" } { (legend) }
        }
    };
    picture.into_string()
}

/// Names beside their marks, in as many rows as they need.
fn legend(plot: &Plot<'_>) -> (Markup, f64) {
    let mut entries: Vec<(Markup, f64, String)> = Vec::new();
    for (curve, colour) in plot.chart.curves.iter().zip(&plot.colours) {
        entries.push((sample(curve, colour), 26.0, curve.name.clone()));
    }
    if plot.has_shades() {
        entries.push((shade_bar(), 96.0, "from 0 to 1".to_owned()));
    }
    let (mut x, mut row) = (0.0, 0.0);
    let mut placed = Vec::new();
    for (mark, width, name) in entries {
        let needed = width + 8.0 + LETTER * name.chars().count() as f64 + 22.0;
        if x > 0.0 && x + needed > WIDTH + RIGHT {
            (x, row) = (0.0, row + 1.0);
        }
        placed.push((x, row, mark, width, name));
        x += needed;
    }
    let drawn = markup! {
        @for (x, row, mark, width, name) in placed {
            g transform={ "translate(" (super::round(x)) " " (22.0 * row) ")" } {
                (mark)
                text x=(width + 8.0) y="9.5" { (name) }
            }
        }
    };
    (drawn, row + 1.0)
}
