//! One request, one answer.
//!
//! The client does not follow redirects, does not retry what failed and does not know of robots.txt: those are decisions
//! about hosts, and they are the caller's. What it does know is how much of anything to take.
//!
//! Certificates are judged by Mozilla's roots, built in: every machine sees the same web, an empty container too. Further
//! authorities (an intranet's) come from a file.

mod allowance;
mod body;
mod connect;
mod decode;
mod headers;
mod response;
mod settings;
mod tls;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy::{Client as Pool, ResponseFuture};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::watch;

use crate::clock::Stopwatch;
use crate::dns::{Cached, NameServers, Resolve, Resolved, immediate};
use crate::error::{FetchError, Stage};
use crate::url::PageUrl;
use allowance::Allowance;
use connect::{Connector, Remote};

pub use allowance::Hold;
pub use decode::Coded;
pub use headers::Headers;
pub use response::{ContentType, Response, Version};
pub use settings::{BadSettings, Settings};

/// What to ask for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The page.
    pub url: PageUrl,
    /// The `ETag` of the copy we have, as the server gave it: if it still holds, the answer is 304 without a body.
    pub etag: Option<Vec<u8>>,
    /// The `Last-Modified` of the copy we have, as the server gave it.
    pub last_modified: Option<Vec<u8>>,
    /// Another bound on the body than the client's, in bytes.
    pub max_body: Option<usize>,
    /// Leave the body in its content coding: [`Response::pieces`] decodes it piece by piece.
    pub keep_coded: bool,
    /// Ask over a new connection, whatever connections are kept.
    pub new_connection: bool,
}

impl Request {
    /// Asks for a page, whether or not it changed.
    pub fn new(url: PageUrl) -> Self {
        Self {
            url,
            etag: None,
            last_modified: None,
            max_body: None,
            keep_coded: false,
            new_connection: false,
        }
    }
}

/// What to hand over.
#[derive(Clone, Debug)]
pub struct Post {
    /// To whom.
    pub url: PageUrl,
    /// Lines of the head, beside those that every request has.
    pub headers: Vec<(&'static str, String)>,
    /// What.
    pub body: Bytes,
}

/// The connections.
#[derive(Clone)]
struct Pools {
    /// Those that are kept after use.
    kept: Pool<Connector, Full<Bytes>>,
    /// Each is used once.
    new: Pool<Connector, Full<Bytes>>,
}

/// Fetches pages. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    pools: Arc<watch::Sender<Pools>>,
    connector: Connector,
    allowance: Allowance,
    settings: Arc<Settings>,
    user_agent: HeaderValue,
    accept: HeaderValue,
}

impl Client {
    /// A client that asks the system's name servers.
    ///
    /// # Errors
    /// [`BadSettings`] says in a sentence what cannot be used.
    pub fn new(settings: Settings) -> Result<Self, BadSettings> {
        let names = settings.dns_cache;
        let servers = NameServers::of_system().map_err(|why| BadSettings::Dns(why.to_string()))?;
        Self::with_resolver(settings, Arc::new(Cached::new(servers, names)))
    }

    /// A client that asks somebody else where names lead.
    ///
    /// # Errors
    /// [`BadSettings`] says in a sentence what cannot be used.
    pub fn with_resolver(settings: Settings, resolver: Arc<dyn Resolve>) -> Result<Self, BadSettings> {
        let user_agent = settings::header("user agent", &settings.user_agent)?;
        let accept = settings::header("accept", &settings.accept)?;
        let tls = tls::config(&settings.extra_authorities)?;
        let connector = Connector::new(resolver, tls, &settings);
        let pools = Arc::new(watch::Sender::new(Pools::new(&connector, &settings)));
        let (allowance, settings) = (Allowance::default(), Arc::new(settings));
        Ok(Self { pools, connector, allowance, settings, user_agent, accept })
    }

    /// Drops all connections. Requests under way fail with [`FetchError::Interrupted`].
    pub fn drop_connections(&self) {
        self.pools.send_replace(Pools::new(&self.connector, &self.settings));
    }

    /// The addresses that a new connection to the host of `url` would try, in order, and for how long that holds. Answers are remembered: a request
    /// that follows goes there.
    ///
    /// # Errors
    /// [`FetchError`] says in a sentence why there is none.
    pub async fn resolve(&self, url: &PageUrl) -> Result<Resolved, FetchError> {
        self.connector.resolve(url.host()).await
    }

    /// The same, if no name server needs to be asked: the host is an address, or a name of this machine.
    pub fn resolve_now(&self, url: &PageUrl) -> Option<Result<Resolved, FetchError>> {
        let found = immediate(url.host())?;
        Some(self.connector.admitted(found.addresses).map(|addresses| Resolved { addresses, ..found }))
    }

    /// Asks once. A redirect is an answer like any other, with its target in [`Response::location`].
    ///
    /// # Errors
    /// [`FetchError`] says in a sentence why there is no answer.
    pub async fn get(&self, request: &Request) -> Result<Response, FetchError> {
        let http_request = self.http_request(request)?;
        let limit = request.max_body.unwrap_or(self.settings.max_body);
        self.send(&request.url, http_request, (limit, request.keep_coded, request.new_connection)).await
    }

