//! What a crawl tells those who watch it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refrain_core::time::{Span, Time};
use refrain_store::{Outcome, PageId, Role, Seq};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};

use crate::kinds::Kind;

/// So many events wait for a receiver that is slow; more are dropped and counted.
const MOST_WAITING: usize = 16_384;

/// A way for events from a crawl to the one who watches it. A receiver that is slow, or blocked by a pipe that nobody reads, neither holds up the crawl
/// nor fills the memory: events that find no room are dropped, and [`Told::Missed`] says how many.
pub fn channel() -> (ToldSender, ToldReceiver) {
    let (to, from) = mpsc::channel(MOST_WAITING);
    let missed = Arc::default();
    (ToldSender { to, missed: Arc::clone(&missed) }, ToldReceiver { from, missed })
}

/// Where events are sent. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToldSender {
    to: mpsc::Sender<Told>,
    missed: Arc<Mutex<Missed>>,
}

/// Where events are received.
#[derive(Debug)]
pub struct ToldReceiver {
    from: mpsc::Receiver<Told>,
    missed: Arc<Mutex<Missed>>,
}

/// Events that were dropped since the receiver heard of them last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missed {
    /// How many.
    pub events: u64,
    /// The last change among them.
    pub change: Option<Seq>,
}

impl ToldSender {
    /// Sends an event without waiting. Returns false if there was no room for it.
    pub fn send(&self, told: Told) -> bool {
        match self.to.try_send(told) {
            // Without a receiver nobody misses it.
            Ok(()) | Err(TrySendError::Closed(_)) => true,
            Err(TrySendError::Full(told)) => {
                let mut missed = locked(&self.missed);
                missed.events += 1;
                if let Told::Changes(seq) = told {
                    missed.change = missed.change.max(Some(seq));
                }
                false
            }
        }
    }
}

impl ToldReceiver {
    /// The next event; `None` once all senders are gone and all was received.
    pub fn blocking_recv(&mut self) -> Option<Told> {
        match self.try_recv() {
            Ok(told) => Some(told),
            Err(TryRecvError::Empty) => self.from.blocking_recv().or_else(|| self.missed()),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    /// The same, without blocking the thread.
    pub async fn recv(&mut self) -> Option<Told> {
        match self.try_recv() {
            Ok(told) => Some(told),
            Err(TryRecvError::Empty) => self.from.recv().await.or_else(|| self.missed()),
            Err(TryRecvError::Disconnected) => None,
        }
    }

    /// The next event, if there is one.
    ///
    /// # Errors
    /// If there is none yet, or there will be none any more.
    pub fn try_recv(&mut self) -> Result<Told, TryRecvError> {
        self.from.try_recv().or_else(|none| self.missed().ok_or(none))
    }

    /// What was dropped, if anything was since the last time.
    fn missed(&self) -> Option<Told> {
        let missed = std::mem::take(&mut *locked(&self.missed));
        (missed.events > 0).then_some(Told::Missed(missed))
    }
}

fn locked(missed: &Mutex<Missed>) -> MutexGuard<'_, Missed> {
    // Two numbers are whole whoever panicked.
    missed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A visit to a page is over.
    Looked {
        /// When.
        time: Time,
        /// The page.
        url: String,
        /// What the page is there for.
        role: Role,
        /// What came of it.
        outcome: Outcome,
        /// What counted as a change, or what went wrong.
        note: Option<String>,
        /// The status of the answer.
        status: Option<u16>,
        /// Bytes received.
        bytes: u64,
        /// How long it took.
        took: Span,
    },
    /// A sitemap or a feed was read.
    Announced {
        /// When.
        time: Time,
        /// Where it is.
        url: String,
        /// What it is.
        kind: Kind,
        /// Pages that it said have changed,
        signals: u64,
        /// and those that were not known.
        found: u64,
    },
    /// A page says that a WebSub hub distributes it; each hub of a page is told of once.
    Hub {
        /// The page: a feed, mostly.
        page: PageId,
        /// What the hub calls it.
        topic: String,
        /// Where the hub is.
        hub: String,
    },
    /// Changes up to this one are on the disk.
    Changes(Seq),
    /// Something is not as it should be, though the crawl goes on: a sentence.
    Warning(String),
    /// How the crawl is doing, once a second.
    Pulse(Box<Pulse>),
    /// Events were dropped because the receiver was too slow; all that were not have been received.
    Missed(Missed),
}

/// How a crawl is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct Pulse {
    /// When.
    pub time: Time,
    /// What it has come to.
    pub summary: Summary,
    /// The budget: requests per second.
    pub rate: f64,
    /// Pages that wait for their first visit.
    pub waiting: usize,
    /// The share of copies that are expected to be fresh, weighted by importance; a page without a copy is not.
    pub freshness: Option<f64>,
    /// Visits under way, the longest first, if there are many not all.
    pub under_way: Vec<UnderWay>,
    /// How many hosts are left alone.
    pub backed_off: usize,
    /// Hosts that are left alone, then the slowest; a few.
    pub hosts: Vec<HostPulse>,
}

