//! Times as the database has them: whole milliseconds since the Unix epoch.
//!
//! What happened is rounded down. What must be waited for is rounded up: a back-off that is read again after a restart ends
//! no sooner than it was told to.

use refrain_core::time::{Span, Time};

const NANOS: i64 = 1_000_000;

/// The millisecond in which something happened.
pub(crate) fn happened(time: Time) -> i64 {
    time.as_nanos().div_euclid(NANOS)
}

/// The first whole millisecond that is not before `time`.
pub(crate) fn deadline(time: Time) -> i64 {
    let nanos = time.as_nanos();
    nanos.div_euclid(NANOS) + i64::from(nanos.rem_euclid(NANOS) != 0)
}

/// The moment at which a millisecond begins.
pub(crate) fn time(millis: i64) -> Time {
    Time::from_nanos(millis.saturating_mul(NANOS))
}

/// How long something took.
pub(crate) fn took(span: Span) -> i64 {
    i64::try_from(span.as_nanos() / NANOS.unsigned_abs()).unwrap_or(i64::MAX)
}

/// How long to wait at least.
pub(crate) fn at_least(span: Span) -> i64 {
    i64::try_from(span.as_nanos().div_ceil(NANOS.unsigned_abs())).unwrap_or(i64::MAX)
}

/// A length of time as it was stored; what is negative (nobody stored it) is zero.
pub(crate) fn span(millis: i64) -> Span {
    Span::from_millis(u64::try_from(millis).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_rounded_down_and_deadlines_up() {
        for (nanos, past, future) in
            [(0, 0, 0), (1, 0, 1), (999_999, 0, 1), (1_000_000, 1, 1), (-1, -1, 0), (-1_000_001, -2, -1)]
        {
            assert_eq!(happened(Time::from_nanos(nanos)), past, "{nanos}");
            assert_eq!(deadline(Time::from_nanos(nanos)), future, "{nanos}");
        }
        assert_eq!((took(Span::from_nanos(1)), at_least(Span::from_nanos(1))), (0, 1));
    }

    #[test]
    fn the_ends_of_time_survive() {
        assert_eq!(time(deadline(Time::MAX)), Time::MAX);
        assert_eq!(time(happened(Time::MIN)), Time::MIN);
        assert!(span(took(Span::MAX)) <= Span::MAX);
        assert_eq!(span(-5), Span::ZERO);
    }
}
