//! Numbers in words, and verdicts over several worlds.

use super::super::{Axis, Scaling};

/// A number with its error.
pub(super) type Measured = (f64, f64);

/// `43.2 ± 0.5 %`.
pub(super) fn percent((value, error): Measured) -> String {
    format!("{:.1} ± {:.1} %", 100.0 * value, 100.0 * error)
}

/// `43.2 %`.
pub(super) fn bare_percent(value: f64) -> String {
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

/// Whether a number is less than another by more than two standard errors of their difference.
pub(super) fn clearly_less(a: Measured, b: Measured) -> bool {
    a.0 < b.0 - 2.0 * a.1.hypot(b.1)
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
    fn differences_within_two_errors_are_none() {
        assert!(clearly_less((1.0, 0.1), (1.5, 0.1)));
        assert!(!clearly_less((1.0, 0.2), (1.5, 0.2)));
        assert!(!clearly_less((1.5, 0.1), (1.0, 0.1)));
    }

    #[test]
    fn lists_read_well() {
        let words = |parts: &[&str]| list(&parts.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!([words(&[]), words(&["a"]), words(&["a", "b", "c"])], ["", "a", "a, b and c"]);
        assert_eq!((percent((0.4321, 0.0049)), bare_percent(0.5)), ("43.2 ± 0.5 %".into(), "50.0 %".into()));
    }
}