/// A visit under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnderWay {
    /// The page.
    pub url: String,
    /// Since when.
    pub since: Time,
}

/// How a host is doing.
#[derive(Clone, Debug, PartialEq)]
pub struct HostPulse {
    /// Scheme, name and port.
    pub name: String,
    /// How long it takes to answer.
    pub response: Span,
    /// Until when it is left alone.
    pub back_off: Option<Time>,
}

/// What a crawl has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Requests that were paid for, whatever they were for.
    pub requests: u64,
    /// Visits, to pages, sitemaps and feeds: the sum of the next six.
    pub looks: u64,
    /// First copies of pages.
    pub first: u64,
    /// Changes of pages.
    pub changed: u64,
    /// Visits to pages that had not changed.
    pub unchanged: u64,
    /// Visits to sitemaps and feeds that could be read, changed or not.
    pub outlets: u64,
    /// Visits that found something gone or not allowed.
    pub gone: u64,
    /// Visits that failed.
    pub failed: u64,
    /// Visits to pages alone, whatever came of them,
    pub page_visits: u64,
    /// of which so many found a copy, the copy unchanged, or the page gone that had one.
    pub page_answers: u64,
    /// Pages that were not visited before a crawl gave up waiting for their hosts.
    pub unvisited: u64,
    /// Requests that were made to tell noise from changes, seconds after another.
    pub second_looks: u64,
    /// New pages found.
    pub found: u64,
    /// Signals that came,
    pub signals: u64,
    /// of which the next look found a change.
    pub came_true: u64,
    /// Sitemaps and feeds with something wrong in them, at each visit.
    pub complaints: u64,
    /// Hubs now.
    pub hubs: u64,
    /// Fetches that others were given,
    pub given: u64,
    /// of which they answered so many,
    pub taken: u64,
    /// and so many were not answered in time.
    pub given_up: u64,
    /// Decisions that were not told, because they came faster than they could be kept.
    pub missed_decisions: u64,
    /// Fetches that others have now.
    pub leased: usize,
    /// Addresses that were left out because their site has its part, or endless names.
    pub left_out: u64,
    /// Seconds, times importance, for which copies turned out to be fresh between two looks,
    pub fresh: f64,
    /// and for how many that had been expected of the same copies.
    pub foretold: f64,
    /// Bytes received.
    pub bytes: u64,
    /// Pages now.
    pub pages: u64,
    /// Hosts now.
    pub hosts: u64,
    /// Fetches under way, and those whose outcome is not on the disk yet.
    pub under_way: usize,
    /// What a fetch must be worth; `None`: not known yet.
    pub price: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(number: usize) -> Told {
        Told::Warning(number.to_string())
    }

    #[test]
    fn a_receiver_that_is_slow_gets_no_more_than_there_is_room_for_and_hears_of_the_rest() {
        let (to, mut from) = channel();
        for number in 0..MOST_WAITING {
            assert!(to.send(warning(number)));
        }
        assert!(!to.send(Told::Changes(Seq(7))) && !to.send(Told::Changes(Seq(9))) && !to.send(warning(0)));
        for number in 0..MOST_WAITING {
            assert_eq!(from.blocking_recv(), Some(warning(number)));
        }
        assert_eq!(from.try_recv(), Ok(Told::Missed(Missed { events: 3, change: Some(Seq(9)) })));
        assert_eq!(from.try_recv(), Err(TryRecvError::Empty));
        assert!(to.send(warning(1)));
        assert_eq!(from.blocking_recv(), Some(warning(1)));
    }

    #[test]
    fn what_was_dropped_is_told_also_at_the_end() {
        let (to, mut from) = channel();
        for number in 0..=MOST_WAITING {
            to.send(warning(number));
        }
        drop(to);
        let all: Vec<Told> = std::iter::from_fn(|| from.blocking_recv()).collect();
        assert_eq!(all.len(), MOST_WAITING + 1);
        assert_eq!(all.last(), Some(&Told::Missed(Missed { events: 1, change: None })));
    }
}
