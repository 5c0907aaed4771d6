//! Errors, added up.

/// A mean of squares, and how sure it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errors {
    count: f64,
    squares: f64,
    fourths: f64,
}

impl Errors {
    pub(super) fn add(&mut self, error: f64) {
        let square = error * error;
        self.count += 1.0;
        self.squares += square;
        self.fourths += square * square;
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.squares += other.squares;
        self.fourths += other.fourths;
    }

    pub(super) fn rmse(&self) -> f64 {
        (self.squares / self.count).sqrt()
    }

    /// The standard error of the root mean square.
    pub(super) fn uncertainty(&self) -> f64 {
        let mean = self.squares / self.count;
        let variance = (self.fourths / self.count - mean * mean).max(0.0) / self.count;
        if mean > 0.0 { variance.sqrt() / (2.0 * mean.sqrt()) } else { 0.0 }
    }
}
