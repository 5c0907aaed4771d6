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
    /// The level under it is raised when there are more than this.
    pub(super) most: usize,
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
