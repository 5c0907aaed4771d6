//! Refrain's memory: facts in SQLite, bodies in WARC files (docs/store.md).
//!
//! - [`Store`]: the one writer of a data directory; [`Batch`]: what it commits, all or nothing
//! - [`Reader`]: everything that can be asked, also while the writer is at work
//! - [`QueueChanges`]: the queues of crawlers that fetch by themselves
//! - [`warc`]: records of answers, made on any thread, read by everybody's tools
//! - [`Retention`]: which versions are kept; rewriting WARC files that are mostly dead
//! - [`verify()`]: reads everything and says what is not as it should be
//!
//! Every error is a [`StoreError`]: of files, of the database, of a full disk, or of facts that cannot be.
//!
//! ```
//! use refrain_core::time::Time;
//! use refrain_store::{Address, Batch, NewPage, Options, Origin, Reader, Store};
//!
//! let directory = tempfile::tempdir()?;
//! let mut store = Store::open(directory.path(), Options::default())?;
//! let page = NewPage {
//!     url: Address::new("https://example.org/")?,
//!     host: "https://example.org".to_owned(),
//!     importance: 1.0,
//!     max_age: None,
//!     added: Time::from_nanos(1_700_000_000_000_000_000),
//!     found: "seed",
//!     origin: Origin::default(),
//! };
//! let done = store.commit(&Batch { pages: vec![page], ..Batch::default() })?;
//! let added = done.pages[0].unwrap();
//! assert!(added.new);
//!
//! let reader = Reader::open(directory.path())?;
//! assert_eq!(reader.page("https://example.org/")?.unwrap().id, added.page);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![allow(clippy::missing_errors_doc, reason = "there is one type of errors, whose cases say when they come")]

mod address;
mod batch;
mod commit;
mod compact;
mod database;
mod digest;
mod error;
mod facts;
mod leftovers;
mod mark;
mod millis;
mod place;
mod query;
mod queues;
mod reader;
mod recovery;
mod retention;
mod segments;
mod spelling;
mod store;
mod verify;
pub mod warc;

pub use address::{Address, LONGEST_ADDRESS};
pub use batch::{Added, Batch, Committed};
pub use compact::{Compacted, Compaction};
pub use digest::{Digest, Digester};
pub use error::StoreError;
pub use facts::{
    Announcement, Edit, GREATEST_IMPORTANCE, GrantFacts, HostId, HostUpdate, HubFacts, IMPORTED, Known,
    LONGEST_NAME, Lease, Leased, Look, NewPage, Origin, Outcome, PageId, PageState, PastLooks, ReadsFacts,
    Robots, Role, Sample, Seq, Signal, VersionId, Voice,
};
pub use leftovers::Leftovers;
pub use query::{
    Change, ChangeKind, Changes, Filter, HostRow, HubRow, Observation, Order, PageHead, PageRecord, PageRow,
    Roles, Seen, Status, Version, WhichVoices,
};
pub use queues::{
    Beside, CrawlRow, CrawlTally, ItemNews, ItemRow, Placed, QueueChanges, QueueRow, Schedule, ServedRow,
};
pub use reader::Reader;
pub use recovery::{Interpret, Recovered, Recovery};
pub use retention::{Retained, Retention};
pub use spelling::Respelled;
pub use store::{Options, Store};
pub use verify::{Checked, Finding, Progress, Report, Weight, verify};
