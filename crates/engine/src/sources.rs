//! What a sitemap or a feed says, read where visits are made: only what is news to us is handed on.

use refrain_core::time::Time;
use refrain_fetch::announce::feed::{self, Entry};
use refrain_fetch::announce::find::{Body, sniff};
use refrain_fetch::announce::hints;
use refrain_fetch::announce::sitemap::{self, Announced as Item, Scope};
use refrain_fetch::announce::when::When;
use refrain_fetch::client::Response;
use refrain_fetch::url::PageUrl;
use refrain_store::{PageId, Role};

use crate::hint::Hint;
use crate::index::{Index, Place};
use crate::kinds::Kind;

/// So many pages of other hosts are asked for leave for, in one sitemap.
const MOST_ELSEWHERE: usize = 10_000;
/// So many sitemaps of an index are handed on.
const MOST_SITEMAPS: usize = 50_000;

/// What a sitemap or a feed says that we did not know.
#[derive(Debug)]
pub(crate) struct Announced {
    pub(crate) kind: Kind,
    /// Pages of ours that are said to have changed,
    pub(crate) news: Vec<News>,
    /// of so many that are named with a date.
    pub(crate) named: usize,
    /// Addresses that we do not know.
    pub(crate) unknown: Vec<Unknown>,
    /// Other sitemaps.
    pub(crate) sitemaps: Vec<PageUrl>,
    /// Hubs that distribute it,
    pub(crate) hubs: Vec<PageUrl>,
    /// and what they call it.
    pub(crate) itself: Option<PageUrl>,
    /// What was wrong with it, in a line.
    pub(crate) complaint: Option<String>,
}

/// A page of ours is said to have changed.
#[derive(Clone, Debug)]
pub(crate) struct News {
    pub(crate) page: PageId,
    /// When.
    pub(crate) said: When,
    /// Nothing was said of the page before, by this kind.
    pub(crate) first: bool,
    /// Its address, if it is of another host: then it is a question whether anybody there allows that.
    pub(crate) elsewhere: Option<PageUrl>,
}

/// A page that we do not know.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    pub(crate) url: PageUrl,
    /// When it is said to have appeared.
    pub(crate) born: Option<Time>,
    /// How much it matters, by its site's word.
    pub(crate) importance: f64,
    pub(crate) hint: Option<Hint>,
    /// It is of another host.
    pub(crate) elsewhere: bool,
}

/// What a body is that was found at `role`'s place, or that says of itself to be one; `None` if it announces nothing.
pub(crate) fn what(answer: &Response, role: Role) -> Option<Kind> {
    let kind = answer.content_type();
    let may_be = role != Role::Page
        || kind.as_ref().is_some_and(|kind| {
            kind.essence.ends_with("xml") && !kind.is_html() || kind.essence == "application/feed+json"
        });
    if !may_be {
        return None;
    }
    match sniff(&answer.body, kind.as_ref().and_then(|kind| kind.charset.as_deref())) {
        // Every text is a list of something: only where a sitemap is expected is it one.
        Body::TextList if role != Role::Sitemap => None,
        body if body.is_sitemap() => Some(Kind::Sitemap),
        body if body.is_feed() => Some(Kind::Feed),
        _ => None,
    }
}

/// Reads what is announced at `url`.
pub(crate) fn read(kind: Kind, answer: &Response, url: &PageUrl, index: &Index, now: Time) -> Announced {
    let charset = answer.content_type().and_then(|kind| kind.charset);
    let mut reading = Reading {
        found: Announced {
            kind,
            news: Vec::new(),
            named: 0,
            unknown: Vec::new(),
            sitemaps: Vec::new(),
            hubs: Vec::new(),
            itself: None,
            complaint: None,
        },
        index,
        now,
        elsewhere: 0,
    };
    match kind {
        Kind::Sitemap | Kind::Ping => {
            let limits = sitemap::Limits::default();
            let tally =
                sitemap::read(&answer.body, url, charset.as_deref(), limits, |item| reading.item(item));
            let is_odd = tally.bad + tally.bad_dates > 0 || tally.first_bad.is_some() || tally.cut.is_some();
            reading.found.complaint = is_odd.then(|| tally.to_string());
        }
        _ => match feed::read(&answer.body, url, charset.as_deref(), feed::Limits::default()) {
            Ok(feed) => {
                for entry in &feed.entries {
                    reading.entry(entry, url);
                }
                (reading.found.hubs, reading.found.itself) = (feed.hubs, feed.itself);
                reading.found.complaint =
                    feed.first_bad.map(|why| format!("{} bad entries ({why})", feed.bad));
            }
            Err(why) => reading.found.complaint = Some(why.to_string()),
        },
    }
    reading.found
}

struct Reading<'a> {
    found: Announced,
    index: &'a Index,
    now: Time,
    elsewhere: usize,
}

impl Reading<'_> {
    fn item(&mut self, item: Item) {
        match item {
            Item::Sitemap(child) if child.scope != Scope::Elsewhere => {
                if self.found.sitemaps.len() < MOST_SITEMAPS {
                    self.found.sitemaps.push(child.url);
                }
            }
            Item::Sitemap(_) => {}
            Item::Page(page) => {
                let published = page.news.as_ref().and_then(|news| news.published);
                let hint = page.change_frequency.map(|word| Hint::change_every(hints::change_every(word)));
                let far = page.scope > Scope::Host;
                let importance = hints::importance(page.priority);
                self.page(page.url, page.last_modified.or(published), published, (importance, hint, far));
            }
        }
    }

    fn entry(&mut self, entry: &Entry, feed: &PageUrl) {
        let far = sitemap::scope(feed, &entry.url) > Scope::Host;
        self.page(entry.url.clone(), entry.changed(), entry.published, (1.0, None, far));
    }

    fn page(
        &mut self,
        url: PageUrl,
        changed: Option<When>,
        published: Option<When>,
        (importance, hint, far): (f64, Option<Hint>, bool),
    ) {
        if far {
            self.elsewhere += 1;
            if self.elsewhere > MOST_ELSEWHERE {
                return;
            }
        }
        let changed = changed.and_then(|when| when.plausible(self.now));
        match self.index.page(url.as_str()) {
            Place::Unknown => {
                let born = published.and_then(|when| when.plausible(self.now));
                let born = born.map(|when| when.latest().min(self.now));
                self.found.unknown.push(Unknown { url, born, importance, hint, elsewhere: far });
            }
            // It is on its way into the store: it will be fetched anyway.
            Place::OnItsWay => {}
            Place::Page(page) => {
                let Some(said) = changed else { return };
                self.found.named += 1;
                let before = self.index.said(page, self.found.kind);
                if before.is_none_or(|before| said.earliest() > before) {
                    let elsewhere = far.then_some(url);
                    self.found.news.push(News { page, said, first: before.is_none(), elsewhere });
                }
            }
        }
    }
}
