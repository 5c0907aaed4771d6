//! Announcements, however they come, are taken up a part at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use refrain_store::{Batch, NewPage, Options, Origin, PageId, Reader, Role, Store};
use tokio::sync::{Notify, oneshot, watch};

use super::Crawl;
use super::clocks::{begin, ok, serve, settings};
use crate::crawl::digest::IN_A_TURN;
use crate::handle::{Ask, Brought, Receipt, Saw, WorkWanted};
use crate::kinds::Kind;
use crate::seeds::new_page;
use crate::sources::{self, Known, LONGEST_ANNOUNCEMENT};
use crate::visit::ANNOUNCING;
use crate::{Clock, Follow, Settings, Until};

fn url(host: usize, path: &str) -> PageUrl {
    PageUrl::parse(&format!("http://h{host}.example/{path}")).unwrap()
}

fn sitemap(host: usize, entries: usize) -> String {
    let entries =
        (0..entries).map(|entry| format!("<url><loc>{}</loc></url>", url(host, &entry.to_string())));
    format!("<urlset>{}</urlset>", entries.collect::<String>())
}

/// A crawl that fetches nothing, of hosts each of which has a page that was fetched just now, and a sitemap.
fn crawl(hosts: usize) -> (tempfile::TempDir, Crawl, Vec<PageId>) {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::start());
    let mut store = Store::open(folder.path(), Options::default()).unwrap();
    let page = |url: PageUrl, role| {
        let origin = Origin { role, ..Origin::default() };
        NewPage { origin, ..new_page(&url, 0.0, None, clock.now(), "seed").unwrap() }
    };
    let sitemaps = (0..hosts).map(|host| page(url(host, "sitemap.xml"), Role::Sitemap));
    let pages = sitemaps.chain((0..hosts).map(|host| page(url(host, ""), Role::Page))).collect();
    let done = store.commit(&Batch { pages, ..Batch::default() }).unwrap();
    let sitemaps = done.pages.iter().take(hosts).map(|added| added.unwrap().page).collect();
    let settings = Settings {
        fetches: false,
        rate: 1e6,
        burst: Span::from_whole_secs(1),
        gap: Span::ZERO,
        per_host: 10,
        follow: Some(Follow::SameHost),
        ..Settings::default()
    };
    let crawl = Crawl::new(store, folder.path(), settings, clock, None).unwrap();
    (folder, crawl, sitemaps)
}

/// What waits is written.
pub(super) async fn write(crawl: &mut Crawl) {
    loop {
        crawl.flush(Time::MAX);
        if crawl.journal.is_empty() {
            break;
        }
        let written = crawl.recorder.written().await.unwrap();
        crawl.committed(crawl.clock.now(), written).unwrap();
    }
}

