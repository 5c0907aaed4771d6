//! Refrain's hands: the frontier under the real clock, over HTTP, into the store.
//!
//! - [`Crawl`]: one loop over a closed set of events; it owns the frontier, and is the only one who decides
//! - `visit`: one look at a page, robots.txt and redirects included; every request waits for its turn at the `door`
//! - `read`: what an answer says; `rules`: what hosts ask of crawlers
//! - `recorder`: the store on a thread of its own; `restore`: from its facts to a frontier
//! - [`Beliefs`], [`Standing`]: for those who look into the store: what a crawl that started now would believe, and what fetches are worth to the last one
//! - [`inherit()`]: what another crawler saw, as if we had looked
//! - [`queues`]: for crawlers that fetch by themselves and decide, or not, when to come back
//! - [`requests`]: what people asked for, from access logs; [`Asked`]: how much pages matter to them
//! - [`Decision`]: what was decided, for replay
//! - [`Once`]: requests that count once, however often they come; [`Recent`]: what happened lately
//! - `clock`: the only place that reads the real one
//!
//! Do, then record: a visit counts once its batch is committed. What was under way when the process died is done again.

mod beliefs;
mod catalogue;
mod clock;
mod crawl;
mod decision;
mod door;
mod event;
mod fading;
mod follow;
mod handle;
mod hint;
mod hours;
mod hubs;
mod index;
mod inherit;
mod interest;
mod kinds;
mod ledger;
mod links;
mod listening;
mod memo;
mod novelty;
mod once;
pub mod queues;
mod read;
mod reads;
mod recent;
mod recorder;
pub mod requests;
mod restore;
mod rules;
mod seeds;
mod settings;
mod sources;
mod spending;
mod standing;
mod tidy;
mod told;
mod visit;

pub use beliefs::{Beliefs, Believed, Outlook, not_before};
pub use clock::Clock;
pub use crawl::Crawl;
pub use decision::Decision;
pub use follow::Follow;
pub use handle::{
    Brought, BudgetNow, Given, Grant, Handle, Heard, HostEdit, HostNow, HostShare, LONGEST_LEASE, LeaseId,
    MOST_AT_A_TIME, Over, PageNow, Prospect, Receipt, Results, Said, Sample, SampledPage, Saw, Work,
    WorkWanted,
};
pub use inherit::{InheritError, Inherited, Watched, inherit};
pub use interest::{Asked, Scale, Weighed};
pub use kinds::{Kind, Source};
pub use ledger::Ledger;
pub use listening::TOGETHER;
pub use once::{Once, Reused};
pub use recent::Recent;
pub use rules::{RobotsSay, robots_say};
pub use seeds::{Seed, add_queued, add_seeds};
pub use settings::{News, Schedules, Settings, Until, host_name};
pub use standing::Standing;
pub use told::{HostPulse, Pulse, Summary, Told, UnderWay};

/// Why a crawl cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum CrawlError {
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] refrain_store::StoreError),
    /// The frontier refuses.
    #[error(transparent)]
    Frontier(#[from] refrain_core::frontier::FrontierError),
    /// The client cannot be set up.
    #[error(transparent)]
    Client(#[from] refrain_fetch::client::BadSettings),
    /// No thread for the store.
    #[error("cannot start the thread that writes to the store ({0})")]
    Thread(std::io::Error),
}
