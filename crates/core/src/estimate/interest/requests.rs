//! μ: requests per second, counted with exponential forgetting.
//!
//! A request that is `memory` old counts 1/e. The observed time is decayed alike, so the estimate is right from the start;
//! a prior rate counts as much as `memory` would leave of one thousandth of it, so that a page nobody has asked for yet is
//! not worth nothing.

use crate::time::{Span, Time};

/// The share of the memory that the prior is worth.
const PRIOR_SHARE: f64 = 1e-3;

/// A count of requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Requests {
    count: f64,
    /// Decayed seconds of watching.
    watched: f64,
    last: Time,
}

impl Requests {
    /// Watching begins.
    pub fn watched_from(start: Time) -> Self {
        Self { count: 0.0, watched: 0.0, last: start }
    }

    /// So many requests at this moment. A moment before the last one counts as the last one.
    pub fn add(&mut self, now: Time, requests: u32, memory: Span) {
        self.advance(now, memory);
        self.count += f64::from(requests);
    }

    /// The rate at this moment, leaning on a prior rate while little is known.
    pub fn rate(&self, now: Time, memory: Span, prior: f64) -> f64 {
        let mut here = *self;
        here.advance(now, memory);
        let weight = PRIOR_SHARE * memory.as_secs().max(f64::MIN_POSITIVE);
        (here.count + weight * prior) / (here.watched + weight)
    }

    fn advance(&mut self, now: Time, memory: Span) {
        let elapsed = now.since(self.last).as_secs();
        let memory = memory.as_secs().max(f64::MIN_POSITIVE);
        let kept = (-elapsed / memory).exp();
        self.count *= kept;
        // ∫ e^{-s/memory} ds over what is new, and the old decayed.
        self.watched = self.watched * kept - memory * (-elapsed / memory).exp_m1();
        self.last = self.last.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time::from_nanos(seconds * 1_000_000_000)
    }

    #[test]
    fn a_steady_rate_is_found_and_a_new_one_followed() {
        let memory = Span::from_whole_secs(1000);
        let mut page = Requests::watched_from(at(0));
        assert_eq!(page.rate(at(0), memory, 0.25), 0.25);
        (1..=100).for_each(|i| page.add(at(10 * i), 2, memory));
        assert!((page.rate(at(1000), memory, 0.25) / 0.2 - 1.0).abs() < 0.02);
        (1..=1000).for_each(|i| page.add(at(1000 + 10 * i), 8, memory));
        assert!((page.rate(at(11_000), memory, 0.25) / 0.8 - 1.0).abs() < 0.02);
        // Nobody asks any more.
        assert!(page.rate(at(31_000), memory, 0.0) < 1e-8);
        // A clock that runs backwards loses nothing.
        let before = page.rate(at(11_000), memory, 0.0);
        page.add(at(10), 0, memory);
        assert_eq!(page.rate(at(11_000), memory, 0.0), before);
    }
}
