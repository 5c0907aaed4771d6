//! Sleepers that are about as far from mattering, and the level at which they wake.

use super::level::Level;
use super::queue::Queue;
use crate::time::Time;

#[derive(Clone, Debug)]
pub(super) struct Tier {
    /// Its sleepers wake before their values reach this.
    pub(super) level: Level,
    /// Everyone who came to sleep here; some have left since.
    pub(super) came: Vec<u32>,
    pub(super) count: usize,
    /// How many there should be.
    pub(super) size: usize,
    /// The level under it is raised when there are more than this,
    most: usize,
    /// or more than it should hold and so many have come since they were all alike.
    patience: usize,
    pub(super) queue: Queue,
    /// When its entries are more than this, those of sleepers that were moved are swept out.
    sweep_at: usize,
}

/// Fewer entries are never swept.
const SWEEP: usize = 1024;

impl Tier {
    pub(super) fn new(queue: Queue) -> Self {
        Self {
            level: Level::LEAST,
            came: Vec::new(),
            count: 0,
            size: 0,
            most: usize::MAX,
            patience: usize::MAX,
            queue,
            sweep_at: SWEEP,
        }
    }

    /// So many stay when there are too many,
    pub(super) fn kept(&self) -> usize {
        self.size / 2
    }

    /// so many come when there are none.
    pub(super) fn filled(&self) -> usize {
        self.size + self.size / 2
    }

    /// Whether it holds fewer than it should.
    pub(super) fn has_room(&self) -> bool {
        self.count < self.size
    }

    /// It should hold so many.
    pub(super) fn set_size(&mut self, size: usize) {
        self.size = size;
        self.differ();
    }

    /// There is something to tell them apart by.
    pub(super) fn differ(&mut self) {
        (self.most, self.patience) = (2 * self.size, usize::MAX);
    }

    /// There is nothing to tell these many apart by, for now. That costs a look at each: it is tried again when there are twice as many,
    /// or as many have come and gone.
    pub(super) fn are_alike(&mut self, count: usize) {
        (self.most, self.patience) = (2 * count, count);
    }

    /// Someone has come. Whether there are too many now.
    pub(super) fn overflows(&mut self) -> bool {
        self.patience = self.patience.saturating_sub(1);
        self.count > self.most || (self.patience == 0 && self.count > 2 * self.size)
    }

    /// Someone is to wake then.
    pub(super) fn push(&mut self, id: u32, wake: Time, now: Time, until: impl Fn(u32) -> Option<Time>) {
        self.queue.push(wake, id);
        if self.queue.entries() > self.sweep_at {
            // Twice as many as after the last time: some are of those that were moved.
            self.queue.sweep(now, until);
            self.sweep_at = 2 * self.queue.entries() + SWEEP;
        }
    }

    /// Forgets everyone; they will be placed anew.
    pub(super) fn clear(&mut self, level: Level) {
        (self.level, self.count) = (level, 0);
        self.came.clear();
        self.queue.sweep(level.set, |_| None);
    }
}
