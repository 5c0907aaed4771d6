//! Work for other fetchers: what they are given, and what they bring back.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use refrain_core::frontier::{self, OrderId};
use refrain_core::time::{Span, Time};
use refrain_fetch::change::Reported;
use refrain_fetch::client::{Coded, Headers, Hold, Response, Version};
use refrain_fetch::robots::Robots;
use refrain_fetch::url::PageUrl;
use refrain_store::{Digest, PageHead, PageId, Reader, Role};

use super::Lent;
use crate::memo::Memo;
use crate::read::{self, Purpose, Read};
use crate::reported::reported;
use crate::rules::{HostRules, Verdict};
use crate::settings::host_name;
use crate::visit::{Kit, Room, Seen, Visited};

/// No fetcher gets more at a time.
pub const MOST_AT_A_TIME: usize = 1000;
/// No lease is longer.
pub const LONGEST_LEASE: Span = Span::from_whole_secs(1500);

/// What a fetcher wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkWanted {
    /// At most so many fetches.
    pub most: usize,
    /// How long to wait if there is nothing to do yet.
    pub wait: Span,
    /// What is not answered by then is somebody else's.
    pub lease: Span,
    /// Who asks again with the same words gets the same, if that has not been answered yet: for those who got no answer.
    pub key: Option<String>,
    /// The fetcher obeys robots.txt by itself; otherwise it is asked to fetch that first.
    pub knows_robots: bool,
}

/// What a fetcher is given.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    /// Its number.
    pub id: u64,
    /// Until when.
    pub until: Time,
    /// What to fetch.
    pub fetches: Vec<Given>,
}

/// A fetch to make, as the crawl gives it.
#[derive(Clone, Debug)]
pub struct Given {
    /// To answer with.
    pub lease: LeaseId,
    /// What it is worth.
    pub value: f64,
    /// What its host asks of crawlers, if the fetcher does not know by itself.
    pub(crate) rules: Option<Arc<HostRules>>,
    /// What is known of the page; `None`: it is not there any more.
    pub(crate) head: Option<PageHead>,
}

/// A fetch to make, as a fetcher needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// To answer with.
    pub lease: LeaseId,
    /// What to fetch: the page, or the robots.txt of its host.
    pub url: String,
    /// `ETag` of the last answer.
    pub etag: Option<String>,
    /// `Last-Modified` of the last answer.
    pub last_modified: Option<String>,
    /// What it is worth.
    pub value: f64,
    /// What the page is there for. Of a sitemap or a feed the body is needed, whatever else is known of it.
    pub role: Role,
}

/// One fetch of one grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId {
    /// The grant.
    pub grant: u64,
    /// Which of its fetches.
    pub place: u32,
    /// The page.
    pub page: PageId,
    /// Not the page itself, but the robots.txt of its host.
    pub is_robots: bool,
}

impl fmt::Display for LeaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let robots = if self.is_robots { "r" } else { "" };
        write!(f, "{}.{}.{}{robots}", self.grant, self.place, self.page.0)
    }
}

impl std::str::FromStr for LeaseId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (numbers, is_robots) = text.strip_suffix('r').map_or((text, false), |numbers| (numbers, true));
        let mut parts = numbers.split('.');
        let mut next = || parts.next().ok_or(());
        let lease = Self {
            grant: next()?.parse().map_err(drop)?,
            place: next()?.parse().map_err(drop)?,
            page: PageId(next()?.parse().map_err(drop)?),
            is_robots,
        };
        // One spelling each.
        (lease.to_string() == text).then_some(lease).ok_or(())
    }
}

/// What a fetcher brings back.
#[derive(Clone, Debug)]
pub struct Brought {
    /// For which fetch.
    pub lease: LeaseId,
    /// When the request was sent that got the answer, if the fetcher says so. Otherwise it may have been at any time since the lease was given.
    pub fetched_at: Option<Time>,
    /// How long the host took to answer, and the whole.
    pub response: Option<Span>,
    /// The whole time that it took.
    pub took: Span,
    /// Bytes received.
    pub bytes: u64,
    /// What was seen.
    pub saw: Saw,
}

