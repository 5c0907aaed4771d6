//! WebSub hubs that visits find.
#![allow(dead_code, reason = "the small web has more than is needed here")]

use refrain_core::time::Span;
use refrain_engine::{Clock, Crawl, Seed, Settings, Told, add_seeds};
use refrain_fetch::client;
use refrain_fetch::url::PageUrl;
use refrain_store::{Options, Reader, Store};

use crate::web::{PATIENCE, Page, Web};

/// Hubs are named by pages in their heads and in HTML, by feeds in their heads and inside; each is told once, however often it is seen.
#[tokio::test(flavor = "multi_thread")]
async fn hubs_are_told_of_once() {
    let web = Web::start().await;
    let home = "<link rel=hub href=http://hub.example/page><link rel=self href=http://elsewhere.example/>\
                <link rel=alternate type=application/rss+xml href=/feed><p>home</p>";
    web.put("/", Page::html(home));
    let feed = "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>n</title>\
                <atom:link rel='hub' href='http://hub.example/inside'/><atom:link rel='self' href='/inside'/>\
                <item><link>/</link></item></channel></rss>";
    let links = "<http://hub.example/head>; rel=hub, </topic>; rel=self";
    web.put("/feed", Page::xml(feed).with("link", links));
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        rate: 100.0,
        gap: Span::from_millis(5),
        patience: 0.0,
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        ..Settings::default()
    };
    let clock = Clock::start();
    let mut store = Store::open(folder.path(), Options::default()).unwrap();
    let seeds = [Seed { url: PageUrl::parse(&web.url("/")).unwrap(), importance: None, max_age: None }];
    add_seeds(&mut store, &seeds, clock.now()).unwrap();
    let (told, mut hears) = refrain_engine::channel();
    let crawl = Crawl::new(store, folder.path(), settings, clock, Some(told)).unwrap();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(crawl.run(stopped));
    let several_times = async {
        while web.asked("/") < 4 || web.asked("/feed") < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, several_times).await.expect("both are seen more than once");
    stop.send_replace(true);
    running.await.unwrap().unwrap();
    let reader = Reader::open(folder.path()).unwrap();
    let id = |path: &str| reader.page(&web.url(path)).unwrap().unwrap().id;
    let mut hubs = Vec::new();
    while let Ok(told) = hears.try_recv() {
        if let Told::Hub { page, topic, hub } = told {
            hubs.push((page, topic, hub));
        }
    }
    hubs.sort_by_key(|(page, _, hub)| (*page, hub.clone()));
    let expected = [
        // A page is not what somebody else's address says.
        (id("/"), web.url("/"), "http://hub.example/page".to_owned()),
        // What the head says goes first.
        (id("/feed"), web.url("/topic"), "http://hub.example/head".to_owned()),
        (id("/feed"), web.url("/topic"), "http://hub.example/inside".to_owned()),
    ];
    assert_eq!(hubs, expected);
}
