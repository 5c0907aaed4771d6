//! What a crawl decides and what it learns of it, told one by one: enough to ask later what another policy would have done.

use refrain_core::frontier::Budget;
use refrain_core::time::{Span, Time};
use refrain_store::{Outcome, PageId};

use crate::kinds::Kind;

/// Something that was decided, or that later decisions rest on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// A crawl begins, here or again: between the last thing told before and this nobody was looking.
    Begins {
        /// When.
        time: Time,
        /// What may be spent.
        budget: Budget,
    },
    /// What was decided meanwhile was not told, because it was too much.
    Missed {
        /// From when on,
        since: Time,
        /// until when,
        time: Time,
        /// and how many decisions.
        count: u64,
    },
    /// Another budget from now on.
    Budget {
        /// When.
        time: Time,
        /// What may be spent.
        budget: Budget,
    },
    /// A page is to be fetched.
    Ordered {
        /// When.
        time: Time,
        /// The page.
        page: PageId,
        /// What that was worth,
        value: f64,
        /// and what fetches were worth lately; `None` before the first fetch of a page that had a copy.
        price: Option<f64>,
        /// Whether there is no copy yet.
        first: bool,
        /// How much the page matters at this moment.
        importance: f64,
    },
    /// A look at a page is over.
    Looked {
        /// When it was made.
        time: Time,
        /// The page.
        page: PageId,
        /// What came of it.
        outcome: Outcome,
        /// How long after the copy was confirmed or replaced before.
        elapsed: Option<Span>,
    },
    /// A page was said to have changed, and the copy did not have that.
    Heard {
        /// When it was heard.
        time: Time,
        /// The page.
        page: PageId,
        /// Who said so.
        kind: Kind,
        /// Whether that kind is believed at this host.
        counts: bool,
    },
}

impl Decision {
    /// When.
    pub fn time(&self) -> Time {
        match *self {
            Self::Begins { time, .. }
            | Self::Missed { time, .. }
            | Self::Budget { time, .. }
            | Self::Ordered { time, .. }
            | Self::Looked { time, .. }
            | Self::Heard { time, .. } => time,
        }
    }

    /// The page it is about, if it is about one.
    pub fn page(&self) -> Option<PageId> {
        match *self {
            Self::Begins { .. } | Self::Missed { .. } | Self::Budget { .. } => None,
            Self::Ordered { page, .. } | Self::Looked { page, .. } | Self::Heard { page, .. } => Some(page),
        }
    }
}