/// What a fetcher saw.
#[derive(Clone, Debug)]
pub enum Saw {
    /// An answer, with its body.
    Answer {
        /// The status.
        status: u16,
        /// Who answered, if it was not the page's own address.
        url: Option<PageUrl>,
        /// The lines of the head.
        headers: HeaderMap,
        /// The body without its content coding.
        body: Bytes,
    },
    /// An answer of use, of which only this is told.
    Told {
        /// The status.
        status: u16,
        /// Who answered, if it was not the page's own address.
        url: Option<PageUrl>,
        /// The lines of the head, as far as they are told.
        headers: HeaderMap,
        /// Whether the page is another one, if the fetcher knows.
        changed: Option<bool>,
        /// What its body is, if the fetcher knows.
        digest: Option<Digest>,
        /// What it calls itself.
        title: Option<String>,
    },
    /// The host did not answer, or not as it should: a sentence.
    Nothing(String),
    /// It could not be had, though the host may have answered: a sentence.
    Failed(String),
    /// The fetcher found that robots.txt forbids it.
    Disallowed,
    /// It leads elsewhere.
    Redirected {
        /// The status.
        status: u16,
        /// Where it leads, if the fetcher says so.
        target: Option<PageUrl>,
    },
    /// Nobody fetched it: it is somebody else's at once.
    GivenBack,
}

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// It is known now.
    Taken,
    /// It was answered before, or its lease is over: nothing changed.
    Over,
    /// Nobody was ever given this.
    Unknown,
    /// It says nothing of use: a sentence.
    Refused(String),
}

/// What a fetcher brought, as the crawl takes it.
pub(crate) struct Prepared {
    pub(crate) lease: LeaseId,
    pub(crate) done: Done,
}

/// What came of a fetch by somebody else.
pub(crate) enum Done {
    /// A look at the page.
    Looked(Box<Looked>),
    /// The robots.txt of its host.
    Ruled { host: String, rules: HostRules, text: Bytes, wait: Option<Span>, response: Option<Span> },
    /// Nobody looked.
    GivenBack,
    /// It says nothing of use.
    Refused(String),
}

/// A look at a page by somebody else.
pub(crate) struct Looked {
    pub(crate) host: String,
    pub(crate) time: Time,
    /// When the request may have been sent at the earliest.
    pub(crate) asked: Time,
    pub(crate) status: Option<u16>,
    pub(crate) bytes: u64,
    pub(crate) response: Option<Span>,
    pub(crate) took: Span,
    pub(crate) memo: Memo,
    pub(crate) seen: Seen,
}

impl Looked {
    /// As if it had been a visit of our own.
    pub(crate) fn into_visit(self, order: OrderId, page: frontier::PageId, stored: PageId) -> Visited {
        let Self { host, time, asked, status, bytes, response, took, memo, seen } = self;
        let (number, order) = (0, Some(order));
        Visited {
            number,
            order,
            page,
            stored,
            host,
            time,
            asked,
            status,
            bytes,
            response,
            took,
            memo,
            seen,
            room: Room::default(),
        }
    }
}

/// What a fetcher needs to know to make the fetches of a grant; and what is answered for it, since no fetch is made: robots.txt forbids it.
pub(crate) fn resolve(grant: Grant, lent: &Lent, now: Time) -> (Vec<Work>, Vec<Brought>) {
    let (mut work, mut answered) = (Vec::with_capacity(grant.fetches.len()), Vec::new());
    let mut memos = HashMap::with_capacity(grant.fetches.len());
    for given in grant.fetches {
        let lease = given.lease;
        let mut answer = |saw| {
            let (fetched_at, response, took, bytes) = (None, None, Span::ZERO, 0);
            answered.push(Brought { lease, fetched_at, response, took, bytes, saw });
        };
        let Some(memo) = given.head.and_then(Memo::of_head) else {
            answer(Saw::GivenBack);
            continue;
        };
        let (url, role, value) = (&memo.url, memo.role, given.value);
        if lease.is_robots {
            let url = url.robots().as_str().to_owned();
            work.push(Work { lease, url, etag: None, last_modified: None, value, role });
        } else if given.rules.as_ref().is_some_and(|rules| !rules.allow(url)) {
            answer(Saw::Disallowed);
            continue;
        } else {
            let (url, etag, last_modified) =
                (url.as_str().to_owned(), memo.etag.clone(), memo.last_modified.clone());
            work.push(Work { lease, url, etag, last_modified, value, role });
        }
        memos.insert(lease.place, memo);
    }
    lent.lend(grant.id, grant.until, memos, now);
    (work, answered)
}

