//! Errors, added up.

/// The mean and the mean square of errors, and how sure they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    count: f64,
    sum: f64,
    squares: f64,
    fourths: f64,
}

impl Errors {
    /// How many numbers it is.
    pub(crate) const NUMBERS: usize = 4;

    pub(super) fn add(&mut self, error: f64) {
        let square = error * error;
        self.count += 1.0;
        self.sum += error;
        self.squares += square;
        self.fourths += square * square;
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.fourths += other.fourths;
    }

    /// As numbers.
    pub(crate) fn numbers(&self) -> [f64; Self::NUMBERS] {
        [self.count, self.sum, self.squares, self.fourths]
    }

    /// From its numbers.
    pub(crate) fn from_numbers([count, sum, squares, fourths]: [f64; Self::NUMBERS]) -> Self {
        Self { count, sum, squares, fourths }
    }

    /// How much too high estimates are on average.
    pub fn bias(&self) -> f64 {
        self.sum / self.count
    }

    /// How much they spread.
    pub fn deviation(&self) -> f64 {
        (self.squares / self.count - self.bias() * self.bias()).max(0.0).sqrt()
    }

    /// The root mean squared error.
    pub fn rmse(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// The standard error of the root mean square.
    pub fn uncertainty(&self) -> f64 {
        let mean = self.squares / self.count;
        let variance = (self.fourths / self.count - mean * mean).max(0.0) / self.count;
        if mean > 0.0 { variance.sqrt() / (2.0 * mean.sqrt()) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_moments() {
        let (mut one, mut other) = (Errors::default(), Errors::default());
        for (first, second) in [(1.0, -1.0), (3.0, 5.0)] {
            one.add(first);
            other.add(second);
        }
        one.join(&Errors::from_numbers(other.numbers()));
        assert_eq!((one.bias(), one.deviation(), one.rmse()), (2.0, 5f64.sqrt(), 3.0));
        // Squares 1, 9, 1, 25: variance 96, of the mean 24; the root of 9 moves by a sixth of that deviation.
        assert!((one.uncertainty() - 24f64.sqrt() / 6.0).abs() < 1e-12);
    }
}
