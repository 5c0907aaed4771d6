//! The doors as requests find them, with a store and without a crawl: whatever would change something is over.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use refrain_core::time::{Span, Time};
use refrain_engine::{Clock, Crawl, Seed, Settings, add_seeds};
use refrain_fetch::url::PageUrl;
use refrain_store::warc::{self, HttpHead};
use refrain_store::{Address, Batch, Look, Options, Outcome, PageId, PageState, Seq, Store};
use serde_json::Value;
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use super::*;
use crate::serve::counted::Pushes;
use crate::serve::guard::tests::guard;
use crate::serve::metrics::Metrics;

/// Pages, of which the first has a copy, and doors to them.
struct Doors {
    router: Router,
    _folder: tempfile::TempDir,
    close: watch::Sender<bool>,
}

const BODY: &[u8] = b"<p>hello</p>";

impl Doors {
    fn new(pages: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::start();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let seed = |number: usize| Seed {
            url: PageUrl::parse(&format!("https://example.org/{number}")).unwrap(),
            importance: None,
            max_age: None,
        };
        add_seeds(&mut store, &(1..=pages).map(seed).collect::<Vec<_>>(), clock.now()).unwrap();
        if pages > 0 {
            store.commit(&Batch { looks: vec![look(clock.now())], ..Batch::default() }).unwrap();
        }
        let crawl = Crawl::new(store, folder.path(), Settings::default(), clock, None).unwrap();
        let handle = crawl.handle();
        drop(crawl);
        let (close, closing) = watch::channel(false);
        let app: App = Arc::new(Shared {
            reads: Reads::counted_by(handle.clone()),
            readers: Readers::new(folder.path()).unwrap(),
            handle,
            clock,
            changes: watch::channel(Seq(0)).1,
            pulse: watch::channel(None).1,
            closing,
            count: Arc::new(Pushes(Arc::new(Metrics::new(clock.now())))),
            streams: Arc::new(Semaphore::new(1)),
            config: Config::default(),
            agent: "Refrain".to_owned(),
            lease: Span::from_whole_secs(300),
            max_body: 10_000,
        });
        let guard = Arc::new(guard(folder.path(), "127.0.0.1:7070", None));
        let router = crate::serve::behind(router(&app, &guard), &guard);
        Self { router, _folder: folder, close }
    }

