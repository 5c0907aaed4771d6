//! Who comes in: before every door, the same questions.
//!
//! 1. Does it name one host (`named`), and does its address ask too much (`allowance`)? An invalid token costs as much as many requests.
//! 2. May it do this? With a token, what the token says. On loopback, as long as there is no token, everything; but then no page in somebody's
//!    browser may speak for them, nor a proxy for the rest of the world: requests must name us as loopback does, come from no other site, and not have
//!    been passed on.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, StatusCode, Version};
use refrain_engine::{Clock, Source};
use refrain_fetch::url::PageUrl;

use super::allowance::Allowance;
use super::caught::Caught;
use super::named::{self, Named};
use super::problem::Problem;
use super::push::{Speaker, Tokens};
use super::server::Peer;
use super::tokens::{Book, Scope, Token};
use crate::stopwatch::Stopwatch;

/// What signals are of whose source says nothing of itself.
pub(crate) const NAMELESS: &str = "api";

/// What a request with a token that is none costs more than others: whoever tries them is slowed down soon.
const WRONG_TOKEN: u64 = 19;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Lines that proxies add, and programs on this machine do not; others begin like [`PASSED_ON_START`].
const PASSED_ON: [&str; 9] = [
    "cdn-loop",
    "fastly-client-ip",
    "forwarded",
    "true-client-ip",
    "via",
    "x-amzn-trace-id",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-real-ip",
];
const PASSED_ON_START: [&str; 5] = ["cf-", "tailscale-", "x-envoy-", "x-forwarded-", "x-original-"];

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    /// The door, as it is named in the description: `/v1/pages/{id}`; empty if there is no such door.
    pub(crate) route: &'a str,
    pub(crate) method: &'a http::Method,
    pub(crate) status: StatusCode,
    /// How long it took to begin the answer.
    pub(crate) seconds: f64,
}

