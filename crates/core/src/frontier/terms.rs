//! The words between a frontier and its driver: who is meant, what came of an order, what cannot be done, and what is set.

use super::discover::PLAN_EVERY;
use super::{BudgetError, Discovery, OrderId};
use crate::estimate::Answer;
use crate::page::BeliefError;
use crate::time::{Span, Time};

/// A page of a frontier. One that was removed is never taken for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl PageId {
    /// Its place among the pages; of equal values the lowest goes first. Used again after the page is removed.
    pub fn index(self) -> u32 {
        self.index
    }
}

/// A host of a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub(super) u32);

impl HostId {
    /// Its place among the hosts.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// What cannot be done.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum FrontierError {
    /// Time went backwards.
    #[error("{now:?} is before {last:?}; time does not go backwards")]
    Backwards {
        /// What was given.
        now: Time,
        /// The latest moment so far.
        last: Time,
    },
    /// A page that is not there, or not any more.
    #[error("no such page: {0:?}")]
    UnknownPage(PageId),
    /// A host that is not there.
    #[error("no such host: {0:?}")]
    UnknownHost(HostId),
    /// An answer to an order that was never made, was answered before, or was overtaken by a later one.
    #[error("no such order, or answered already: {0:?}")]
    UnknownOrder(OrderId),
    /// A budget that is none.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A hub or a new page with impossible numbers.
    #[error(transparent)]
    Belief(#[from] BeliefError),
    /// More pages than a frontier holds.
    #[error("a frontier holds at most {} pages", u32::MAX)]
    Full,
}

/// What came of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page was seen.
    Seen(Answer),
    /// The page was seen, and says when it was last changed.
    Dated {
        /// What was seen.
        answer: Answer,
        /// When the content was made, as its server has it.
        modified: Time,
    },
    /// A hub was seen, with so many links that were not there before.
    Links {
        /// What was seen.
        answer: Answer,
        /// New links; each may be given to [`Frontier::discover`](super::Frontier::discover).
        new: u32,
    },
    /// It could not be fetched; it may be tried again after this time.
    Failed {
        /// Not before this long from now.
        retry_after: Span,
    },
}

/// The settings of a frontier.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// An order without an answer is due again after this time.
    pub lease: Span,
    /// Signals that come within this time after a fetch announce what the fetch saw, and do not count.
    pub ignore_signals_within: Span,
    /// With every fetch so many other pages are valued anew by what was learned since, unless they were seen so often that nothing
    /// new follows: priors are up to date many times sooner. Each costs about as much as the decision itself.
    pub refresh: u32,
    /// How hubs and new pages share the budget with the others.
    pub discovery: Discovery,
    /// Where hubs have planned intervals: how often those are planned anew.
    pub plan_hubs_every: Span,
    /// What of a budget was not spent for so long may be spent at once: for those who ask for many fetches at a time.
    pub burst: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Span::from_whole_secs(300),
            ignore_signals_within: Span::ZERO,
            refresh: 8,
            discovery: Discovery::default(),
            plan_hubs_every: PLAN_EVERY,
            burst: Span::ZERO,
        }
    }
}
