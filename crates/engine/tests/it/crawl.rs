//! Crawls of a small web on loopback, seen from its side.

use refrain_core::time::Span;
use refrain_engine::{Follow, Settings, Until};
use refrain_fetch::client;
use refrain_store::{Outcome, PageState, Reader, verify};

use crate::web::{Page, Web, crawl, crawl_until};

fn settings(until: Until) -> Settings {
    Settings {
        rate: 200.0,
        gap: Span::from_millis(50),
        patience: 0.0,
        until,
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        ..Settings::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_becomes_pages_that_are_kept_fresh() {
    let web = Web::start().await;
    web.put("/", Page::html("<a href=/a>a</a> <a href=/b#x>b</a> <a href=/secret/c>c</a> <a href=http://other.localhost/>o</a>"));
    web.put("/a", Page::html("<p>one</p> <a href=/>home</a>"));
    web.put("/b", Page::html("<p>never changes</p>").with("ETag", "\"7\""));
    web.put("/robots.txt", Page::text("User-agent: *\nDisallow: /secret/\n"));
    let folder = tempfile::tempdir().unwrap();
    let follow = |until| Settings { follow: Some(Follow::SameHost), ..settings(until) };
    let summary = crawl(folder.path(), &[web.url("/")], follow(Until::Once)).await;
    assert_eq!((summary.first, summary.found, summary.gone, summary.failed), (3, 3, 1, 0), "{summary:?}");
    let reader = Reader::open(folder.path()).unwrap();
    let page = |path: &str| reader.page(&web.url(path)).unwrap().unwrap();
    assert_eq!(page("/secret/c").state, PageState::Disallowed);
    let body = reader.answer(reader.versions_of(page("/a").id).unwrap()[0].id).unwrap().unwrap();
    assert_eq!(body.body, b"<p>one</p> <a href=/>home</a>");

    // Started again it goes on, learns that /a changed, and asks for /b with what it knows.
    web.put("/a", Page::html("<p>two</p> <a href=/>home</a>"));
    let before = web.log().len();
    let enough = || {
        let (log, asked) = (web.log(), |path: &str| web.asked(path));
        log.len() > before + 20
            && asked("/a") > 1
            && log.iter().any(|hit| hit.path == "/b" && hit.status == 304)
    };
    let summary = crawl_until(folder.path(), &[], follow(Until::Stopped), enough).await;
    assert_eq!((summary.first, summary.changed, summary.failed), (0, 1, 0), "{summary:?}");
    assert!(summary.unchanged > 5);
    assert!(web.log().iter().any(|hit| hit.path == "/b" && hit.status == 304));
    assert!(!web.log().iter().any(|hit| hit.path.starts_with("/secret")));
    // robots.txt was asked for once: it holds for a day.
    assert_eq!(web.log().iter().filter(|hit| hit.path == "/robots.txt").count(), 1);
    let changes =
        reader.changes_since(refrain_store::Seq(0), 100, refrain_store::Roles::ALL).unwrap().changes;
    assert_eq!(changes.iter().filter(|change| change.old.is_some()).count(), 1);
    let history = page("/a").history.unwrap();
    assert!(refrain_core::frontier::AttentivePast::from_bytes(&history).unwrap().history().seen() > 0);
    let report = verify(folder.path(), |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    // Two requests are never closer than the gap, not even across a restart.
    web.assert_polite(Span::from_millis(50));
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_misbehave() {
    let web = Web::start().await;
    web.put("/loop", Page::redirect("/loop"));
    web.put("/moved", Page::redirect("/here"));
    web.put("/here", Page::html("<p>here</p>"));
    web.put("/busy", Page::status(503).with("Retry-After", "1"));
    web.put("/broken", Page::status(500));
    web.put("/nowhere", Page::status(302));
    let urls: Vec<String> = ["/loop", "/moved", "/gone", "/busy", "/broken", "/nowhere"]
        .iter()
        .map(|path| web.url(path))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let summary = crawl(folder.path(), &urls, settings(Until::Once)).await;
    assert_eq!((summary.first, summary.gone, summary.looks), (1, 1, 6), "{summary:?}");
    let reader = Reader::open(folder.path()).unwrap();
    let page = |path: &str| reader.page(&web.url(path)).unwrap().unwrap();
    assert_eq!(page("/moved").redirect, Some(web.url("/here")));
    assert_eq!(page("/gone").state, PageState::Gone);
    let outcome = |path: &str| reader.observations_of(page(path).id, 1).unwrap()[0].outcome;
    assert_eq!(outcome("/busy"), Outcome::SlowDown);
    for path in ["/loop", "/broken", "/nowhere"] {
        assert_eq!(outcome(path), Outcome::Failed, "{path}");
    }
    let log = web.log();
    // After "come back in a second" nobody came before.
    let busy = log.iter().position(|hit| hit.path == "/busy").unwrap();
    if let Some(next) = log.get(busy + 1) {
        assert!(next.time.since(log[busy].time) >= Span::from_millis(990));
    }
    web.assert_polite(Span::from_millis(50));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_no_rules_is_left_alone() {
    let web = Web::start().await;
    web.put("/robots.txt", Page::status(500));
    web.put("/a", Page::html("<p>a</p>"));
    let folder = tempfile::tempdir().unwrap();
    crawl_until(folder.path(), &[web.url("/a")], settings(Until::Stopped), || web.asked("/robots.txt") > 0)
        .await;
    assert_eq!(web.log().iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["/robots.txt"]);
    // Not even after a restart.
    crawl(folder.path(), &[], settings(Until::After(Span::from_millis(300)))).await;
    assert_eq!(web.log().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_not_visited_unless_allowed() {
    let web = Web::start().await;
    web.put("/", Page::html("<p>internal</p>"));
    let folder = tempfile::tempdir().unwrap();
    let careful =
        Settings { client: client::Settings::default(), ..settings(Until::After(Span::from_millis(500))) };
    let summary = crawl(folder.path(), &[web.url("/")], careful).await;
    assert_eq!((summary.first, web.log().len()), (0, 0));
}

/// A host that asks for an hour between requests gets it, and keeps nobody else from being visited.
#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_hours_holds_up_nobody() {
    let (slow, quick) = (Web::start().await, Web::start().await);
    slow.put("/robots.txt", Page::text("User-agent: *\nCrawl-delay: 3600\n"));
    slow.put("/a", Page::html("<p>a</p>"));
    quick.put("/a", Page::html("<p>a</p>"));
    let folder = tempfile::tempdir().unwrap();
    let one_at_a_time = Settings { parallel: 1, ..settings(Until::Stopped) };
    let both = || slow.asked("/robots.txt") > 0 && quick.asked("/a") > 0;
    let summary = crawl_until(folder.path(), &[slow.url("/a"), quick.url("/a")], one_at_a_time, both).await;
    assert_eq!((summary.first, summary.failed), (1, 0), "{summary:?}");
    assert_eq!(slow.log().iter().map(|hit| hit.path.as_str()).collect::<Vec<_>>(), ["/robots.txt"]);
}

/// Whoever wants one look at each page does not wait for hours, and what failed or is gone is left alone across a restart.
#[tokio::test(flavor = "multi_thread")]
async fn who_is_to_be_left_alone_is_left_alone() {
    let web = Web::start().await;
    web.put("/gone", Page::status(404));
    web.put("/broken", Page::status(500));
    web.put("/fine", Page::html("<p>fine</p>"));
    let folder = tempfile::tempdir().unwrap();
    let urls = ["/gone", "/broken", "/fine"].map(|path| web.url(path));
    let summary = crawl(folder.path(), &urls, settings(Until::Once)).await;
    assert_eq!((summary.first, summary.gone, summary.failed), (1, 1, 1), "{summary:?}");
    let summary = crawl_until(folder.path(), &[], settings(Until::Stopped), || web.asked("/fine") > 5).await;
    assert_eq!((web.asked("/gone"), web.asked("/broken"), summary.pages), (1, 1, 3));

    let busy = Web::start().await;
    for path in ["/a", "/b"] {
        busy.put(path, Page::status(429).with("Retry-After", "3600"));
    }
    let folder = tempfile::tempdir().unwrap();
    let summary = crawl(folder.path(), &[busy.url("/a"), busy.url("/b")], settings(Until::Once)).await;
    assert_eq!((summary.looks, summary.failed, summary.pages), (1, 1, 1), "{summary:?}");
}

/// Who decides later to follow links reads pages again that did not change.
#[tokio::test(flavor = "multi_thread")]
async fn links_can_be_followed_later() {
    let web = Web::start().await;
    web.put("/", Page::html("<a href=/a>a</a> <a href=/b>b</a>").with("ETag", "\"7\""));
    web.put("/a", Page::html("<p>a</p>"));
    let folder = tempfile::tempdir().unwrap();
    let summary = crawl(folder.path(), &[web.url("/")], settings(Until::Once)).await;
    assert_eq!((summary.first, summary.found), (1, 0), "{summary:?}");
    let follow = |until| Settings { follow: Some(Follow::SameHost), ..settings(until) };
    // From then on it is asked whether it changed, as before.
    let is_asked = || web.log().iter().any(|hit| hit.path == "/" && hit.status == 304);
    let all = || is_asked() && web.asked("/a") > 0 && web.asked("/b") > 0;
    let summary = crawl_until(folder.path(), &[], follow(Until::Stopped), all).await;
    assert_eq!((summary.first, summary.found), (1, 2), "{summary:?}");
}
