//! What a sitemap or a feed says, read where visits are made: only what is news to us is handed on.

use std::collections::VecDeque;

use refrain_core::time::Time;
use refrain_fetch::announce::feed::{self, Entry};
use refrain_fetch::announce::find::{Body, ENOUGH, sniff};
use refrain_fetch::announce::hints;
use refrain_fetch::announce::sitemap::{self, Announced as Item, Scope};
use refrain_fetch::announce::when::When;
use refrain_fetch::client::Response;
use refrain_fetch::url::PageUrl;
use refrain_store::{Digest, Digester, PageId, Role};

use crate::follow::Follow;
use crate::hint::Hint;
use crate::hubs::Yield;
use crate::index::{Index, Place};
use crate::kinds::Kind;

/// The largest sitemap, decoded: what the protocol allows, and a little more.
pub(crate) const LARGEST_SITEMAP: usize = 55 << 20;
/// So many pages of other hosts are asked for leave for, in one sitemap.
const MOST_ELSEWHERE: usize = 10_000;
/// So many sitemaps of an index are handed on.
const MOST_SITEMAPS: usize = 50_000;

/// The memory that one announcement takes until the crawl has taken it up, in bytes: room for fifty thousand addresses of 180 bytes.
pub(crate) const LONGEST_ANNOUNCEMENT: usize = 16 << 20;
/// The same for a short body, which is read without waiting for a turn.
pub(crate) const SHORT_ANNOUNCEMENT: usize = 128 << 10;

/// What a sitemap or a feed says that we did not know.
#[derive(Debug)]
pub(crate) struct Announced {
    pub(crate) kind: Kind,
    /// Pages of ours that are said to have changed,
    pub(crate) news: VecDeque<News>,
    /// so many in all,
    pub(crate) in_all: usize,
    /// of so many that are named with a date.
    pub(crate) named: usize,
    /// Addresses that we do not know.
    pub(crate) unknown: VecDeque<Unknown>,
    /// Other sitemaps.
    pub(crate) sitemaps: VecDeque<PageUrl>,
    /// Hubs that distribute it,
    pub(crate) hubs: Vec<PageUrl>,
    /// and what they call it.
    pub(crate) itself: Option<PageUrl>,
    /// What was wrong with it, in a line.
    pub(crate) complaint: Option<String>,
    /// The memory that all of this takes, in bytes.
    pub(crate) size: usize,
    /// Entries that did not fit, which the next reading finds: what is known by then takes no room.
    pub(crate) left_out: u64,
    /// What was taken up of it so far: what that is worth, signals and new pages.
    pub(crate) yields: Yield,
    pub(crate) signals: u64,
    pub(crate) found: u64,
}

impl Announced {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            news: VecDeque::new(),
            in_all: 0,
            named: 0,
            unknown: VecDeque::new(),
            sitemaps: VecDeque::new(),
            hubs: Vec::new(),
            itself: None,
            complaint: None,
            size: 0,
            left_out: 0,
            yields: Yield::default(),
            signals: 0,
            found: 0,
        }
    }

    /// How much of it was not taken up yet.
    pub(crate) fn left(&self) -> usize {
        self.sitemaps.len() + self.news.len() + self.unknown.len()
    }
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
}

/// Reads what was found at the place of a sitemap, piece by piece: what is decoded is never there as a whole, unless it is a feed of at most
/// `largest_feed` bytes. Returns the digest of all of it, and what is announced, if it announces anything. The error is a sentence.
pub(crate) fn read_pieces(
    answer: &Response,
    url: &PageUrl,
    known: Known<'_>,
    largest_feed: usize,
) -> Result<(Digest, Option<Announced>), String> {
    let mut start = Vec::new();
    let mut keep = |piece: &[u8]| {
        start.extend_from_slice(piece);
        true
    };
    answer.pieces(ENOUGH, &mut keep).map_err(|why| why.to_string())?;
    let kind = what(answer, &start, Role::Sitemap);
    let charset = answer.content_type().and_then(|kind| kind.charset);
    let mut digester = Digester::default();
    let mut pieces = |each: &mut dyn FnMut(&[u8])| {
        let mut take = |piece: &[u8]| {
            digester.add(piece);
            each(piece);
            true
        };
        answer.pieces(LARGEST_SITEMAP, &mut take).map_err(|why| why.to_string())
    };
    let announced = match kind {
        None => {
            pieces(&mut |_| {})?;
            None
        }
        Some(Kind::Sitemap | Kind::Ping) => {
            let mut reading = Reading::new(Kind::Sitemap, known);
            let mut reader = sitemap::Reader::new(url, charset.as_deref(), sitemap::Limits::default());
            pieces(&mut |piece| {
                reader.push(piece, |item| reading.item(item));
            })?;
            let tally = reader.finish(|item| reading.item(item));
            reading.found.complaint = complaint(&tally);
            Some(reading.end())
        }
        Some(kind) => {
            let mut whole = Vec::new();
            pieces(&mut |piece| {
                whole.extend_from_slice(&piece[..piece.len().min(largest_feed - whole.len())]);
            })?;
            Some(read(kind, &whole, charset.as_deref(), url, known))
        }
    };
    Ok((digester.digest(), announced))
}