/// Reads what was brought.
pub(crate) fn prepare(kit: &Kit, reader: &Reader, lent: &Lent, brought: Brought) -> Prepared {
    let lease = brought.lease;
    let done = look(kit, reader, lent, brought).unwrap_or_else(Done::Refused);
    Prepared { lease, done }
}

fn look(kit: &Kit, reader: &Reader, lent: &Lent, brought: Brought) -> Result<Done, String> {
    let Brought { lease, fetched_at, response, took, bytes, saw } = brought;
    if matches!(saw, Saw::GivenBack) {
        return Ok(Done::GivenBack);
    }
    let has_body = matches!(saw, Saw::Answer { .. }) && !lease.is_robots;
    let (lent, given) = lent.take(lease).unzip();
    let known = match lent.filter(|_| !has_body) {
        Some(memo) => Some(memo),
        None => memo(reader, lease.page, has_body).map_err(|why| why.to_string())?,
    };
    // It was forgotten meanwhile: its host is free again all the same.
    let Some(memo) = known else { return Ok(Done::GivenBack) };
    if lease.is_robots {
        return Ok(ruled(kit, &memo.url, kit.clock.now(), response, saw));
    }
    let copy = |memo: &Memo| reported(kit, reader, lease.page, memo);
    let now = kit.clock.now();
    let asked = fetched_at.or(given).unwrap_or(now - took).min(now);
    let time = fetched_at.map_or(now, |_| asked);
    looked(kit, memo, FetchFacts { time, asked, response, took, bytes }, saw, copy)
}

/// When an external fetch was made, how long it took, and how many bytes were received.
pub(crate) struct FetchFacts {
    /// The time that the copy is as of.
    pub(crate) time: Time,
    /// When the request may have been sent at the earliest.
    pub(crate) asked: Time,
    pub(crate) response: Option<Span>,
    pub(crate) took: Span,
    pub(crate) bytes: u64,
}

/// What was seen of a page, beside what is known of it. `copy` gives the copy that was reported last. The error is a sentence.
pub(crate) fn looked(
    kit: &Kit,
    mut memo: Memo,
    FetchFacts { time, asked, response, took, bytes }: FetchFacts,
    saw: Saw,
    copy: impl FnOnce(&Memo) -> Option<Reported>,
) -> Result<Done, String> {
    let status = match &saw {
        Saw::Answer { status, .. } | Saw::Told { status, .. } | Saw::Redirected { status, .. } => {
            Some(*status)
        }
        _ => None,
    };
    let answered = match &saw {
        Saw::Answer { url: Some(url), .. } | Saw::Told { url: Some(url), .. } => url.clone(),
        _ => memo.url.clone(),
    };
    let host = host_name(&memo.url);
    let seen = match saw {
        Saw::Answer { status, headers, body, .. } => {
            let answer = answer(status, headers, body, response, took);
            judged(kit, &answered, &answer, time).unwrap_or_else(|| {
                // Others make no second looks for us.
                match read::read(kit, &mut memo, &answered, &answer, time, Purpose::default(), copy) {
                    Ok(read) => Seen::Read(Box::new(read)),
                    Err(why) => Seen::Failed(why),
                }
            })
        }
        Saw::Told { status, headers, changed, digest, title, .. } => {
            let answer = answer(status, headers, Bytes::new(), response, took);
            if let Some(seen) = judged(kit, &answered, &answer, time) {
                seen
            } else {
                let told = read::Told { changed, digest, title };
                Seen::Read(Box::new(Read::told(&mut memo, &answered, &answer, time, told)?))
            }
        }
        Saw::Nothing(why) => Seen::Unreachable(why),
        Saw::Failed(why) => Seen::Failed(why),
        Saw::Disallowed => Seen::Disallowed,
        Saw::Redirected { target, .. } => Seen::Redirected(target.filter(|target| *target != memo.url)),
        Saw::GivenBack => return Ok(Done::GivenBack),
    };
    Ok(Done::Looked(Box::new(Looked { host, time, asked, status, bytes, response, took, memo, seen })))
}