    /// Hands something over, once.
    ///
    /// # Errors
    /// [`FetchError`] says in a sentence why there is no answer.
    pub async fn post(&self, post: Post) -> Result<Response, FetchError> {
        let mut built = http::Request::post(post.url.as_str()).header(USER_AGENT, &self.user_agent);
        for (name, value) in &post.headers {
            built = built.header(*name, value.as_str());
        }
        let http_request =
            built.body(Full::new(post.body)).map_err(|why| FetchError::Request(why.to_string()))?;
        self.send(&post.url, http_request, (self.settings.max_body, false, false)).await
    }

    async fn send(
        &self,
        url: &PageUrl,
        http_request: http::Request<Full<Bytes>>,
        (max_body, keep_coded, is_new): (usize, bool, bool),
    ) -> Result<Response, FetchError> {
        let mut pools = self.pools.subscribe();
        let Pools { kept, new } = pools.borrow_and_update().clone();
        let pool = if is_new { new } else { kept };
        tokio::select! {
            answer = self.answer(url, pool.request(http_request), (max_body, keep_coded)) => answer,
            Ok(()) = pools.changed() => Err(FetchError::Interrupted),
        }
    }

    async fn answer(
        &self,
        url: &PageUrl,
        head: ResponseFuture,
        (max_body, keep_coded): (usize, bool),
    ) -> Result<Response, FetchError> {
        let watch = Stopwatch::start();
        let head = tokio::time::timeout(self.settings.head_timeout, head);
        let answer: http::Response<Incoming> = match head.await {
            Err(_) => return Err(FetchError::Timeout(Stage::Head)),
            Ok(Err(failed)) if connect::was_closed(&failed) => return Err(FetchError::Closed),
            Ok(Err(failed)) => return Err(connect::reason(&failed)),
            Ok(Ok(answer)) => answer,
        };
        let first_byte = watch.elapsed();
        let (parts, incoming) = answer.into_parts();
        // hyper's bounds are rough: it reads ahead, and counts HTTP/2 heads by their bytes alone.
        if too_large(&parts.headers, &self.settings) {
            return Err(FetchError::Headers);
        }
        let codings = decode::codings(&parts.headers);
        let traffic = parts.extensions.get::<Remote>().map(|remote| &*remote.traffic);
        if let Some(traffic) = traffic {
            traffic.answer();
        }
        let mut claim = self.allowance.claim(keep_coded);
        let most = incoming.size_hint().upper().and_then(|most| usize::try_from(most).ok());
        let most = most.unwrap_or(usize::MAX).min(max_body);
        let need = if keep_coded { most } else { decode::need(&codings, most, max_body) };
        let raw = body::read(incoming, max_body, watch, &self.settings, (&mut claim, need, traffic)).await?;
        let whole = watch.elapsed();
        let decoded = if keep_coded {
            decode::left(codings, raw, claim)
        } else {
            decode::decoded(codings, raw, max_body, claim).await?
        };
        Ok(Response::new(url, parts, decoded, first_byte, whole))
    }

    fn http_request(&self, request: &Request) -> Result<http::Request<Full<Bytes>>, FetchError> {
        let unusable = |why: http::Error| FetchError::Request(why.to_string());
        let mut built = http::Request::get(request.url.as_str())
            .header(USER_AGENT, &self.user_agent)
            .header(ACCEPT, &self.accept)
            .header(ACCEPT_ENCODING, HeaderValue::from_static(decode::ACCEPTED));
        if let Some(etag) = &request.etag {
            built = built.header(IF_NONE_MATCH, etag.as_slice());
        }
        if let Some(date) = &request.last_modified {
            built = built.header(IF_MODIFIED_SINCE, date.as_slice());
        }
        built.body(Full::default()).map_err(unusable)
    }
}

impl Pools {
    fn new(connector: &Connector, settings: &Settings) -> Self {
        let pool = |idle| {
            Pool::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .timer(TokioTimer::new())
                .pool_idle_timeout(settings.idle_timeout)
                .pool_max_idle_per_host(idle)
                .http1_title_case_headers(true)
                .http1_max_headers(settings.max_headers)
                .http1_max_buf_size(settings.max_head.max(settings::SMALLEST_HEAD))
                .http1_ignore_invalid_headers_in_responses(true)
                .http2_max_header_list_size(u32::try_from(settings.max_head).unwrap_or(u32::MAX))
                .http2_initial_stream_window_size(connect::H2_STREAM_WINDOW)
                .http2_initial_connection_window_size(connect::H2_WINDOW)
                .build(connector.clone())
        };
        Self { kept: pool(settings.idle_per_host), new: pool(0) }
    }
}

fn too_large(headers: &http::HeaderMap, settings: &Settings) -> bool {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    headers.len() > settings.max_headers || bytes > settings.max_head
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}
