//! How fresh copies are as time goes by.

use refrain_core::time::{Span, Time};

use super::score::Score;

/// The mean freshness in each stretch of time.
pub(super) struct Series {
    every: Option<Span>,
    /// The end of the stretch.
    next: Time,
    before: f64,
    freshness: Vec<f64>,
}

impl Series {
    pub(super) fn new(every: Option<Span>) -> Self {
        let every = every.filter(|every| *every > Span::ZERO);
        let next = every.map_or(Time::MAX, |every| Time::ZERO + every);
        Self { every, next, before: 0.0, freshness: Vec::new() }
    }

    /// Everything before `now` has happened.
    pub(super) fn reach(&mut self, now: Time, score: &mut Score) {
        while let Some(every) = self.every
            && self.next <= now
        {
            let earned = score.earned_until(self.next);
            self.freshness.push((earned - self.before) / (score.importance() * every.as_secs()));
            self.before = earned;
            self.next = self.next + every;
        }
    }

    pub(super) fn finish(self) -> Vec<f64> {
        self.freshness
    }
}
