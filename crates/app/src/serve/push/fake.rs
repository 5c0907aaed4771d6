//! A world behind the doors that does as it is told and writes down what it hears.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, Request as HttpRequest};
use refrain_core::time::{Span, Time};
use refrain_engine::{Heard, Kind, Once, Over, Said, Source};
use refrain_fetch::FetchError;
use refrain_fetch::client::{Coded, Headers, Hold, Post, Request, Response, Version};
use refrain_fetch::url::PageUrl;
use refrain_store::{PageId, Role, StoreError};
use tower::ServiceExt;

use super::ears::{Ears, Soon};
use super::webhook::{Speaker, Tokens};
use super::{Count, Push, Settings, Verdict};
use crate::serve::server::Peer;

/// Kind, address, when it changed, and whether it may be added.
type Told = (Kind, String, Option<Time>, bool);
type Got = Option<Result<Response, FetchError>>;

#[derive(Default)]
pub(super) struct Fake {
    now: Mutex<u64>,
    pub(super) pages: Mutex<Vec<(PageId, String, Role)>>,
    /// What sites answer, by address; what is not there is 404.
    pub(super) files: Mutex<HashMap<String, (u16, String)>>,
    /// How hubs answer, by address.
    pub(super) hubs: Mutex<HashMap<String, (u16, Option<String>)>>,
    pub(super) heard: Mutex<Vec<Told>>,
    pub(super) fed: Mutex<Vec<(PageId, String, String)>>,
    pub(super) posts: Mutex<Vec<(String, String)>>,
    pub(super) gets: Mutex<Vec<String>>,
    pub(super) kept: Mutex<Vec<(String, Vec<u8>)>>,
    known: Mutex<Vec<Once>>,
    pub(super) counted: Mutex<Vec<(&'static str, Verdict)>>,
    pub(super) news: Mutex<usize>,
    pub(super) is_over: AtomicBool,
    /// Hosts never have time for us.
    pub(super) is_busy: AtomicBool,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Fake {
    /// A site with a page, a feed and a sitemap.
    pub(super) fn new() -> Arc<Self> {
        let fake = Self::default();
        *lock(&fake.now) = 1_794_891_600;
        *lock(&fake.pages) = vec![
            (PageId(1), "https://site.example/".to_owned(), Role::Page),
            (PageId(2), "https://site.example/feed".to_owned(), Role::Feed),
            (PageId(3), "https://site.example/sitemap.xml".to_owned(), Role::Sitemap),
        ];
        Arc::new(fake)
    }

    pub(super) fn later(&self, secs: u64) {
        *lock(&self.now) += secs;
    }

    fn living<T>(&self, answer: T) -> Result<T, Over> {
        if self.is_over.load(Ordering::SeqCst) { Err(Over) } else { Ok(answer) }
    }

    /// Whether this came for the first time, as the crawl would know it after a restart, too.
    fn is_first(&self, once: Option<Once>) -> bool {
        once.is_none_or(|once| {
            let mut known = lock(&self.known);
            let is_first = !known.contains(&once);
            known.extend(is_first.then_some(once));
            is_first
        })
    }

    pub(super) fn push(self: &Arc<Self>) -> Arc<Push> {
        self.push_with(Some("https://crawler.example/refrain/"), 3)
    }

    pub(super) fn push_with(
        self: &Arc<Self>,
        public_url: Option<&str>,
        most_subscriptions: usize,
    ) -> Arc<Push> {
        let settings = Settings {
            public_url: public_url.map(|url| PageUrl::parse(url).unwrap()),
            most_subscriptions,
            indexnow_adds: false,
            tokens: Arc::new(OneToken),
            count: Arc::clone(self) as Arc<dyn Count>,
        };
        Arc::new(Push::with(settings, Arc::clone(self) as Arc<dyn Ears>))
    }

    /// The addresses that were said to have changed.
    pub(super) fn urls(&self) -> Vec<String> {
        lock(&self.heard).iter().map(|(_, url, ..)| url.clone()).collect()
    }

    pub(super) fn last_verdict(&self) -> Option<(&'static str, Verdict)> {
        lock(&self.counted).last().copied()
    }
}

impl Count for Fake {
    fn judged(&self, door: &'static str, verdict: Verdict) {
        lock(&self.counted).push((door, verdict));
    }

    fn heard(&self, _: Kind, heard: &[Heard]) {
        *lock(&self.news) += heard.iter().filter(|heard| **heard == Heard::News).count();
    }
}

/// `cdn` speaks for site.example and all below it.
struct OneToken;

impl Tokens for OneToken {
    fn source_of(&self, token: &str) -> Option<Speaker> {
        let hosts = vec!["site.example".to_owned(), "*.site.example".to_owned()];
        (token == "the-token").then(|| Speaker { source: Source::new("cdn").unwrap(), hosts })
    }
}

pub(super) fn response(status: u16, body: String, location: Option<&str>) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, "text/plain".parse().unwrap());
    if let Some(location) = location {
        headers.insert(LOCATION, location.parse().unwrap());
    }
    Response {
        status,
        reason: None,
        version: Version::Http11,
        headers: Headers::from(headers),
        remote: None,
        first_byte: Span::ZERO,
        whole: Span::ZERO,
        raw: body.clone().into(),
        body: body.into(),
        truncated: false,
        coded: Coded::default(),
        hold: Hold::default(),
        location: location.map(PageUrl::parse),
    }
}

