//! Proof: the frontier under a virtual clock, with every policy of the papers and of the peers.
//!
//! - [`Policy`]: the policies by name
//! - [`made_up`]: pages drawn from distributions
//! - [`simulate`]: pages whose parameters are known, with signals from a file or by chance
//! - [`trace`], [`replay`]: recorded histories, of which a policy sees what a crawler sees
//! - [`discover`]: hubs that show links to short-lived pages, by chance or as recorded
//! - [`changes`]: pages with noise whose changes are known, and what change detection makes of them
//! - [`study`]: how wrong estimators of change rates are
//! - [`figures`]: the papers' figures, measured anew

pub mod changes;
pub mod discover;
pub mod figures;
pub mod made_up;
mod policy;
pub mod replay;
pub mod simulate;
pub mod study;
pub mod trace;

pub use policy::{Policy, UnknownPolicy};
