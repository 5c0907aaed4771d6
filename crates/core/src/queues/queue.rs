//! The addresses of one key, and when they may be given.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::item::Item;
use super::{PARKED, QueueId, Seconds, moment};
use crate::time::{Span, Time};

/// How a queue is treated: what must outlive the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Manners {
    /// Between two turns; `None`: as all others.
    pub delay: Option<Span>,
    /// Nothing is given before.
    pub blocked_until: Option<Time>,
    /// At most so many are completed or given, each counted once; then nothing more is given. `None`: any number.
    pub limit: Option<u32>,
    /// The last turn in which something was given.
    pub served: Option<Time>,
}

/// What is to be kept of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueFacts {
    /// Its number.
    pub id: QueueId,
    /// The crawl.
    pub crawl: String,
    /// The key within the crawl.
    pub key: String,
    /// How it is treated.
    pub manners: Manners,
}

/// Whether so many entries, most of which do not count any more, are too many for what they are about: those that count are then kept alone,
/// which costs as much as they did.
pub(super) fn is_overgrown(entries: usize, about: usize) -> bool {
    entries > 2 * about + 64
}

/// Addresses, by dates.
type Entries = BinaryHeap<Reverse<(Seconds, u32)>>;

#[derive(Debug)]
pub(super) struct Queue {
    pub(super) crawl: u32,
    pub(super) key: Box<str>,
    pub(super) manners: Manners,
    /// Nothing is given before, whatever is said of the queue: what is in it is on a host that is not asked. Not kept over a restart.
    pub(super) rests_until: Time,
    /// All of its addresses, in the order in which they came; those that were removed until the next sweep.
    pub(super) items: Vec<u32>,
    pub(super) removed: u32,
    pub(super) completed: u32,
    /// With a limit: those that count, since they were completed or given, each once.
    pub(super) used: HashSet<u32>,
    /// How many somebody has, some for too long already.
    pub(super) leased: u32,
    /// Addresses by their dates. What was superseded is passed over when it comes up.
    due: Entries,
    leases: Entries,
    /// Its entry in the rotation that counts, and when that is.
    pub(super) version: u32,
    pub(super) turn: Option<Time>,
}

impl Queue {
    pub(super) fn new(crawl: u32, key: Box<str>) -> Self {
        Self {
            crawl,
            key,
            manners: Manners::default(),
            rests_until: Time::MIN,
            items: Vec::new(),
            removed: 0,
            completed: 0,
            used: HashSet::new(),
            leased: 0,
            due: BinaryHeap::new(),
            leases: BinaryHeap::new(),
            version: 0,
            turn: None,
        }
    }

    /// It is a new one: whether it counts under a limit.
    pub(super) fn enter(&mut self, id: u32, item: Item) -> bool {
        self.items.push(id);
        if item.due == 0 {
            self.completed += 1;
            return self.count(id);
        }
        if item.due != PARKED {
            self.wait_until(item.due, id);
        }
        false
    }

    pub(super) fn wait_until(&mut self, due: Seconds, id: u32) {
        self.due.push(Reverse((due, id)));
    }

    pub(super) fn lend(&mut self, until: Seconds, id: u32) {
        self.leases.push(Reverse((until, id)));
    }

    /// How it is treated from now on. What is completed or somebody has counts from the beginning of a limit: whether one begins.
    pub(super) fn set_manners(&mut self, own: u32, manners: Manners, items: &[Item]) -> bool {
        let begins = self.manners.limit.is_none() && manners.limit.is_some();
        match (self.manners.limit, manners.limit) {
            (_, None) => self.used.clear(),
            (None, Some(_)) => {
                let counts = |id: &&u32| {
                    let item = &items[**id as usize];
                    item.queue == own && (item.due == 0 || item.lease != 0)
                };
                self.used = self.items.iter().filter(counts).copied().collect();
            }
            (Some(_), Some(_)) => {}
        }
        self.manners = manners;
        begins
    }