    async fn send(&self, method: &str, path: &str, kind: &str, body: &str) -> http::Response<Body> {
        let mut request = Request::builder().method(method).uri(path).header("host", "localhost");
        if !kind.is_empty() {
            request = request.header("content-type", kind);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn json(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let kind = if body.is_empty() { "" } else { "application/json" };
        let answer = self.send(method, path, kind, body).await;
        let status = answer.status().as_u16();
        if status >= 400 {
            assert_eq!(answer.headers()["content-type"], "application/problem+json", "{method} {path}");
        }
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        let value: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if status >= 400 {
            assert_eq!(value["status"], status, "{method} {path}: {value}");
        }
        (status, value)
    }

    async fn get(&self, path: &str) -> (u16, Value) {
        self.json("GET", path, "").await
    }
}

fn look(time: Time) -> Look {
    let url = Address::new("https://example.org/1").unwrap();
    let head = HttpHead::response(200, "OK", [("Content-Type", &b"text/html"[..])]).unwrap();
    let body = warc::Body::new(BODY);
    let response = warc::Response {
        url: &url,
        page: &url,
        time,
        ip: None,
        head: &head,
        body,
        truncated: None,
        request: None,
    };
    let record = response.encode().unwrap();
    Look {
        page: PageId(1),
        time,
        asked: time,
        elapsed: None,
        outcome: Outcome::First,
        counted: None,
        status: Some(200),
        bytes: 12,
        duration: Span::from_millis(5),
        digest: Some(record.digest()),
        state: PageState::Active,
        history: None,
        known: None,
        record: Some(record),
    }
}

#[tokio::test]
async fn pages_are_found_and_listed() {
    let doors = Doors::new(5);
    let (status, page) = doors.get("/v1/pages/1").await;
    assert_eq!(
        (status, &page["url"], &page["state"]),
        (200, &"https://example.org/1".into(), &"active".into())
    );
    assert_eq!(doors.get("/v1/page?url=https://EXAMPLE.org/2").await.1["id"], 2);
    for (path, status) in [
        ("/v1/pages/77", 404),
        ("/v1/pages/x", 400),
        ("/v1/pages/-1", 400),
        ("/v1/pages/1?x=1", 400),
        ("/v1/page", 400),
        ("/v1/page?url=nowhere", 400),
        ("/v1/page?url=https://example.org/other", 404),
        ("/v1/pages?limit=0", 400),
        ("/v1/pages?limit=many", 400),
        ("/v1/pages?unheard=of", 400),
        ("/v1/pages?cursor=%F0", 400),
        ("/v1/pages?state=lost", 400),
        ("/v1/nothing", 404),
    ] {
        assert_eq!(doors.get(path).await.0, status, "{path}");
    }
    let (mut path, mut seen) = ("/v1/pages?limit=2".to_owned(), Vec::new());
    loop {
        let (_, list) = doors.get(&path).await;
        seen.extend(list["pages"].as_array().unwrap().iter().map(|page| page["id"].as_i64().unwrap()));
        let Some(next) = list["next"].as_str() else { break };
        path = format!("/v1/pages?limit=2&cursor={next}");
    }
    assert_eq!(seen, [1, 2, 3, 4, 5]);
    let count = |list: Value| list["pages"].as_array().unwrap().len();
    assert_eq!(count(doors.get("/v1/pages?never_fetched=false").await.1), 1);
    assert_eq!(count(doors.get("/v1/pages?prefix=https://example.org/3").await.1), 1);
    assert_eq!(count(doors.get("/v1/pages?url=https://example.org/4&host=example.org").await.1), 1);
    assert_eq!(count(doors.get("/v1/pages?host=other.example").await.1), 0);
}

#[tokio::test]
async fn copies_harm_nobody() {
    let doors = Doors::new(2);
    let copy = doors.send("GET", "/v1/pages/1/copy", "", "").await;
    assert_eq!(copy.status(), 200);
    let headers = copy.headers().clone();
    assert_eq!(
        (&headers["content-type"], &headers["x-content-type-options"]),
        (&"text/html".parse().unwrap(), &"nosniff".parse().unwrap())
    );
    assert_eq!(headers["content-security-policy"], "sandbox; default-src 'none'");
    assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    assert_eq!(copy.into_body().collect().await.unwrap().to_bytes(), BODY);
    let request = Request::get("/v1/pages/1/copy").header("host", "localhost");
    let request = request.header("if-none-match", &headers["etag"]).body(Body::empty()).unwrap();
    assert_eq!(doors.router.clone().oneshot(request).await.unwrap().status(), 304);
    let head = doors.send("HEAD", "/v1/pages/1/versions/1", "", "").await;
    assert_eq!((head.status(), &head.headers()["etag"]), (StatusCode::OK, &headers["etag"]));
    assert_eq!(doors.send("GET", "/v1/read?url=https://example.org/1", "", "").await.status(), 200);
    for path in ["/v1/pages/2/copy", "/v1/pages/2/versions/1", "/v1/pages/1/copy?at=2001-01-01T00:00:00Z"] {
        assert_eq!(doors.get(path).await.0, 404, "{path}");
    }
    assert_eq!(doors.get("/v1/pages/1/copy?at=yesterday").await.0, 400);
    assert_eq!(doors.get("/v1/pages/1/versions").await.1["versions"][0]["version"], 1);
    assert_eq!(doors.get("/v1/pages/1/history").await.1["looks"][0]["outcome"], "first");
    assert!(doors.get("/v1/pages/1/diff").await.1["note"].is_string());
    assert_eq!(doors.get("/v1/pages/1/diff?from=9").await.0, 404);
}

#[tokio::test]
async fn what_changes_something_needs_a_crawl() {
    let doors = Doors::new(1);
    for (method, path, body) in [
        ("PATCH", "/v1/pages/1", "{\"importance\":2}"),
        ("DELETE", "/v1/pages/1", ""),
        ("POST", "/v1/pages/1/fetch", ""),
        ("POST", "/v1/pages", "[\"https://example.org/\"]"),
        ("PUT", "/v1/budget", "{\"rate_per_second\":2}"),
        ("GET", "/v1/budget", ""),
        ("GET", "/v1/hosts", ""),
        ("POST", "/v1/signals", "{\"signals\":[{\"url\":\"https://example.org/1\"}]}"),
        ("POST", "/v1/fetches/next", "{}"),
        ("POST", "/v1/fetches/results", "{\"results\":[{\"lease\":\"1.0.1\",\"status\":304}]}"),
        ("GET", "/ready", ""),
    ] {
        assert_eq!(doors.json(method, path, body).await.0, 503, "{method} {path}");
    }
}

#[tokio::test]
async fn mistakes_are_told() {
    let doors = Doors::new(1);
    for (method, path, body, status) in [
        ("PATCH", "/v1/pages/1", "{", 400),
        ("PATCH", "/v1/pages/1", "{\"importance\":-1}", 422),
        ("PATCH", "/v1/pages/1", "{\"state\":\"gone\"}", 422),
        ("PATCH", "/v1/pages/1", "{\"unheard\":1}", 422),
        ("PUT", "/v1/budget", "{\"price\":1}", 422),
        ("PUT", "/v1/budget", "{}", 422),
        ("POST", "/v1/pages", "[1]", 422),
        ("POST", "/v1/requests", "[{\"page\":1,\"url\":\"https://example.org/\"}]", 422),
        ("POST", "/v1/fetches/next", "{\"most\":0}", 422),
        ("PUT", "/v1/pages/1", "{}", 405),
        ("GET", "/v1/changes?wait_seconds=3600", "", 400),
        ("GET", "/v1/changes?after=-1", "", 400),
        ("GET", "/v1/forecast?freshness=2", "", 400),
        ("GET", "/v1/hosts/nobody", "", 404),
    ] {
        assert_eq!(doors.json(method, path, body).await.0, status, "{method} {path} {body}");
    }
    assert_eq!(doors.send("PATCH", "/v1/pages/1", "text/plain", "{}").await.status(), 415);
    assert_eq!(doors.send("POST", "/v1/pages", "", "x").await.status(), 415);
    let long = format!("{{\"signals\":[{}]}}", " ".repeat(10_000));
    assert_eq!(doors.json("POST", "/v1/signals", &long).await.0, 413);
    // A line that is no page is told, and needs no crawl.
    let lines = doors.send("POST", "/v1/pages", "application/x-ndjson", "\n\"nowhere\"\n{\"url\":1}\n").await;
    let lines: Value =
        serde_json::from_slice(&lines.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!((&lines["refused"], &lines["refusals"][0]["line"]), (&2.into(), &2.into()));
}

#[tokio::test]
async fn changes_are_told_once_and_streams_end() {
    let doors = Doors::new(1);
    let (_, changes) = doors.get("/v1/changes").await;
    assert_eq!((&changes["next"], &changes["changes"][0]["page"]), (&1.into(), &1.into()));
    let (_, none) = doors.get("/v1/changes?after=1&wait_seconds=0.05").await;
    assert_eq!((&none["next"], none["changes"].as_array().unwrap().len()), (&1.into(), 0));
    let stream = doors.send("GET", "/v1/changes/stream?after=0", "", "").await;
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    // There is a place for one.
    assert_eq!(doors.get("/v1/changes/stream").await.0, 503);
    let mut body = stream.into_body();
    let mut text = String::new();
    while !text.contains("\"page\":1") {
        let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
        text.push_str(std::str::from_utf8(&frame).unwrap());
    }
    assert!(text.contains("id: 1\nevent: change\ndata: {"), "{text}");
    doors.close.send_replace(true);
    assert!(body.frame().await.is_none());
    assert_eq!(doors.get("/ready").await.0, 503);
    assert_eq!(doors.get("/health").await.0, 200);
}

#[tokio::test]
async fn the_description_is_whole() {
    let doors = Doors::new(0);
    let (_, all) = doors.get("/openapi.json").await;
    assert!(all["openapi"].as_str().unwrap().starts_with("3.1"), "{}", all["openapi"]);
    let mut count = 0;
    for (path, item) in all["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            count += 1;
            let has = |status: &str| operation["responses"].get(status).is_some();
            assert!(operation["summary"].is_string() && has("429"), "{method} {path}");
            assert_eq!(has("401"), path.starts_with("/v1/"), "{method} {path}");
            assert_eq!(has("415"), operation.get("requestBody").is_some(), "{method} {path}");
            assert_eq!(
                path.contains('{'),
                operation["parameters"].to_string().contains("\"path\""),
                "{path}"
            );
        }
    }
    assert_eq!(count, 32, "doors");
    // Whatever is referred to is there.
    let text = all.to_string();
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(all["components"]["schemas"].get(name).is_some(), "{name}");
    }
}