/// Who hears of every request.
pub(crate) type Count = Arc<dyn Fn(&Answered<'_>) + Send + Sync>;

/// What all doors ask.
pub(crate) struct Guard {
    clock: Clock,
    book: Arc<Book>,
    allowance: Arc<Allowance>,
    /// Whether everybody may do everything as long as there is no token.
    may_be_open: bool,
    /// Where it listens, and how it is known.
    listen: SocketAddr,
    public: Option<PageUrl>,
    /// Whether it secures connections itself.
    is_tls: bool,
    count: Count,
}

/// Who asks: a token, or nobody in particular.
#[derive(Clone, Debug)]
pub(crate) struct Caller(pub(crate) Option<Arc<Token>>);

impl Guard {
    pub(crate) fn new(
        clock: Clock,
        book: Book,
        allowance: Allowance,
        listen: SocketAddr,
        public: Option<PageUrl>,
        count: Count,
    ) -> Self {
        let may_be_open = may_be_open(listen, public.as_ref());
        let (book, allowance) = (Arc::new(book), Arc::new(allowance));
        Self { clock, book, allowance, may_be_open, listen, public, is_tls: false, count }
    }

    /// The same, at another door: who asks too much here has done so there.
    pub(crate) fn beside(&self, listen: SocketAddr) -> Self {
        Self {
            clock: self.clock,
            book: Arc::clone(&self.book),
            allowance: Arc::clone(&self.allowance),
            may_be_open: may_be_open(listen, self.public.as_ref()),
            listen,
            public: self.public.clone(),
            is_tls: self.is_tls,
            count: Arc::clone(&self.count),
        }
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// A request of this address, if it may send one more.
    pub(crate) fn take(&self, address: IpAddr) -> Result<(), Problem> {
        self.allowance.take(address, self.clock.now()).map_err(|wait| {
            Problem::later(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many-requests",
                "this address asks too often; expected a pause",
                wait.as_secs().ceil() as u64,
            )
        })
    }

    /// Somebody at this address showed a token that is none.
    pub(crate) fn fine(&self, address: IpAddr) {
        self.allowance.fine(address, self.clock.now(), WRONG_TOKEN);
    }

    /// With certificates of its own.
    pub(crate) fn with_tls(self, is_tls: bool) -> Self {
        Self { is_tls, ..self }
    }

    /// Whether somebody may do this, and who it is.
    pub(crate) fn admit(&self, headers: &HeaderMap, scope: Scope) -> Result<Caller, Problem> {
        let now = self.clock.now();
        if let Some(line) = headers.get(AUTHORIZATION) {
            let secret = line.to_str().ok().and_then(bearer).ok_or_else(|| {
                Problem::unauthorized(
                    "the Authorization line is not understood; expected `Bearer` and a token",
                )
            })?;
            let token = self.book.find(secret, now).ok_or_else(|| {
                Problem::unauthorized("the token is not known, or is over; `refrain token create` makes one")
            })?;
            if !token.allows(scope) {
                return Err(Problem::forbidden(format!(
                    "the token is not for this; expected one with the scope {scope}"
                )));
            }
            return Ok(Caller(Some(token)));
        }
        if !(self.may_be_open && self.book.is_empty(now)) {
            return Err(Problem::unauthorized(format!(
                "this needs a token with the scope {scope}; expected `Authorization: Bearer` and one that `refrain token create` made"
            )));
        }
        self.is_ours(headers)?;
        Ok(Caller(None))
    }

    /// Whether a request without a token comes from this machine, and not from a page of another site in a browser.
    pub(crate) fn is_ours(&self, headers: &HeaderMap) -> Result<(), Problem> {
        self.is_direct(headers)?;
        if headers.get_all(SEC_FETCH_SITE).iter().any(|site| site != "same-origin" && site != "none") {
            return Err(foreign("the request comes from a page of another site"));
        }
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let is_own = |origin: &str| origin.split_once("://").is_some_and(|(_, name)| name == host);
        if headers.get_all(ORIGIN).iter().any(|origin| !origin.to_str().is_ok_and(is_own)) {
            return Err(foreign("the request comes from a page of another origin"));
        }
        Ok(())
    }

    /// Whether a request without a token is addressed to this machine, and no proxy has passed it on.
    pub(crate) fn is_direct(&self, headers: &HeaderMap) -> Result<(), Problem> {
        if let Some(line) = passed_on(headers) {
            return Err(proxied(&format!("it has the line {line}")));
        }
        match Named::of(headers) {
            Some(named) if named.is_loopback() || named == Named::Address(self.listen.ip()) => Ok(()),
            Some(_) => Err(foreign("the Host line names another host")),
            None => Err(proxied("it is in HTTP/1.0, or has no Host line")),
        }
    }

    /// Whether everybody at this machine may do everything.
    pub(crate) fn is_open(&self) -> bool {
        self.may_be_open && self.book.is_empty(self.clock.now())
    }

    /// The token that this is the secret of, if it is one that holds.
    pub(crate) fn token(&self, secret: &str) -> Option<Arc<Token>> {
        self.book.find(secret, self.clock.now())
    }

    /// Whether a token that was shown before still holds.
    pub(crate) fn holds(&self, token: &Token) -> bool {
        self.book.holds(token, self.clock.now())
    }

    /// Whether browsers reach us by https only.
    pub(crate) fn is_secure(&self) -> bool {
        self.is_tls || self.public.as_ref().is_some_and(|url| url.as_str().starts_with("https:"))
    }

    /// How it is reached, without a slash at the end.
    pub(crate) fn base(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        self.public.as_ref().map_or_else(
            || format!("{scheme}://{}", self.listen),
            |url| url.as_str().trim_end_matches('/').to_owned(),
        )
    }

    /// What the cookie of those who are signed in is called: servers at other ports have theirs.
    pub(crate) fn cookie_name(&self) -> String {
        format!("refrain-{}", self.listen.port())
    }

    /// Whether a page of this origin, as browsers name it, is one of ours, if we were asked by this name.
    pub(crate) fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        let name = origin.split_once("://").map_or("", |(_, name)| name);
        let public = self.public.as_ref().map(|url| {
            let (_, rest) = url.as_str().split_once("://").unwrap_or_default();
            rest.split('/').next().unwrap_or_default()
        });
        !name.is_empty() && (name == host || public == Some(name))
    }

    /// Whether a request comes from this machine and was not passed on.
    fn is_from_here(&self, request: &Request) -> bool {
        let peer = request.extensions().get::<Peer>();
        peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback())
            && request.version() >= Version::HTTP_11
            && self.is_ours(request.headers()).is_ok()
    }

    /// Before everything else: the request names one host. HTTP/1.0 knows no Host line; that of a proxy which speaks it (nginx does, if nothing else is
    /// configured) names us as the proxy does, whoever sent the request. So as long as there is no token it does not count.
    pub(crate) fn settle(&self, request: &mut Request) -> Result<(), Problem> {
        named::settle(request)?;
        if request.version() < Version::HTTP_11 && self.is_open() {
            request.headers_mut().remove(HOST);
        }
        Ok(())
    }
}

