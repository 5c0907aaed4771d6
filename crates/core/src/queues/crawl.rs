//! The queues of a crawl, in rotation: whoever may be asked for the longest time is next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::Queues;
use super::queue::is_overgrown;
use crate::time::Time;

#[derive(Debug)]
pub(super) struct Crawl {
    pub(super) name: Box<str>,
    pub(super) keys: HashMap<Box<str>, u32>,
    /// When queues may be asked, in the order in which that was found out; an entry counts if it is the queue's last one.
    pub(super) rotation: BinaryHeap<Reverse<Turn>>,
    /// How many addresses there are in all of its queues, and how many of them are completed.
    pub(super) items: u64,
    pub(super) completed: u64,
}

/// When it is a queue's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn {
    pub(super) at: Time,
    order: u64,
    pub(super) queue: u32,
    pub(super) version: u32,
}

impl Crawl {
    pub(super) fn new(name: Box<str>) -> Self {
        Self { name, keys: HashMap::new(), rotation: BinaryHeap::new(), items: 0, completed: 0 }
    }
}

impl Queues {
    /// Something about a queue has changed: it has another turn.
    pub(super) fn ready_again(&mut self, number: u32) {
        let queue = &mut self.queues[number as usize];
        let at = queue.ready_at(self.delay);
        if at == queue.turn {
            return;
        }
        queue.turn = at;
        queue.version += 1;
        let (crawl, version) = (queue.crawl as usize, queue.version);
        if let Some(at) = at {
            self.turns += 1;
            let Crawl { keys, rotation, .. } = &mut self.crawls[crawl];
            rotation.push(Reverse(Turn { at, order: self.turns, queue: number, version }));
            if is_overgrown(rotation.len(), keys.len()) {
                rotation.retain(|turn| self.queues[turn.0.queue as usize].version == turn.0.version);
            }
        }
    }

    /// The next queue of a crawl that may be asked now; it has no turn any more until that is said.
    pub(super) fn next_turn(&mut self, crawl: usize, now: Time) -> Option<u32> {
        loop {
            let turn = self.crawls[crawl].rotation.peek()?.0;
            let queue = &mut self.queues[turn.queue as usize];
            let counts = queue.version == turn.version;
            if counts && turn.at > now {
                return None;
            }
            self.crawls[crawl].rotation.pop();
            if counts {
                queue.turn = None;
                queue.version += 1;
                return Some(turn.queue);
            }
        }
    }
}
