//! Queues for crawlers that fetch by themselves, as they are asked: many at a time, answered once it is on the disk.
//!
//! - `terms`: the words between the queues and their doors
//! - `seen`: what a crawler tells of a look; `values`: crawls in which values decide when to come back
//! - `keeper`: who has them, on a thread of its own; `work`: what it does; `asked`: what it is asked; `removed`: what is in them no more;
//!   `restore`: as the store has them
//! - `shown`: a few of them at a time, for people

mod asked;
mod keeper;
mod removed;
mod restore;
mod seen;
mod shown;
mod terms;
mod values;
mod work;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, mpsc};

use refrain_core::queues::{Tally, Wanted};
use refrain_core::time::Span;
use refrain_store::{PageId, Schedule};
use tokio::sync::oneshot;

use crate::handle::{self, Handle, Over};
pub(crate) use keeper::{Keeper, Note};
pub use shown::{CrawlsShown, Portion, QueueShown, Which};
pub use terms::{FetchFailure, Given, ItemNow, Put, Said, SeenByOthers, Took};

/// How pages were found that other crawlers put into their queues.
pub(crate) const FOUND: &str = "urlfrontier";

/// The way to the queues. Cheap to clone.
#[derive(Clone)]
pub struct Queues {
    to: mpsc::Sender<Note>,
    schedules: Known,
    crawl: Handle,
    /// The most pages of a host that a call of a client may get in a server-scheduled crawl.
    most_at_a_time: Arc<AtomicUsize>,
}

/// So many pages of a host are due at a time at most, however many a client asks for.
const MOST_AT_A_TIME: usize = 100;

/// Returns how many pages of one host a client can fetch within its lease, with the gap between requests; at most as many as it asks for.
fn at_a_time(wanted: &Wanted, gap: Span) -> usize {
    let within_lease = wanted.lease.as_nanos().checked_div(gap.as_nanos()).unwrap_or(u64::MAX);
    wanted.each.min(usize::try_from(within_lease).unwrap_or(usize::MAX)).clamp(1, MOST_AT_A_TIME)
}

/// Who decides in the crawls that there are.
pub(crate) type Known = Arc<RwLock<HashMap<String, Schedule>>>;

/// What can be asked.
pub(crate) enum Ask {
    /// What is said of addresses, each with its page where values decide.
    Put {
        items: Vec<(Put, Option<PageId>)>,
        /// Whether it may wait a little for others to be committed with it.
        is_patient: bool,
        reply: oneshot::Sender<Vec<Took>>,
    },
    Take {
        wanted: Wanted,
        reply: oneshot::Sender<Given>,
    },
    Status {
        crawl: String,
        key: String,
        url: String,
        reply: oneshot::Sender<Option<ItemNow>>,
    },
    List {
        crawl: String,
        key: Option<String>,
        reply: oneshot::Sender<Vec<u32>>,
    },
    Queues {
        crawl: String,
        start: usize,
        size: usize,
        inactive: bool,
        reply: oneshot::Sender<(Vec<String>, u64)>,
    },
    Crawls {
        reply: oneshot::Sender<Vec<String>>,
    },
    Tally {
        crawl: Option<String>,
        key: Option<String>,
        reply: oneshot::Sender<Tally>,
    },
    Remove {
        crawl: String,
        key: Option<String>,
        created_before: Option<u32>,
        reply: oneshot::Sender<(u64, Vec<PageId>)>,
    },
    Treat {
        crawl: String,
        key: String,
        treatment: Treatment,
        reply: oneshot::Sender<bool>,
    },
    DefaultDelay {
        seconds: u32,
        reply: oneshot::Sender<()>,
    },
    SetActive {
        active: bool,
        reply: oneshot::Sender<()>,
    },
    IsActive {
        reply: oneshot::Sender<bool>,
    },
    /// A few of them, for people.
    Show(shown::Look),
}

/// How a queue is treated from now on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Treatment {
    /// Nothing is given before this second.
    Block(u64),
    /// Seconds between two turns.
    Delay(u32),
    /// At most so many; 0: any number.
    Limit(u32),
}

impl Queues {
    fn new(to: mpsc::Sender<Note>, schedules: Known, crawl: Handle) -> Self {
        Self { to, schedules, crawl, most_at_a_time: Arc::new(AtomicUsize::new(1)) }
    }

    async fn ask<T>(&self, ask: impl FnOnce(oneshot::Sender<T>) -> Ask) -> Result<T, Over> {
        let (reply, answer) = oneshot::channel();
        self.to.send(Note::Asked(ask(reply))).map_err(|_| Over)?;
        answer.await.map_err(|_| Over)
    }

    /// Whether values decide in a crawl.
    pub fn is_server_scheduled(&self, crawl: &str) -> bool {
        self.schedule(crawl, None) == Schedule::Server
    }

    /// Who decides in a crawl: as was decided before, as somebody says, or as the settings have it.
    fn schedule(&self, crawl: &str, said: Option<Schedule>) -> Schedule {
        let known = self.schedules.read().unwrap_or_else(PoisonError::into_inner).get(crawl).copied();
        known.or(said).unwrap_or_else(|| self.crawl.kit.settings.schedules.of(crawl))
    }

