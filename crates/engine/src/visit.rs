//! One visit to a page: robots.txt if it is not known, then the page, through all its redirects. Every request waits for its turn.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use refrain_core::frontier;
use refrain_core::time::{Span, Time};
use refrain_fetch::FetchError;
use refrain_fetch::change::Reported;
use refrain_fetch::client::{Client, Hold, Request, Response};
use refrain_fetch::robots::{Robots, Ruling};
use refrain_fetch::url::PageUrl;
use refrain_store::{self as store, Reader, Role};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::clock::Clock;
use crate::door::{Door, Shut};
use crate::handle::Lent;
use crate::index::Index;
use crate::memo::Memo;
use crate::read::{self, Purpose, Read};
use crate::reported::reported;
use crate::rules::{HostRules, Verdict};
use crate::scope::Way;
use crate::settings::{Settings, host_name};
use crate::sources::{self, Announced, LARGEST_SITEMAP, SHORT_ANNOUNCEMENT};

/// Smaller bodies are read at once; others on threads for that, so that connections do not wait.
const QUICKLY_READ: usize = 16 << 10;

/// A page for whose body there was no room is fetched after this: to fetch it in vain again and again would cost its host much.
const LATER: Span = Span::from_whole_secs(300);

/// What to visit.
pub(crate) struct Job {
    /// Of this visit, among those under way.
    pub(crate) number: u64,
    pub(crate) order: Option<frontier::OrderId>,
    pub(crate) page: frontier::PageId,
    pub(crate) stored: store::PageId,
    pub(crate) memo: Memo,
    pub(crate) purpose: Purpose,
}

/// What came of a visit.
pub(crate) struct Visited {
    pub(crate) number: u64,
    pub(crate) order: Option<frontier::OrderId>,
    pub(crate) page: frontier::PageId,
    pub(crate) stored: store::PageId,
    /// The host that answered last.
    pub(crate) host: String,
    /// The moment that was seen.
    pub(crate) time: Time,
    /// When the last request was made.
    pub(crate) asked: Time,
    /// The status of the last answer.
    pub(crate) status: Option<u16>,
    pub(crate) bytes: u64,
    /// How long the host took to answer, and the whole.
    pub(crate) response: Option<Span>,
    pub(crate) took: Span,
    pub(crate) memo: Memo,
    pub(crate) seen: Seen,
    pub(crate) room: Room,
}

/// The memory that a fetch takes, until the crawl has taken in what came of it.
#[derive(Default)]
pub(crate) struct Room {
    _body: Hold,
    _turn: Option<OwnedSemaphorePermit>,
}

/// What was seen.
pub(crate) enum Seen {
    /// An answer of use: a body, or that it is the same.
    Read(Box<Read>),
    /// The page is not there any more.
    Gone,
    /// The page leads elsewhere, and the redirect was not followed; where to, unless another crawler did not say.
    Redirected(Option<PageUrl>),
    /// robots.txt forbids it.
    Disallowed,
    /// The host wants to be left alone; for how long, if it said so.
    SlowDown(Option<Span>),
    /// The host's robots.txt cannot be had.
    NoRules,
    /// Something else is wrong with the page.
    Failed(String),
    /// The host did not answer.
    Unreachable(String),
    /// A host's turn does not come before this moment: the page waits for it like others.
    Postponed(Time),
    /// The crawl is over.
    Over,
}

impl Seen {
    /// What was announced, which is taken up by itself.
    pub(crate) fn take_announced(&mut self) -> Option<Box<Announced>> {
        if let Self::Read(read) = self { read.announced.take() } else { None }
    }

    /// What is left of that, and what was taken up.
    pub(crate) fn give_back(&mut self, announced: Box<Announced>) {
        if let Self::Read(read) = self {
            read.announced = Some(announced);
        }
    }
}