/// While sitemaps wait for their turns, pages are read.
#[tokio::test]
async fn pages_do_not_wait_for_sitemaps() {
    let (again, new) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (looks, tell_again, tell_new) = (AtomicU32::new(0), Arc::clone(&again), Arc::clone(&new));
    let pages = serve(move |path| {
        let look = if path == "/" { looks.fetch_add(1, Ordering::Relaxed) } else { 0 };
        // It is looked at again once it was read.
        if look > 0 {
            tell_again.notify_one();
        }
        let body = format!("<p>{look}</p>{}", "<p>more than is read at once</p>".repeat(1000));
        std::future::ready(ok("text/html", &body))
    })
    .await;
    let sitemaps = serve(move |path| {
        if path == "/new" {
            tell_new.notify_one();
        }
        std::future::ready(match path.as_str() {
            "/robots.txt" => ok("text/plain", "Sitemap: /sitemap.xml"),
            "/sitemap.xml" => ok("application/xml", "<urlset><url><loc>/new</loc></url></urlset>"),
            _ => ok("text/html", "<p>a page</p>"),
        })
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let urls = [format!("{pages}/"), format!("{sitemaps}/")];
    let crawl = begin(folder.path(), Clock::start(), settings(Until::Stopped), &urls);
    let announcing = Arc::clone(&crawl.kit.announcing);
    let turns = announcing.acquire_many_owned(ANNOUNCING as u32).await.unwrap();
    let (stop, stopped) = watch::channel(false);
    let running = tokio::spawn(crawl.run(stopped));
    again.notified().await;
    drop(turns);
    new.notified().await;
    stop.send_replace(true);
    running.await.unwrap().unwrap();
}

/// One turn of the loop, which takes up no more than it may.
fn turn(crawl: &mut Crawl) {
    let before = crawl.scheduler.pages.index.len();
    crawl.digest(crawl.clock.now()).unwrap();
    assert!(crawl.scheduler.pages.index.len() - before <= IN_A_TURN as u64);
}

#[tokio::test]
async fn what_hubs_distribute() {
    let (_folder, mut crawl, sitemaps) = crawl(1);
    let now = crawl.wake();
    let known = Known {
        index: &crawl.kit.index,
        follow: crawl.settings.follow.as_ref(),
        now,
        most: LONGEST_ANNOUNCEMENT,
    };
    let page = url(0, "sitemap.xml");
    let announced = sources::read(Kind::Sitemap, sitemap(0, 5000).as_bytes(), None, &page, known);
    turn(&mut crawl);
    let (reply, mut answer) = oneshot::channel();
    let ask =
        Ask::Distributed { page: sitemaps[0], url: page, announced: Box::new(announced), once: None, reply };
    crawl.asked(now, ask).unwrap();
    assert_eq!(crawl.scheduler.pages.index.len(), 2, "nothing of it fits into what is left of the turn");
    turn(&mut crawl);
    write(&mut crawl).await;
    assert!(answer.try_recv().is_err(), "it is answered once all of it is on the disk");
    turn(&mut crawl);
    turn(&mut crawl);
    write(&mut crawl).await;
    assert_eq!((answer.try_recv(), crawl.scheduler.pages.index.len()), (Ok(Ok(5000)), 5002));
}

#[tokio::test]
async fn results_of_other_fetchers() {
    const HOSTS: usize = 3;
    let (folder, mut crawl, _) = crawl(HOSTS);
    let now = crawl.wake();
    let (reply, grant) = oneshot::channel();
    let span = Span::from_whole_secs(60);
    let wanted = WorkWanted { most: 2 * HOSTS, wait: span, lease: span, key: None, knows_robots: true };
    crawl.seek(now, wanted, reply);
    crawl.serve_fetchers(now).unwrap();
    write(&mut crawl).await;
    let handle = crawl.handle();
    let (work, _) = handle.resolve(grant.await.unwrap());
    let brought = work.iter().filter(|work| work.role == Role::Sitemap).map(|work| {
        let host = (0..HOSTS).find(|host| work.url == url(*host, "sitemap.xml").as_str()).unwrap();
        let (headers, body) = (http::HeaderMap::new(), sitemap(host, 9000).into());
        let saw = Saw::Answer { status: 200, url: None, headers, body };
        Brought { lease: work.lease, fetched_at: None, response: None, took: Span::ZERO, bytes: 0, saw }
    });
    let reader = Reader::open(folder.path()).unwrap();
    let results = handle.prepare(&reader, brought.collect()).unwrap();
    let receipts = tokio::spawn(async move { handle.hand_in(results).await });
    let event = crawl.events.recv().await.unwrap();
    crawl.happen(event).unwrap();
    assert_eq!(crawl.scheduler.pages.index.len(), 2 * HOSTS as u64);
    assert_eq!(crawl.digest.looks(), HOSTS);
    while !crawl.journal.is_full() {
        turn(&mut crawl);
    }
    let full = crawl.scheduler.pages.index.len();
    turn(&mut crawl);
    assert_eq!(crawl.scheduler.pages.index.len(), full, "the store goes first");
    assert!(crawl.digest.looks() > 0);
    write(&mut crawl).await;
    assert!(!receipts.is_finished(), "they are answered once all of them are on the disk");
    while crawl.digest.looks() > 0 {
        turn(&mut crawl);
    }
    write(&mut crawl).await;
    assert_eq!(receipts.await.unwrap().unwrap(), vec![Receipt::Taken; HOSTS]);
    assert_eq!(crawl.scheduler.pages.index.len() as usize, HOSTS * 9002);
}
