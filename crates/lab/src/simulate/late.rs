//! What happens to pages, in the order of time.
//!
//! Signals that come at once need no truth behind them: the chance that a copy is fresh follows from them alone. Those that come late
//! do: a signal may announce a change that a fetch has seen already, and a change may have no signal yet. So whether a signal is true
//! is drawn, and the change behind it happens at its own time. Changes that nothing announces stay a matter of chance: whatever a policy
//! knows is independent of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Poisson};
use refrain_core::page::Belief;
use refrain_core::time::{Span, Time};

use super::signals::Signals;

/// How late signals come: a Poisson number of steps after what they announce.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lateness {
    /// The mean number of steps; with 0, changes are drawn, and signals come at once.
    pub steps: f64,
    /// How long one is.
    pub step: Span,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A signal, true or false: nobody knows.
    Signal,
    /// A change, whose signal is on its way.
    Change,
    /// That signal, or a false one.
    LateSignal,
}

/// Something that happens to a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) time: Time,
    pub(super) page: u32,
    pub(super) what: What,
}

/// Everything that happens.
pub(super) enum Events<'a> {
    AtOnce(Signals<'a>),
    Late(Box<Late<'a>>),
}

impl<'a> Events<'a> {
    pub(super) fn new(
        signals: Signals<'a>,
        late: Option<Lateness>,
        pages: &'a [Belief],
        seed: u64,
    ) -> Events<'a> {
        let Some(Lateness { steps, step }) = late else { return Self::AtOnce(signals) };
        Self::Late(Box::new(Late {
            signals,
            announced: None,
            pages,
            random: ChaCha8Rng::seed_from_u64(seed ^ STREAM),
            steps: Poisson::new(steps).ok(),
            step,
            on_their_way: BinaryHeap::new(),
            sent: 0,
        }))
    }
}

/// Apart from what pages and signals are drawn from: with no delay the same signals come.
const STREAM: u64 = 0x4c61_7465_2121_2121;

/// A stream of signals, each of which is true or not, and comes later.
pub(super) struct Late<'a> {
    signals: Signals<'a>,
    /// The next one, whose change (if it is true) has not happened yet.
    announced: Option<(Time, u32)>,
    pages: &'a [Belief],
    random: ChaCha8Rng,
    steps: Option<Poisson<f64>>,
    step: Span,
    /// When it comes, in the order in which they were sent, whose it is.
    on_their_way: BinaryHeap<Reverse<(Time, u64, u32)>>,
    sent: u64,
}

impl Late<'_> {
    fn next(&mut self) -> Option<Event> {
        loop {
            if self.announced.is_none() {
                self.announced = self.signals.next();
            }
            let comes = self.on_their_way.peek().map(|Reverse((time, _, page))| (*time, *page));
            let next = match (comes, self.announced) {
                (Some((comes, page)), announced) if announced.is_none_or(|(time, _)| comes <= time) => {
                    self.on_their_way.pop();
                    return Some(Event { time: comes, page, what: What::LateSignal });
                }
                (_, announced) => announced?,
            };
            self.announced = None;
            if let Some(change) = self.send(next) {
                return Some(change);
            }
        }
    }

    /// Sends a signal on its way; the change behind it, if there is one.
    fn send(&mut self, (time, page): (Time, u32)) -> Option<Event> {
        let delay = self.steps.map_or(0.0, |steps| steps.sample(&mut self.random));
        let comes = time + Span::from_secs(delay * self.step.as_secs());
        self.on_their_way.push(Reverse((comes, self.sent, page)));
        self.sent += 1;
        let truth = &self.pages[page as usize];
        let is_true = self.random.random::<f64>() < truth.precision();
        is_true.then_some(Event { time, page, what: What::Change })
    }
}

impl Iterator for Events<'_> {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self {
            Self::AtOnce(signals) => {
                signals.next().map(|(time, page)| Event { time, page, what: What::Signal })
            }
            Self::Late(late) => late.next(),
        }
    }
}
