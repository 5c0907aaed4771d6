//! How many there are.

use super::{QueueId, Queues};
use crate::time::Time;

/// How many there are, of a queue or of several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Not completed.
    pub waiting: u64,
    /// Somebody has them.
    pub leased: u64,
    /// Completed.
    pub completed: u64,
    /// Queues.
    pub queues: u64,
    /// Queues with something that is not completed, and not blocked.
    pub active: u64,
}

impl Queues {
    /// How many there are in these queues.
    pub fn tally(&mut self, now: Time, queues: &[QueueId]) -> Tally {
        let mut sum = Tally::default();
        for queue in queues {
            let queue = &mut self.queues[queue.0 as usize];
            queue.tidy(now, &mut self.items);
            sum.waiting += queue.len() as u64 - u64::from(queue.completed);
            sum.leased += u64::from(queue.leased);
            sum.completed += u64::from(queue.completed);
            sum.queues += 1;
            sum.active += u64::from(queue.is_active(now));
        }
        sum
    }

    /// Whether something of a queue may be given at some time, unless it is blocked now.
    pub fn is_queue_active(&self, now: Time, queue: QueueId) -> bool {
        self.queues[queue.0 as usize].is_active(now)
    }

    /// How many addresses there are.
    pub fn len(&self) -> usize {
        self.by_print.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_print.is_empty()
    }
}
