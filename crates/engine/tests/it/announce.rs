//! What sites announce, and what a crawl makes of it.

use std::fmt::Write as _;
use std::path::Path;

use refrain_core::time::Span;
use refrain_engine::{Clock, Decision, Follow, Kind, News, Settings, Summary};
use refrain_fetch::client;
use refrain_store::{Outcome, PageId, Reader, Role, verify};

use crate::web::{Page, Web, crawl_logged, crawl_until};

fn settings() -> Settings {
    Settings {
        rate: 100.0,
        gap: Span::from_millis(5),
        patience: 0.0,
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        ..Settings::default()
    }
}

/// A moment as sitemaps write it, so many seconds from now.
fn date(from_now: i64) -> String {
    let now = Clock::start().now().as_nanos() / 1_000_000_000 + from_now;
    let now = std::time::UNIX_EPOCH + std::time::Duration::from_secs(u64::try_from(now).unwrap());
    // `Sun, 06 Nov 1994 08:49:37 GMT`, which is read as well.
    httpdate::fmt_http_date(now)
}

fn sitemap(web: &Web, entries: &[(&str, &str)]) -> Page {
    let mut xml = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>".to_owned();
    for (path, date) in entries {
        write!(xml, "<url><loc>{}</loc><lastmod>{date}</lastmod></url>", web.url(path)).unwrap();
    }
    Page::xml(&(xml + "</urlset>"))
}

