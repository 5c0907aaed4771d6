//! Numbers in words, and axes.

use super::super::{Axis, Scaling};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_well() {
        let words = |parts: &[&str]| list(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!([words(&[]), words(&["a"]), words(&["a", "b", "c"])], ["", "a", "a, b and c"]);
        assert_eq!(percent(0.4321), "43.2 %");
    }
}
