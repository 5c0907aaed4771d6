//! Crawls, queues and addresses a few at a time, for people. Whoever looks is answered at once: what is seen may not be on the disk yet.

use std::sync::PoisonError;

use refrain_core::queues::{CrawlNow, QueueNow, Whole};
use refrain_core::time::Time;
use refrain_store::Schedule;
use tokio::sync::oneshot;

use super::work::Work;
use super::{Ask, Queues};
use crate::handle::Over;

/// Which of many things.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Which {
    /// From this place on.
    pub from: usize,
    /// Those with this text in their names.
    pub contains: String,
    /// At most so many,
    pub most: usize,
    /// of so many that are looked at.
    pub most_seen: usize,
}

/// Some of many things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion<T> {
    /// They themselves.
    pub found: Vec<T>,
    /// Where to go on, if there may be more.
    pub next: Option<usize>,
}

/// What people look at.
pub(crate) enum Look {
    Crawls { which: Which, reply: oneshot::Sender<CrawlsShown> },
    Queues { crawl: String, which: Which, reply: oneshot::Sender<Portion<QueueNow>> },
    Items { crawl: String, key: String, which: Which, reply: oneshot::Sender<Option<QueueShown>> },
}

/// Some crawls, each with who decides in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlsShown {
    /// The crawls.
    pub crawls: Portion<(CrawlNow, Schedule)>,
    /// Whether anything is given at all.
    pub is_active: bool,
}

/// A queue, and some of its addresses in the order in which they came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueShown {
    /// The queue.
    pub queue: QueueNow,
    /// Some of its addresses.
    pub items: Vec<Whole>,
}

impl Work {
    /// Whoever looks may be gone before it is answered.
    pub(super) fn show(&mut self, now: Time, look: Look) {
        match look {
            Look::Crawls { which, reply } => {
                let bounds = (which.most, which.most_seen);
                let (found, next) = self.queues.crawls_from(which.from, &which.contains, bounds);
                let known = self.schedules.read().unwrap_or_else(PoisonError::into_inner);
                let schedule = |crawl: &CrawlNow| known.get(&crawl.name).copied();
                let found = found.into_iter().map(|crawl| {
                    let schedule = schedule(&crawl).unwrap_or(Schedule::Client);
                    (crawl, schedule)
                });
                let crawls = Portion { found: found.collect(), next };
                let _ = reply.send(CrawlsShown { crawls, is_active: self.queues.is_active() });
            }
            Look::Queues { crawl, which, reply } => {
                let bounds = (which.most, which.most_seen);
                let (found, next) = self.queues.queues_from(now, &crawl, which.from, &which.contains, bounds);
                let _ = reply.send(Portion { found, next });
            }
            Look::Items { crawl, key, which, reply } => {
                let queue = self.queues.find(&crawl, &key);
                let _ = reply.send(queue.map(|queue| {
                    let ids = self.queues.items_from(queue, which.from, which.most);
                    let items = ids.into_iter().filter_map(|id| self.queues.item(id)).collect();
                    QueueShown { queue: self.queues.queue_now(now, queue), items }
                }));
            }
        }
    }
}

impl Queues {
    /// Some crawls, and who decides in them.
    ///
    /// # Errors
    /// If the crawl is over, as with all of these.
    pub async fn show_crawls(&self, which: Which) -> Result<CrawlsShown, Over> {
        self.ask(|reply| Ask::Show(Look::Crawls { which, reply })).await
    }

    /// Some queues of a crawl.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn show_queues(&self, crawl: String, which: Which) -> Result<Portion<QueueNow>, Over> {
        self.ask(|reply| Ask::Show(Look::Queues { crawl, which, reply })).await
    }

    /// A queue, and some of its addresses; `None`: there is no such queue.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn show_items(
        &self,
        crawl: String,
        key: String,
        which: Which,
    ) -> Result<Option<QueueShown>, Over> {
        self.ask(|reply| Ask::Show(Look::Items { crawl, key, which, reply })).await
    }
}
