//! The words between the queues and their doors.

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::Schedule;

/// Something is said of an address.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// The crawl.
    pub crawl: String,
    /// The key of its queue.
    pub key: String,
    /// The address, as whoever says it writes it.
    pub url: String,
    /// What its crawler says of it, as it is given back.
    pub metadata: Vec<u8>,
    /// When it came, in whole seconds; `None`: now.
    pub created: Option<u32>,
    /// What is said.
    pub said: Said,
    /// Who is to decide in its crawl; `None`: whoever does already, or by the settings.
    pub schedule: Option<Schedule>,
    /// What was seen, for a crawl in which values decide.
    pub seen: Option<Box<SeenByOthers>>,
}

/// What is said of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// It exists.
    Discovered,
    /// It was looked at, and is due again from this second on; 0: never.
    Known(u64),
}

/// What a crawler tells of a look, as it is found in what it keeps with an address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenByOthers {
    /// What the body looks like, and what the one before did.
    pub signature: Option<String>,
    /// What the body before it looked like.
    pub signature_before: Option<String>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Why it could not be fetched.
    pub failure: Option<FetchFailure>,
    /// Whether its crawler found that robots.txt forbids it.
    pub is_forbidden: bool,
    /// Where it leads, if the status is that of a redirect and its crawler says so.
    pub redirect: Option<PageUrl>,
    /// `Last-Modified`.
    pub last_modified: Option<String>,
    /// `ETag`.
    pub etag: Option<String>,
    /// Whether it is a feed.
    pub is_feed: bool,
    /// Whether it is a sitemap.
    pub is_sitemap: bool,
    /// When a sitemap says that it was changed.
    pub announced: Option<Time>,
    /// The page, feed or sitemap that led to it.
    pub shown_by: Option<String>,
}

/// Why another crawler could not fetch a page, each with a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchFailure {
    /// There was no answer: the page may be to blame, or its host.
    NoAnswer(String),
    /// Something is wrong with the page.
    OfPage(String),
}

/// What became of what was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// It is on the disk.
    Taken {
        /// Whether the address was not there before.
        new: bool,
        /// Whether it is completed with that.
        completed: bool,
    },
    /// It exists already.
    Ignored,
    /// There is no room for it.
    Full,
    /// Values decide in its crawl, and no crawler comes to such an address.
    Refused,
}

/// Addresses that are given to somebody: on the disk, and leased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// By queue: crawl, key, and the numbers of addresses.
    pub queues: Vec<(String, String, Vec<u32>)>,
}

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemNow {
    /// Its number in the store.
    pub id: u32,
    /// From when on it is due; 0: never again.
    pub due: u32,
    /// Whether its value decides.
    pub is_parked: bool,
    /// When it came.
    pub created: u32,
}
