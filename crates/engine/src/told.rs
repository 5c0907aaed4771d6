//! What a crawl tells those who watch it.

use refrain_core::time::{Span, Time};
use refrain_store::{Outcome, PageId, Seq};

use crate::kinds::Kind;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// A visit to a page is over.
    Looked {
        /// When.
        time: Time,
        /// The page.
        url: String,
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
    /// Visits to pages,
    pub looks: u64,
    /// of which saw a page for the first time,
    pub first: u64,
    /// saw a change,
    pub changed: u64,
    /// saw none,
    pub unchanged: u64,
    /// saw that the page is gone or not allowed,
    pub gone: u64,
    /// or saw nothing of use.
    pub failed: u64,
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
    /// Requests under way.
    pub under_way: usize,
    /// What a fetch is worth.
    pub price: f64,
}
