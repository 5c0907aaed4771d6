//! Signals a few dozen at a time: with millions of pages most of a signal is waiting for the memory of its page, and that of many can
//! be awaited at once.

use refrain_core::time::Time;

/// So many are drawn at once.
const BATCH: usize = 32;

/// Signals in the order of time, some of them drawn already.
pub(super) struct Ahead<I> {
    signals: I,
    /// The next one is the last here.
    drawn: Vec<(Time, u32)>,
}

impl<I: Iterator<Item = (Time, u32)>> Ahead<I> {
    pub(super) fn new(signals: I) -> Self {
        Self { signals, drawn: Vec::with_capacity(BATCH) }
    }

    /// When the next one comes. `announce` is told of pages some time before their signals.
    pub(super) fn next_time(&mut self, announce: impl FnMut(u32)) -> Option<Time> {
        if self.drawn.is_empty() {
            self.drawn.extend(self.signals.by_ref().take(BATCH));
            self.drawn.iter().map(|(_, page)| *page).for_each(announce);
            self.drawn.reverse();
        }
        self.drawn.last().map(|(time, _)| *time)
    }

    /// The next one, of those that were drawn.
    pub(super) fn take(&mut self) -> Option<(Time, u32)> {
        self.drawn.pop()
    }
}