fn foreign(what: &str) -> Problem {
    Problem::forbidden(format!("{what}; expected a request to this machine by its own programs, or a token"))
}

fn proxied(sign: &str) -> Problem {
    Problem::forbidden(format!(
        "a proxy seems to have passed this request on ({sign}), and without a token everybody whom the proxy lets in could do everything; create one with `refrain token create --scope read,write`"
    ))
}

/// The line that says that a proxy passed a request on, if there is one.
fn passed_on(headers: &HeaderMap) -> Option<&HeaderName> {
    headers.keys().find(|name| {
        let name = name.as_str();
        PASSED_ON.contains(&name) || PASSED_ON_START.iter().any(|start| name.starts_with(start))
    })
}

impl Tokens for Guard {
    fn source_of(&self, token: &str) -> Option<Speaker> {
        let token = self.book.find(token, self.clock.now()).filter(|token| token.allows(Scope::Signal))?;
        let source = Source::new(token.source.as_deref().unwrap_or(NAMELESS))?;
        Some(Speaker { source, hosts: token.hosts.clone() })
    }
}

/// What is reached from outside is not ours alone, wherever it listens.
fn may_be_open(listen: SocketAddr, public: Option<&PageUrl>) -> bool {
    listen.ip().is_loopback()
        && public
            .is_none_or(|url| url.address().map_or(Named::Name(url.host()), Named::Address).is_loopback())
}

fn bearer(line: &str) -> Option<&str> {
    let (scheme, secret) = line.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim()).filter(|secret| !secret.is_empty())
}

/// Before and after every request: what it may cost, how long it took, and what is left of a panic.
pub(crate) async fn watch(State(guard): State<Arc<Guard>>, mut request: Request, next: Next) -> Response {
    let watch = Stopwatch::start();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let address = request.extensions().get::<Peer>().map(|peer| peer.0.ip());
    let has_token = request.headers().contains_key(AUTHORIZATION);
    let may = address.map_or(Ok(()), |address| guard.take(address));
    let response = match may.and_then(|()| guard.settle(&mut request)) {
        Ok(()) => Caught::new(next.run(request)).await.unwrap_or_else(|| Problem::ours().into_response()),
        Err(problem) => problem.into_response(),
    };
    if let Some(address) = address.filter(|_| has_token && response.status() == StatusCode::UNAUTHORIZED) {
        guard.fine(address);
    }
    let seconds = watch.elapsed().as_secs_f64();
    let route = route.as_ref().map_or("", MatchedPath::as_str);
    let status = response.status();
    (guard.count)(&Answered { route, method: &method, status, seconds });
    response
}

