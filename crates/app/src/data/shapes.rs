//! What is in a data directory as programs read it: from the API, and from commands.

use refrain_core::time::{Span, Time};
use refrain_engine::RobotsSay;
use refrain_store::{Digest, Observation, PageRecord, PageRow, Signal, Version};
use serde::Serialize;
use utoipa::ToSchema;

use super::written;

/// A moment, if there is one.
pub(crate) fn moment(time: Option<Time>) -> Option<String> {
    time.map(written)
}

/// A length of time in seconds, if there is one.
pub(crate) fn seconds(span: Option<Span>) -> Option<f64> {
    span.map(Span::as_secs)
}

fn digest(digest: Option<&Digest>) -> Option<String> {
    digest.map(ToString::to_string)
}

/// Whether a page is crawled.
#[derive(Clone, Copy, Debug, Serialize, serde::Deserialize, ToSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It is.
    Active,
    /// Not for now: somebody said so.
    Paused,
    /// Its server says that it no longer exists.
    Gone,
    /// robots.txt forbids it.
    Disallowed,
}

impl From<refrain_store::PageState> for State {
    fn from(state: refrain_store::PageState) -> Self {
        use refrain_store::PageState as Stored;
        match state {
            Stored::Active => Self::Active,
            Stored::Paused => Self::Paused,
            Stored::Gone => Self::Gone,
            Stored::Disallowed => Self::Disallowed,
        }
    }
}

/// A page in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Listed {
    /// Its number.
    pub(crate) id: i64,
    url: String,
    state: State,
    /// How much it matters, relative to others.
    importance: f64,
    /// Its copy should never be older.
    max_age_seconds: Option<f64>,
    #[schema(format = DateTime)]
    added: String,
    /// The last look, whatever came of it.
    #[schema(format = DateTime)]
    looked: Option<String>,
    /// The last look that confirmed or replaced the copy.
    #[schema(format = DateTime)]
    fetched: Option<String>,
    /// The last look that saw a change; a first copy is none.
    #[schema(format = DateTime)]
    changed: Option<String>,
    /// Failed looks in a row.
    failures: u32,
    /// What it is there for: `page`, `sitemap` or `feed`.
    role: &'static str,
}

impl From<&PageRow<'_>> for Listed {
    fn from(row: &PageRow<'_>) -> Self {
        Self {
            id: row.id.0,
            url: row.url.to_owned(),
            state: row.state.into(),
            importance: row.importance,
            max_age_seconds: seconds(row.max_age),
            added: written(row.added),
            looked: moment(row.looked),
            fetched: moment(row.fetched),
            changed: moment(row.changed),
            failures: row.failures,
            role: row.origin.role.as_str(),
        }
    }
}

/// All that is known of a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page {
    #[serde(flatten)]
    listed: Listed,
    /// How it was found: `seed`, `link`, `sitemap`, `feed`, `api`, …
    found: String,
    /// The HTTP status of the last look; none if there was no answer.
    status: Option<u16>,
    /// The digest of the body seen last.
    digest: Option<String>,
    etag: Option<String>,
    last_modified: Option<String>,
    /// Where it leads.
    redirect: Option<String>,
    /// What it calls itself.
    title: Option<String>,
}

impl From<PageRecord> for Page {
    fn from(record: PageRecord) -> Self {
        Self {
            listed: Listed::from(&record.row()),
            found: record.found,
            status: record.status,
            digest: digest(record.digest.as_ref()),
            etag: record.etag,
            last_modified: record.last_modified,
            redirect: record.redirect,
            title: record.title,
        }
    }
}

/// One look at a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Look {
    #[schema(format = DateTime)]
    time: String,
    /// What came of it.
    outcome: &'static str,
    /// What counted as a change.
    counted: Option<String>,
    status: Option<u16>,
    bytes: u64,
    /// Since the look that the outcome is relative to.
    elapsed_seconds: Option<f64>,
    duration_seconds: f64,
    digest: Option<String>,
}

impl From<Observation> for Look {
    fn from(look: Observation) -> Self {
        Self {
            time: written(look.time),
            outcome: look.outcome.as_str(),
            status: look.status,
            bytes: look.bytes,
            elapsed_seconds: seconds(look.elapsed),
            duration_seconds: look.duration.as_secs(),
            digest: digest(look.digest.as_ref()),
            counted: look.counted,
        }
    }
}

/// Somebody said that a page changed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Heard {
    /// When it was said.
    #[schema(format = DateTime)]
    time: String,
    /// Who said so: `sitemap`, `feed`, `websub`, `indexnow`, `ping`, or the name of a source.
    kind: String,
    /// When the page is said to have changed.
    #[schema(format = DateTime)]
    said: Option<String>,
    /// By how much a fetch was worth more then.
    worth: Option<f64>,
    /// Whether the next look saw a change; none until there is one.
    came_true: Option<bool>,
}

impl From<Signal> for Heard {
    fn from(signal: Signal) -> Self {
        Self {
            time: written(signal.time),
            said: moment(signal.said),
            worth: signal.worth,
            came_true: signal.came_true,
            kind: signal.kind,
        }
    }
}

/// What robots.txt says of a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Ruling {
    allowed: bool,
    /// The line that says so.
    rule: Option<String>,
}

impl From<RobotsSay> for Ruling {
    fn from(says: RobotsSay) -> Self {
        match says {
            RobotsSay::Allowed(rule) => Self { allowed: true, rule },
            RobotsSay::Disallowed(rule) => Self { allowed: false, rule: Some(rule) },
            RobotsSay::Nothing => Self { allowed: false, rule: None },
        }
    }
}

/// What a page was at some moment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Kept {
    /// Its number.
    version: i64,
    /// When it was seen.
    #[schema(format = DateTime)]
    time: String,
    /// The digest of the body.
    digest: String,
    /// Who answered.
    url: String,
    /// Whether it is the body of an earlier version, seen again.
    revisit: bool,
}

impl From<&Version> for Kept {
    fn from(version: &Version) -> Self {
        Self {
            version: version.id.0,
            time: written(version.time),
            digest: version.digest.to_string(),
            url: version.url.clone(),
            revisit: version.body != version.id,
        }
    }
}
