//! Queues of addresses for crawlers that fetch by themselves: each address has a date, each queue its manners. A state machine without a
//! clock, like the [frontier](crate::frontier): `now` is an argument, and what must outlive the process is told to whoever drives it.
//!
//! An address is *due* from its date on, *leased* to whoever was given it until that ends or news of it come, or *completed*: never again.
//! A queue gives at most so many at a time, then nothing until its delay is over. Texts are not kept here: an address is known by a
//! fingerprint, so ten million of them fit into a gigabyte.
//!
//! - `item`: an address; `queue`: those of one key, and when it may be asked; `crawl`: queues in rotation
//! - `take`: who gets what; `tally`: how many there are; `shown`: a few of them at a time, for people

mod crawl;
mod item;
mod queue;
mod shown;
mod take;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::ids::IdMap;
use crate::time::{Span, Time};
use crawl::Crawl;
use item::Item;
use queue::Queue;

pub use item::{ItemId, Whole};
pub use queue::{Manners, QueueFacts};
pub use shown::{CrawlNow, QueueNow};
pub use take::{Taken, Wanted};
pub use tally::Tally;

/// A queue, by its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId(pub u32);

/// Whole seconds since 1970: the unit of dates in this world. 0 means never again.
pub type Seconds = u32;

/// What is said of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It exists.
    Discovered,
    /// It was looked at, and is due again from this date on; 0: never.
    Known(Seconds),
    /// It waits for somebody else to decide when it is due.
    Parked,
}

/// What became of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Became {
    /// It was not there, and is now.
    New(ItemId),
    /// It was there, and has this date now.
    Updated(ItemId),
    /// It was there already, and is left as it was.
    Ignored(ItemId),
    /// There are as many as fit.
    Full,
}

/// The date of an address that waits for somebody else to decide: later than any other.
pub const PARKED: Seconds = Seconds::MAX;

/// Crawls, their queues, and what is in them.
#[derive(Debug)]
pub struct Queues {
    crawls: Vec<Crawl>,
    crawl_names: HashMap<Box<str>, u32>,
    queues: Vec<Queue>,
    items: Vec<Item>,
    /// Numbers of addresses that are gone, to be used again.
    vacant: Vec<u32>,
    by_print: IdMap<u64, u32>,
    /// What counts under limits since whoever drives this was told of it.
    counted: Vec<(QueueId, ItemId)>,
    /// Between two turns of a queue that has no delay of its own.
    delay: Span,
    active: bool,
    /// The next crawl that goes first, where all are asked.
    first: usize,
    turns: u64,
}

impl Default for Queues {
    fn default() -> Self {
        Self {
            crawls: Vec::new(),
            crawl_names: HashMap::new(),
            queues: Vec::new(),
            // Numbers begin with 1, as rows in databases do.
            items: vec![Item::GONE],
            vacant: Vec::new(),
            by_print: IdMap::default(),
            counted: Vec::new(),
            delay: Span::from_whole_secs(1),
            active: true,
            first: 0,
            turns: 0,
        }
    }
}

/// The whole second that a moment is in.
pub fn second(now: Time) -> Seconds {
    Seconds::try_from(now.as_nanos().max(0) / 1_000_000_000).unwrap_or(PARKED - 1)
}

fn moment(second: Seconds) -> Time {
    Time::ZERO + Span::from_whole_secs(second.into())
}

impl Queues {
    /// The queue with this key, if it is there.
    pub fn find(&self, crawl: &str, key: &str) -> Option<QueueId> {
        let crawl = *self.crawl_names.get(crawl)?;
        self.crawls[crawl as usize].keys.get(key).map(|queue| QueueId(*queue))
    }

    /// The queue with this key, made if it is not there; whether it was made.
    pub fn open(&mut self, crawl: &str, key: &str) -> (QueueId, bool) {
        if let Some(queue) = self.find(crawl, key) {
            return (queue, false);
        }
        let place = self.crawl(crawl);
        let queue = self.queues.len() as u32;
        self.queues.push(Queue::new(place, key.into()));
        self.crawls[place as usize].keys.insert(key.into(), queue);
        (QueueId(queue), true)
    }

    fn crawl(&mut self, name: &str) -> u32 {
        if let Some(place) = self.crawl_names.get(name) {
            return *place;
        }
        let place = self.crawls.len() as u32;
        self.crawls.push(Crawl::new(name.into()));
        self.crawl_names.insert(name.into(), place);
        place
    }

