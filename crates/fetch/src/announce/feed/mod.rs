//! Feeds: RSS of every version, Atom, JSON Feed. What is new, where, since when; and how often the feed says to look again.
//!
//! Only what a crawler needs is kept: no titles, no contents. What is not well-formed is read as far as it makes sense.

mod element;
mod json;
mod markup;
mod period;

use refrain_core::time::Span;

use super::find::{Body, sniff};
use super::inflow::Inflow;
use super::when::When;
use super::{Cut, trimmed};
use crate::url::{LONGEST, PageUrl};

/// How much of a feed is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// So many entries, bad ones included; the first are the newest, mostly.
    pub entries: usize,
    /// So many bytes, uncompressed.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { entries: 5000, bytes: 16 << 20 }
    }
}

/// What a feed says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feed {
    /// What is new, as it stands in the feed.
    pub entries: Vec<Entry>,
    /// The page that the feed belongs to.
    pub home: Option<PageUrl>,
    /// The feed's own name: what a WebSub hub is asked for.
    pub itself: Option<PageUrl>,
    /// WebSub hubs, which tell of changes.
    pub hubs: Vec<PageUrl>,
    /// Older entries (RFC 5005, or JSON Feed's `next_url`).
    pub next: Option<PageUrl>,
    /// When the feed is said to have changed last.
    pub updated: Option<When>,
    /// How long it may be kept (`ttl`).
    pub keep_for: Option<Span>,
    /// How often it is said to change (`sy:updatePeriod`).
    pub updated_every: Option<Span>,
    /// Entries that could not be used.
    pub bad: u64,
    /// Dates that could not be read, of entries that could be used.
    pub bad_dates: u64,
    /// The first thing that was wrong, in a line.
    pub first_bad: Option<String>,
    /// Why it was not read to its end, if it was not.
    pub cut: Option<Cut>,
}

/// One thing that is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its page.
    pub url: PageUrl,
    /// What the feed calls it, whatever its page is called.
    pub id: Option<String>,
    /// When it is said to have been published. Nothing is checked: [`When::judged`] tells what is absurd.
    pub published: Option<When>,
    /// When it is said to have changed last.
    pub updated: Option<When>,
}

/// Why a body is not read as a feed, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFeed {
    /// It is a page for people: often what a server shows instead of an error.
    #[error("it is an HTML page; expected a feed")]
    Html,
    /// It is another thing.
    #[error("it is {}; expected a feed", .0.name())]
    Other(Body),
    /// It begins like a JSON feed, and is no proper JSON.
    #[error("its JSON is broken: {0}")]
    Json(String),
}

/// Reads the feed found at `url`. `charset` is the encoding that the head of the answer names, if any.
///
/// # Errors
/// [`NoFeed`] says in a sentence what it is instead.
pub fn read(body: &[u8], url: &PageUrl, charset: Option<&str>, limits: Limits) -> Result<Feed, NoFeed> {
    let mut inflow = Inflow::new(limits.bytes, charset);
    let mut feed = match sniff(body, charset) {
        Body::Rss | Body::Atom => markup::read(body, &mut inflow, url, limits),
        // An encoding that JSON does not have would be a mistake of the server.
        Body::JsonFeed => json::read(body, &mut Inflow::new(limits.bytes, None), url, limits)?,
        Body::Html => return Err(NoFeed::Html),
        other => return Err(NoFeed::Other(other)),
    };
    feed.cut = feed.cut.or(inflow.cut());
    Ok(feed)
}

impl Entry {
    /// When it is said to have changed last: updated, or else published.
    pub fn changed(&self) -> Option<When> {
        self.updated.or(self.published)
    }
}

/// An entry as far as it was read, with texts as they were written.
#[derive(Debug, Default)]
struct Draft {
    link: Option<Written>,
    /// Where `link` is relative to.
    base: Option<PageUrl>,
    /// A name that may be a URL, for entries without a link.
    name: Option<Written>,
    id: Option<String>,
    published: Option<String>,
    updated: Option<String>,
    /// `dc:date`: when it changed and, if nothing else says so, when it was published.
    dated: Option<String>,
}

/// Text that may be an address.
#[derive(Debug)]
struct Written {
    text: String,
    /// It refers to an entity that is not defined, so the address is not known.
    is_unknown: bool,
}

impl Written {
    fn resolved(self) -> Result<String, String> {
        if self.is_unknown {
            return Err("its link refers to an entity that is not defined".to_owned());
        }
        Ok(self.text)
    }
}

impl Feed {
    fn seen(&self) -> u64 {
        self.entries.len() as u64 + self.bad
    }

    /// May another entry be taken?
    fn has_room(&mut self, limits: Limits) -> bool {
        let fits = self.seen() < limits.entries as u64;
        if !fits {
            self.cut = Some(Cut::Entries);
        }
        fits
    }

    fn take(&mut self, draft: Draft, feed_base: &PageUrl) {
        let base = draft.base.as_ref().unwrap_or(feed_base);
        let no_link = || "it has no link".to_owned();
        let place = match (draft.link, draft.name) {
            (Some(link), _) => {
                link.resolved().and_then(|link| base.join(&link).map_err(|why| why.to_string()))
            }
            (None, Some(name)) => {
                name.resolved().and_then(|name| PageUrl::parse(&name).map_err(|_| no_link()))
            }
            (None, None) => Err(no_link()),
        };
        let url = match place {
            Ok(url) => url,
            Err(why) => return self.bad(&why),
        };
        let dated = draft.dated.and_then(|text| self.date(&text));
        let published = draft.published.and_then(|text| self.date(&text)).or(dated);
        let updated = draft.updated.and_then(|text| self.date(&text)).or(dated);
        self.entries.push(Entry { url, id: draft.id.filter(|id| !id.is_empty()), published, updated });
    }

    /// An entry cannot be used.
    fn bad(&mut self, why: &dyn std::fmt::Display) {
        self.first(why);
        self.bad += 1;
    }

    fn date(&mut self, text: &str) -> Option<When> {
        let when = When::parse(text);
        if when.is_none() && !text.trim().is_empty() {
            let shown: String = text.chars().take(40).collect();
            self.first(&format_args!("'{}' is no date that can be read", shown.escape_debug()));
            self.bad_dates += 1;
        }
        when
    }

    fn first(&mut self, why: &dyn std::fmt::Display) {
        if self.first_bad.is_none() {
            self.first_bad = Some(format!("entry {}: {why}", self.seen() + 1));
        }
    }

    fn hub(&mut self, url: PageUrl) {
        const MOST_HUBS: usize = 10;
        if self.hubs.len() < MOST_HUBS && !self.hubs.contains(&url) {
            self.hubs.push(url);
        }
    }
}

/// Text that is kept: trimmed, and not longer than any URL.
fn kept(text: &str) -> Option<String> {
    let text = trimmed(text);
    (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
