//! A small web server on loopback that writes down who asked for what, and when.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use refrain_core::time::{Span, Time};
use refrain_engine::{Clock, Crawl, Decision, Seed, Settings, Summary, Until, add_seeds};
use refrain_fetch::url::PageUrl;
use refrain_store::{Options, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::channel;
use tokio::sync::watch;

/// What is at an address.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

/// A request, as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) time: Time,
    pub(crate) path: String,
    pub(crate) status: u16,
}

/// Nothing that is waited for takes longer, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Crawls these pages, and all that the directory has, for as long as the settings say.
pub(crate) async fn crawl(directory: &Path, urls: &[String], settings: Settings) -> Summary {
    crawl_logged(directory, urls, settings, || false).await.0
}

/// The same, but no longer than until something is so, which it must be at some time.
pub(crate) async fn crawl_until(
    directory: &Path,
    urls: &[String],
    settings: Settings,
    is_so: impl Fn() -> bool,
) -> Summary {
    let summary =
        crawl_logged(directory, urls, Settings { until: Until::Stopped, ..settings }, &is_so).await.0;
    assert!(is_so(), "it was never so: {summary:?}");
    summary
}

/// Crawls until something is so, or for as long as the settings say; and all that was decided.
pub(crate) async fn crawl_logged(
    directory: &Path,
    urls: &[String],
    settings: Settings,
    is_so: impl Fn() -> bool,
) -> (Summary, Vec<Decision>) {
    let clock = Clock::start();
    let mut store = Store::open(directory, Options::default()).unwrap();
    let seed = |url: &String| Seed { url: PageUrl::parse(url).unwrap(), importance: None, max_age: None };
    add_seeds(&mut store, &urls.iter().map(seed).collect::<Vec<_>>(), clock.now()).unwrap();
    let mut crawl = Crawl::new(store, directory, settings, clock, None).unwrap();
    let (to, mut decisions) = channel(1 << 20);
    crawl.tell_decisions(to);
    let (stop, stopped) = watch::channel(false);
    let mut running = tokio::spawn(crawl.run(stopped));
    let patience = tokio::time::sleep(PATIENCE);
    tokio::pin!(patience);
    let summary = loop {
        tokio::select! {
            summary = &mut running => break summary.unwrap().unwrap(),
            () = &mut patience, if !*stop.borrow() => drop(stop.send_replace(true)),
            () = tokio::time::sleep(Duration::from_millis(10)) => {
                if !*stop.borrow() && is_so() {
                    stop.send_replace(true);
                }
            }
        }
    };
    let mut decided = Vec::new();
    while let Some(decision) = decisions.recv().await {
        decided.push(decision);
    }
    (summary, decided)
}

impl Page {
    fn new(status: u16, kind: &str, body: &str) -> Self {
        Self { status, headers: vec![("Content-Type".to_owned(), kind.to_owned())], body: body.to_owned() }
    }

    pub(crate) fn html(body: &str) -> Self {
        Self::new(200, "text/html; charset=utf-8", body)
    }

    pub(crate) fn text(body: &str) -> Self {
        Self::new(200, "text/plain", body)
    }

    pub(crate) fn xml(body: &str) -> Self {
        Self::new(200, "application/xml", body)
    }

    pub(crate) fn status(status: u16) -> Self {
        Self::new(status, "text/html", "<p>status</p>")
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::status(301).with("Location", to)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Clone)]
pub(crate) struct Web(Arc<Inner>);

struct Inner {
    clock: Clock,
    port: u16,
    pages: Mutex<HashMap<String, Page>>,
    log: Mutex<Vec<Hit>>,
}

impl Web {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inner = Inner { clock: Clock::start(), port, pages: Mutex::default(), log: Mutex::default() };
        let web = Self(Arc::new(inner));
        let served = web.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let web = served.clone();
                tokio::spawn(async move { web.serve(stream).await });
            }
        });
        web
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.0.port)
    }

    pub(crate) fn put(&self, path: &str, page: Page) {
        self.0.pages.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), page);
    }

    pub(crate) fn log(&self) -> Vec<Hit> {
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How often there was asked for a path.
    pub(crate) fn asked(&self, path: &str) -> usize {
        self.log().iter().filter(|hit| hit.path == path).count()
    }

    /// No two requests were closer than this, but for what a busy machine delays some of them by.
    pub(crate) fn assert_polite(&self, gap: Span) {
        let log = self.log();
        for pair in log.windows(2) {
            let apart = pair[1].time.since(pair[0].time);
            assert!(apart.as_secs() >= 0.6 * gap.as_secs(), "{apart:?} between {pair:?}");
        }
        let mean = log.last().unwrap().time.since(log[0].time).as_secs() / (log.len() - 1).max(1) as f64;
        assert!(mean >= 0.98 * gap.as_secs(), "{mean}");
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut buffer = Vec::new();
        loop {
            while !buffer.windows(4).any(|end| end == b"\r\n\r\n") {
                let mut part = [0; 4096];
                match stream.read(&mut part).await {
                    Ok(0) | Err(_) => return,
                    Ok(count) => buffer.extend_from_slice(&part[..count]),
                }
            }
            let head = String::from_utf8_lossy(&buffer).into_owned();
            buffer.clear();
            let answer = self.answer(&head);
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    fn answer(&self, head: &str) -> String {
        let time = self.0.clock.now();
        let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
        let pages = self.0.pages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut page = pages.get(&path).cloned().unwrap_or_else(|| Page::status(404));
        let asked = head
            .lines()
            .find_map(|line| line.to_ascii_lowercase().strip_prefix("if-none-match: ").map(str::to_owned));
        if asked.is_some() && asked.as_deref() == page.header("ETag") {
            page.status = 304;
            page.body.clear();
        }
        let hit = Hit { time, path, status: page.status };
        self.0.log.lock().unwrap_or_else(PoisonError::into_inner).push(hit);
        let mut answer = format!("HTTP/1.1 {} Said\r\n", page.status);
        for (name, value) in &page.headers {
            answer.push_str(&format!("{name}: {value}\r\n"));
        }
        if page.status != 304 {
            answer.push_str(&format!("Content-Length: {}\r\n", page.body.len()));
        }
        answer + "\r\n" + &page.body
    }
}
