//! The queues of crawlers that fetch by themselves: facts, how they are committed, and how they are read again. Apart from everything else:
//! they come in great numbers, and nothing else is true only together with them.

mod commit;
mod query;

use crate::facts::PageId;
use refrain_core::time::{Span, Time};

pub use query::{Beside, CrawlTally, Placed};

/// Who decides when to come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Whoever fetches, with the date that is sent.
    Client,
    /// The value of a fetch.
    Server,
}

impl Schedule {
    /// As it is written in the store, and told to everybody.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// A crawl, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrawlRow {
    /// Its name.
    pub name: String,
    /// Who decides in it.
    pub schedule: Schedule,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueRow {
    /// Its number, never used again.
    pub id: i64,
    /// The crawl.
    pub crawl: String,
    /// The key within the crawl.
    pub key: String,
    /// Between two turns.
    pub delay: Option<Span>,
    /// Nothing is given before.
    pub blocked_until: Option<Time>,
    /// At most so many are completed or given.
    pub limit: Option<u32>,
    /// The last turn in which something was given.
    pub served: Option<Time>,
}

/// An address in a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemRow {
    /// Its number.
    pub id: u32,
    /// The queue.
    pub queue: i64,
    /// When it came, in whole seconds.
    pub created: u32,
    /// From when on it is due; 0: never again.
    pub due: u32,
    /// What was given up to this number was given before the last news of it.
    pub since: i64,
    /// The page that decides when it is due.
    pub page: Option<PageId>,
    /// The address.
    pub url: String,
    /// What its crawler says of it.
    pub metadata: Vec<u8>,
}

/// News of an address that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemNews {
    /// Its number.
    pub id: u32,
    /// From when on it is due; 0: never again.
    pub due: u32,
    /// What was given so far.
    pub since: i64,
    /// What its crawler says of it now; `None`: nothing new.
    pub metadata: Option<Vec<u8>>,
}

/// What was given to somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedRow {
    /// Its number; they grow.
    pub id: i64,
    /// Until when, in whole seconds.
    pub until: u32,
    /// The addresses.
    pub items: Vec<u32>,
}

/// What is committed together. In this order: what is gone, then what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueChanges {
    /// Crawls that are new or decided otherwise.
    pub crawls: Vec<CrawlRow>,
    /// Crawls that are gone.
    pub no_crawls: Vec<String>,
    /// Queues that are new or treated otherwise.
    pub queues: Vec<QueueRow>,
    /// Queues that are gone.
    pub no_queues: Vec<i64>,
    /// Addresses that are gone.
    pub no_items: Vec<u32>,
    /// New addresses; of those with the same number, the last.
    pub items: Vec<ItemRow>,
    /// News of others, in the order in which they came.
    pub news: Vec<ItemNews>,
    /// What was given.
    pub served: Vec<ServedRow>,
    /// What was given under these numbers has ended.
    pub ended: Vec<i64>,
    /// Queues without a limit from now on: nothing counts.
    pub no_limits: Vec<i64>,
    /// Addresses that are gone, and counted under the limits of their queues.
    pub not_counted: Vec<(i64, u32)>,
    /// What counts under the limits of queues, by queue and address; after what is gone and what does not count.
    pub counted: Vec<(i64, u32)>,
    /// What belongs to all of them, by name.
    pub meta: Vec<(String, Vec<u8>)>,
}

impl QueueChanges {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
