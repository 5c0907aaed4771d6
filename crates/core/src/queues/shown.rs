//! Crawls, queues and addresses a few at a time: however many there are, a look costs little.

use super::{ItemId, Manners, QueueId, Queues};
use crate::time::{Span, Time};

/// What there is of a crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlNow {
    /// Its place among all: those after it come next.
    pub place: usize,
    /// Its name.
    pub name: String,
    /// How many queues.
    pub queues: usize,
    /// How many addresses.
    pub items: u64,
    /// How many of them are completed.
    pub completed: u64,
}

/// What there is of a queue, and how it is treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueNow {
    /// Its place among all: those after it come next.
    pub id: QueueId,
    /// The key within its crawl.
    pub key: String,
    /// How it is treated.
    pub manners: Manners,
    /// Between two turns, its own or that of all.
    pub delay: Span,
    /// How many addresses.
    pub items: usize,
    /// How many of them are completed.
    pub completed: usize,
    /// How many somebody has.
    pub leased: usize,
    /// Under a limit: how many count.
    pub counted: usize,
    /// The first moment at which something of it may be given, if nothing is said before.
    pub ready: Option<Time>,
}

impl Queues {
    /// Crawls from this place on whose names contain a text, at most `most` of the next `most_seen`; and the place after the last that was
    /// looked at, unless it was the last of all.
    pub fn crawls_from(
        &self,
        place: usize,
        contains: &str,
        (most, most_seen): (usize, usize),
    ) -> (Vec<CrawlNow>, Option<usize>) {
        let (mut found, mut next) = (Vec::new(), place);
        for (place, crawl) in self.crawls.iter().enumerate().skip(place).take(most_seen) {
            if found.len() == most {
                break;
            }
            next = place + 1;
            if !crawl.keys.is_empty() && crawl.name.contains(contains) {
                let (queues, items, completed) = (crawl.keys.len(), crawl.items, crawl.completed);
                found.push(CrawlNow { place, name: crawl.name.to_string(), queues, items, completed });
            }
        }
        (found, (next < self.crawls.len()).then_some(next))
    }

    /// The same of the queues of a crawl.
    pub fn queues_from(
        &mut self,
        now: Time,
        crawl: &str,
        place: usize,
        contains: &str,
        (most, most_seen): (usize, usize),
    ) -> (Vec<QueueNow>, Option<usize>) {
        let Some(crawl) = self.crawl_names.get(crawl).copied() else { return (Vec::new(), None) };
        let (mut found, mut next) = (Vec::new(), place);
        for place in (place..self.queues.len()).take(most_seen) {
            if found.len() == most {
                break;
            }
            next = place + 1;
            let queue = &self.queues[place];
            if queue.crawl == crawl && queue.key.contains(contains) && self.is_open(place) {
                found.push(self.queue_now(now, QueueId(place as u32)));
            }
        }
        (found, (next < self.queues.len()).then_some(next))
    }

    /// Whether a queue was not closed.
    fn is_open(&self, place: usize) -> bool {
        let queue = &self.queues[place];
        self.crawls[queue.crawl as usize].keys.get(&queue.key).is_some_and(|own| *own as usize == place)
    }

    /// What there is of a queue.
    pub fn queue_now(&mut self, now: Time, id: QueueId) -> QueueNow {
        let queue = &mut self.queues[id.0 as usize];
        queue.tidy(now, &mut self.items);
        QueueNow {
            id,
            key: queue.key.to_string(),
            manners: queue.manners,
            delay: queue.manners.delay.unwrap_or(self.delay),
            items: queue.len(),
            completed: queue.completed as usize,
            leased: queue.leased as usize,
            counted: queue.used.len(),
            ready: queue.ready_at(self.delay),
        }
    }

    /// Addresses of a queue in the order in which they came, some of them.
    pub fn items_from(&self, queue: QueueId, skip: usize, most: usize) -> Vec<ItemId> {
        let items = self.queues[queue.0 as usize].items.iter().skip(skip).take(most);
        items.filter(|id| self.items[**id as usize].is_there()).map(|id| ItemId(*id)).collect()
    }
}
