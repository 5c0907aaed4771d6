//! Notices that the machine or the process was suspended, or that the clock was set. What was under way then says nothing of hosts and pages:
//! connections are dropped, and their fetches made again.

use refrain_core::time::{Span, Time};

use super::Crawl;
use crate::told::Told;
use crate::visit::{Seen, Visited};

/// The crawl looks at the clock so often, whatever happens.
pub(super) const HEARTBEAT: Span = Span::from_whole_secs(1);
/// It was suspended if it did not for so long.
const PAUSE: Span = Span::from_whole_secs(10);

/// When the crawl was last seen to run.
pub(super) struct Pauses {
    last: Time,
    /// The end of the last pause.
    over: Time,
    /// The clock was set back, and that was told.
    is_behind: bool,
}

impl Pauses {
    pub(super) fn new(now: Time) -> Self {
        Self { last: now, over: Time::MIN, is_behind: false }
    }

    /// The crawl runs at this moment. Returns how long it did not, if that was a pause.
    fn beat(&mut self, now: Time) -> Option<Span> {
        let pause = now.since(self.last);
        self.last = self.last.max(now);
        if pause < PAUSE {
            return None;
        }
        self.over = now;
        Some(pause)
    }

    /// Whether what came of a fetch may come of a pause in the middle of it.
    fn explain(&self, asked: Time, seen: &Seen) -> bool {
        asked < self.over && matches!(seen, Seen::Unreachable(_) | Seen::Failed(_))
    }
}

impl Crawl {
    /// The moment. Before anything else that happened is dealt with, a pause before it is noticed.
    pub(super) fn wake(&mut self) -> Time {
        let behind = self.clock.catch_up();
        if let Some(span) = behind.filter(|_| !self.pauses.is_behind) {
            self.tell(|| {
                Told::Warning(format!(
                    "the system's clock was set back by {:.0} seconds: until it is started again, this crawl counts on from the time before",
                    span.as_secs()
                ))
            });
        }
        self.pauses.is_behind = behind.is_some();
        let now = self.clock.now();
        if let Some(pause) = self.pauses.beat(now) {
            self.kit.client.drop_connections();
            self.tell(|| {
                Told::Warning(format!(
                    "nothing ran for {:.0} seconds (the machine was suspended, or its clock set forwards): fetches that were under way are made again",
                    pause.as_secs()
                ))
            });
        }
        now
    }

    /// A fetch that a pause fell into says nothing.
    pub(super) fn forgive_pause(&self, now: Time, visited: &mut Visited) {
        if self.pauses.explain(visited.asked, &visited.seen) {
            visited.seen = Seen::Postponed(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetch_that_a_pause_fell_into_is_no_failure() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let mut pauses = Pauses::new(at(100));
        let failed = Seen::Unreachable("timed out".to_owned());
        assert_eq!([at(101), at(109), at(118)].map(|now| pauses.beat(now)), [None; 3]);
        assert!(!pauses.explain(at(100), &failed));
        assert_eq!(pauses.beat(at(3718)), Some(Span::from_whole_secs(3600)));
        assert!(pauses.explain(at(117), &failed) && !pauses.explain(at(117), &Seen::Gone));
        assert!(!pauses.explain(at(3718), &failed));
        assert_eq!(pauses.beat(at(3719)), None);
    }
}
