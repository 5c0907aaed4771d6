//! A line chart in Braille dots: y from 0 to 1 in percent, x logarithmic.

use super::Series;
use super::numbers::short;

/// A chart of this many characters.
pub(crate) struct LineChart {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) x_label: &'static str,
}

/// The bit of each dot in a Braille cell, by row and column.
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

impl LineChart {
    /// Draws the curves; the first as a full line, others dotted. A `mark` on the x axis is drawn as an upright line.
    pub(crate) fn draw(&self, series: &[Series], mark: Option<f64>) -> String {
        let xs = series.iter().flat_map(|s| &s.points).map(|(x, _)| *x).chain(mark).filter(|x| *x > 0.0);
        let (low, high) =
            xs.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
        if !(high > low) {
            return String::new();
        }
        let (dots_x, dots_y) = (self.width * 2, self.height * 4);
        let column = |x: f64| ((x / low).ln() / (high / low).ln() * (dots_x - 1) as f64).round() as usize;
        let row = |y: f64| ((1.0 - y.clamp(0.0, 1.0)) * (dots_y - 1) as f64).round() as usize;
        let mut cells = vec![vec![0u8; self.width]; self.height];
        let mut dot = |x: usize, y: usize| cells[y / 4][x / 2] |= DOTS[y % 4][x % 2];
        for (index, curve) in series.iter().enumerate() {
            for pair in curve.points.windows(2).filter(|pair| pair[0].0 > 0.0 && pair[1].0 > 0.0) {
                let (from, to) = (pair[0], pair[1]);
                let (a, b) = (column(from.0.min(to.0)), column(from.0.max(to.0)));
                let (ya, yb) = if from.0 <= to.0 { (from.1, to.1) } else { (to.1, from.1) };
                let steps = (b - a).max(row(ya).abs_diff(row(yb))).max(1);
                for step in 0..=steps {
                    let t = step as f64 / steps as f64;
                    let x = a + (t * (b - a) as f64).round() as usize;
                    if index == 0 || x.is_multiple_of(4) {
                        dot(x, row(ya + t * (yb - ya)));
                    }
                }
            }
        }
        if let Some(mark) = mark {
            (0..dots_y).step_by(2).for_each(|y| dot(column(mark), y));
        }
        self.frame(&cells, low, high)
    }

    fn frame(&self, cells: &[Vec<u8>], low: f64, high: f64) -> String {
        let mut text = String::new();
        for (index, line) in cells.iter().enumerate() {
            let y = 1.0 - index as f64 / (self.height - 1).max(1) as f64;
            let labelled = index.is_multiple_of(3) || index + 1 == self.height;
            let label = if labelled { format!("{:>4.0} %", 100.0 * y) } else { " ".repeat(6) };
            let drawn: String =
                line.iter().map(|bits| char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' ')).collect();
            text.push_str(&format!("{label} ┤{}\n", drawn.trim_end_matches('\u{2800}')));
        }
        text.push_str(&format!("{}└{}\n", " ".repeat(7), "─".repeat(self.width)));
        let (left, right) = (short(low), short(high));
        let middle = short((low * high).sqrt());
        let room = self.width.saturating_sub(left.len() + right.len() + middle.len());
        let (before, after) = (room / 2, room - room / 2);
        text.push_str(&format!(
            "{}{left}{}{middle}{}{right}\n",
            " ".repeat(8),
            " ".repeat(before),
            " ".repeat(after)
        ));
        text.push_str(&format!("{}{:^width$}\n", " ".repeat(8), self.x_label, width = self.width));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    #[test]
    fn a_rising_curve_rises() {
        let chart = LineChart { width: 20, height: 5, x_label: "x" };
        let points = (0..=10).map(|i| (10f64.powi(i), f64::from(i) / 10.0)).collect();
        let text = chart.draw(&[Series { name: "curve", points, style: Style::Line }], None);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 8);
        assert!(lines[0].starts_with(" 100 % ┤") && lines[4].starts_with("   0 % ┤"));
        // Top right and bottom left are drawn, top left and bottom right are not.
        assert!(lines[0].chars().count() > 20 && lines[4].chars().count() < 20);
    }

    #[test]
    fn nothing_to_draw_is_nothing() {
        let chart = LineChart { width: 20, height: 5, x_label: "x" };
        assert_eq!(chart.draw(&[], None), "");
        assert_eq!(
            chart.draw(&[Series { name: "one", points: vec![(1.0, 0.5)], style: Style::Line }], None),
            ""
        );
    }
}
