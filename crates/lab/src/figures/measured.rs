//! Numbers with their errors, and verdicts that follow from them.

use std::fmt;

use super::Point;
use crate::simulate::mean_and_error;

/// A mean over repetitions, and its standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 if there was one repetition.
    pub error: f64,
}

impl Measured {
    /// Of these numbers, one for each repetition.
    pub fn of(numbers: impl Iterator<Item = f64> + Clone) -> Self {
        let (mean, error) = mean_and_error(numbers);
        Self { mean, error }
    }

    /// Greater than that, and not by chance: by more than two standard errors.
    pub fn is_above(self, level: f64) -> bool {
        self.mean - 2.0 * self.error > level
    }

    /// Less than that, and not by chance.
    pub fn is_below(self, level: f64) -> bool {
        self.mean + 2.0 * self.error < level
    }

    /// As near as that to 0, or to what chance may make of 0.
    pub fn is_near_zero(self, by: f64) -> bool {
        self.mean.abs() <= by.max(2.0 * self.error)
    }

    /// A point of a curve.
    pub fn at(self, x: f64) -> Point {
        Point { x, y: self.mean, error: self.error, shade: None }
    }

    /// A share in percent: `43.2 ± 0.5 %`.
    pub fn percent(self) -> String {
        format!("{:.1} ± {:.1} %", 100.0 * self.mean, 100.0 * self.error)
    }
}

/// With four digits, and with a sign if that is asked for (`{:+}`).
impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(4);
        if f.sign_plus() {
            write!(f, "{:+.digits$} ± {:.digits$}", self.mean, self.error)
        } else {
            write!(f, "{:.digits$} ± {:.digits$}", self.mean, self.error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Verdict;

    #[test]
    fn two_errors_decide() {
        let found = Measured::of([1.0, 2.0, 3.0, 2.0].into_iter());
        assert!(
            (found.mean - 2.0).abs() < 1e-12 && (found.error - (2.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-12
        );
        assert!(found.is_above(1.1) && !found.is_above(1.2));
        assert!(found.is_below(2.9) && !found.is_below(2.8));
        let small = Measured { mean: 0.01, error: 0.004 };
        assert!(small.is_near_zero(0.01) && !small.is_near_zero(0.009));
        assert!(Measured { error: 0.006, ..small }.is_near_zero(0.0));
        assert_eq!(format!("{small:+} {small:.2}"), "+0.0100 ± 0.0040 0.01 ± 0.00");
        assert_eq!(small.percent(), "1.0 ± 0.4 %");
    }

    #[test]
    fn verdicts_follow() {
        assert_eq!(Verdict::of_all([true, true]), Verdict::Agrees);
        assert_eq!(Verdict::of_all([true, false]), Verdict::Partly);
        assert_eq!(Verdict::of_all([false, false]), Verdict::Disagrees);
        assert_eq!(Verdict::of_all([]), Verdict::Unclear);
    }
}
