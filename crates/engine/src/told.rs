//! What a crawl tells those who watch it.

use refrain_core::time::{Span, Time};
use refrain_store::{Outcome, Seq};

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
    /// Changes up to this one are on the disk.
    Changes(Seq),
}

/// What a crawl has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
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