    /// What is said of addresses; what became of each, in order. If it `is_patient` the answer may come some milliseconds later, and costs less.
    ///
    /// # Errors
    /// If the crawl is over, as with all of these.
    pub async fn put(&self, items: Vec<Put>, is_patient: bool) -> Result<Vec<Took>, Over> {
        if items.iter().any(|item| self.schedule(&item.crawl, item.schedule) == Schedule::Server) {
            return self.put_by_value(items).await;
        }
        let items = items.into_iter().map(|item| (item, None)).collect();
        self.ask(|reply| Ask::Put { items, is_patient, reply }).await
    }

    /// What is due, at most what is wanted.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn take(&self, wanted: Wanted) -> Result<Given, Over> {
        let most = at_a_time(&wanted, self.crawl.kit.settings.gap);
        if self.most_at_a_time.fetch_max(most, Ordering::Relaxed) < most {
            self.crawl.ask(|reply| handle::Ask::AtATime { most, reply }).await?;
        }
        self.ask(|reply| Ask::Take { wanted, reply }).await
    }

    /// What is known of an address.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn status(&self, crawl: String, key: String, url: String) -> Result<Option<ItemNow>, Over> {
        self.ask(|reply| Ask::Status { crawl, key, url, reply }).await
    }

    /// The numbers of addresses, completed ones first, of a queue or of all of a crawl.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn list(&self, crawl: String, key: Option<String>) -> Result<Vec<u32>, Over> {
        self.ask(|reply| Ask::List { crawl, key, reply }).await
    }

    /// Keys of queues, and how many there are in all: those from which something may come, or all.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn queues(
        &self,
        crawl: String,
        start: usize,
        size: usize,
        inactive: bool,
    ) -> Result<(Vec<String>, u64), Over> {
        self.ask(|reply| Ask::Queues { crawl, start, size, inactive, reply }).await
    }

    /// The names of crawls.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn crawls(&self) -> Result<Vec<String>, Over> {
        self.ask(|reply| Ask::Crawls { reply }).await
    }

    /// How many there are: of all crawls or of one, of all its queues or of one.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn tally(&self, crawl: Option<String>, key: Option<String>) -> Result<Tally, Over> {
        self.ask(|reply| Ask::Tally { crawl, key, reply }).await
    }

    /// Forgets a crawl, or a queue of it. How many addresses that were.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn delete(&self, crawl: String, key: Option<String>) -> Result<u64, Over> {
        self.remove(crawl, key, None).await
    }

    async fn remove(
        &self,
        crawl: String,
        key: Option<String>,
        created_before: Option<u32>,
    ) -> Result<u64, Over> {
        let (removed, pages) = self.ask(|reply| Ask::Remove { crawl, key, created_before, reply }).await?;
        if !pages.is_empty() {
            self.crawl.ask(|reply| handle::Ask::Dequeue { pages, reply }).await?;
        }
        Ok(removed)
    }

    /// Forgets what came before this second. How many addresses that were.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn purge(&self, crawl: String, key: Option<String>, created_before: u32) -> Result<u64, Over> {
        self.remove(crawl, key, Some(created_before)).await
    }

    /// Nothing of a queue is given before this second, or the later one that was said before; 0 lifts that. The queue may come later.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn block(&self, crawl: String, key: String, until: u64) -> Result<(), Over> {
        let treatment = Treatment::Block(until);
        self.ask(|reply| Ask::Treat { crawl, key, treatment, reply }).await.map(drop)
    }

    /// The time between two turns of all queues that have none of their own; or of a queue, which may come later: that is the longest that was
    /// said, until 0 is.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn set_delay(&self, crawl: String, key: Option<String>, seconds: u32) -> Result<(), Over> {
        match key {
            Some(key) => {
                let treatment = Treatment::Delay(seconds);
                self.ask(|reply| Ask::Treat { crawl, key, treatment, reply }).await.map(drop)
            }
            None => self.ask(|reply| Ask::DefaultDelay { seconds, reply }).await,
        }
    }

    /// At most so many addresses of a queue are completed or given; 0: any number. Returns false if there is no such queue.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn set_limit(&self, crawl: String, key: String, limit: u32) -> Result<bool, Over> {
        let treatment = Treatment::Limit(limit);
        self.ask(|reply| Ask::Treat { crawl, key, treatment, reply }).await
    }

    /// Whether anything is given at all, from now on.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn set_active(&self, active: bool) -> Result<(), Over> {
        self.ask(|reply| Ask::SetActive { active, reply }).await
    }

    /// Whether anything is given at all.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn is_active(&self) -> Result<bool, Over> {
        self.ask(|reply| Ask::IsActive { reply }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_as_many_pages_of_a_host_as_it_can_fetch_politely_within_its_lease() {
        let seconds = Span::from_whole_secs;
        let at_a_time = |each, lease, gap| {
            let wanted =
                Wanted { crawl: None, key: None, queues: 1, each, most: usize::MAX, lease: seconds(lease) };
            at_a_time(&wanted, gap)
        };
        assert_eq!(at_a_time(5, 300, seconds(1)), 5);
        assert_eq!(at_a_time(50, 30, seconds(2)), 15);
        assert_eq!(at_a_time(50, 30, seconds(60)), 1);
        assert_eq!(at_a_time(7, 30, Span::ZERO), 7);
        assert_eq!(at_a_time(usize::MAX, 1_000_000, seconds(1)), MOST_AT_A_TIME);
    }
}
