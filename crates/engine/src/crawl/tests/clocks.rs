//! A machine that is suspended, and clocks that are wrong.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use refrain_core::queues::Wanted;
use refrain_core::time::{Span, Time};
use refrain_fetch::client;
use refrain_fetch::url::PageUrl;
use refrain_store::{Options, Reader, Store};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot, watch};

use super::Crawl;
use super::again::open;
use super::parts::write;
use crate::handle::{LONGEST_LEASE, WorkWanted};
use crate::kinds::Kind;
use crate::queues::{Put, Queues};
use crate::seeds::{Seed, add_seeds};
use crate::visit::Seen;
use crate::{Clock, Follow, Settings, Until};

const HOUR: Span = Span::from_whole_secs(3600);
const DAY: Span = Span::from_whole_secs(86_400);
const YEAR_2100: Time = Time::from_nanos(4_102_444_800_000_000_000);

pub(super) fn settings(until: Until) -> Settings {
    Settings {
        until,
        rate: 1e6,
        burst: Span::from_whole_secs(1),
        gap: Span::ZERO,
        patience: 0.0,
        follow: Some(Follow::SameHost),
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        ..Settings::default()
    }
}

pub(super) fn begin(folder: &std::path::Path, clock: Clock, settings: Settings, urls: &[String]) -> Crawl {
    let mut store = Store::open(folder, Options::default()).unwrap();
    let seed = |url: &String| Seed { url: PageUrl::parse(url).unwrap(), importance: None, max_age: None };
    add_seeds(&mut store, &urls.iter().map(seed).collect::<Vec<_>>(), clock.now()).unwrap();
    Crawl::new(store, folder, settings, clock, None).unwrap()
}

/// A server that answers each path with what `answer` says, and then closes the connection.
pub(super) async fn serve<F: Future<Output = String> + Send>(
    answer: impl Fn(String) -> F + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let mut head = vec![0; 8192];
                let count = stream.read(&mut head).await.unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..count]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
                let said = answer(path).await;
                let _ = stream.write_all(said.as_bytes()).await;
            });
        }
    });
    origin
}

pub(super) fn ok(kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn status(status: u16) -> String {
    format!("HTTP/1.1 {status} Said\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
}

/// The machine is suspended while an answer is under way, and its server has given up when it runs again.
#[tokio::test]
async fn a_fetch_that_a_suspension_fell_into_is_made_again() {
    let (asked, resumed, times) =
        (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicU32::new(0)));
    let (tell, wait, count) = (Arc::clone(&asked), Arc::clone(&resumed), Arc::clone(&times));
    let origin = serve(move |path| {
        let (tell, wait, count) = (Arc::clone(&tell), Arc::clone(&wait), Arc::clone(&count));
        async move {
            if path != "/" {
                return status(404);
            }
            if count.fetch_add(1, Ordering::Relaxed) > 0 {
                return ok("text/html", "<p>a page</p>");
            }
            tell.notify_one();
            wait.notified().await;
            ok("text/html", "<p>a page</p>").replace("Content-Length: 13", "Content-Length: 1300")
        }
    })
    .await;
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
    let url = format!("{origin}/");
    let crawl = begin(folder.path(), clock, settings(Until::Once), std::slice::from_ref(&url));
    let (start, (_stop, stopped)) = (clock.now(), watch::channel(false));
    let running = tokio::spawn(crawl.run(stopped));
    asked.notified().await;
    clock.suspend(HOUR);
    resumed.notify_one();
    let summary = running.await.unwrap().unwrap();
    assert_eq!((summary.looks, times.load(Ordering::Relaxed)), (1, 2), "{summary:?}");
    let reader = Reader::open(folder.path()).unwrap();
    let page = reader.page(&url).unwrap().unwrap();
    assert!(
        page.failures == 0 && page.fetched.is_some_and(|fetched| fetched.since(start) >= HOUR),
        "{page:?}"
    );
    assert_eq!(reader.host(&origin).unwrap().unwrap().back_off_until, None);
}

/// A host that wants to be left alone for an hour is, though the system's clock is set forwards by more; time in which the machine was suspended counts.
#[tokio::test]
async fn a_clock_that_is_set_ends_no_back_off() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
    let url = "http://192.0.2.1/".to_owned();
    let mut crawl = begin(folder.path(), clock, settings(Until::Stopped), &[url]);
    let now = crawl.wake();
    let seen = Seen::SlowDown(Some(HOUR));
    crawl.judge_host(now, now, "http://192.0.2.1", &seen).unwrap();
    clock.set_forwards(HOUR + HOUR);
    let now = crawl.wake();
    assert!(crawl.poll(now).unwrap().is_none());
    clock.suspend(HOUR + HOUR);
    let now = crawl.wake();
    assert!(crawl.poll(now).unwrap().is_some());
}

