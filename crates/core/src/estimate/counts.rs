//! How often a page had changed, and over how much time: all that the simplest estimators look at.

use super::observation::Observation;

/// Intervals counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// S: intervals with a change.
    pub changed: f64,
    /// k: all intervals.
    pub all: f64,
    /// How long they were together.
    pub span: f64,
}

impl Counts {
    /// One more interval.
    pub fn add(&mut self, seen: &Observation) {
        self.changed += f64::from(u8::from(seen.changed()));
        self.all += 1.0;
        self.span += seen.elapsed();
    }

    /// p: fetches per unit of time; 0 if there were none.
    pub fn fetch_rate(&self) -> f64 {
        if self.span > 0.0 { self.all / self.span } else { 0.0 }
    }
}

impl<'a> FromIterator<&'a Observation> for Counts {
    fn from_iter<I: IntoIterator<Item = &'a Observation>>(seen: I) -> Self {
        let mut counts = Self::default();
        for interval in seen {
            counts.add(interval);
        }
        counts
    }
}
