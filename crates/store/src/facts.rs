//! What a crawl comes to know, as it is handed to the store.

use refrain_core::time::{Span, Time};

use crate::address::Address;
use crate::digest::Digest;
use crate::warc::Encoded;

/// No page matters more: sums and products of what pages are worth stay finite, also in single precision.
pub const GREATEST_IMPORTANCE: f64 = 1e30;

/// The longest name of a host, a kind of signal, a reader of the change feed or a key, in bytes.
pub const LONGEST_NAME: usize = 1024;

/// The number of a page; never used again after the page is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageId(pub i64);

/// The number of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub i64);

/// The number of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionId(pub i64);

/// The place of a change in the feed: changes are numbered in the order in which they were committed. Zero is before all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Seq(pub i64);

/// Whether a page is crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PageState {
    /// It is.
    Active,
    /// Not for now: somebody said so.
    Paused,
    /// The server says it no longer exists.
    Gone,
    /// robots.txt says no.
    Disallowed,
}

/// What came of a look at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The first body of this page.
    First,
    /// Another body than before.
    Changed,
    /// A body that counts as the same.
    Unchanged,
    /// The server said so (304).
    NotModified,
    /// The server says that the page no longer exists.
    Gone,
    /// The server points elsewhere.
    Redirected,
    /// robots.txt says no; nothing was asked.
    Disallowed,
    /// The server asked to slow down.
    SlowDown,
    /// No answer, or none of use.
    Failed,
}

impl PageState {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Active, Self::Paused, Self::Gone, Self::Disallowed];

    /// As the database has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Gone => "gone",
            Self::Disallowed => "disallowed",
        }
    }

    /// The state of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl Outcome {
    const ALL: [Self; 9] = [
        Self::First,
        Self::Changed,
        Self::Unchanged,
        Self::NotModified,
        Self::Gone,
        Self::Redirected,
        Self::Disallowed,
        Self::SlowDown,
        Self::Failed,
    ];

    /// As the database has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::NotModified => "not modified",
            Self::Gone => "gone",
            Self::Redirected => "redirected",
            Self::Disallowed => "disallowed",
            Self::SlowDown => "slow down",
            Self::Failed => "failed",
        }
    }

    /// The outcome of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.as_str() == name)
    }

    /// Whether the copy was replaced or confirmed.
    pub fn is_fresh(self) -> bool {
        matches!(self, Self::First | Self::Changed | Self::Unchanged | Self::NotModified)
    }

    /// Whether it can be a change to those who follow the page.
    pub(crate) fn may_be_change(self) -> bool {
        matches!(self, Self::First | Self::Changed | Self::Gone)
    }

    /// Whether the page could not be fetched.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::SlowDown | Self::Failed)
    }

    /// Returns how many fetches in a row have failed after this one, given the page's state and count before it. Fetches that find the page
    /// missing count as well, from 1 when the page was there before: a page that failed often and then is missing for the first time is
    /// looked for again soon.
    pub fn failures_after(self, state: PageState, failures: u32) -> u32 {
        match self {
            Self::Gone if state != PageState::Gone => 1,
            _ if self == Self::Gone || self.is_failure() => failures.saturating_add(1),
            _ => 0,
        }
    }
}

/// A page to be crawled. A page that is already there stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPage {
    /// Its canonical address.
    pub url: Address,
    /// Its host, with scheme and port: `https://example.org`.
    pub host: String,
    /// How much it matters, relative to others; at most [`GREATEST_IMPORTANCE`].
    pub importance: f64,
    /// Its copy should never be older than this.
    pub max_age: Option<Span>,
    /// When it was added.
    pub added: Time,
    /// How it was found: `seed`, `link`, `sitemap`, `feed`, …
    pub found: &'static str,
    /// What else is known of where it comes from.
    pub origin: Origin,
}

/// Where a page comes from, and what that makes of it. Most pages have nothing of this.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Origin {
    /// What it is there for.
    pub role: Role,
    /// The page that it was found on.
    pub hub: Option<PageId>,
    /// When it appeared; `None`: when it was added.
    pub born: Option<Time>,
    /// The share of its importance that it loses per second from then on; `None`: it stays.
    pub decay: Option<f64>,
    /// What is promised of its changes, as a number that only the crawler understands.
    pub hint: Option<u8>,
}

