//! Sleepers that are about as far from mattering, and the level at which they wake.

use super::queue::Queue;
use crate::time::Time;

/// No level is lower: who is worth nothing cannot win, and sleeps until it is worth something.
pub(super) const LEAST_WORTH: f64 = f64::MIN_POSITIVE;

/// A level that may fall with time, by a known share per second: when prices fall, sleepers that know it wake in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) height: f64,
    pub(super) set: Time,
    pub(super) fall: f64,
}

impl Level {
    const LEAST: Self = Self { height: LEAST_WORTH, set: Time::MIN, fall: 0.0 };

    pub(super) fn at(&self, now: Time) -> f64 {
        if self.fall == 0.0 {
            return self.height;
        }
        (self.height * (-self.fall * now.since(self.set).as_secs()).exp()).max(LEAST_WORTH)
    }
}

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
