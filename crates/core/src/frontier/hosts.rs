//! Politeness: when a host may be asked again.

use super::orders::Started;
use crate::time::{Span, Time};

/// How a host wants to be treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manners {
    /// The least time between the starts of two requests.
    pub gap: Span,
    /// The most requests at the same time.
    pub in_flight: u16,
    /// The gap is at least this many times what the host takes to answer: who is slow is asked less often. 0: no matter.
    pub patience: f32,
}

impl Default for Manners {
    fn default() -> Self {
        Self { gap: Span::ZERO, in_flight: 1, patience: 0.0 }
    }
}

/// How much of the past a mean response time remembers.
const MEMORY: f32 = 0.8;

/// A host, and what was asked of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// How it wants to be treated.
    pub manners: Manners,
    /// When the last request to it started.
    pub last_start: Option<Time>,
    /// Not before this moment, for whatever reason.
    pub back_off: Time,
    /// How long it takes to answer, in seconds, the recent more than the old; 0 before the first answer.
    pub response: f32,
    /// Requests under way.
    pub in_flight: u16,
    /// Not asked for anything until that is taken back: it is not known yet which groups it is in.
    pub held: bool,
}

impl Host {
    pub(super) fn new(manners: Manners) -> Self {
        Self { manners, last_start: None, back_off: Time::MIN, response: 0.0, in_flight: 0, held: false }
    }

    pub(super) fn set_manners(&mut self, manners: Manners) {
        self.manners = manners;
    }

    /// Not before this moment, for whatever reason.
    pub(super) fn back_off(&mut self, until: Time) {
        self.back_off = until;
    }

    /// The gap that is kept: what was asked for, or more if the host is slow.
    pub(super) fn gap(&self) -> Span {
        self.manners.gap.max(Span::from_secs(f64::from(self.manners.patience * self.response)))
    }

    /// When it may be asked next; [`Time::MAX`] while it is held, or there are as many requests as it allows.
    pub(super) fn ready_at(&self) -> Time {
        if self.held || self.in_flight >= self.manners.in_flight.max(1) {
            return Time::MAX;
        }
        self.polite_from().max(self.back_off)
    }

    /// When the gap since the last request is over.
    pub(super) fn polite_from(&self) -> Time {
        self.last_start.map_or(Time::MIN, |start| start + self.gap())
    }

    /// The request that began with this order was not made.
    pub(super) fn take_back(&mut self, started: Option<Started>) {
        if let Some(Started { at, before }) = started
            && self.last_start == Some(at)
        {
            self.last_start = before;
        }
    }

    pub(super) fn start(&mut self, now: Time) {
        self.last_start = Some(now);
        self.in_flight += 1;
    }

    /// A request is over, with this response time if there was a response.
    pub(super) fn finish(&mut self, response: Option<Span>) {
        self.in_flight = self.in_flight.saturating_sub(1);
        if let Some(response) = response {
            let seconds = response.as_secs() as f32;
            self.response = if self.response == 0.0 {
                seconds
            } else {
                MEMORY * self.response + (1.0 - MEMORY) * seconds
            };
        }
    }
}