    /// Something is said of an address of a queue; `print` is its fingerprint, which must be another one in another queue. A new one came
    /// when it is said to, or now.
    pub fn put(
        &mut self,
        now: Time,
        queue: QueueId,
        print: u64,
        said: Said,
        created: Option<Seconds>,
    ) -> Became {
        let due = match said {
            Said::Discovered => second(now).max(1),
            Said::Known(due) => due.min(PARKED - 1),
            Said::Parked => PARKED,
        };
        if let Some(id) = self.by_print.get(&print).copied() {
            if said == Said::Discovered {
                return Became::Ignored(ItemId(id));
            }
            self.set_due(now, id, due);
            return Became::Updated(ItemId(id));
        }
        let Some(id) = self.room() else { return Became::Full };
        self.fill(
            id,
            queue,
            Item { queue: queue.0, due, created: created.unwrap_or(second(now)), lease: 0, print },
        );
        self.ready_again(queue.0);
        Became::New(ItemId(id))
    }

    fn room(&mut self) -> Option<u32> {
        self.vacant.pop().or_else(|| {
            let id = u32::try_from(self.items.len()).ok().filter(|id| *id < u32::MAX)?;
            self.items.push(Item::GONE);
            Some(id)
        })
    }

    fn fill(&mut self, id: u32, queue: QueueId, item: Item) {
        self.by_print.insert(item.print, id);
        self.items[id as usize] = item;
        let it = &mut self.queues[queue.0 as usize];
        if it.enter(id, item) {
            self.counted.push((queue, ItemId(id)));
        }
        let crawl = &mut self.crawls[it.crawl as usize];
        crawl.items += 1;
        crawl.completed += u64::from(item.due == 0);
    }

    /// An address has another date; whoever had it has brought it back.
    fn set_due(&mut self, now: Time, id: u32, due: Seconds) {
        let item = &mut self.items[id as usize];
        let queue = &mut self.queues[item.queue as usize];
        if item.lease != 0 {
            item.lease = 0;
            queue.leased -= 1;
        }
        let (is, was) = (due == 0, item.due == 0);
        queue.completed = queue.completed + u32::from(is) - u32::from(was);
        let crawl = &mut self.crawls[queue.crawl as usize];
        crawl.completed = crawl.completed + u64::from(is) - u64::from(was);
        item.due = due;
        if due == 0 && queue.count(id) {
            self.counted.push((QueueId(item.queue), ItemId(id)));
        }
        if due != 0 && due != PARKED {
            queue.wait_until(due, id);
        }
        let queue = item.queue;
        self.queues[queue as usize].tidy(now, &mut self.items);
        self.ready_again(queue);
    }

    /// Whoever decides about an address says that it is due. One that somebody has, or that is completed, stays as it is: whether it
    /// waited.
    pub fn let_go(&mut self, now: Time, id: ItemId) -> bool {
        let waits = self.items.get(id.0 as usize).is_some_and(|item| item.due == PARKED && item.lease == 0);
        if waits {
            self.set_due(now, id.0, second(now));
        }
        waits
    }

    /// What is known of an address.
    pub fn item(&self, id: ItemId) -> Option<Whole> {
        self.items.get(id.0 as usize).filter(|item| item.is_there()).map(|item| item.whole(id))
    }

    /// An address, by its fingerprint.
    pub fn known(&self, print: u64) -> Option<ItemId> {
        self.by_print.get(&print).copied().map(ItemId)
    }

    /// An address as it was before a restart.
    pub fn restore(&mut self, id: ItemId, queue: QueueId, print: u64, created: Seconds, due: Seconds) {
        while self.items.len() <= id.0 as usize {
            self.vacant.push(self.items.len() as u32);
            self.items.push(Item::GONE);
        }
        // Numbers come in their order, so this one was pushed last; if not, it is found.
        match self.vacant.iter().rposition(|vacant| *vacant == id.0) {
            Some(at) => drop(self.vacant.swap_remove(at)),
            None => return,
        }
        self.fill(id.0, queue, Item { queue: queue.0, due, created, lease: 0, print });
    }

    /// After all is restored: queues take their turns.
    pub fn begin(&mut self) {
        for queue in 0..self.queues.len() as u32 {
            self.ready_again(queue);
        }
    }

    /// Somebody has an address until then, as before a restart.
    pub fn lease(&mut self, id: ItemId, until: Seconds) {
        let Some(item) = self.items.get_mut(id.0 as usize) else { return };
        if item.is_there() && item.due != 0 && item.lease == 0 {
            item.lease = until;
            let queue = &mut self.queues[item.queue as usize];
            queue.leased += 1;
            queue.lend(until, id.0);
        }
    }

    /// How a queue is treated.
    pub fn manners(&self, queue: QueueId) -> Manners {
        self.queues[queue.0 as usize].manners
    }

    /// How a queue is treated from now on.
    pub fn set_manners(&mut self, now: Time, queue: QueueId, manners: Manners) {
        let it = &mut self.queues[queue.0 as usize];
        it.tidy(now, &mut self.items);
        if it.set_manners(queue.0, manners, &self.items) {
            self.counted.extend(it.used.iter().map(|id| (queue, ItemId(*id))));
        }
        self.ready_again(queue.0);
    }