/// What visits need.
pub(crate) struct Kit {
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    pub(crate) door: Door,
    pub(crate) settings: Arc<Settings>,
    pub(crate) index: Index,
    pub(crate) lent: Lent,
    /// The copies that are kept.
    pub(crate) copies: Mutex<Reader>,
    /// Turns to read large bodies, and bodies that are compared with a copy.
    pub(crate) readers: Arc<Semaphore>,
    /// Turns to read sitemaps and feeds, and to take up what they announce: pages do not wait for that. Turns are given in the order in which
    /// visits asked for them, and no host has more visits under way than it allows: so hosts take turns, however many sitemaps one of them has.
    pub(crate) announcing: Arc<Semaphore>,
}

/// So many sitemaps and feeds are read and taken up at the same time.
pub(crate) const ANNOUNCING: usize = 2;

impl Kit {
    /// Reads the copy of a page that was reported last.
    fn copy(&self, page: store::PageId) -> impl FnOnce(&Memo) -> Option<Reported> {
        move |memo| reported(self, &self.copies.lock().unwrap_or_else(PoisonError::into_inner), page, memo)
    }
}

/// As many turns to read large bodies as there are cores for it; few, since each takes memory.
pub(crate) fn readers() -> Arc<Semaphore> {
    let cores = std::thread::available_parallelism().map_or(2, NonZero::get);
    Arc::new(Semaphore::new(cores.clamp(2, 4)))
}

/// A visit under way.
struct Visit<'a> {
    kit: &'a Arc<Kit>,
    /// The host of the page, where a request was allowed that may not have been made yet.
    ordered: String,
    unused: bool,
    has_order: bool,
    stored: store::PageId,
    purpose: Purpose,
    time: Time,
    status: Option<u16>,
    bytes: u64,
    response: Option<Span>,
    took: Span,
    host: String,
    room: Room,
}

/// Visits a page. The order allowed one request to its host.
pub(crate) async fn visit(kit: Arc<Kit>, job: Job) -> Visited {
    let Job { number, order, page, stored, mut memo, purpose } = job;
    let ordered = host_name(&memo.url);
    let mut visit = Visit {
        kit: &kit,
        host: ordered.clone(),
        unused: order.is_some(),
        has_order: order.is_some(),
        stored,
        purpose,
        ordered,
        time: kit.clock.now(),
        status: None,
        bytes: 0,
        response: None,
        took: Span::ZERO,
        room: Room::default(),
    };
    let seen = match visit.look(&mut memo).await {
        Ok(seen) => seen,
        Err(Shut::Over) => Seen::Over,
        Err(Shut::Later(until)) => Seen::Postponed(until),
    };
    let Visit { host, time, status, bytes, response, took, room, .. } = visit;
    Visited {
        number,
        order,
        page,
        stored,
        host,
        time,
        asked: time,
        status,
        bytes,
        response,
        took,
        memo,
        seen,
        room,
    }
}

