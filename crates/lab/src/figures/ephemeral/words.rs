//! Numbers in words, and axes.

use super::super::{Axis, Curve, Scaling};

/// `43.2 %`.
pub(super) fn percent(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

/// `a, b and c`.
pub(super) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// An axis of plain numbers.
pub(super) fn linear(label: &str) -> Axis {
    Axis { label: label.to_owned(), scaling: Scaling::Linear, range: None }
}

/// An axis of magnitudes.
pub(super) fn magnitudes(label: &str) -> Axis {
    Axis { label: label.to_owned(), scaling: Scaling::Logarithmic, range: None }
}

/// An axis in percent, from 0.
pub(super) fn share(label: &str, to: f64) -> Axis {
    Axis { label: label.to_owned(), scaling: Scaling::Share, range: Some((0.0, to)) }
}

/// An axis in percent, from 0 to a round number above all that is drawn.
pub(super) fn share_of(label: &str, curves: &[Curve]) -> Axis {
    const TOPS: [f64; 9] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
    let points = curves.iter().flat_map(|curve| &curve.points);
    let highest = points.map(|point| point.y + point.error).fold(0.0, f64::max);
    let top = TOPS.into_iter().find(|top| *top >= highest).unwrap_or((5.0 * highest).ceil() / 5.0);
    share(label, top)
}

#[cfg(test)]
mod tests {
    use super::super::super::{Look, Point};
    use super::*;

    #[test]
    fn lists_read_well() {
        let words = |parts: &[&str]| list(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!([words(&[]), words(&["a"]), words(&["a", "b", "c"])], ["", "a", "a, b and c"]);
        assert_eq!(percent(0.4321), "43.2 %");
    }

    #[test]
    fn axes_leave_room_for_all_and_not_for_more() {
        let top = |y: f64, error: f64| {
            let points = vec![Point { x: 0.0, y, error, shade: None }];
            let curve = Curve { name: String::new(), look: Look::Line, points };
            share_of("", &[curve]).range.unwrap().1
        };
        assert_eq!(
            [top(0.003, 0.001), top(0.19, 0.02), top(0.97, 0.0), top(1.13, 0.0)],
            [0.01, 0.4, 1.0, 1.2]
        );
        assert_eq!(share_of("", &[]).range, Some((0.0, 0.01)));
    }
}
