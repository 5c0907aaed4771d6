//! When it is known what pages were worth: with the next access log.
//!
//! Readers come over hours, and the log holds those of all pages so far. Where it is known how fast the worth of pages falls, the readers
//! of a page's first minutes tell what all of them will be; so a page counts as known from the first log after its fetch.

use refrain_core::time::{Span, Time};

/// What was fetched since the last log arrived.
pub(super) struct Logs {
    every: Span,
    next: Time,
    held: Vec<(u32, f64)>,
}

impl Logs {
    /// A log arrives every so often; if that is zero, all the time.
    pub(super) fn new(start: Time, every: Span) -> Self {
        Self { every, next: start + every, held: Vec::new() }
    }

    /// A page of a hub was fetched, and was worth this.
    pub(super) fn note(&mut self, hub: u32, profit: f64) {
        self.held.push((hub, profit));
    }

    /// What the logs tell that arrived since they were asked before; `None` if that is nothing.
    pub(super) fn arrived(&mut self, now: Time) -> Option<Vec<(u32, f64)>> {
        if now < self.next {
            return None;
        }
        while self.every > Span::ZERO && self.next <= now {
            self.next = self.next + self.every;
        }
        (!self.held.is_empty()).then(|| std::mem::take(&mut self.held))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    #[test]
    fn logs_hold_back_until_they_arrive() {
        let mut logs = Logs::new(at(0), Span::from_whole_secs(10));
        logs.note(1, 2.0);
        assert_eq!(logs.arrived(at(9)), None);
        logs.note(0, 3.0);
        assert_eq!(logs.arrived(at(25)), Some(vec![(1, 2.0), (0, 3.0)]));
        logs.note(2, 4.0);
        // The log of the moment 20 has come and gone; the next one is that of 30.
        assert_eq!(logs.arrived(at(29)), None);
        assert_eq!(logs.arrived(at(30)), Some(vec![(2, 4.0)]));
        assert_eq!(logs.arrived(at(40)), None);
    }

    #[test]
    fn logs_that_arrive_all_the_time_hold_nothing_back() {
        let mut logs = Logs::new(at(5), Span::ZERO);
        assert_eq!(logs.arrived(at(5)), None);
        logs.note(1, 2.0);
        assert_eq!(logs.arrived(at(5)), Some(vec![(1, 2.0)]));
    }
}
