//! Sums of millions of rates that keep all their digits.

/// A running sum with Neumaier's compensation: its error does not grow with the number of terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let next = self.total + term;
        self.lost += if self.total.abs() >= term.abs() {
            (self.total - next) + term
        } else {
            (term - next) + self.total
        };
        self.total = next;
    }

    /// The sum so far.
    pub fn get(self) -> f64 {
        // Once the total is infinite, the compensation is not a number.
        if self.total.is_finite() { self.total + self.lost } else { self.total }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_are_not_lost() {
        let sum: Sum = [1.0, 1e100, 1.0, -1e100].into_iter().collect();
        assert_eq!(sum.get(), 2.0);
        let sum: Sum = std::iter::repeat_n(0.1, 10_000_000).collect();
        assert_eq!(sum.get(), 1e6);
    }

    #[test]
    fn infinity_stays_infinity() {
        let sum: Sum = [1.0, f64::INFINITY, 1.0].into_iter().collect();
        assert_eq!(sum.get(), f64::INFINITY);
    }
}