/// What a page is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// To be read.
    #[default]
    Page,
    /// It says what pages there are, and when they changed.
    Sitemap,
    /// It says what is new.
    Feed,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Page, Self::Sitemap, Self::Feed];

    /// As the database has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
        }
    }

    /// The role of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// One look at a page: what was seen, and what is known of the page now.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The page.
    pub page: PageId,
    /// When; a clock that ran backwards since the look before does not make it earlier than that one, unless that one lies more than a day ahead.
    pub time: Time,
    /// When the request may have been sent at the earliest. Signals that came later are not judged by this look.
    pub asked: Time,
    /// How long before there was the look that the outcome is relative to.
    pub elapsed: Option<Span>,
    /// What came of it.
    pub outcome: Outcome,
    /// What counted as the change, if something did.
    pub counted: Option<String>,
    /// The HTTP status, if there was an answer.
    pub status: Option<u16>,
    /// Bytes received.
    pub bytes: u64,
    /// How long it took.
    pub duration: Span,
    /// The digest of the body, if there was one.
    pub digest: Option<Digest>,
    /// The state of the page from now on.
    pub state: PageState,
    /// The learned history, if it is another one now.
    pub history: Option<Vec<u8>>,
    /// What else is known of the page now; `None` leaves it as it was, as after a failure.
    pub known: Option<Known>,
    /// The record of the answer, if it is to be kept.
    pub record: Option<Encoded>,
}

/// What another crawler saw of a page, before or beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct PastLooks {
    /// The page.
    pub page: PageId,
    /// Each look: when, how long after the one before of the same crawler if there was one, and had the page changed?
    pub looks: Vec<(Time, Option<Span>, bool)>,
    /// The learned history, with these looks in it.
    pub history: Vec<u8>,
}

/// What is written in the place of what counted as a change, for looks of another crawler.
pub const IMPORTED: &str = "imported";

/// What the last answer said of a page.
///
/// Strangers wrote most of it: validators and targets that are absurdly long are not kept, a long title is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// `ETag`, to be sent back.
    pub etag: Option<String>,
    /// `Last-Modified`, to be sent back.
    pub last_modified: Option<String>,
    /// Where the page leads.
    pub redirect: Option<String>,
    /// What it calls itself.
    pub title: Option<String>,
    /// What the next body is compared with; `None` leaves it as it was.
    pub kept: Option<Vec<u8>>,
    /// What is promised of its changes; `None` leaves it as it was.
    pub hint: Option<u8>,
}

/// All that is known of a host; replaces what was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostUpdate {
    /// Scheme, name and port: `https://example.org`.
    pub name: String,
    /// The least time between the starts of two requests; `None`: the default.
    pub gap: Option<Span>,
    /// Not to be visited before.
    pub back_off_until: Option<Time>,
    /// Failures in a row.
    pub failures: u32,
    /// Its robots.txt, if there is news of it; `None` leaves it as it was.
    pub robots: Option<Robots>,
    /// The gap that somebody wants.
    pub wanted_gap: Option<Span>,
    /// Whether it is left alone until somebody says otherwise.
    pub paused: bool,
}

/// An answer to the question for robots.txt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Robots {
    /// The text; empty if there is none.
    pub text: Vec<u8>,
    /// When it was asked for.
    pub fetched: Time,
    /// The HTTP status; `None`: no answer.
    pub status: Option<u16>,
}

/// What somebody decided about a page; `None` leaves it as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// The page.
    pub page: PageId,
    /// How much it matters.
    pub importance: Option<f64>,
    /// How old its copy may be; `Some(None)` takes the wish back.
    pub max_age: Option<Option<Span>>,
    /// Whether it is crawled.
    pub state: Option<PageState>,
    /// The share of its importance that it loses per second; `Some(None)`: none.
    pub decay: Option<Option<f64>>,
    /// What it is there for.
    pub role: Option<Role>,
}

impl Edit {
    /// Nothing, yet.
    pub fn of(page: PageId) -> Self {
        Self { page, importance: None, max_age: None, state: None, decay: None, role: None }
    }
}

/// A hint that a page changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The page.
    pub page: PageId,
    /// The kind of hint.
    pub kind: String,
    /// When it came.
    pub time: Time,
    /// When the page is said to have changed.
    pub said: Option<Time>,
    /// By how much a fetch of the page was worth more then.
    pub worth: Option<f64>,
    /// Whether the next look saw a change; `None` until there is one. The store finds that out by itself.
    pub came_true: Option<bool>,
}

impl Signal {
    /// A hint that says nothing else.
    pub fn new(page: PageId, kind: &str, time: Time) -> Self {
        Self { page, kind: kind.to_owned(), time, said: None, worth: None, came_true: None }
    }
}