/// Before what monitoring systems read: a token for it, or this machine itself, tokens or not.
pub(crate) async fn admit_near(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    match if guard.is_from_here(&request) {
        Ok(())
    } else {
        guard.admit(request.headers(), Scope::Read).map(drop)
    } {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Before the doors that want a scope.
pub(crate) async fn admit(
    State((guard, scope)): State<(Arc<Guard>, Scope)>,
    mut request: Request,
    next: Next,
) -> Response {
    match guard.admit(request.headers(), scope) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use refrain_core::time::Span;

    use super::*;

    /// A guard of an empty data directory.
    pub(crate) fn guard(data: &std::path::Path, listen: &str, public: Option<&str>) -> Guard {
        let clock = Clock::start();
        let book = Book::open(data, clock.now()).unwrap();
        let public = public.map(|url| PageUrl::parse(url).unwrap());
        let allowance = Allowance::new(Span::from_millis(1));
        Guard::new(clock, book, allowance, listen.parse().unwrap(), public, Arc::new(|_| {}))
    }

    fn admitted(guard: &Guard, lines: &[(&str, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.insert(HeaderName::from_bytes(name.as_bytes()).unwrap(), value.parse().unwrap());
        }
        guard.admit(&headers, Scope::Write).map_or_else(|problem| problem.status().as_u16(), |_| 200)
    }

    #[test]
    fn without_a_token_only_this_machine_itself() {
        let folder = tempfile::tempdir().unwrap();
        let open = guard(folder.path(), "127.0.0.1:7070", None);
        for (lines, status) in [
            (&[("host", "127.0.0.1:7070")][..], 200),
            (&[("host", "localhost")], 200),
            (&[("host", "[::1]:7070")], 200),
            (&[("host", "evil.example:7070")], 403),
            (&[("host", "127.0.0.1.evil.example")], 403),
            (&[], 403),
            (&[("host", "localhost:7070"), ("origin", "http://localhost:7070")], 200),
            (&[("host", "localhost:7070"), ("origin", "https://evil.example")], 403),
            (&[("host", "localhost:7070"), ("origin", "null")], 403),
            (&[("host", "localhost"), ("sec-fetch-site", "cross-site")], 403),
            (&[("host", "localhost"), ("sec-fetch-site", "same-site")], 403),
            (&[("host", "localhost"), ("sec-fetch-site", "same-origin")], 200),
            (&[("host", "localhost"), ("authorization", "Bearer rfr_guess")], 401),
            (&[("host", "localhost"), ("authorization", "Basic YTpi")], 401),
            (&[("host", "[::1].evil")], 403),
            (&[("host", "localhost:7070@evil")], 403),
            (&[("host", "localhost"), ("x-forwarded-for", "192.0.2.1")], 403),
            (&[("host", "localhost"), ("X-Forwarded-Host", "evil.example")], 403),
            (&[("host", "localhost"), ("forwarded", "for=192.0.2.1")], 403),
            (&[("host", "localhost"), ("via", "1.1 proxy")], 403),
            (&[("host", "localhost"), ("x-real-ip", "192.0.2.1")], 403),
            (&[("host", "localhost"), ("cf-connecting-ip", "192.0.2.1")], 403),
            (&[("host", "localhost"), ("x-request-id", "7")], 200),
        ] {
            assert_eq!(admitted(&open, lines), status, "{lines:?}");
        }
    }

    #[test]
    fn http_1_0_as_proxies_speak_it_needs_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let asked = |guard: &Guard, version| {
            let request = Request::builder().version(version).header(HOST, "127.0.0.1:7070");
            let mut request = request.body(axum::body::Body::empty()).unwrap();
            request.extensions_mut().insert(Peer("127.0.0.1:9".parse().unwrap()));
            guard.settle(&mut request).unwrap();
            (guard.admit(request.headers(), Scope::Read).is_ok(), guard.is_from_here(&request))
        };
        let open = guard(folder.path(), "127.0.0.1:7070", None);
        assert_eq!(asked(&open, Version::HTTP_11), (true, true));
        assert_eq!(asked(&open, Version::HTTP_2), (true, true));
        assert_eq!(asked(&open, Version::HTTP_10), (false, false));
        let shut = guard(folder.path(), "127.0.0.1:7070", Some("https://refrain.example/"));
        assert_eq!(asked(&shut, Version::HTTP_10), (false, false), "nor is it a monitor on this machine");
    }

    #[test]
    fn what_is_seen_from_outside_needs_a_token() {
        let folder = tempfile::tempdir().unwrap();
        for (listen, public) in
            [("192.0.2.1:7070", None), ("127.0.0.1:7070", Some("https://refrain.example/"))]
        {
            let guard = guard(folder.path(), listen, public);
            assert_eq!(admitted(&guard, &[("host", "localhost")]), 401);
            // A second door is as open as its own address is.
            let near = guard.beside("127.0.0.1:7071".parse().unwrap());
            assert_eq!(admitted(&near, &[("host", "localhost")]), if public.is_some() { 401 } else { 200 });
            assert_eq!(
                admitted(&near.beside("0.0.0.0:7071".parse().unwrap()), &[("host", "localhost")]),
                401
            );
        }
    }
}
