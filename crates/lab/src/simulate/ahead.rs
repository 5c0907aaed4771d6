//! What happens, a few dozen events at a time: with millions of pages most of a signal is waiting for the memory of its page, and that of many can
//! be awaited at once.

use refrain_core::time::Time;

use super::late::Event;

/// So many are drawn at once.
const BATCH: usize = 32;

/// Events in the order of time, some of them drawn already.
pub(super) struct Ahead<I> {
    events: I,
    /// The next one is the last here.
    drawn: Vec<Event>,
}

impl<I: Iterator<Item = Event>> Ahead<I> {
    pub(super) fn new(events: I) -> Self {
        Self { events, drawn: Vec::with_capacity(BATCH) }
    }

    /// When the next one comes. `announce` is told of pages some time before their events.
    pub(super) fn next_time(&mut self, announce: impl FnMut(u32)) -> Option<Time> {
        if self.drawn.is_empty() {
            self.drawn.extend(self.events.by_ref().take(BATCH));
            self.drawn.iter().map(|event| event.page).for_each(announce);
            self.drawn.reverse();
        }
        self.drawn.last().map(|event| event.time)
    }

    /// The next one, of those that were drawn.
    pub(super) fn take(&mut self) -> Option<Event> {
        self.drawn.pop()
    }
}