    /// Under a limit, an address is completed or given: whether it counts since now.
    pub(super) fn count(&mut self, id: u32) -> bool {
        self.manners.limit.is_some() && self.used.insert(id)
    }

    /// Takes back what was kept for too long, and passes over what was superseded.
    pub(super) fn tidy(&mut self, now: Time, items: &mut [Item]) {
        if is_overgrown(self.due.len(), self.items.len()) {
            let waits = |due, item: &Item| item.due == due && item.lease == 0;
            self.due = alone(std::mem::take(&mut self.due), items, waits);
        }
        if is_overgrown(self.leases.len(), self.items.len()) {
            self.leases = alone(std::mem::take(&mut self.leases), items, |until, item| item.lease == until);
        }
        while let Some(Reverse((until, id))) = self.leases.peek().copied() {
            let item = &mut items[id as usize];
            let counts = item.lease == until;
            if counts && moment(until) > now {
                break;
            }
            self.leases.pop();
            if counts {
                item.lease = 0;
                self.leased -= 1;
                self.due.push(Reverse((item.due, id)));
            }
        }
        while let Some(Reverse((due, id))) = self.due.peek().copied() {
            let item = &items[id as usize];
            if item.due == due && item.lease == 0 {
                break;
            }
            self.due.pop();
        }
    }

    /// The next address that is due.
    pub(super) fn pop_due(&mut self, now: Time, items: &mut [Item]) -> Option<u32> {
        self.tidy(now, items);
        let Reverse((due, id)) = self.due.peek().copied()?;
        (moment(due) <= now).then(|| {
            self.due.pop();
            id
        })
    }

    /// The first moment at which something may be given, if nothing is said before.
    pub(super) fn ready_at(&self, default_delay: Span) -> Option<Time> {
        if self.allowed() == 0 {
            return None;
        }
        let due = self.due.peek().map(|Reverse((due, _))| *due);
        let lease = self.leases.peek().map(|Reverse((until, _))| *until);
        let first = moment(due.into_iter().chain(lease).min()?);
        Some(first.max(self.polite_from(default_delay)))
    }

    /// The first moment at which it may be asked, whatever is in it.
    pub(super) fn polite_from(&self, default_delay: Span) -> Time {
        let delay = self.manners.delay.unwrap_or(default_delay);
        let polite = self.manners.served.map_or(Time::MIN, |served| served + delay);
        polite.max(self.manners.blocked_until.unwrap_or(Time::MIN)).max(self.rests_until)
    }

    /// How many may still be given under its limit.
    pub(super) fn allowed(&self) -> u32 {
        self.manners.limit.map_or(u32::MAX, |limit| limit.saturating_sub(self.used.len() as u32))
    }

    /// Whether something is left to be given, and it is not blocked.
    pub(super) fn is_active(&self, now: Time) -> bool {
        self.len() > self.completed as usize
            && self.manners.blocked_until.is_none_or(|until| until <= now)
            && self.allowed() > 0
    }

    pub(super) fn len(&self) -> usize {
        self.items.len() - self.removed as usize
    }

    /// How much is remembered about when.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.due.len() + self.leases.len()
    }

    pub(super) fn forget_removed(&mut self, own: u32, items: &[Item]) {
        self.items.retain(|id| items[*id as usize].queue == own);
        self.removed = 0;
        self.used.retain(|id| items[*id as usize].queue == own);
        let there = |Reverse((_, id)): &Reverse<(Seconds, u32)>| items[*id as usize].queue == own;
        self.due.retain(there);
        self.leases.retain(there);
    }
}

/// Entries that count, each once.
fn alone(entries: Entries, items: &[Item], counts: impl Fn(Seconds, &Item) -> bool) -> Entries {
    let mut entries = entries.into_vec();
    entries.retain(|Reverse((date, id))| counts(*date, &items[*id as usize]));
    entries.sort_unstable();
    entries.dedup();
    entries.into()
}
