//! The only place that reads the real clock.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use refrain_core::time::{Span, Time};

/// The time of day, which never goes backwards while the process runs: it is read once, and counted on from there.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Time,
    since: Instant,
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that reads the clock for all others")]
impl Clock {
    /// Starts with the time of day.
    pub fn start() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = i64::try_from(unix.as_nanos()).unwrap_or(i64::MAX);
        Self { start: Time::from_nanos(nanos), since: Instant::now() }
    }

    /// The moment.
    pub fn now(&self) -> Time {
        self.start + span(self.since.elapsed())
    }

    /// A moment for timers of the runtime.
    pub(crate) fn instant(&self, moment: Time) -> tokio::time::Instant {
        let wait = moment.since(self.start).as_nanos();
        // A century is for ever; adding more could overflow.
        (self.since + Duration::from_nanos(wait.min(100 * 365 * 86_400 * 1_000_000_000))).into()
    }
}

/// A measured time, as the rest of Refrain counts it.
fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
