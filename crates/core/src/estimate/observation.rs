//! What one fetch saw.

use crate::time::Time;

/// The shortest time between two fetches that counts, in units of time: a nanosecond if the unit is a second.
pub const SHORTEST: f64 = 1e-9;
/// The longest: thirty thousand years of seconds.
pub const LONGEST: f64 = 1e12;

/// What a successful fetch said about the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It differs from the copy of the fetch before.
    Changed,
    /// It was transferred, and is the same.
    Unchanged,
    /// The server said that it is the same (304): worth as much as [`Answer::Unchanged`], and cheaper.
    NotModified,
}

/// One interval between two successful looks at a page: how long it was, how many signals came in it, and whether the
/// page changed.
///
/// A failed fetch is no look: the interval goes on until the next one that succeeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    elapsed: f64,
    signals: u32,
    answer: Answer,
    content_age: Option<f64>,
}

/// An interval that cannot be one.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ObservationError {
    /// Not a length of time, or one beyond all reason.
    #[error("elapsed is {0}; expected a time from {SHORTEST:e} to {LONGEST:e}")]
    Elapsed(f64),
    /// The second look came before the first, or at the same moment.
    #[error("a fetch cannot come before the one before it; the clock ran backwards")]
    Backwards,
}

impl Observation {
    /// An interval of `elapsed` units of time with so many signals, and how it ended.
    ///
    /// # Errors
    /// If `elapsed` is not between [`SHORTEST`] and [`LONGEST`].
    pub fn new(elapsed: f64, signals: u32, answer: Answer) -> Result<Self, ObservationError> {
        if (SHORTEST..=LONGEST).contains(&elapsed) {
            Ok(Self { elapsed, signals, answer, content_age: None })
        } else {
            Err(ObservationError::Elapsed(elapsed))
        }
    }

    /// The interval between two looks, in seconds.
    ///
    /// # Errors
    /// If the second did not come after the first.
    pub fn between(
        first: Time,
        second: Time,
        signals: u32,
        answer: Answer,
    ) -> Result<Self, ObservationError> {
        if second <= first {
            return Err(ObservationError::Backwards);
        }
        Self::new(second.since(first).as_secs(), signals, answer)
    }

    /// The same, with the age of what was seen, if its server told (Last-Modified, lastmod).
    #[must_use]
    pub fn dated(self, content_age: Option<f64>) -> Self {
        Self { content_age: content_age.filter(|age| *age >= 0.0 && age.is_finite()), ..self }
    }

    /// How old what was seen is, as its server has it.
    pub fn content_age(&self) -> Option<f64> {
        self.content_age
    }

    /// How long the interval was.
    pub fn elapsed(&self) -> f64 {
        self.elapsed
    }

    /// How many signals came in it.
    pub fn signals(&self) -> u32 {
        self.signals
    }

    /// How it ended.
    pub fn answer(&self) -> Answer {
        self.answer
    }

    /// Whether the page changed in it.
    pub fn changed(&self) -> bool {
        self.answer == Answer::Changed
    }

    /// The same interval with one more signal, which came late.
    #[must_use]
    pub fn with_late_signal(self) -> Self {
        Self { signals: self.signals.saturating_add(1), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_not_built() {
        for wrong in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e13, 1e-10] {
            assert!(Observation::new(wrong, 0, Answer::Changed).is_err(), "{wrong}");
        }
        let (early, late) = (Time::from_nanos(5), Time::from_nanos(1_500_000_005));
        let seen = Observation::between(early, late, 2, Answer::NotModified).unwrap();
        assert_eq!((seen.elapsed(), seen.signals(), seen.changed()), (1.5, 2, false));
        for (first, second) in [(late, early), (late, late)] {
            let error = Observation::between(first, second, 0, Answer::Changed).unwrap_err();
            assert_eq!(error, ObservationError::Backwards);
        }
        assert_eq!(seen.with_late_signal().signals(), 3);
    }
}
