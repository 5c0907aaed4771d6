//! What is believed about a page before it was looked at.

use super::posterior::Posterior;
use crate::page::BeliefError;

/// A distribution of change rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prior {
    /// Gamma: as if `shape` changes had been seen, and `rate` of time without any.
    Gamma {
        /// a.
        shape: f64,
        /// B, in units of time.
        rate: f64,
    },
    /// Two made-up observations: a change within one interval, and none for another. (Grimes and Ford.)
    Intervals {
        /// Changed within this time.
        changed_within: f64,
        /// Unchanged for this time.
        unchanged_for: f64,
    },
}

const HOUR: f64 = 3600.0;

impl Prior {
    /// The start, per second, before anything is known of any page: an hour after a fetch it has changed with a chance of
    /// one in ten, after a day one in three, after a month one in two. Every ten minutes and once in ten years are both
    /// within reach.
    pub const BROAD: Self = Self::Gamma { shape: 0.1, rate: 0.5 * HOUR };

    /// Grimes and Ford's, per second: changed within an hour, unchanged for 57.
    pub const GRIMES: Self = Self::Intervals { changed_within: HOUR, unchanged_for: 57.0 * HOUR };

    /// As little as can be said of a page that someone chose to fetch about once in `interval`: a tenth of a change in a
    /// tenth of that time.
    pub fn around(interval: f64) -> Self {
        Self::Gamma { shape: 0.1, rate: 0.1 * interval }
    }

    /// A Gamma prior.
    ///
    /// # Errors
    /// Unless both numbers are finite and positive.
    pub fn gamma(shape: f64, rate: f64) -> Result<Self, BeliefError> {
        Posterior::new(shape, rate).map(|_| Self::Gamma { shape, rate })
    }

    /// Whether there is no difference to speak of.
    pub(super) fn is_near(&self, other: &Self) -> bool {
        let near = |x: f64, y: f64| (x / y - 1.0).abs() < 0.01;
        match (*self, *other) {
            (Self::Gamma { shape, rate }, Self::Gamma { shape: other_shape, rate: other_rate }) => {
                near(shape, other_shape) && near(rate, other_rate)
            }
            _ => self == other,
        }
    }

    /// The same with time counted in units of so many seconds.
    #[must_use]
    pub fn in_units_of(self, seconds: f64) -> Self {
        match self {
            Self::Gamma { shape, rate } => Self::Gamma { shape, rate: rate / seconds },
            Self::Intervals { changed_within, unchanged_for } => Self::Intervals {
                changed_within: changed_within / seconds,
                unchanged_for: unchanged_for / seconds,
            },
        }
    }
}

impl Default for Prior {
    fn default() -> Self {
        Self::BROAD
    }
}