impl Visit<'_> {
    async fn look(&mut self, memo: &mut Memo) -> Result<Seen, Shut> {
        let mut url = memo.url.clone();
        for _ in 0..=self.kit.settings.redirects {
            self.host = host_name(&url);
            let rules = match self.rules(&url).await? {
                Ok(rules) => rules,
                Err(seen) => return Ok(seen),
            };
            if !rules.allow(&url) {
                return Ok(match rules.verdict {
                    Verdict::Rules(_) => Seen::Disallowed,
                    Verdict::Wait => Seen::NoRules,
                });
            }
            let mut request = Request::new(url.clone());
            // Validators belong to the address that gave them. Who wants links wants the page.
            if memo.answered() == url.as_str() && !self.purpose.wants_links {
                request.etag = memo.etag.clone().map(String::into_bytes);
                request.last_modified = memo.last_modified.clone().map(String::into_bytes);
            }
            if memo.role == Role::Sitemap {
                (request.max_body, request.keep_coded) = (Some(LARGEST_SITEMAP), true);
            }
            let answer = match self.ask(&request).await? {
                Ok(answer) => answer,
                Err(why) if why.is_of_page() => return Ok(Seen::Failed(why.to_string())),
                Err(why) => return Ok(Seen::Unreachable(why.to_string())),
            };
            match (answer.status, &answer.location) {
                (200..=299, _) => return Ok(self.read(memo, url, answer).await),
                (304, _) if request.etag.is_some() || request.last_modified.is_some() => {
                    return Ok(self.read(memo, url, answer).await);
                }
                (300..=399, Some(Ok(target)))
                    if self.leads_on(Way::Redirect { chosen: memo.chosen }, target).await? =>
                {
                    url = target.clone();
                }
                (300..=399, Some(Ok(target))) => return Ok(Seen::Redirected(Some(target.clone()))),
                (300..=399, Some(Err(why))) => {
                    return Ok(Seen::Failed(format!("a redirect to nowhere: {why}")));
                }
                (404 | 410, _) => return Ok(Seen::Gone),
                (429 | 503, _) => return Ok(Seen::SlowDown(answer.retry_after(self.time))),
                (status, _) => return Ok(Seen::Failed(format!("status {status}"))),
            }
        }
        Ok(Seen::Failed(format!("more than {} redirects", self.kit.settings.redirects)))
    }

    /// What an answer says. Large bodies, and those that are compared with an earlier copy, are read on threads for that, a few at a time.
    /// What announces much keeps its turn until the crawl has taken it up.
    async fn read(&mut self, memo: &mut Memo, url: PageUrl, answer: Response) -> Seen {
        let (stored, time, mut purpose) = (self.stored, self.time, std::mem::take(&mut self.purpose));
        let (hold, mut kept) = (answer.hold.clone(), None);
        let is_quick =
            answer.body.len() < QUICKLY_READ && memo.role != Role::Sitemap && purpose.doubted.is_none();
        // A page may turn out to be a feed.
        let announces = memo.role != Role::Page || sources::what(&answer, &answer.body, memo.role).is_some();
        let read = if is_quick {
            purpose.most_announced = SHORT_ANNOUNCEMENT;
            read::read(self.kit, memo, &url, &answer, time, purpose, self.kit.copy(stored))
        } else {
            // It is never closed.
            let turns = if announces { &self.kit.announcing } else { &self.kit.readers };
            let turn = Arc::clone(turns).acquire_owned().await.ok();
            let (kit, mut known) = (Arc::clone(self.kit), memo.clone());
            let reading = tokio::task::spawn_blocking(move || {
                let read = read::read(&kit, &mut known, &url, &answer, time, purpose, kit.copy(stored));
                (known, read)
            });
            match reading.await {
                Ok((known, read)) => {
                    *memo = known;
                    kept = turn.filter(|_| read.as_ref().is_ok_and(Read::announces_much));
                    read
                }
                Err(why) => match why.try_into_panic() {
                    // The crawl ends as if the visit had panicked.
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(why) => Err(format!("its body could not be read: {why}")),
                },
            }
        };
        // What is announced takes other room than its body, which is done with.
        let hold = if memo.role == Role::Page { hold } else { Hold::default() };
        self.room = Room { _body: hold, _turn: kept };
        read.map_or_else(Seen::Failed, |read| Seen::Read(Box::new(read)))
    }

    /// What the host of an address asks of crawlers; asked if it is not known.
    async fn rules(&mut self, url: &PageUrl) -> Result<Result<Arc<HostRules>, Seen>, Shut> {
        let host = host_name(url);
        if let Some(known) = self.kit.door.rules(&host).await? {
            return Ok(Ok(known));
        }
        let mut robots = url.robots();
        let asked = self.kit.clock.now();
        let agent = &self.kit.settings.agent;
        let mut rules = HostRules { asked, status: None, verdict: Verdict::Rules(Robots::default()) };
        let mut text = Bytes::new();
        // Up to five redirects; a sixth counts as having none.
        for _ in 0..6 {
            let request =
                Request { max_body: Some(refrain_fetch::robots::LARGEST), ..Request::new(robots.clone()) };
            let answer = self.ask(&request).await?;
            rules.status = answer.as_ref().ok().map(|answer| answer.status);
            // Whether a host was never to be had for a month is not remembered across visits: it waits.
            let ruling = rules
                .status
                .map_or(Ruling::of_failure(Span::ZERO), |status| Ruling::of_status(status, Span::ZERO));
            match (ruling, answer) {
                (Ruling::Parse, Ok(answer)) => {
                    rules.verdict = Verdict::Rules(Robots::parse(&answer.body, agent));
                    text = answer.body;
                    break;
                }
                (Ruling::Redirect, Ok(Response { location: Some(Ok(target)), .. }))
                    if self.leads_on(Way::RobotsRedirect, &target).await? =>
                {
                    robots = target;
                }
                (Ruling::Wait, Ok(answer)) => {
                    rules.verdict = Verdict::Wait;
                    let asked_for = answer.retry_after(self.time);
                    self.kit.door.tell(&host, Arc::new(rules), text);
                    return Ok(Err(asked_for.map_or(Seen::NoRules, |wait| Seen::SlowDown(Some(wait)))));
                }
                (Ruling::Wait, Err(why)) => {
                    rules.verdict = Verdict::Wait;
                    self.kit.door.tell(&host, Arc::new(rules), text);
                    return Ok(Err(Seen::Unreachable(format!("robots.txt: {why}"))));
                }
                _ => break,
            }
        }
        let rules = Arc::new(rules);
        self.kit.door.tell(&host, Arc::clone(&rules), text);
        Ok(Ok(rules))
    }

    /// Whether a redirect is followed: to the host of the page always, elsewhere if the crawl goes there.
    async fn leads_on(&self, way: Way, target: &PageUrl) -> Result<bool, Shut> {
        let is_elsewhere = target.origin() != self.ordered;
        Ok(!is_elsewhere || self.kit.door.leads(way, &self.ordered, target).await?)
    }

    /// Makes a request when its turn has come. A kept connection may have been closed by the server: then the request is made once more, over a
    /// new one, when its turn has come again. The server may have read the first.
    async fn ask(&mut self, request: &Request) -> Result<Result<Response, FetchError>, Shut> {
        let mut answer = self.ask_once(request).await?;
        if matches!(answer, Err(FetchError::Closed)) {
            answer = self.ask_once(&Request { new_connection: true, ..request.clone() }).await?;
        }
        match answer {
            Err(FetchError::Interrupted) => Err(Shut::Later(self.kit.clock.now())),
            Err(why) if why.is_ours() => Err(Shut::Later(self.kit.clock.now() + LATER)),
            answer => Ok(answer),
        }
    }

    async fn ask_once(&mut self, request: &Request) -> Result<Result<Response, FetchError>, Shut> {
        let host = host_name(&request.url);
        let mine = host == self.ordered;
        let mut inside = None;
        if mine && self.unused {
            self.unused = false;
        } else {
            // An order holds one place at its host, which is used again; elsewhere a place is needed.
            let again = mine && self.has_order;
            inside = Some(self.kit.door.enter(&host, again).await?);
        }
        self.time = self.kit.clock.now();
        let answer = self.kit.client.get(request).await;
        self.kit.door.answered(&host);
        self.took = self.kit.clock.now().since(self.time);
        self.status = answer.as_ref().ok().map(|answer| answer.status);
        self.bytes += answer.as_ref().map_or(0, |answer| answer.raw.len() as u64);
        self.response = answer.as_ref().ok().map(|answer| answer.first_byte);
        if let Some(inside) = &mut inside {
            inside.response = self.response;
        }
        Ok(answer)
    }
}