/// What a body is that begins like this and was found at `role`'s place, or that says of itself to be one; `None` if it announces nothing.
pub(crate) fn what(answer: &Response, start: &[u8], role: Role) -> Option<Kind> {
    let kind = answer.content_type();
    let may_be = role != Role::Page
        || kind.as_ref().is_some_and(|kind| {
            kind.essence.ends_with("xml") && !kind.is_html() || kind.essence == "application/feed+json"
        });
    if !may_be {
        return None;
    }
    match sniff(start, kind.as_ref().and_then(|kind| kind.charset.as_deref())) {
        // Every text is a list of something: only where a sitemap is expected is it one.
        Body::TextList if role != Role::Sitemap => None,
        body if body.is_sitemap() => Some(Kind::Sitemap),
        body if body.is_feed() => Some(Kind::Feed),
        _ => None,
    }
}

/// What announcements are read against. Addresses that are not known are handed on as far as links are followed at all, and as far as all of it takes
/// `most` bytes of memory.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) index: &'a Index,
    pub(crate) follow: Option<&'a Follow>,
    pub(crate) now: Time,
    pub(crate) most: usize,
}

/// Reads what is announced at `url`.
pub(crate) fn read(
    kind: Kind,
    body: &[u8],
    charset: Option<&str>,
    url: &PageUrl,
    known: Known<'_>,
) -> Announced {
    let mut reading = Reading::new(kind, known);
    match kind {
        Kind::Sitemap | Kind::Ping => {
            let limits = sitemap::Limits::default();
            let tally = sitemap::read(body, url, charset, limits, |item| reading.item(item));
            reading.found.complaint = complaint(&tally);
        }
        _ => match feed::read(body, url, charset, feed::Limits::default()) {
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
    reading.end()
}

/// What is wrong with a sitemap, in a line.
fn complaint(tally: &sitemap::Tally) -> Option<String> {
    let is_odd = tally.bad + tally.bad_dates > 0 || tally.first_bad.is_some() || tally.cut.is_some();
    is_odd.then(|| tally.to_string())
}

struct Reading<'a> {
    found: Announced,
    known: Known<'a>,
    elsewhere: usize,
}

impl<'a> Reading<'a> {
    fn new(kind: Kind, known: Known<'a>) -> Self {
        Self { found: Announced::new(kind), known, elsewhere: 0 }
    }

    fn end(mut self) -> Announced {
        self.found.in_all = self.found.news.len();
        if self.found.left_out > 0 {
            let left_out = format!(
                "{} entries with long addresses did not fit into {} kB: they are taken up when it is read again",
                self.found.left_out,
                self.known.most >> 10
            );
            self.found.complaint = Some(match self.found.complaint.take() {
                Some(complaint) => format!("{complaint}; {left_out}"),
                None => left_out,
            });
        }
        self.found
    }

    /// Whether there is room for an entry that takes so many bytes.
    fn has_room(&mut self, bytes: usize) -> bool {
        let has_room = self.found.size + bytes <= self.known.most;
        if has_room {
            self.found.size += bytes;
        } else {
            self.found.left_out += 1;
        }
        has_room
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Sitemap(child) if child.scope != Scope::Elsewhere => {
                let is_known = self.known.index.is_known(child.url.as_str());
                let size = size_of::<PageUrl>() + child.url.as_str().len();
                if !is_known && self.found.sitemaps.len() < MOST_SITEMAPS && self.has_room(size) {
                    self.found.sitemaps.push_back(child.url);
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
        let changed = changed.and_then(|when| when.plausible(self.known.now));
        match self.known.index.page(url.as_str()) {
            Place::Unknown => {
                let may_lead = match self.known.follow {
                    None => false,
                    Some(pattern @ Follow::Pattern(_)) => pattern.leads(&url, &url),
                    // Which hosts are crawled is known to the crawl.
                    Some(Follow::SameHost | Follow::SameSite) => true,
                };
                if !may_lead || !self.has_room(size_of::<Unknown>() + url.as_str().len()) {
                    return;
                }
                let born = published.and_then(|when| when.plausible(self.known.now));
                let born = born.map(|when| when.latest().min(self.known.now));
                self.found.unknown.push_back(Unknown { url, born, importance, hint });
            }
            // It is on its way into the store: it will be fetched anyway.
            Place::OnItsWay => {}
            Place::Page(page) => {
                let Some(said) = changed else { return };
                self.found.named += 1;
                let before = self.known.index.said(page, self.found.kind);
                if before.is_none_or(|before| said.earliest() > before) {
                    let elsewhere = far.then_some(url);
                    let address = elsewhere.as_ref().map_or(0, |url| url.as_str().len());
                    if !self.has_room(size_of::<News>() + address) {
                        return;
                    }
                    self.found.news.push_back(News { page, said, first: before.is_none(), elsewhere });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
