//! Facts that are committed together.

use crate::facts::{
    Announcement, Edit, GrantFacts, HostUpdate, HubFacts, Lease, Look, NewPage, PageId, PastLooks,
    ReadsFacts, Sample, Seq, Signal, VersionId, Voice,
};
use crate::query::PageHead;

/// Facts that are committed together.
///
/// They are applied in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// News of hosts.
    pub hosts: Vec<HostUpdate>,
    /// Pages to be forgotten, with all that is known of them.
    pub removals: Vec<PageId>,
    /// New pages; their hosts are added with them.
    pub pages: Vec<NewPage>,
    /// Decisions about pages.
    pub edits: Vec<Edit>,
    /// Looks of other crawlers.
    pub past: Vec<PastLooks>,
    /// Looks at pages.
    pub looks: Vec<Look>,
    /// Hints.
    pub signals: Vec<Signal>,
    /// What was announced last.
    pub announced: Vec<Announcement>,
    /// How far announcements can be believed.
    pub voices: Vec<Voice>,
    /// News of hubs.
    pub hubs: Vec<HubFacts>,
    /// Pages that are hubs no more.
    pub no_hubs: Vec<PageId>,
    /// Fetches that are under way now; a page has one lease, the latest.
    pub leases: Vec<Lease>,
    /// Pages whose fetches are no longer under way.
    pub released: Vec<PageId>,
    /// What other fetchers were given,
    pub grants: Vec<GrantFacts>,
    /// and what they have answered, or is given up.
    pub settled: Vec<u64>,
    /// How often people ask for pages.
    pub reads: Vec<ReadsFacts>,
    /// How far readers of the change feed have come, by name.
    pub delivered: Vec<(String, Seq)>,
    /// How it went.
    pub samples: Vec<Sample>,
    /// What belongs to the whole crawl, by name; what is empty is not kept any more.
    pub meta: Vec<(String, Vec<u8>)>,
    /// Pages of which whoever commits wants to know what is known after all of this: whoever writes has them at hand.
    pub asked: Vec<PageId>,
}

/// What became of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// For each new page its number, and whether it was new indeed; `None`: it was refused.
    pub pages: Vec<Option<Added>>,
    /// For each look the version that its record became.
    pub versions: Vec<Option<VersionId>>,
    /// Pages that facts were about, but which are not there (any more): these facts were dropped.
    pub unknown: Vec<PageId>,
    /// The last change of the feed after this batch, if the batch made one.
    pub last_change: Option<Seq>,
    /// Facts that were left out because they cannot be, each as a sentence.
    pub refused: Vec<String>,
    /// For each page that was asked for what is known of it; `None`: it is not there.
    pub heads: Vec<Option<PageHead>>,
}

/// A page that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its number.
    pub page: PageId,
    /// Whether it was not there before.
    pub new: bool,
}
