//! Who gets what. All that decides about it (delay, block, limit, what others have) is looked at in one step, so that no two callers get more
//! of a queue than one of them would.

use super::{ItemId, PARKED, QueueId, Queues, Seconds, second};
use crate::time::{Span, Time};

/// What somebody wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of this crawl; `None`: of any.
    pub crawl: Option<String>,
    /// Of this queue only; with any crawl, of all queues with this key.
    pub key: Option<String>,
    /// Of at most so many queues.
    pub queues: usize,
    /// At most so many of each.
    pub each: usize,
    /// At most so many in all.
    pub most: usize,
    /// They are somebody else's after this time.
    pub lease: Span,
}

/// What is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Addresses, queue by queue.
    pub items: Vec<(QueueId, Vec<ItemId>)>,
    /// Until when they are leased.
    pub until: Seconds,
}

impl Queues {
    /// Gives what is due, at most what is wanted.
    pub fn take(&mut self, now: Time, wanted: &Wanted) -> Taken {
        // Leases end at whole seconds, and none is longer than wanted.
        let until = second(now + wanted.lease).min(PARKED - 1);
        let mut taken = Taken { items: Vec::new(), until };
        if !self.active {
            return taken;
        }
        let mut left = wanted.most;
        match &wanted.key {
            Some(key) => {
                let crawls: Vec<String> = match &wanted.crawl {
                    Some(crawl) => vec![crawl.clone()],
                    None => self.crawls().map(str::to_owned).collect(),
                };
                for queue in crawls.iter().filter_map(|crawl| self.find(crawl, key)).collect::<Vec<_>>() {
                    if taken.items.len() < wanted.queues && left > 0 {
                        self.take_from(now, queue.0, wanted, &mut left, &mut taken);
                        self.ready_again(queue.0);
                    }
                }
            }
            None => self.take_in_turn(now, wanted, left, &mut taken),
        }
        taken
    }

    fn take_in_turn(&mut self, now: Time, wanted: &Wanted, mut left: usize, taken: &mut Taken) {
        let mut crawls: Vec<usize> = match &wanted.crawl {
            Some(crawl) => self.crawl_names.get(&**crawl).map(|crawl| *crawl as usize).into_iter().collect(),
            None => (0..self.crawls.len()).collect(),
        };
        let first = self.first % crawls.len().max(1);
        crawls.rotate_left(first);
        self.first = self.first.wrapping_add(1);
        // One queue of each crawl after the other, so that none waits for all of another.
        let mut asked = Vec::new();
        while !crawls.is_empty() && taken.items.len() < wanted.queues && left > 0 {
            crawls.retain(|crawl| {
                if taken.items.len() == wanted.queues || left == 0 {
                    return false;
                }
                let Some(queue) = self.next_turn(*crawl, now) else { return false };
                asked.push(queue);
                self.take_from(now, queue, wanted, &mut left, taken);
                true
            });
        }
        // Their next turns, only now: a queue without a delay has one turn in a call.
        for queue in asked {
            self.ready_again(queue);
        }
    }

    fn take_from(&mut self, now: Time, number: u32, wanted: &Wanted, left: &mut usize, taken: &mut Taken) {
        let queue = &mut self.queues[number as usize];
        queue.tidy(now, &mut self.items);
        // Who has as many as it gets at a time has enough to do.
        if queue.polite_from(self.delay) > now || queue.leased as usize >= wanted.each {
            return;
        }
        let most = wanted.each.min(*left).min(queue.allowed() as usize);
        let mut given = Vec::new();
        while given.len() < most {
            let Some(id) = queue.pop_due(now, &mut self.items) else { break };
            self.items[id as usize].lease = taken.until;
            queue.leased += 1;
            if queue.count(id) {
                self.counted.push((QueueId(number), ItemId(id)));
            }
            queue.lend(taken.until, id);
            given.push(ItemId(id));
        }
        if !given.is_empty() {
            *left -= given.len();
            queue.manners.served = Some(now);
            taken.items.push((QueueId(number), given));
        }
    }
}
