//! Notices that the machine was suspended. What was under way then says nothing of hosts and pages: connections are dropped, and their fetches made
//! again. A crawl that stood still for another reason, and a clock that was set, are only told of.

use refrain_core::time::{Span, Time};

use super::Crawl;
use crate::clock::{CaughtUp, Step};
use crate::told::Told;
use crate::visit::{Seen, Visited};

/// The crawl looks at the clock so often, whatever happens.
pub(super) const HEARTBEAT: Span = Span::from_whole_secs(1);
/// It stood still if it did not for so long.
const STILL: Span = Span::from_whole_secs(10);

/// When the crawl was last seen to run.
pub(super) struct Pauses {
    last: Time,
    /// The end of the last suspension.
    over: Time,
    /// The clock was set, and that was told.
    is_off: bool,
}

impl Pauses {
    pub(super) fn new(now: Time) -> Self {
        Self { last: now, over: Time::MIN, is_off: false }
    }

    /// The crawl runs at this moment, after the machine was suspended for so long, if it was. What there is to tell of that.
    fn beat(&mut self, now: Time, caught_up: CaughtUp) -> Vec<String> {
        let mut told = Vec::new();
        let still = now.since(self.last);
        self.last = self.last.max(now);
        if let Some(span) = caught_up.suspended {
            self.over = now;
            told.push(format!(
                "the machine was suspended for {:.0} seconds: fetches that were under way and failed are made again",
                span.as_secs()
            ));
        } else if still >= STILL {
            told.push(format!(
                "the crawl stood still for {:.0} seconds: the process was stopped, or the machine or its disk is too busy",
                still.as_secs()
            ));
        }
        let set = match caught_up.step {
            Step::None => None,
            Step::Ahead(span) => Some((span, "forwards")),
            Step::Behind(span) => Some((span, "back")),
        };
        if let Some((span, how)) = set.filter(|_| !self.is_off) {
            told.push(format!(
                "the system's clock was set {how} by {:.0} seconds: until it is started again, this crawl counts on from the time before",
                span.as_secs()
            ));
        }
        self.is_off = set.is_some();
        told
    }

    /// Whether what came of a fetch may come of a suspension in the middle of it.
    fn explain(&self, asked: Time, seen: &Seen) -> bool {
        asked < self.over && matches!(seen, Seen::Unreachable(_) | Seen::Failed(_))
    }
}

impl Crawl {
    /// The moment. Before anything else that happened is dealt with, a suspension before it is noticed.
    pub(super) fn wake(&mut self) -> Time {
        let caught_up = self.clock.catch_up();
        let now = self.clock.now();
        if caught_up.suspended.is_some() {
            self.kit.client.drop_connections();
        }
        for sentence in self.pauses.beat(now, caught_up) {
            self.tell(|| Told::Warning(sentence));
        }
        now
    }

    /// A fetch that a suspension fell into says nothing.
    pub(super) fn forgive_pause(&self, now: Time, visited: &mut Visited) {
        if self.pauses.explain(visited.asked, &visited.seen) {
            visited.seen = Seen::Postponed(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNNING: CaughtUp = CaughtUp { suspended: None, step: Step::None };

    #[test]
    fn a_fetch_that_a_suspension_fell_into_is_no_failure() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let mut pauses = Pauses::new(at(100));
        let failed = Seen::Unreachable("timed out".to_owned());
        assert!([at(101), at(109), at(118)].iter().all(|now| pauses.beat(*now, RUNNING).is_empty()));
        assert!(!pauses.explain(at(100), &failed));
        let suspended = CaughtUp { suspended: Some(Span::from_whole_secs(3600)), ..RUNNING };
        assert!(
            pauses.beat(at(3718), suspended)[0].starts_with("the machine was suspended for 3600 seconds")
        );
        assert!(pauses.explain(at(117), &failed) && !pauses.explain(at(117), &Seen::Gone));
        assert!(!pauses.explain(at(3718), &failed));
        assert!(pauses.beat(at(3719), RUNNING).is_empty());
    }

    /// A host that fails while the machine is too busy for the crawl to look at the clock fails all the same.
    #[test]
    fn a_crawl_that_stands_still_was_not_suspended() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let mut pauses = Pauses::new(at(100));
        assert!(pauses.beat(at(115), RUNNING)[0].starts_with("the crawl stood still for 15 seconds"));
        assert!(!pauses.explain(at(101), &Seen::Unreachable("timed out".to_owned())));
    }

    #[test]
    fn a_clock_that_was_set_is_told_of_once() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let mut pauses = Pauses::new(at(100));
        for (step, how) in [(Step::Ahead as fn(Span) -> Step, "forwards"), (Step::Behind, "back")] {
            let set = CaughtUp { step: step(Span::from_whole_secs(3600)), ..RUNNING };
            let told = pauses.beat(at(101), set);
            assert!(
                told[0].starts_with(&format!("the system's clock was set {how} by 3600 seconds")),
                "{told:?}"
            );
            assert!(pauses.beat(at(102), set).is_empty());
            assert!(pauses.beat(at(103), RUNNING).is_empty());
        }
    }
}
