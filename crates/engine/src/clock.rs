//! The only place that reads the real clock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use refrain_core::time::{Span, Time};

/// The time of day may differ by so much from what was counted before that is noticed.
const TOLERANCE: Span = Span::from_whole_secs(10);
/// A machine that was suspended for less is not noticed.
const SHORTEST_SUSPENSION: Span = Span::from_whole_secs(1);

/// The time of day, which never goes backwards while the process runs: it is read once, and counted on from there. The counter stands still while
/// the machine is suspended; `catch_up` makes up for that. It does not follow a system clock that is set: it is not known which of the two times is
/// right, and a jump would end back-offs that hosts have asked for.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Time,
    since: Instant,
    /// How long the machine had been up at the start, suspended or not.
    up: Duration,
    /// Shared by all copies for as long as the process lives, so never freed.
    shared: &'static Shared,
}

#[derive(Debug, Default)]
struct Shared {
    /// Nanoseconds since the start that the machine was suspended for.
    suspended: AtomicU64,
    #[cfg(test)]
    pretended: tests::Pretended,
}

/// What has become of the machine's clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaughtUp {
    /// How long the machine was suspended since this was asked last, if it was.
    pub(crate) suspended: Option<Span>,
    /// How the time of day stands to the time that is counted.
    pub(crate) step: Step,
}

#[expect(clippy::disallowed_methods, reason = "this is the driver that reads the clock for all others")]
impl Clock {
    /// Starts with the time of day.
    pub fn start() -> Self {
        let shared: &Shared = Box::leak(Box::<Shared>::default());
        Self { start: time_of_day(), since: Instant::now(), up: up(), shared }
    }

    /// The moment.
    pub fn now(&self) -> Time {
        self.start + span(self.since.elapsed()) + self.suspended()
    }

    /// Moves on by the time that the machine was suspended, for all copies.
    pub(crate) fn catch_up(&self) -> CaughtUp {
        // In this order: what passes between the two readings makes the difference smaller, and is no suspension.
        let up = up().saturating_sub(self.up);
        let suspended = span(up.saturating_sub(self.since.elapsed()));
        let time_of_day = time_of_day();
        #[cfg(test)]
        let (suspended, time_of_day) = self.shared.pretended.add(suspended, time_of_day);
        let more = suspended.as_nanos().saturating_sub(self.suspended().as_nanos());
        let more = Some(Span::from_nanos(more)).filter(|more| *more >= SHORTEST_SUSPENSION);
        if more.is_some() {
            self.shared.suspended.store(suspended.as_nanos(), Ordering::Relaxed);
        }
        CaughtUp { suspended: more, step: Step::between(self.now(), time_of_day) }
    }

    fn suspended(&self) -> Span {
        Span::from_nanos(self.shared.suspended.load(Ordering::Relaxed))
    }

    /// A moment for timers of the runtime.
    pub(crate) fn instant(&self, moment: Time) -> tokio::time::Instant {
        let wait = moment.since(self.start + self.suspended()).as_nanos();
        // A century is for ever; adding more could overflow.
        (self.since + Duration::from_nanos(wait.min(100 * 365 * 86_400 * 1_000_000_000))).into()
    }
}

/// How the time of day stands to what was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
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

/// How long the machine has been up, the time that it was suspended for included.
fn up() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let id = rustix::time::ClockId::Boottime;
    // Elsewhere the clock that must not go backwards counts on while the machine is suspended, or a suspension is not noticed.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let id = rustix::time::ClockId::Monotonic;
    Duration::try_from(rustix::time::clock_gettime(id)).unwrap_or_default()
}

/// A measured time, as the rest of Refrain counts it.
fn span(duration: Duration) -> Span {
    Span::from_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What tests make of the machine's clocks, in nanoseconds.
    #[derive(Debug, Default)]
    pub(super) struct Pretended {
        suspended: AtomicU64,
        set_forwards: AtomicU64,
    }

    impl Pretended {
        pub(super) fn add(&self, suspended: Span, time_of_day: Time) -> (Span, Time) {
            let pretended = |nanos: &AtomicU64| Span::from_nanos(nanos.load(Ordering::Relaxed));
            let more = pretended(&self.suspended);
            (suspended + more, time_of_day + more + pretended(&self.set_forwards))
        }
    }

    impl Clock {
        /// As if the system's clock had said this at the start.
        pub(crate) fn set_to(self, start: Time) -> Self {
            Self { start, ..self }
        }

        /// As if the machine had been suspended just now.
        pub(crate) fn suspend(&self, span: Span) {
            self.shared.pretended.suspended.fetch_add(span.as_nanos(), Ordering::Relaxed);
        }

        /// As if the system's clock had been set forwards just now.
        pub(crate) fn set_forwards(&self, span: Span) {
            self.shared.pretended.set_forwards.fetch_add(span.as_nanos(), Ordering::Relaxed);
        }
    }

    const HOUR: Span = Span::from_whole_secs(3600);
    const MINUTE: Span = Span::from_whole_secs(60);

    #[test]
    fn small_differences_are_let_be() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        for (counted, time_of_day, step) in [
            (at(100), at(110), Step::None),
            (at(110), at(100), Step::None),
            (at(100), at(3700), Step::Ahead(HOUR)),
            (at(3700), at(100), Step::Behind(HOUR)),
        ] {
            assert_eq!(Step::between(counted, time_of_day), step);
        }
    }

    #[test]
    fn copies_make_up_for_a_suspended_machine_together() {
        let clock = Clock::start();
        let copy = clock;
        assert_eq!(clock.catch_up(), CaughtUp { suspended: None, step: Step::None });
        let (before, timer) = (clock.now(), copy.instant(clock.now() + HOUR + MINUTE));
        clock.suspend(HOUR);
        let caught_up = clock.catch_up();
        assert!(caught_up.suspended.is_some_and(|span| span >= HOUR && span < HOUR + MINUTE));
        assert_eq!(caught_up.step, Step::None);
        let passed = copy.now().since(before);
        assert!(passed >= HOUR && passed < HOUR + MINUTE, "{passed:?}");
        let sooner = timer - copy.instant(before + HOUR + MINUTE);
        assert!(sooner >= Duration::from_secs(3600), "no hour is waited for twice: {sooner:?}");
        assert_eq!(copy.catch_up(), CaughtUp { suspended: None, step: Step::None });
    }

    #[test]
    fn a_clock_that_is_set_forwards_is_not_followed() {
        let clock = Clock::start();
        let before = clock.now();
        clock.set_forwards(HOUR);
        let CaughtUp { suspended, step } = clock.catch_up();
        assert_eq!(suspended, None);
        assert!(matches!(step, Step::Ahead(span) if span + MINUTE > HOUR), "{step:?}");
        assert!(clock.now().since(before) < MINUTE);
    }
}