/// What is known of a page; who has no body to compare needs little of it.
fn memo(reader: &Reader, page: PageId, has_body: bool) -> Result<Option<Memo>, refrain_store::StoreError> {
    if !has_body {
        return Ok(reader.page_head(page)?.and_then(Memo::of_head));
    }
    match reader.page_by_id(page)? {
        Some(record) => Memo::of(record, reader),
        None => Ok(None),
    }
}

/// What a status means that is not one of use.
fn judged(kit: &Kit, url: &PageUrl, answer: &Response, time: Time) -> Option<Seen> {
    match answer.status {
        200..=299 | 304 => None,
        300..=399 if answer.headers.text("location").is_some() => Some(led(kit, url, answer)),
        404 | 410 => Some(Seen::Gone),
        429 | 503 => Some(Seen::SlowDown(answer.retry_after(time))),
        status => Some(Seen::Failed(format!("status {status}"))),
    }
}

/// Where an answer leads. Nobody is led where no crawler goes.
fn led(kit: &Kit, url: &PageUrl, answer: &Response) -> Seen {
    let target = answer.headers.text("location").unwrap_or_default().trim();
    match url.join(target) {
        Err(why) => Seen::Failed(format!("a redirect to nowhere: {why}")),
        Ok(target) if target == *url => Seen::Failed("a redirect to itself".to_owned()),
        Ok(target) if is_private(&target) && !kit.settings.client.allow_private => {
            Seen::Failed(format!("a redirect to {}, which is not public", target.host()))
        }
        Ok(target) => Seen::Redirected(Some(target)),
    }
}

/// Whether an address is that of this machine or its neighbours, as far as its name tells.
fn is_private(url: &PageUrl) -> bool {
    let name = url.host();
    let is_local = name == "localhost" || name.ends_with(".localhost");
    is_local || url.address().is_some_and(|address| !refrain_fetch::address::is_public(address))
}

fn ruled(kit: &Kit, page: &PageUrl, asked: Time, response: Option<Span>, saw: Saw) -> Done {
    use refrain_fetch::robots::Ruling;
    let (status, headers, body) = match saw {
        Saw::Answer { status, headers, body, .. } => (Some(status), headers, body),
        Saw::Told { status, headers, .. } => (Some(status), headers, Bytes::new()),
        _ => (None, HeaderMap::new(), Bytes::new()),
    };
    let ruling =
        status.map_or(Ruling::of_failure(Span::ZERO), |status| Ruling::of_status(status, Span::ZERO));
    let text = if ruling == Ruling::Parse {
        body.slice(..body.len().min(refrain_fetch::robots::LARGEST))
    } else {
        Bytes::new()
    };
    let verdict = match ruling {
        Ruling::Wait => Verdict::Wait,
        // Redirects that the fetcher did not follow count as having none.
        _ => Verdict::Rules(Robots::parse(&text, &kit.settings.agent)),
    };
    let wait =
        status.and_then(|status| answer(status, headers, Bytes::new(), None, Span::ZERO).retry_after(asked));
    let rules = HostRules { asked, status, verdict };
    Done::Ruled { host: host_name(page), rules, text, wait, response }
}

/// As if our own client had got it.
fn answer(status: u16, headers: HeaderMap, body: Bytes, response: Option<Span>, took: Span) -> Response {
    Response {
        status,
        reason: None,
        version: Version::Http11,
        headers: Headers::from(headers),
        remote: None,
        first_byte: response.unwrap_or(took),
        whole: took,
        raw: body.clone(),
        body,
        truncated: false,
        coded: Coded::default(),
        hold: Hold::default(),
        location: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leases_have_one_spelling() {
        let lease = LeaseId { grant: 12, place: 3, page: PageId(45), is_robots: false };
        assert_eq!(lease.to_string(), "12.3.45");
        assert_eq!("12.3.45".parse(), Ok(lease));
        assert_eq!("12.3.45r".parse(), Ok(LeaseId { is_robots: true, ..lease }));
        for wrong in
            ["", "12.3", "12.3.45.6", "+12.3.45", "012.3.45", "12.3.x", "-1.3.45", "12.3.45 ", "12.3.45rr"]
        {
            assert_eq!(wrong.parse::<LeaseId>(), Err(()), "{wrong}");
        }
    }
}
