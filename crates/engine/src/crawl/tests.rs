//! What ends a crawl before it is over; `clocks`: a machine that is suspended, and clocks that are wrong; `parts`: announcements that are taken up a part at a
//! time; `held`: verdicts that wait; `again`: what another process knows again.

mod again;
mod clocks;
mod held;
mod parts;

use refrain_core::time::Span;
use refrain_fetch::url::PageUrl;
use refrain_store::{Address, Batch, NewPage, Options, Origin, Reader, Store};
use tokio::sync::watch;

use super::Crawl;
use crate::recorder::Task;
use crate::{Clock, CrawlError, Seed, Settings, Until};

/// A crawl that fetches nothing, in a new directory.
fn crawl(until: Until) -> (tempfile::TempDir, Crawl) {
    let folder = tempfile::tempdir().unwrap();
    let settings =
        Settings { until, fetches: false, commit_within: Span::from_millis(20), ..Settings::default() };
    let store = Store::open(folder.path(), Options::default()).unwrap();
    let crawl = Crawl::new(store, folder.path(), settings, Clock::start(), None).unwrap();
    (folder, crawl)
}

/// Runs a crawl that nobody stops.
async fn ended(crawl: Crawl) -> CrawlError {
    let (_stop, stopped) = watch::channel(false);
    crawl.run(stopped).await.unwrap_err()
}

#[tokio::test]
async fn a_task_that_panics_ends_the_crawl_once_what_came_before_is_on_the_disk() {
    for (until, is_visit) in [(Until::Stopped, true), (Until::Once, true), (Until::Stopped, false)] {
        let (folder, mut crawl) = crawl(until);
        let handle = crawl.handle();
        let seed =
            Seed { url: PageUrl::parse("http://a.example/").unwrap(), importance: None, max_age: None };
        let added = tokio::spawn(async move { handle.add(vec![seed], "api").await });
        tokio::task::yield_now().await;
        let visit = is_visit.then(|| crawl.visits.begin("http://b.example/", crawl.clock.now()));
        crawl.locating += usize::from(!is_visit);
        crawl.spawn("the work on b".to_owned(), visit, async { panic!("on purpose") });
        let why = ended(crawl).await.to_string();
        assert!(why.starts_with("the work on b ended by a panic"), "{why}");
        assert!(added.await.unwrap().unwrap()[0].unwrap().new);
        let reader = Reader::open(folder.path()).unwrap();
        assert!(reader.page("http://a.example/").unwrap().is_some());
        assert!(!crate::Standing::read(&reader).unwrap().unwrap().ended, "it did not end properly");
    }
}

#[tokio::test]
async fn a_store_that_panics_ends_the_crawl() {
    let (_folder, crawl) = crawl(Until::Stopped);
    let fails = Task::Queues(Vec::new(), Box::new(|_| panic!("on purpose")));
    crawl.recorder.tasks().send(fails).unwrap();
    let why = ended(crawl).await.to_string();
    assert!(why.starts_with("the thread that writes to the store ended by a panic"), "{why}");
}

#[tokio::test]
async fn a_page_whose_address_cannot_be_asked_for_does_not_end_the_crawl() {
    let (folder, crawl) = crawl(Until::Once);
    drop(crawl);
    let clock = Clock::start();
    let mut store = Store::open(folder.path(), Options::default()).unwrap();
    let page = |number: usize| NewPage {
        // An earlier version may have kept it.
        url: Address::new(format!("gopher://old.example/{number}")).unwrap(),
        host: "gopher://old.example".to_owned(),
        importance: 1.0,
        max_age: None,
        added: clock.now(),
        found: "seed",
        origin: Origin::default(),
    };
    store.commit(&Batch { pages: (0..20).map(page).collect(), ..Batch::default() }).unwrap();
    let settings = Settings {
        until: Until::Once,
        rate: 1e6,
        burst: Span::from_whole_secs(1),
        gap: Span::ZERO,
        per_host: 100,
        parallel: 100,
        ..Settings::default()
    };
    let crawl = Crawl::new(store, folder.path(), settings, clock, None).unwrap();
    let (_stop, stopped) = watch::channel(false);
    let summary = crawl.run(stopped).await.unwrap();
    assert_eq!((summary.looks, summary.pages), (0, 0));
    let reader = Reader::open(folder.path()).unwrap();
    assert!(reader.leases().unwrap().is_empty());
}