/// When a kind of announcement last said that a page changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// The page.
    pub page: PageId,
    /// The kind.
    pub kind: &'static str,
    /// When it is said to have changed.
    pub said: Time,
}

/// How far the announcements of a host can be believed; replaces what was known.
#[derive(Clone, Debug, PartialEq)]
pub struct Voice {
    /// The host, by name.
    pub host: String,
    /// The kind.
    pub kind: String,
    /// Intervals between two looks that it was judged by.
    pub intervals: f64,
    /// The share of its signals that is true.
    pub precision: f64,
    /// The share of changes that it announces.
    pub recall: f64,
    /// Whether its signals count.
    pub heard: bool,
    /// For the crawler that goes on.
    pub learned: Vec<u8>,
}

/// What is known of a hub; replaces what was known.
#[derive(Clone, Debug, PartialEq)]
pub struct HubFacts {
    /// The page.
    pub page: PageId,
    /// Visits since it was known to be one.
    pub visits: u64,
    /// New links and signals that they showed.
    pub news: u64,
    /// News per second.
    pub rate: f64,
    /// What one of them is worth when it is new,
    pub profit: f64,
    /// and how fast that falls, per second.
    pub decay: f64,
    /// For the crawler that goes on.
    pub learned: Vec<u8>,
}

/// What another fetcher was given; replaces what was known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantFacts {
    /// Its number, which is never used twice.
    pub id: u64,
    /// When it is given up.
    pub until: Time,
    /// What the fetcher calls it.
    pub key: Option<String>,
    /// Its pages, in order.
    pub pages: Vec<Leased>,
}

/// One fetch of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leased {
    /// It was answered.
    Answered,
    /// The page.
    Page(PageId),
    /// The robots.txt of its host.
    Robots(PageId),
}

/// How often people ask for a page; replaces what was known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReadsFacts {
    /// The page.
    pub page: PageId,
    /// Reads, each worth the less the older it is,
    pub count: f64,
    /// as of this moment.
    pub time: Time,
}

/// A fetch under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The page.
    pub page: PageId,
    /// The order that it belongs to.
    pub order: u64,
    /// When it is given up.
    pub until: Time,
}

/// How a crawl went for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When the while ended,
    pub time: Time,
    /// and how long it was.
    pub span: Span,
    /// The share of copies that were expected to be fresh, weighted by importance; `None`: there were no pages.
    pub freshness: Option<f64>,
    /// Seconds, times importance, for which copies turned out to be fresh between two looks, the second of which was in this while,
    pub fresh: f64,
    /// and for how many that had been expected.
    pub foretold: f64,
    /// The budget: requests per second.
    pub rate: f64,
    /// What a fetch was worth; `None` before the first fetch of a page that had a copy.
    pub price: Option<f64>,
    /// Requests that were spent.
    pub requests: u64,
    /// Looks,
    pub looks: u64,
    /// of which saw a change,
    pub changed: u64,
    /// saw none,
    pub unchanged: u64,
    /// or saw nothing of use.
    pub failed: u64,
}

impl Sample {
    /// The share of copies that were fresh as looks found it: as many as were expected, times what looks found over what was expected of the same
    /// copies (a ratio estimate: who is looked at again stands for who is not). `None` if nobody was looked at again.
    pub fn found(&self) -> Option<f64> {
        let ratio = (self.foretold > 0.0).then(|| self.fresh / self.foretold)?;
        self.freshness.map(|expected| (expected * ratio).clamp(0.0, 1.0))
    }

    /// Two whiles, one after the other, as one: what is counted adds up, what is not is weighted by how long it was so.
    #[must_use]
    pub fn and(&self, later: &Self) -> Self {
        let (before, after) = (self.span.as_secs(), later.span.as_secs());
        let share = if before + after > 0.0 { after / (before + after) } else { 1.0 };
        let mean = |a: f64, b: f64| a + share * (b - a);
        let known = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => Some(mean(a, b)),
            (a, b) => a.or(b),
        };
        Self {
            time: self.time.max(later.time),
            span: self.span + later.span,
            freshness: known(self.freshness, later.freshness),
            fresh: self.fresh + later.fresh,
            foretold: self.foretold + later.foretold,
            rate: mean(self.rate, later.rate),
            price: known(self.price, later.price),
            requests: self.requests + later.requests,
            looks: self.looks + later.looks,
            changed: self.changed + later.changed,
            unchanged: self.unchanged + later.unchanged,
            failed: self.failed + later.failed,
        }
    }
}