/// The times of fetches, of robots.txt and of what was announced.
#[tokio::test]
async fn times_of_a_clock_that_was_ahead_silence_nothing() {
    let origin = serve(|path| async move {
        match path.as_str() {
            "/robots.txt" => ok("text/plain", "Sitemap: /sitemap.xml"),
            "/" => ok("text/html", "<p>a page</p>"),
            "/sitemap.xml" => {
                let entry = "<url><loc>/</loc><lastmod>2100-01-01T00:00:00Z</lastmod></url>";
                ok("application/xml", &format!("<urlset>{entry}</urlset>"))
            }
            _ => status(500),
        }
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let urls = ["/", "/broken"].map(|path| format!("{origin}{path}"));
    let crawl = begin(folder.path(), Clock::start().set_to(YEAR_2100 + HOUR), settings(Until::Once), &urls);
    let (_stop, stopped) = watch::channel(false);
    crawl.run(stopped).await.unwrap();

    let clock = Clock::start();
    let crawl = begin(folder.path(), clock, settings(Until::Stopped), &urls);
    let (now, reader) = (clock.now(), Reader::open(folder.path()).unwrap());
    let [fine, broken] = urls.map(|url| reader.page(&url).unwrap().unwrap());
    let host = crawl.scheduler.hosts.get(&origin).unwrap();
    let stored = reader.host(&origin).unwrap().unwrap();
    assert!(stored.robots.is_some_and(|robots| robots.fetched > now + DAY));
    assert!(!host.rules.as_ref().unwrap().hold(now, crawl.settings.robots_for), "robots.txt is read again");
    assert!(fine.fetched.unwrap() > now + DAY);
    let (_, since) =
        crawl.scheduler.frontier.page(crawl.scheduler.pages.scheduled(fine.id).unwrap()).unwrap();
    let age = since.elapsed(now);
    assert!(age >= DAY && age < DAY + HOUR, "a copy of unknown age: {age:?}");
    assert!(broken.failures > 0 && broken.looked.unwrap() > now + DAY);
    assert!(crawl.scheduler.next_later() <= clock.now() + Span::from_whole_secs(60));
    let mut said = None;
    reader
        .announced(|page, _, when| {
            said = Some((page, when));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    let (page, when) = said.expect("a sitemap has said when the page changed");
    assert!(when > now + DAY && page == fine.id);
    assert!(crawl.kit.index.said(page, Kind::Sitemap).unwrap() <= now);
}

#[tokio::test]
async fn a_lease_that_was_given_by_a_clock_that_was_ahead_ends() {
    let (folder, url) = (tempfile::tempdir().unwrap(), "http://192.0.2.1/".to_owned());
    let lends = Settings { fetches: false, ..settings(Until::Stopped) };
    let mut crawl = begin(folder.path(), Clock::start().set_to(YEAR_2100), lends, &[url]);
    let (now, (reply, grant)) = (crawl.wake(), oneshot::channel());
    let wanted =
        WorkWanted { most: 1, wait: Span::ZERO, lease: LONGEST_LEASE, key: None, knows_robots: true };
    crawl.seek(now, wanted, reply);
    crawl.serve_fetchers(now).unwrap();
    write(&mut crawl).await;
    assert!(grant.await.unwrap().until >= YEAR_2100 + LONGEST_LEASE);
    drop(crawl);
    let mut crawl = open(folder.path());
    let now = crawl.wake();
    crawl.serve_fetchers(now).unwrap();
    assert_eq!((crawl.external.under_way(), crawl.summary.given_up), (1, 0), "a fetcher may still be at it");
    crawl.serve_fetchers(now + LONGEST_LEASE + HOUR).unwrap();
    assert_eq!((crawl.external.under_way(), crawl.summary.given_up), (0, 1));
}

/// A crawl, with queues of crawlers that fetch by themselves, until it is stopped.
fn with_queues(folder: &std::path::Path, clock: Clock) -> (Queues, impl Future<Output = ()>) {
    let lends = Settings { fetches: false, ..settings(Until::Stopped) };
    let mut crawl = begin(folder, clock, lends, &[]);
    let (queues, (stop, stopped)) = (crawl.queues().unwrap(), watch::channel(false));
    let running = tokio::spawn(crawl.run(stopped));
    let end = async move {
        stop.send_replace(true);
        running.await.unwrap().unwrap();
    };
    (queues, end)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_queue_lent_by_a_clock_that_was_ahead_is_lent_again_after_a_week() {
    let folder = tempfile::tempdir().unwrap();
    let (crawl, key, url) = ("a".to_owned(), "k".to_owned(), "1".to_owned());
    let lease = Span::from_whole_secs(60);
    let wanted = || Wanted { crawl: Some("a".to_owned()), key: None, queues: 1, each: 1, most: 1, lease };
    let (queues, end) = with_queues(folder.path(), Clock::start().set_to(YEAR_2100));
    let metadata = [&[0x1a, url.len() as u8], url.as_bytes()].concat();
    let said = crate::queues::Said::Discovered;
    let put = Put { crawl, key, url, metadata, created: None, said, schedule: None, seen: None };
    queues.put(vec![put], true).await.unwrap();
    assert_eq!(queues.take(wanted()).await.unwrap().queues.len(), 1);
    end.await;
    let clock = Clock::start();
    let (queues, end) = with_queues(folder.path(), clock);
    assert_eq!(queues.take(wanted()).await.unwrap().queues.len(), 0, "somebody has it");
    clock.suspend(Span::from_whole_secs(8 * 86_400));
    // The crawl notices within a second.
    while queues.take(wanted()).await.unwrap().queues.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    end.await;
}