fn assert_sound(directory: &Path) {
    let report = verify(directory, |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

/// All that was done was told: the start, every look, the one signal, and before each look at the page that it was wanted.
fn assert_told(summary: &Summary, decided: &[Decision], page: PageId) {
    assert!(matches!(decided[0], Decision::Begins { budget, .. } if budget.rate() == 100.0), "{decided:?}");
    let looks = decided.iter().filter(|decision| matches!(decision, Decision::Looked { .. })).count() as u64;
    assert_eq!(looks, summary.looks);
    let heard: Vec<_> =
        decided.iter().filter(|decision| matches!(decision, Decision::Heard { .. })).collect();
    assert!(
        matches!(heard[..], [Decision::Heard { page: of, kind: Kind::Sitemap, .. }] if *of == page),
        "{heard:?}"
    );
    let place = |what: &dyn Fn(&Decision) -> bool| decided.iter().position(what).expect("it was told");
    let ordered = place(&|decision| {
        matches!(decision, Decision::Ordered { page: of, first: false, importance, value, .. }
            if *of == page && *importance == 1.0 && *value > 0.0)
    });
    let changed = place(
        &|decision| matches!(decision, Decision::Looked { page: of, outcome: Outcome::Changed, elapsed: Some(_), .. } if *of == page),
    );
    assert!(ordered < changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sitemap_tells_of_changes() {
    let web = Web::start().await;
    let old = date(-86_400);
    web.put("/robots.txt", Page::text(&format!("Sitemap: {}\n", web.url("/map.xml"))));
    for path in ["/a", "/b"] {
        web.put(path, Page::html("<p>one</p>"));
    }
    web.put("/map.xml", sitemap(&web, &[("/a", &old), ("/b", &old), ("/unknown", &old)]));
    let folder = tempfile::tempdir().unwrap();
    let all = || ["/a", "/b", "/map.xml"].iter().all(|path| web.asked(path) > 1);
    let summary = crawl_until(folder.path(), &[web.url("/a"), web.url("/b")], settings(), all).await;
    assert_eq!((summary.first, summary.signals, summary.found), (2, 0, 0), "{summary:?}");
    let reader = Reader::open(folder.path()).unwrap();
    let map = reader.page(&web.url("/map.xml")).unwrap().unwrap();
    assert_eq!((map.origin.role, map.importance, map.found.as_str()), (Role::Sitemap, 0.0, "robots"));
    assert!(reader.page(&web.url("/unknown")).unwrap().is_none(), "links are not followed");
    assert_eq!(reader.hubs().unwrap().len(), 1);

    web.put("/a", Page::html("<p>two</p>"));
    web.put("/map.xml", sitemap(&web, &[("/a", &date(0)), ("/b", &old)]));
    let page = reader.page(&web.url("/a")).unwrap().unwrap().id;
    let came_true =
        || reader.signals_of(page, 9).unwrap().first().is_some_and(|signal| signal.came_true.is_some());
    let (summary, decided) = crawl_logged(folder.path(), &[], settings(), came_true).await;
    assert!(summary.signals == 1 && summary.changed >= 1, "{summary:?}");
    assert_told(&summary, &decided, page);
    let signals = reader.signals_of(page, 9).unwrap();
    assert_eq!(signals.len(), 1);
    assert!(signals[0].kind == "sitemap" && signals[0].said.is_some() && signals[0].worth.is_some());
    assert!(signals[0].came_true.is_some(), "the page was looked at afterwards");
    // What was said is known: the same sitemap is no news after a restart.
    let before = web.asked("/map.xml");
    let summary = crawl_until(folder.path(), &[], settings(), || web.asked("/map.xml") > before + 1).await;
    assert_eq!(summary.signals, 0, "{summary:?}");
    let voices = reader.voices().unwrap();
    assert!(voices.iter().any(|voice| voice.kind == "sitemap" && voice.intervals > 0.0), "{voices:?}");
    assert_sound(folder.path());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_always_says_now_is_not_heard_for_long() {
    let web = Web::start().await;
    web.put("/robots.txt", Page::text(&format!("Sitemap: {}\n", web.url("/map.xml"))));
    let paths: Vec<String> = (0..20).map(|number| format!("/page{number}")).collect();
    for path in &paths {
        web.put(path, Page::html("<p>never changes</p>"));
    }
    let folder = tempfile::tempdir().unwrap();
    let urls: Vec<String> = paths.iter().map(|path| web.url(path)).collect();
    for round in 0..12 {
        let said = date(round - 40);
        let entries: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), said.as_str())).collect();
        web.put("/map.xml", sitemap(&web, &entries));
        // Signals that are older than the copies would be none: every round is a little in the future of the copy.
        let entries: Vec<(&str, String)> =
            paths.iter().map(|path| (path.as_str(), date(2 + round))).collect();
        let entries: Vec<(&str, &str)> = entries.iter().map(|(path, date)| (*path, date.as_str())).collect();
        web.put("/map.xml", sitemap(&web, &entries));
        let (map, all) = (web.asked("/map.xml"), web.log().len());
        let enough = || web.asked("/map.xml") > map && web.log().len() > all + 50;
        crawl_until(folder.path(), if round == 0 { &urls } else { &[] }, settings(), enough).await;
    }
    let reader = Reader::open(folder.path()).unwrap();
    let voices = reader.voices().unwrap();
    let lies = voices.iter().find(|voice| voice.kind == "sitemap").unwrap();
    assert!(lies.precision < 0.2, "{lies:?}");
    let hub = &reader.hubs().unwrap()[0].hub;
    assert!(hub.news > 50 && hub.profit < 10_000.0, "{hub:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn feeds_and_front_pages_lead_to_what_is_new() {
    let web = Web::start().await;
    let front = |links: &str| {
        Page::html(&format!("<link rel=alternate type=application/rss+xml href=/feed><p>{links}</p>"))
    };
    web.put("/", front("<a href=/old>old</a> <a href='/in?sid=1'>in</a>"));
    web.put("/feed", Page::xml("<rss><channel></channel></rss>"));
    for path in ["/old", "/new", "/other", "/in?sid=1", "/in?sid=2", "/in?sid=3", "/in?sid=4"] {
        web.put(path, Page::html(&format!("<p>{path}</p>")));
    }
    let folder = tempfile::tempdir().unwrap();
    let news = News { importance: 10.0, half_life: Span::from_whole_secs(60) };
    let news = vec![(web.url("/new"), news), (web.url("/other"), news)];
    let follow = || Settings { follow: Some(Follow::SameHost), news: news.clone(), ..settings() };
    let all = || ["/", "/feed", "/old"].iter().all(|path| web.asked(path) > 1);
    crawl_until(folder.path(), &[web.url("/")], follow(), all).await;
    let reader = Reader::open(folder.path()).unwrap();
    let page = |path: &str| reader.page(&web.url(path)).unwrap();
    assert_eq!(page("/feed").unwrap().origin.role, Role::Feed);
    assert_eq!(reader.hubs().unwrap().len(), 2);
    assert!(page("/old").unwrap().fetched.is_some() && page("/new").is_none());

    web.put("/", front("<a href=/old>old</a> <a href='/in?sid=2'>in</a> <a href=/new>new</a>"));
    let item = format!("<item><link>{}</link><pubDate>{}</pubDate></item>", web.url("/other"), date(-1));
    web.put("/feed", Page::xml(&format!("<rss><channel>{item}</channel></rss>")));
    let changing = web.clone();
    let change = tokio::spawn(async move {
        for sid in 3..40 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            let links = format!("<a href=/old>old</a> <a href='/in?sid={sid}'>in</a> <a href=/new>new</a>");
            changing.put("/", front(&links));
        }
    });
    let is_fetched = |path: &str| page(path).is_some_and(|page| page.fetched.is_some());
    let fronts = web.asked("/");
    let all = || is_fetched("/new") && is_fetched("/other") && web.asked("/") > fronts + 10;
    let summary = crawl_until(folder.path(), &[], follow(), all).await;
    change.abort();
    let new = page("/new").unwrap();
    assert_eq!((new.found.as_str(), new.origin.hub), ("link", page("/").map(|front| front.id)));
    assert!(new.fetched.is_some() && new.importance == 10.0 && new.origin.decay.is_some());
    let other = page("/other").unwrap();
    assert!(other.fetched.is_some() && other.found == "feed" && other.origin.born.is_some(), "{other:?}");
    // Sessions are no pages: one was taken for one at the first visit, when nothing could be compared.
    let sessions = (2..40).filter(|sid| page(&format!("/in?sid={sid}")).is_some()).count();
    assert_eq!(sessions, 0, "{summary:?}");
    assert_sound(folder.path());
}

/// Nothing of it hurts, and all of it is told in a line.
#[tokio::test(flavor = "multi_thread")]
async fn announcements_that_are_none() {
    let web = Web::start().await;
    let robots: String = ["/loop.xml", "/html", "/bomb.xml", "/far.xml", "/gone.xml"]
        .map(|path| format!("Sitemap: {}\n", web.url(path)))
        .concat();
    web.put("/robots.txt", Page::text(&robots));
    web.put("/a", Page::html("<link rel=alternate type=application/atom+xml href=/html><p>a</p>"));
    let index = |children: &[String]| {
        let mut xml = String::new();
        for url in children {
            write!(xml, "<sitemap><loc>{url}</loc></sitemap>").unwrap();
        }
        Page::xml(&format!("<sitemapindex>{xml}</sitemapindex>"))
    };
    web.put("/loop.xml", index(&[web.url("/loop.xml"), web.url("/loop1.xml")]));
    for deep in 1..9 {
        web.put(&format!("/loop{deep}.xml"), index(&[web.url(&format!("/loop{}.xml", deep + 1))]));
    }
    web.put("/html", Page::html("<p>Sorry</p>"));
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><urlset><url><loc>&b;&b;</loc></url></urlset>";
    web.put("/bomb.xml", Page::xml(bomb));
    let far = "<urlset><url><loc>http://elsewhere.localhost/x</loc><lastmod>2020-01-01</lastmod></url>\
               <url><loc>/a</loc><lastmod>1970-01-01</lastmod></url><url><loc>/a</loc><lastmod>2999-01-01</lastmod></url></urlset>";
    web.put("/far.xml", Page::xml(far));
    let folder = tempfile::tempdir().unwrap();
    let follow = Settings { follow: Some(Follow::Pattern("*".to_owned())), ..settings() };
    let all = || {
        let paths = ["/html", "/bomb.xml", "/far.xml", "/gone.xml", "/loop3.xml"];
        paths.iter().all(|path| web.asked(path) > 0) && web.asked("/a") > 20
    };
    let summary = crawl_until(folder.path(), &[web.url("/a")], follow, all).await;
    assert!(summary.signals == 0 && summary.complaints >= 1, "{summary:?}");
    assert_eq!(web.asked("/loop5.xml"), 0, "indexes of indexes of indexes");
    let reader = Reader::open(folder.path()).unwrap();
    assert!(reader.page("http://elsewhere.localhost/x").unwrap().is_none());
    let html = reader.page(&web.url("/html")).unwrap().unwrap();
    assert!(html.failures > 0 && html.fetched.is_none(), "{html:?}");
    assert_sound(folder.path());
}