    /// Nothing of a queue is given before this time; [`Time::MIN`]: that is over.
    pub fn rest(&mut self, queue: QueueId, until: Time) {
        self.queues[queue.0 as usize].rests_until = until;
        self.ready_again(queue.0);
    }

    /// An address counts under the limit of its queue, as it did before a restart.
    pub fn restore_count(&mut self, queue: QueueId, id: ItemId) {
        if self.items.get(id.0 as usize).is_some_and(|item| item.queue == queue.0) {
            self.queues[queue.0 as usize].count(id.0);
        }
    }

    /// What counts under limits since this was asked the last time: it must outlive the process, until the limit is lifted or the address gone.
    pub fn take_counted(&mut self) -> Vec<(QueueId, ItemId)> {
        std::mem::take(&mut self.counted)
    }

    /// The delay of queues that have none of their own.
    pub fn delay(&self) -> Span {
        self.delay
    }

    /// The delay of queues that have none of their own, from now on.
    pub fn set_delay(&mut self, delay: Span) {
        self.delay = delay;
        self.begin();
    }

    /// Whether anything is given at all.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// Whether anything is given at all, from now on.
    pub fn set_active(&mut self, active: bool) {
        self.active = active;
    }

    /// What is to be kept of a queue, with its crawl and key.
    pub fn facts(&self, queue: QueueId) -> QueueFacts {
        let it = &self.queues[queue.0 as usize];
        QueueFacts {
            id: queue,
            crawl: self.crawls[it.crawl as usize].name.to_string(),
            key: it.key.to_string(),
            manners: it.manners,
        }
    }

    /// The address is gone. Whether it was there.
    pub fn remove(&mut self, id: ItemId) -> bool {
        let Some(item) = self.items.get_mut(id.0 as usize).filter(|item| item.is_there()) else {
            return false;
        };
        let queue = &mut self.queues[item.queue as usize];
        queue.leased -= u32::from(item.lease != 0);
        queue.completed -= u32::from(item.due == 0);
        queue.removed += 1;
        let crawl = &mut self.crawls[queue.crawl as usize];
        crawl.items -= 1;
        crawl.completed -= u64::from(item.due == 0);
        self.by_print.remove(&item.print);
        *item = Item::GONE;
        self.vacant.push(id.0);
        true
    }

    /// Once addresses were removed: their queues forget about them, and those that are empty are closed. Those.
    pub fn sweep(&mut self, queues: &[QueueId]) -> Vec<QueueId> {
        let mut closed = Vec::new();
        for id in queues {
            let queue = &mut self.queues[id.0 as usize];
            if queue.removed > 0 {
                queue.forget_removed(id.0, &self.items);
                if queue.items.is_empty() && queue.manners == Manners::default() {
                    closed.push(*id);
                }
            }
        }
        for queue in &closed {
            self.close(*queue);
        }
        closed
    }

    /// Whether an address counts under the limit of its queue.
    pub fn counts(&self, id: ItemId) -> bool {
        let item = self.items.get(id.0 as usize).filter(|item| item.is_there());
        item.is_some_and(|item| self.queues[item.queue as usize].used.contains(&id.0))
    }

    /// A queue is gone, once it is empty: its key may be used again, its number is not.
    pub fn close(&mut self, queue: QueueId) {
        let queue = &mut self.queues[queue.0 as usize];
        self.crawls[queue.crawl as usize].keys.remove(&queue.key);
        queue.version += 1;
    }

    /// The crawls that there are.
    pub fn crawls(&self) -> impl Iterator<Item = &str> {
        self.crawls.iter().filter(|crawl| !crawl.keys.is_empty()).map(|crawl| &*crawl.name)
    }

    /// The queues of a crawl, in the order of their keys' making.
    pub fn queues_of(&self, crawl: &str) -> Vec<QueueId> {
        let Some(crawl) = self.crawl_names.get(crawl) else { return Vec::new() };
        let mut queues: Vec<QueueId> =
            self.crawls[*crawl as usize].keys.values().map(|queue| QueueId(*queue)).collect();
        queues.sort_unstable();
        queues
    }

    /// The addresses of queues: completed ones first, then the others, queue by queue in the order in which they came.
    pub fn list(&self, queues: &[QueueId]) -> Vec<ItemId> {
        let completed = |id: &u32| self.items[*id as usize].due == 0;
        let there = || {
            let all = queues.iter().flat_map(|queue| &self.queues[queue.0 as usize].items).copied();
            all.filter(|id| self.items[*id as usize].is_there())
        };
        there().filter(completed).chain(there().filter(|id| !completed(id))).map(ItemId).collect()
    }
}
