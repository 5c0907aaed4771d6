//! What fetches of new pages earn.

use refrain_core::time::{Span, Time};

use super::world::{HubWorld, Item};

/// What came of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Run {
    /// Σ P e^{-δ·delay} over the new pages that were fetched, per second.
    pub profit: f64,
    /// The same as a share of what all links that appeared were worth when they were new.
    pub share: f64,
    /// Visits to hubs.
    pub visits: u64,
    /// New pages fetched.
    pub fetched: u64,
    /// Slots in which the policy had nothing to fetch.
    pub lost: u64,
    /// From the appearance of a link to its fetch, in seconds, on average over those that were fetched.
    pub delay: f64,
}

/// Counts as it goes. Everything before `from` is for warming up: profit and delays do not count.
pub(super) struct Score {
    from: Time,
    seconds: f64,
    possible: f64,
    earned: f64,
    delays: f64,
    delayed: u64,
    run: Run,
}

impl Score {
    pub(super) fn new(world: &HubWorld, from: Span) -> Self {
        let from = world.start + from;
        Self {
            from,
            seconds: world.end().since(from).as_secs(),
            possible: world.profit_from(from),
            earned: 0.0,
            delays: 0.0,
            delayed: 0,
            run: Run::default(),
        }
    }

    pub(super) fn lost(&mut self) {
        self.run.lost += 1;
    }

    pub(super) fn visit(&mut self) {
        self.run.visits += 1;
    }

    pub(super) fn fetch(&mut self, now: Time, item: &Item, decay: f64) {
        self.run.fetched += 1;
        if now >= self.from {
            self.earned += item.worth(now, decay);
            self.delays += now.since(item.born).as_secs();
            self.delayed += 1;
        }
    }

    pub(super) fn finish(self) -> Run {
        Run {
            profit: self.earned / self.seconds,
            // Nothing could be earned: nothing was missed.
            share: if self.possible > 0.0 { self.earned / self.possible } else { 1.0 },
            delay: self.delays / self.delayed.max(1) as f64,
            ..self.run
        }
    }
}
