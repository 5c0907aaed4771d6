//! The back-off of a host: the time until which it is not asked. While that lies in the future it only grows; requests that were under way when
//! it was set neither end it nor count as further failures.

use refrain_core::time::{Span, Time};

/// The longest back-off, whatever a host asks for.
pub(crate) const LONGEST: Span = Span::from_whole_secs(7 * 86_400);
/// The back-off after the first request without an answer; it doubles with each failure in a row.
const FIRST: Span = Span::from_whole_secs(30);
/// The longest back-off for a host that does not answer.
const LONGEST_UNREACHABLE: Span = Span::from_whole_secs(86_400);

/// Returns `first` doubled so many times, `longest` at most.
pub(crate) fn doubled(first: Span, times: u32, longest: Span) -> Span {
    Span::from_nanos(first.as_nanos().saturating_mul(1 << times.min(30))).min(longest)
}

/// When a host may be asked again, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BackOff {
    /// The host is not asked before this time.
    pub(crate) until: Option<Time>,
    /// Failures in a row.
    pub(crate) failures: u32,
}

impl BackOff {
    /// The back-off as the store has it. A time further away than any back-off comes from a clock that was ahead when it was written.
    pub(crate) fn stored(until: Option<Time>, failures: u32, now: Time) -> Self {
        Self { until: until.map(|until| until.min(now + LONGEST)), failures }
    }

    /// The host asked to slow down, for this long if it said so. An answer of "at once" or of a time gone by does not say how long.
    pub(crate) fn slow_down(&mut self, now: Time, asked: Option<Span>) {
        let before = self.fail(now);
        let wait = asked.filter(|wait| *wait > Span::ZERO);
        self.extend(now, wait.unwrap_or_else(|| doubled(FIRST, before + 1, LONGEST)).min(LONGEST));
    }

    /// The host did not answer.
    pub(crate) fn unreachable(&mut self, now: Time) {
        let before = self.fail(now);
        self.extend(now, doubled(FIRST, before, LONGEST_UNREACHABLE));
    }

    /// Makes the back-off last at least this long from now.
    pub(crate) fn extend(&mut self, now: Time, wait: Span) {
        self.until = self.until.max(Some(now + wait));
    }

    /// The host answered a request that was made at `asked`. Returns whether that ends the failures in a row: only an answer to a request that
    /// was made after the back-off does.
    pub(crate) fn answered(&mut self, asked: Time) -> bool {
        let ends = self.failures > 0 && self.until.is_none_or(|until| until <= asked);
        if ends {
            *self = Self::default();
        }
        ends
    }

    /// Counts a failure. Returns how many there were before; requests that were under way together fail as one.
    fn fail(&mut self, now: Time) -> u32 {
        let is_new = self.until.is_none_or(|until| until <= now);
        self.failures = (self.failures + u32::from(is_new)).max(1);
        self.failures - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    fn seconds(seconds: u64) -> Span {
        Span::from_whole_secs(seconds)
    }

    #[test]
    fn only_a_longer_back_off_replaces_one_that_lasts() {
        let mut back_off = BackOff::default();
        back_off.slow_down(at(10), Some(seconds(3600)));
        // Requests that were under way: whatever comes of them.
        assert!(!back_off.answered(at(9)));
        back_off.slow_down(at(11), Some(seconds(3)));
        back_off.slow_down(at(12), None);
        back_off.unreachable(at(13));
        back_off.extend(at(14), Span::from_whole_secs(60));
        assert_eq!(back_off, BackOff { until: Some(at(3610)), failures: 1 });
        back_off.slow_down(at(15), Some(seconds(7200)));
        assert_eq!(back_off, BackOff { until: Some(at(7215)), failures: 1 });
        // Answered late, asked before.
        assert!(!back_off.answered(at(9)));
        assert!(back_off.answered(at(7215)));
        assert_eq!(back_off, BackOff::default());
        assert!(!back_off.answered(at(7216)), "nothing to end");
    }

    #[test]
    fn it_doubles_with_every_failure_after_the_last_one_is_over() {
        let mut back_off = BackOff::default();
        let mut now = at(0);
        for (failure, wait) in [(1, 30), (2, 60), (3, 120)] {
            back_off.unreachable(now);
            let until = now + Span::from_whole_secs(wait);
            assert_eq!(back_off, BackOff { until: Some(until), failures: failure });
            now = until;
        }
        for _ in 0..100 {
            back_off.unreachable(now);
            now = back_off.until.unwrap();
        }
        back_off.slow_down(now, None);
        assert_eq!(back_off.until, Some(now + LONGEST));
    }

    #[test]
    fn a_time_from_a_clock_that_was_ahead_is_a_week_at_most() {
        let years = Some(at(4 * 365 * 86_400));
        assert_eq!(BackOff::stored(years, 3, at(100)).until, Some(at(100) + LONGEST));
        assert_eq!(BackOff::stored(Some(at(200)), 0, at(100)).until, Some(at(200)));
    }
}
