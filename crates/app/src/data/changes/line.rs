//! The change feed as programs read it: the same lines from commands, the API and webhooks.

use std::sync::Arc;

use refrain_engine::changed_share;
use refrain_store::{Change, Digest, Reader, Role, Roles, Seq, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use super::excerpt::{Excerpt, excerpt};
use crate::crawl::wanted::SiteRules;
use crate::data::written;

/// With excerpts an answer of the API has at most so many lines: each may take two bodies to be read.
const WITH_DIFFS: usize = 100;

/// A line of the change feed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changed {
    /// Its place in the feed: go on after this one.
    pub(crate) seq: i64,
    /// `first` (the first copy), `changed`, `gone`, or `back` (it was gone). Only `changed` counts as a change.
    kind: &'static str,
    /// When it was seen.
    #[schema(format = DateTime)]
    time: String,
    /// The number of the page.
    page: i64,
    url: String,
    /// What the page is there for: `page`, `sitemap` or `feed`.
    role: &'static str,
    /// The title of the page, as of the last fetch.
    title: Option<String>,
    /// The share of its text that changed, 0 to 1; none if that is not known.
    changed_share: Option<f64>,
    /// What counted as the change.
    counted: Option<String>,
    /// The digest before; none: there was nothing.
    old: Option<String>,
    /// The digest after; none: the page is gone.
    new: Option<String>,
    /// What the change removed and added; none if there is nothing to show, or it was not asked for.
    diff: Option<Excerpt>,
}

impl Changed {
    fn new(change: Change, diff: Option<Excerpt>) -> Self {
        let digest = |digest: Option<Digest>| digest.map(|digest| digest.to_string());
        Self {
            seq: change.seq.0,
            kind: change.kind.as_str(),
            time: written(change.time),
            page: change.page.0,
            role: change.role.as_str(),
            changed_share: change.counted.as_deref().and_then(changed_share),
            old: digest(change.old),
            new: digest(change.new),
            url: change.url,
            title: change.title,
            counted: change.counted,
            diff,
        }
    }

    /// As JSON, on one line.
    pub(crate) fn json(&self) -> String {
        // Numbers and texts always become JSON, and JSON has no line ends.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Which lines of the feed are read, and whether they say what was removed and added.
#[derive(Clone, Debug)]
pub(crate) struct WhichChanges {
    pub(crate) roles: Roles,
    /// What counts as the text of a page; `None`: lines without excerpts.
    pub(crate) diffs: Option<Arc<SiteRules>>,
}

/// A part of the feed.
pub(crate) struct Lines {
    pub(crate) lines: Vec<Changed>,
    /// The cursor to go on with, past the lines that were not wanted.
    pub(crate) end: Seq,
}

impl WhichChanges {
    /// How many lines to read for a client that waits and wants so many.
    pub(crate) fn at_once(&self, limit: usize) -> usize {
        if self.diffs.is_some() { limit.min(WITH_DIFFS) } else { limit }
    }

    /// The wanted lines after a cursor, at most `limit`.
    pub(crate) fn read(&self, reader: &Reader, after: Seq, limit: usize) -> Result<Lines, StoreError> {
        let part = reader.changes_since(after, limit, self.roles)?;
        let line = |change: Change| {
            let rules = self.diffs.as_ref().map(|rules| rules.of_page(&change.url));
            let diff = rules.and_then(|rules| excerpt(reader, &change, &rules));
            Changed::new(change, diff)
        };
        Ok(Lines { lines: part.changes.into_iter().map(line).collect(), end: part.end })
    }
}

/// Which roles are wanted, as they are typed and written.
#[derive(Clone, Copy, Debug, serde::Deserialize, PartialEq, Eq, clap::ValueEnum, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleChoice {
    /// Pages, sitemaps and feeds
    All,
    /// Pages to be read
    Page,
    /// Sitemaps
    Sitemap,
    /// Feeds: RSS, Atom, JSON Feed
    Feed,
}

impl RoleChoice {
    /// The roles of all choices together; pages if there is no choice.
    pub(crate) fn roles(choices: &[Self]) -> Roles {
        if choices.is_empty() {
            return Roles::default();
        }
        if choices.contains(&Self::All) {
            return Roles::ALL;
        }
        let role = |choice: &Self| match choice {
            Self::Sitemap => Role::Sitemap,
            Self::Feed => Role::Feed,
            Self::Page | Self::All => Role::Page,
        };
        choices.iter().map(role).collect()
    }
}
