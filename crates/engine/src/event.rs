//! All that can happen to a crawl, but for what the store has to say.

use std::sync::Arc;

use bytes::Bytes;
use refrain_core::time::{Span, Time};
use refrain_fetch::FetchError;
use refrain_fetch::dns::Resolved;
use refrain_fetch::url::PageUrl;
use refrain_store::Seq;
use tokio::sync::oneshot;

use crate::handle::Ask;
use crate::rules::HostRules;
use crate::scope::Way;
use crate::visit::Visited;

/// All that can happen to a crawl.
pub(crate) enum Event {
    /// A visit to a page is over.
    Visited(Box<Visited>),
    /// Somebody wants to make a request to a host, beside the one that was ordered.
    Knock {
        /// The host, by name.
        host: String,
        /// In place of a request that was allowed to the same host.
        again: bool,
        /// Told when it may be made, or not before which moment if that is too long to wait for.
        enter: oneshot::Sender<Result<(), Time>>,
    },
    /// A request that a knock allowed is over.
    Left {
        /// The host, by name.
        host: String,
        /// How long it took to answer.
        response: Option<Span>,
    },
    /// A name server has said where a host is.
    Located {
        /// The host, by name.
        host: String,
        /// Where.
        found: Result<Resolved, FetchError>,
    },
    /// A visit wants to follow a redirect to another host.
    Leads {
        /// Whether the page was redirected, or a robots.txt.
        way: Way,
        /// The host of the page, by name.
        from: String,
        /// Where it leads.
        to: PageUrl,
        /// Whether it may.
        reply: oneshot::Sender<bool>,
    },
    /// A host has answered, or will not any more.
    Answered {
        /// The host, by name.
        host: String,
    },
    /// Somebody wants to know what a host asks of crawlers.
    Rules {
        /// The host, by name.
        host: String,
        /// What is known, if that is recent enough.
        known: oneshot::Sender<Option<Arc<HostRules>>>,
    },
    /// A host's robots.txt was read.
    Ruled {
        /// The host, by name.
        host: String,
        /// What it says.
        rules: Arc<HostRules>,
        /// All of it, as it came.
        text: Bytes,
    },
    /// A reader of the change feed has come so far.
    Delivered {
        /// The reader, by name.
        reader: String,
        /// The last change that it has.
        seq: Seq,
    },
    /// Something is not as it should be, though work goes on: a sentence.
    Warning(String),
    /// Work that the crawl relies on has ended by a panic.
    Panicked {
        /// What it was, for people.
        what: String,
        /// The visit, if it was one.
        visit: Option<u64>,
    },
    /// Somebody asks something of the crawl.
    Asked(Box<Ask>),
}
