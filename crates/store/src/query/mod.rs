//! What can be asked of a store.

mod announced;
mod feed;
mod heads;
mod hosts;
mod observations;
mod pages;
mod samples;
mod status;
mod text;
mod versions;
mod work;

pub use announced::{HubRow, WhichVoices};
pub use feed::{Change, ChangeKind, Changes, Roles};
pub use heads::PageHead;
pub(crate) use heads::heads;
pub use hosts::HostRow;
pub(crate) use observations::CHAIN;
pub use observations::{Observation, Seen};
pub use pages::{Filter, Order, PageRecord, PageRow};
pub(crate) use samples::{COLUMNS as SAMPLE_COLUMNS, sample};
pub use status::Status;
pub use versions::Version;
pub(crate) use versions::{read_at, spot};
