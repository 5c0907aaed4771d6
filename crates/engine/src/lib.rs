//! Refrain's hands: the frontier under the real clock, over HTTP, into the store.
//!
//! - [`Crawl`]: one loop over a closed set of events; it owns the frontier, and is the only one who decides
//! - `visit`: one look at a page, robots.txt and redirects included; every request waits for its turn at the `door`
//! - `read`: what an answer says; `rules`: what hosts ask of crawlers
//! - `scope`: which addresses are taken up, however they come; `sites`: what there is of each site, and no more than its part; `neighbours`: hosts that
//!   share a gap
//! - `recorder`: the store on a thread of its own; `restore`: from its facts to a frontier
//! - [`Beliefs`], [`Standing`]: for those who look into the store: what a crawl that started now would believe, and what fetches are worth to the last one
//! - [`inherit()`]: what another crawler saw, as if we had looked
//! - [`queues`]: for crawlers that fetch by themselves and decide, or not, when to come back
//! - [`recover()`]: the database rebuilt from the archive
//! - [`requests`]: what people asked for, from access logs; [`Asked`]: how much pages matter to them
//! - [`Decision`]: what was decided, for replay
//! - [`Once`]: requests that count once, however often they come; [`Recent`]: what happened lately
//! - `clock`: the only place that reads the real one
//!
//! Do, then record: a visit counts once its batch is committed. What was under way when the process died is done again.

mod alarm;
mod back_off;
mod beliefs;
mod catalogue;
mod clock;
mod counted;
mod crawl;
mod decision;
mod door;
mod event;
mod fading;
mod follow;
mod forbidden;
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
mod neighbours;
mod novelty;
mod once;
pub mod queues;
mod read;
mod reads;
mod recent;
mod recorder;
mod recover;
mod reported;
pub mod requests;
mod restore;
mod rules;
mod scope;
mod seeds;
mod settings;
mod sites;
mod sources;
mod spending;
mod standing;
mod tidy;
mod told;
mod visit;

pub use beliefs::{Beliefs, Believed, Outlook};
pub use clock::Clock;
pub use counted::changed_share;
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
pub use neighbours::Politeness;
pub use once::{Once, Reused};
pub use recent::Recent;
pub use recover::recover;
pub use restore::not_before;
pub use rules::{RobotsSay, robots_say};
pub use seeds::{Seed, add_queued, add_seeds};
pub use settings::{News, Schedules, Settings, Until, host_name};
pub use sites::ENDLESS;
pub use standing::{Price, Standing};
pub use told::{HostPulse, Missed, Pulse, Summary, Told, ToldReceiver, ToldSender, UnderWay, channel};

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
    /// A part of the crawl has panicked.
    #[error(
        "{0} ended by a panic (its message is above): this is a mistake in Refrain, please report it; what was acknowledged is on the disk, and the next start goes on from there"
    )]
    Panicked(String),
    /// No thread for the store.
    #[error("cannot start the thread that writes to the store ({0})")]
    Thread(std::io::Error),
}
