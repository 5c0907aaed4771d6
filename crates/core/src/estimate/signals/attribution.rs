//! Which interval a signal belongs to.
//!
//! A signal that arrives shortly after a fetch announces a change that the fetch saw: it belongs to the interval before.
//! So the last interval stays open for a while, and is learned from when no late signal can come any more.

use crate::estimate::observation::{Answer, Observation, ObservationError};
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// The signals of one kind on one page, each put where it belongs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attribution {
    since: SinceFetch,
    /// The interval before the last fetch, open for late signals.
    pending: Option<Observation>,
}

impl Attribution {
    /// A page that was first fetched at this moment.
    pub fn fetched_at(now: Time) -> Self {
        Self { since: SinceFetch::fetched_at(now), pending: None }
    }

    /// A signal arrived. Within `delay` of the last fetch it counts for the interval before.
    pub fn signal(&mut self, now: Time, delay: Span) {
        if !self.since.signal(now, delay) {
            self.pending = self.pending.map(Observation::with_late_signal);
        }
    }

    /// Signals since the last fetch that count.
    pub fn signals(&self) -> u32 {
        self.since.signals()
    }

    /// The page was looked at again. Gives the interval before the last, now complete.
    ///
    /// # Errors
    /// If the clock ran backwards; nothing is changed then.
    pub fn fetched(&mut self, now: Time, answer: Answer) -> Result<Option<Observation>, ObservationError> {
        let seen = Observation::between(self.since.fetched(), now, self.since.signals(), answer)?;
        self.since = SinceFetch::fetched_at(now);
        Ok(self.pending.replace(seen))
    }

    /// The last interval, if no late signal can come any more.
    pub fn settle(&mut self, now: Time, delay: Span) -> Option<Observation> {
        if now > self.since.fetched() + delay { self.pending.take() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn late_signals_count_for_the_interval_before() {
        let delay = Span::from_whole_secs(10);
        let mut page = Attribution::fetched_at(at(0));
        page.signal(at(5), delay); // announces the first version: of no interval
        page.signal(at(50), delay);
        assert_eq!(page.fetched(at(100), Answer::Changed), Ok(None));
        assert_eq!(page.signals(), 0);
        page.signal(at(105), delay); // late
        page.signal(at(160), delay);
        assert_eq!(page.settle(at(108), delay), None);
        let first = page.fetched(at(200), Answer::Unchanged).unwrap().unwrap();
        assert_eq!((first.elapsed(), first.signals(), first.changed()), (100.0, 2, true));
        let second = page.settle(at(211), delay).unwrap();
        assert_eq!((second.elapsed(), second.signals(), second.changed()), (100.0, 1, false));
        assert_eq!(page.settle(at(300), delay), None);
        assert_eq!(page.fetched(at(150), Answer::Changed), Err(ObservationError::Backwards));
    }
}
