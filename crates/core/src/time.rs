//! Moments and durations. There is no `now()` here: time is always passed in.
//!
//! Both are whole nanoseconds in 64 bits, so that gaps between fetches compare exactly ("never too early, not by a
//! nanosecond") and a page record stays small. Formulas work on `f64` seconds; [`Span::as_secs`] is the bridge.

use std::fmt;
use std::ops::{Add, Sub};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// A moment: nanoseconds since the Unix epoch, which may be negative (1677 to 2262).
///
/// A driver with a virtual clock may choose any other origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(i64);

/// A length of time: nanoseconds, never negative, at most 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(u64);

impl Time {
    /// The origin: the Unix epoch, or the start of a simulation.
    pub const ZERO: Self = Self(0);
    /// The earliest moment.
    pub const MIN: Self = Self(i64::MIN);
    /// As a due date it means "never".
    pub const MAX: Self = Self(i64::MAX);
    /// The last moment that comes: later than anyone will see, and not never.
    pub const LAST: Self = Self(i64::MAX - 1);

    /// A moment from nanoseconds since the origin.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the origin.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// How long ago `earlier` was; zero if it lies in the future (a clock that ran backwards cannot make ages
    /// negative).
    pub const fn since(self, earlier: Self) -> Span {
        if self.0 <= earlier.0 { Span(0) } else { Span(self.0.abs_diff(earlier.0)) }
    }

    /// So much later, and [`Time::LAST`] at the latest: what comes after a span is not "never", however long the span is.
    #[must_use]
    pub fn later(self, span: Span) -> Self {
        (self + span).min(Self::LAST)
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(u64::MAX);

    /// A span of so many nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A span of so many milliseconds, at most [`Span::MAX`].
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_SEC / 1000))
    }

    /// A span of so many whole seconds, at most [`Span::MAX`].
    pub const fn from_whole_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// The span nearest to so many seconds: what is negative or not a number gives zero, what is too long gives
    /// [`Span::MAX`].
    pub fn from_secs(secs: f64) -> Self {
        // A float-to-int cast saturates, and turns NaN into 0.
        Self((secs * NANOS_PER_SEC as f64).round() as u64)
    }

    /// The span nearest to so many seconds, rounded up: for waiting until a moment has come for certain.
    pub fn from_secs_ceil(secs: f64) -> Self {
        Self((secs * NANOS_PER_SEC as f64).ceil() as u64)
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for formulas.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }
}

/// Saturates at [`Time::MAX`], so "never" plus anything is still "never".
impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add_unsigned(span.0))
    }
}

/// Saturates at [`Time::MIN`].
impl Sub<Span> for Time {
    type Output = Self;
    fn sub(self, span: Span) -> Self {
        Self(self.0.saturating_sub_unsigned(span.0))
    }
}

/// Saturates at [`Span::MAX`].
impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// The span in its most natural unit, for people: `350ms`, `2.5h`, `12d`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(f64, &str); 5] =
            [(86_400.0, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s"), (1e-3, "ms")];
        let secs = self.as_secs();
        let (size, name) = UNITS.into_iter().find(|(size, _)| secs >= *size).unwrap_or((1e-9, "ns"));
        let tenths = (secs / size * 10.0).round() / 10.0;
        write!(f, "{tenths}{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_runs_backwards_gives_age_zero() {
        let earlier = Time::from_nanos(5);
        assert_eq!(Time::from_nanos(3).since(earlier), Span::ZERO);
        assert_eq!(Time::from_nanos(9).since(earlier), Span::from_nanos(4));
    }

    #[test]
    fn nothing_overflows() {
        assert_eq!(Time::MAX + Span::from_whole_secs(1), Time::MAX);
        assert_eq!(Time::MIN - Span::MAX, Time::MIN);
        assert_eq!(Time::MAX.since(Time::MIN), Span::MAX);
        assert_eq!(Time::MIN + Span::MAX, Time::MAX);
        assert_eq!(Time::LAST.later(Span::MAX), Time::LAST);
        assert_eq!(Time::ZERO.later(Span::from_nanos(5)), Time::from_nanos(5));
        assert_eq!(Span::MAX + Span::MAX, Span::MAX);
        assert_eq!(Span::from_whole_secs(u64::MAX), Span::MAX);
    }

    #[test]
    fn seconds_round_trip_and_bad_seconds_are_harmless() {
        assert_eq!(Span::from_secs(1.5).as_secs(), 1.5);
        assert_eq!(Span::from_secs(-1.0), Span::ZERO);
        assert_eq!(Span::from_secs(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_secs(f64::INFINITY), Span::MAX);
        assert_eq!(Span::from_secs_ceil(1e-10), Span::from_nanos(1));
    }

    #[test]
    fn people_read_spans_in_natural_units() {
        let shown = |secs: f64| Span::from_secs(secs).to_string();
        assert_eq!(shown(0.35), "350ms");
        assert_eq!(shown(90.0), "1.5m");
        assert_eq!(shown(9000.0), "2.5h");
        assert_eq!(shown(12.0 * 86_400.0), "12d");
        assert_eq!(shown(0.0), "0ns");
    }
}
