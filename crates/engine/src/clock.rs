//! The only place that reads the real clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use refrain_core::time::{Span, Time};

/// The time of day may differ by so much from what was counted before that is noticed.
const TOLERANCE: Span = Span::from_whole_secs(10);

/// The time of day, which never goes backwards while the process runs: it is read once, and counted on from there. Where the counter stood still
/// (a suspended machine) or the clock was set forwards, `catch_up` makes up for that.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Time,
    since: Instant,
    /// Nanoseconds that were not counted; shared by all copies for as long as the process lives, so never freed.
    skipped: &'static AtomicU64,
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that reads the clock for all others")]
impl Clock {
    /// Starts with the time of day.
    pub fn start() -> Self {
        let skipped = Box::leak(Box::new(AtomicU64::new(0)));
        Self { start: time_of_day(), since: Instant::now(), skipped }
    }

    /// The moment.
    pub fn now(&self) -> Time {
        self.start + span(self.since.elapsed()) + Span::from_nanos(self.skipped.load(Ordering::Relaxed))
    }

    /// Moves on to the time of day, for all copies, if that is ahead. Returns how far it is behind, if it was set back.
    pub(crate) fn catch_up(&self) -> Option<Span> {
        let step = Step::between(self.now(), time_of_day());
        if let Step::Ahead(span) = step {
            self.skipped.fetch_add(span.as_nanos(), Ordering::Relaxed);
        }
        match step {
            Step::Behind(span) => Some(span),
            Step::None | Step::Ahead(_) => None,
        }
    }

    /// A moment for timers of the runtime.
    pub(crate) fn instant(&self, moment: Time) -> tokio::time::Instant {
        let skipped = Span::from_nanos(self.skipped.load(Ordering::Relaxed));
        let wait = moment.since(self.start + skipped).as_nanos();
        // A century is for ever; adding more could overflow.
        (self.since + Duration::from_nanos(wait.min(100 * 365 * 86_400 * 1_000_000_000))).into()
    }
}

/// How the time of day stands to what was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    None,
    Ahead(Span),
    Behind(Span),
}

impl Step {
    fn between(counted: Time, time_of_day: Time) -> Self {
        let (ahead, behind) = (time_of_day.since(counted), counted.since(time_of_day));
        if ahead > TOLERANCE {
            Self::Ahead(ahead)
        } else if behind > TOLERANCE {
            Self::Behind(behind)
        } else {
            Self::None
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that reads the clock for all others")]
fn time_of_day() -> Time {
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::from_nanos(i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX))
}

/// A measured time, as the rest of Refrain counts it.
fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_are_let_be() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let hour = Span::from_whole_secs(3600);
        for (counted, time_of_day, step) in [
            (at(100), at(110), Step::None),
            (at(110), at(100), Step::None),
            (at(100), at(3700), Step::Ahead(hour)),
            (at(3700), at(100), Step::Behind(hour)),
        ] {
            assert_eq!(Step::between(counted, time_of_day), step);
        }
    }

    #[test]
    fn copies_catch_up_together() {
        let (clock, late) = (Clock::start(), Clock::start());
        // A clock that began an hour late.
        let late = Clock { start: late.start - Span::from_whole_secs(3600), ..late };
        let copy = late;
        let timer = copy.instant(clock.now());
        assert_eq!(late.catch_up(), None);
        assert!(clock.now().since(copy.now()) < Span::from_whole_secs(60));
        assert!(copy.instant(clock.now()) < timer, "no hour is waited for twice");
    }
}
