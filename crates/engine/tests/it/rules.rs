//! robots.txt that forbids pages, and later does not.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use refrain_core::time::Span;
use refrain_engine::{
    Brought, Clock, Crawl, Handle, Receipt, Saw, Seed, Settings, Summary, Work, WorkWanted, add_seeds,
};
use refrain_fetch::client;
use refrain_fetch::url::PageUrl;
use refrain_store::{Batch, HostUpdate, Options, PageId, PageState, Reader, Robots, Store};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::web::{Page, Web};

const NOTHING: &str = "User-agent: *\nDisallow: /";

struct Running {
    handle: Handle,
    reader: Reader,
    stop: watch::Sender<bool>,
    done: JoinHandle<Summary>,
}

impl Running {
    fn start(directory: &Path, urls: &[String], settings: Settings) -> Self {
        let clock = Clock::start();
        let mut store = Store::open(directory, Options::default()).unwrap();
        let seed = |url: &String| Seed { url: PageUrl::parse(url).unwrap(), importance: None, max_age: None };
        add_seeds(&mut store, &urls.iter().map(seed).collect::<Vec<_>>(), clock.now()).unwrap();
        let crawl = Crawl::new(store, directory, settings, clock, None).unwrap();
        let handle = crawl.handle();
        let (stop, stopped) = watch::channel(false);
        let done = tokio::spawn(async move { crawl.run(stopped).await.unwrap() });
        Self { handle, reader: Reader::open(directory).unwrap(), stop, done }
    }

    async fn stop(self) -> Summary {
        self.stop.send_replace(true);
        self.done.await.unwrap()
    }

    fn page(&self, url: &str) -> (PageId, PageState, bool) {
        let page = self.reader.page(url).unwrap().unwrap();
        (page.id, page.state, page.fetched.is_some())
    }

    async fn wait_for(&self, url: &str, state: PageState, is_fetched: bool) {
        for _ in 0..6000 {
            let (_, is, fetched) = self.page(url);
            if (is, fetched) == (state, is_fetched) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{url}: {:?}", self.page(url));
    }
}

fn settings(robots_for: Span) -> Settings {
    Settings {
        rate: 200.0,
        gap: Span::from_millis(1),
        patience: 0.0,
        robots_for,
        commit_within: Span::from_millis(10),
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        ..Settings::default()
    }
}

const DAY: Span = Span::from_whole_secs(86_400);
const SHORT: Span = Span::from_millis(100);

#[tokio::test(flavor = "multi_thread")]
async fn pages_that_were_forbidden_come_back_while_the_crawl_runs() {
    let web = Web::start().await;
    web.put("/robots.txt", Page::text(NOTHING));
    let urls = ["/a", "/b", "/c"].map(|path| web.url(path));
    for path in ["/a", "/b", "/c"] {
        web.put(path, Page::html("<p>page</p>"));
    }
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), &urls, settings(SHORT));
    for url in &urls {
        running.wait_for(url, PageState::Disallowed, false).await;
    }
    web.put("/robots.txt", Page::text("User-agent: *\nDisallow: /c"));
    running.wait_for(&urls[0], PageState::Active, true).await;
    running.wait_for(&urls[1], PageState::Active, true).await;
    web.put("/robots.txt", Page::text(""));
    running.wait_for(&urls[2], PageState::Active, true).await;
    running.stop().await;
    let first = web.log().iter().position(|hit| hit.path != "/robots.txt").unwrap();
    assert!(first > 0 && web.log()[..first].iter().all(|hit| hit.path == "/robots.txt"));
}

/// A person who wants a page at once that robots.txt forbids has that read again, unless it was read a moment ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_can_have_robots_txt_read_again() {
    let web = Web::start().await;
    web.put("/robots.txt", Page::text(NOTHING));
    web.put("/a", Page::html("<p>a</p>"));
    let (url, folder) = (web.url("/a"), tempfile::tempdir().unwrap());
    let running = Running::start(folder.path(), std::slice::from_ref(&url), settings(DAY));
    running.wait_for(&url, PageState::Disallowed, false).await;
    web.put("/robots.txt", Page::text(""));
    let page = running.page(&url).0;
    let looks = || running.reader.observations_of(page, 9).unwrap().len();
    assert_eq!(running.handle.hurry(vec![page], None).await.unwrap(), Ok(vec![]));
    while looks() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((running.page(&url).1, web.log().len()), (PageState::Disallowed, 1), "it was read just now");
    running.stop().await;

    // As if it had been read ten minutes ago.
    let fetched = Clock::start().now() - Span::from_whole_secs(600);
    let robots = Some(Robots { text: NOTHING.into(), fetched, status: Some(200) });
    let name = web.url("");
    let (gap, back_off_until, wanted_gap) = (None, None, None);
    let host = HostUpdate { name, gap, back_off_until, failures: 0, robots, wanted_gap, paused: false };
    let mut store = Store::open(folder.path(), Options::default()).unwrap();
    store.commit(&Batch { hosts: vec![host], ..Batch::default() }).unwrap();
    drop(store);
    let running = Running::start(folder.path(), &[], settings(DAY));
    assert_eq!(running.handle.hurry(vec![page], None).await.unwrap(), Ok(vec![]));
    running.wait_for(&url, PageState::Active, true).await;
    running.stop().await;
}

/// Other fetchers are asked for the robots.txt again when it is too old, whether or not all pages are forbidden.
#[tokio::test(flavor = "multi_thread")]
async fn other_fetchers_read_it_again() {
    let (url, folder) = ("http://a.example/page".to_owned(), tempfile::tempdir().unwrap());
    let settings = Settings { fetches: false, ..settings(SHORT) };
    let running = Running::start(folder.path(), std::slice::from_ref(&url), settings);
    let wanted = WorkWanted {
        most: 1,
        wait: Span::from_whole_secs(60),
        lease: Span::from_whole_secs(60),
        key: None,
        knows_robots: false,
    };
    let mut rules = [NOTHING, NOTHING, ""].into_iter();
    // The page itself comes when the rules allow it.
    let page = loop {
        let grant = running.handle.next(wanted.clone()).await.unwrap();
        let (work, answered) = running.handle.resolve(grant);
        let answered = running.handle.prepare(&running.reader, answered).unwrap();
        running.handle.hand_in(answered).await.unwrap();
        let Some(Work { lease, .. }) = work.into_iter().next() else { continue };
        if !lease.is_robots {
            break lease;
        }
        // If they were too old again before the page was given they are asked for once more.
        let body = Bytes::from_static(rules.next().unwrap_or_default().as_bytes());
        let saw = Saw::Answer { status: 200, url: None, headers: HeaderMap::new(), body };
        let brought = Brought { lease, fetched_at: None, response: None, took: Span::ZERO, bytes: 0, saw };
        let brought = running.handle.prepare(&running.reader, vec![brought]).unwrap();
        assert_eq!(running.handle.hand_in(brought).await.unwrap(), [Receipt::Taken]);
    };
    assert_eq!((rules.next(), page.page), (None, running.page(&url).0));
    running.stop().await;
}
