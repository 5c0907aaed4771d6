//! What copies earn: the chance that they are fresh, integrated.

use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};

/// A copy, and what of its page decides how stale it is: together, since memory is what takes time with millions of them.
struct State {
    importance: f64,
    /// α: changes per second that nothing announces.
    silent: f64,
    /// ln(γ/ν): what one signal adds to the exponent; infinite where no signal is ever false.
    nats: f64,
    /// When it was last looked at here, in seconds.
    since: f64,
    /// The exponent of its freshness then.
    exponent: f64,
}

impl State {
    fn fresh(page: &Belief) -> Self {
        let (told, wrong) = (page.recall() * page.change_rate(), page.false_rate());
        Self {
            importance: page.importance(),
            silent: (1.0 - page.recall()) * page.change_rate(),
            nats: if told == 0.0 { 0.0 } else { (told / wrong).ln_1p() },
            since: 0.0,
            exponent: 0.0,
        }
    }
}

/// How stale each copy may be, and what all have earned.
pub(super) struct Score {
    states: Vec<State>,
    from: f64,
    earned: f64,
    importance: f64,
}

impl Score {
    pub(super) fn new(pages: &[Belief], from: Span) -> Self {
        let importance = pages.iter().map(Belief::importance).sum();
        let states = pages.iter().map(State::fresh).collect();
        Self { states, from: from.as_secs(), earned: 0.0, importance }
    }

    /// The exponent of the freshness of a copy when it was last looked at here.
    pub(super) fn exponent(&self, page: u32) -> f64 {
        self.states[page as usize].exponent
    }

    /// Counts what the copy has earned until now.
    fn advance(&mut self, page: u32, now: f64) {
        let State { importance, silent, since, exponent, .. } = &mut self.states[page as usize];
        let silent = *silent;
        if now > self.from {
            let start = since.max(self.from);
            let fresh = (-(*exponent + silent * (start - *since))).exp();
            let length = now - start;
            // ∫ e^{-αt} dt
            let time = if silent > 0.0 { -(-silent * length).exp_m1() / silent } else { length };
            self.earned += *importance * fresh * time;
        }
        *exponent += silent * (now - *since);
        *since = now;
    }

    /// A signal has come.
    pub(super) fn signal(&mut self, page: u32, now: Time) {
        self.advance(page, seconds(now));
        let state = &mut self.states[page as usize];
        state.exponent += state.nats;
    }

    /// The page has changed: until the next fetch the copy is stale.
    pub(super) fn change(&mut self, page: u32, now: Time) {
        self.advance(page, seconds(now));
        self.states[page as usize].exponent = f64::INFINITY;
    }

    /// What all copies have earned until now: importance times seconds.
    pub(super) fn earned_until(&mut self, now: Time) -> f64 {
        for page in 0..self.states.len() as u32 {
            self.advance(page, seconds(now));
        }
        self.earned
    }

    /// Importance, of all pages together.
    pub(super) fn importance(&self) -> f64 {
        self.importance
    }

    /// The chance that a fetch finds the page changed; the copy is fresh after it.
    pub(super) fn fetch(&mut self, page: u32, now: Time) -> f64 {
        self.advance(page, seconds(now));
        let exponent = std::mem::take(&mut self.states[page as usize].exponent);
        -(-exponent).exp_m1()
    }

    /// The mean freshness of a request from the start of the score to the end.
    pub(super) fn finish(mut self, end: Span) -> f64 {
        self.earned_until(Time::ZERO + end) / (self.importance * (end.as_secs() - self.from))
    }
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs()
}
