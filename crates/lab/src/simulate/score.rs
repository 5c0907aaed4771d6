//! What copies earn: the chance that they are fresh, integrated.

use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};

/// How stale each copy may be, and what all have earned.
pub(super) struct Score<'a> {
    pages: &'a [Belief],
    /// When each was last looked at here, in seconds, and the exponent of its freshness then.
    states: Vec<(f64, f64)>,
    from: f64,
    earned: f64,
    importance: f64,
}

impl<'a> Score<'a> {
    pub(super) fn new(pages: &'a [Belief], from: Span) -> Self {
        let importance = pages.iter().map(Belief::importance).sum();
        Self { pages, states: vec![(0.0, 0.0); pages.len()], from: from.as_secs(), earned: 0.0, importance }
    }

    /// The chance that the copy is stale now, after what it has earned until now was counted.
    fn advance(&mut self, page: u32, now: f64) -> f64 {
        let belief = &self.pages[page as usize];
        let (since, exponent) = &mut self.states[page as usize];
        let silent = (1.0 - belief.recall()) * belief.change_rate();
        if now > self.from {
            let start = since.max(self.from);
            let fresh = (-(*exponent + silent * (start - *since))).exp();
            let length = now - start;
            // ∫ e^{-αt} dt
            let time = if silent > 0.0 { -(-silent * length).exp_m1() / silent } else { length };
            self.earned += belief.importance() * fresh * time;
        }
        *exponent += silent * (now - *since);
        *since = now;
        -(-*exponent).exp_m1()
    }

    /// A signal has come.
    pub(super) fn signal(&mut self, page: u32, now: Time) {
        self.advance(page, seconds(now));
        let belief = &self.pages[page as usize];
        let (told, wrong) = (belief.recall() * belief.change_rate(), belief.false_rate());
        // ln(γ/ν): infinite where no signal is ever false.
        self.states[page as usize].1 += (told / wrong).ln_1p();
    }

    /// The chance that a fetch finds the page changed; the copy is fresh after it.
    pub(super) fn fetch(&mut self, page: u32, now: Time) -> f64 {
        let stale = self.advance(page, seconds(now));
        self.states[page as usize].1 = 0.0;
        stale
    }

    /// The mean freshness of a request from the start of the score to the end.
    pub(super) fn finish(mut self, end: Span) -> f64 {
        for page in 0..self.pages.len() as u32 {
            self.advance(page, end.as_secs());
        }
        self.earned / (self.importance * (end.as_secs() - self.from))
    }
}

fn seconds(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs()
}
