//! Refrain's hands: the frontier under the real clock, over HTTP, into the store.
//!
//! - [`Crawl`]: one loop over a closed set of events; it owns the frontier, and is the only one who decides
//! - `visit`: one look at a page, robots.txt and redirects included; every request waits for its turn at the `door`
//! - `read`: what an answer says; `rules`: what hosts ask of crawlers
//! - `recorder`: the store on a thread of its own; `restore`: from its facts to a frontier
//! - `clock`: the only place that reads the real one
//!
//! Do, then record: a visit counts once its batch is committed. What was under way when the process died is done again.

mod believed;
mod catalogue;
mod clock;
mod crawl;
mod door;
mod event;
mod follow;
mod ledger;
mod memo;
mod read;
mod recorder;
mod restore;
mod rules;
mod seeds;
mod settings;
mod tidy;
mod told;
mod visit;

pub use believed::beliefs;
pub use clock::Clock;
pub use crawl::Crawl;
pub use follow::Follow;
pub use ledger::Ledger;
pub use seeds::{Seed, add_seeds};
pub use settings::{Settings, Until};
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
