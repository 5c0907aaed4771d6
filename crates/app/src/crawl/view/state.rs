//! What the view has heard so far: bounded, however long the crawl.

use std::collections::VecDeque;

use refrain_core::time::{Span, Time};
use refrain_engine::{Pulse, Told};
use refrain_store::{Outcome, Role};

/// Visits that are still shown.
const VISITS: usize = 200;
/// Pulses that are remembered, one a second.
const PULSES: usize = 300;
/// "Per minute".
const MINUTE: Span = Span::from_whole_secs(60);
/// The rate at which the budget is used is that of the last seconds.
const USED: usize = 10;

/// What the view has heard so far.
#[derive(Default)]
pub(crate) struct State {
    began: Option<Time>,
    /// The latest visits, the last one first.
    pub(super) visits: VecDeque<Told>,
    /// The latest pulses, the last one first.
    pub(super) pulses: VecDeque<Pulse>,
    changes: VecDeque<Time>,
    now: Option<Time>,
    /// The last thing that was not as it should be.
    pub(super) warning: Option<String>,
    /// Where it can be watched in a browser, if it can.
    pub(super) board: Option<String>,
}

impl State {
    /// Before anything is known; where it can be watched in a browser, if it can.
    pub(crate) fn watched_at(board: Option<String>) -> Self {
        Self { board, ..Self::default() }
    }

    pub(crate) fn hear(&mut self, told: Told) {
        match told {
            Told::Looked { time, outcome, role, .. } => {
                if outcome == Outcome::Changed && role == Role::Page {
                    self.changes.push_back(time);
                }
                self.visits.truncate(VISITS - 1);
                self.visits.push_front(told);
            }
            Told::Pulse(pulse) => {
                self.began.get_or_insert(pulse.time);
                self.now = Some(pulse.time);
                while self.changes.front().is_some_and(|time| pulse.time.since(*time) > MINUTE) {
                    self.changes.pop_front();
                }
                self.pulses.truncate(PULSES - 1);
                self.pulses.push_front(*pulse);
            }
            Told::Warning(sentence) => self.warning = Some(sentence),
            Told::Announced { .. } | Told::Changes(_) | Told::Hub { .. } | Told::Missed(_) => {}
        }
    }

    /// How long it has been going on.
    pub(super) fn age(&self) -> Span {
        match (self.began, self.now) {
            (Some(began), Some(now)) => now.since(began),
            _ => Span::ZERO,
        }
    }

    pub(super) fn changes_per_minute(&self) -> usize {
        self.changes.len()
    }

    /// Requests per second, lately.
    pub(super) fn used(&self) -> Option<f64> {
        let now = self.pulses.front()?;
        let then = self.pulses.get(USED.min(self.pulses.len() - 1))?;
        let seconds = now.time.since(then.time).as_secs();
        (seconds > 0.0).then(|| (now.summary.requests - then.summary.requests) as f64 / seconds)
    }

    /// Freshness in percent, for a small picture, the oldest first.
    pub(super) fn freshness(&self, most: usize) -> Vec<u64> {
        let shares = self.pulses.iter().take(most).map(|pulse| pulse.freshness.unwrap_or(0.0));
        shares.map(|share| (100.0 * share).round() as u64).rev().collect()
    }
}