impl Ears for Fake {
    fn now(&self) -> Time {
        Time::ZERO + Span::from_whole_secs(*lock(&self.now))
    }

    fn signal(&self, kind: Kind, said: Vec<Said>, once: Option<Once>) -> Soon<'_, Result<Vec<Heard>, Over>> {
        Box::pin(async move {
            if !self.is_first(once) {
                return self.living(vec![Heard::Known; said.len()]);
            }
            let heard = self.living(vec![Heard::News; said.len()])?;
            let said = said.into_iter().map(|said| (kind, said.url.to_string(), said.changed, said.adds));
            lock(&self.heard).extend(said);
            Ok(heard)
        })
    }

    fn distributed(
        &self,
        page: PageId,
        url: PageUrl,
        answer: Response,
        once: Once,
    ) -> Soon<'_, Result<u64, Over>> {
        Box::pin(async move {
            if !self.is_first(Some(once)) {
                return self.living(0);
            }
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            lock(&self.fed).push(self.living((page, url.to_string(), body))?);
            Ok(1)
        })
    }

    fn get(&self, request: Request) -> Soon<'_, Result<Got, Over>> {
        Box::pin(async move {
            lock(&self.gets).push(request.url.to_string());
            if self.is_busy.load(Ordering::SeqCst) {
                return self.living(None);
            }
            let found = lock(&self.files).get(request.url.as_str()).cloned();
            let (status, mut body) = found.unwrap_or((404, String::new()));
            body.truncate(request.max_body.unwrap_or(usize::MAX));
            self.living(Some(Ok(response(status, body, None))))
        })
    }

    fn post(&self, post: Post) -> Soon<'_, Result<Response, FetchError>> {
        Box::pin(async move {
            let body = String::from_utf8_lossy(&post.body).into_owned();
            lock(&self.posts).push((post.url.to_string(), body));
            let answer = lock(&self.hubs).get(post.url.as_str()).cloned();
            let (status, location) = answer.unwrap_or((202, None));
            Ok(response(status, String::new(), location.as_deref()))
        })
    }

    fn keep(&self, name: String, value: Vec<u8>) -> Soon<'_, Result<(), Over>> {
        let done = self.living(());
        if done.is_ok() {
            let mut kept = lock(&self.kept);
            kept.retain(|(known, _)| *known != name);
            if !value.is_empty() {
                kept.push((name, value));
            }
        }
        Box::pin(std::future::ready(done))
    }

    fn kept(&self, start: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        Ok(lock(&self.kept).iter().filter(|(name, _)| name.starts_with(start)).cloned().collect())
    }

    fn knows_host(&self, name: &str) -> bool {
        name == "https://site.example"
    }

    fn page(&self, url: &str) -> Option<(PageId, Role)> {
        lock(&self.pages).iter().find(|(_, known, _)| known == url).map(|(id, _, role)| (*id, *role))
    }

    fn address(&self, page: PageId) -> Option<PageUrl> {
        let pages = lock(&self.pages);
        pages.iter().find(|(id, ..)| *id == page).and_then(|(_, url, _)| PageUrl::parse(url).ok())
    }
}

pub(super) fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Status of the answer to somebody else's request.
pub(super) async fn knock_from(push: &Arc<Push>, address: &str, path: &str) -> u16 {
    let peer = Peer((address.parse::<std::net::IpAddr>().unwrap(), 1).into());
    let request = HttpRequest::builder().uri(path).extension(peer).body(Body::empty()).unwrap();
    Arc::clone(push).router().oneshot(request).await.unwrap().status().as_u16()
}

/// Status and body of the answer to a request: method, path, lines of the head, body.
pub(super) async fn knock(
    push: &Arc<Push>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> (u16, String) {
    let mut request = HttpRequest::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(body.into()).unwrap();
    let answer = Arc::clone(push).router().oneshot(request).await.unwrap();
    let status = answer.status().as_u16();
    let kind = answer.headers().get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    if status >= 400 {
        assert_eq!(kind.as_deref(), Some("application/problem+json"), "{status} {body}");
        let problem: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(problem["status"], status, "{body}");
        assert!(
            problem["title"].is_string() && problem["detail"].is_string() && problem["type"] == "about:blank"
        );
    }
    (status, body)
}
