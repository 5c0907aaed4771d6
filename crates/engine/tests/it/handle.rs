//! A crawl that runs, asked by others: pages, hosts, budget, signals, and work for other fetchers.

use std::path::Path;

use bytes::Bytes;
use http::HeaderMap;
use refrain_core::frontier::{Budget, WaitsFor};
use refrain_core::time::{Span, Time};
use refrain_engine::{
    Brought, Clock, Crawl, Grant, Handle, Heard, HostEdit, Kind, LeaseId, Once, Receipt, Reused, Said, Saw,
    Seed, Settings, Source, Summary, Work, WorkWanted,
};
use refrain_fetch::url::PageUrl;
use refrain_store::{Digest, Edit, Options, Outcome, PageId, PageState, Reader, Seq, Store, verify};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A crawl that fetches nothing by itself.
struct Running {
    handle: Handle,
    reader: Reader,
    stop: watch::Sender<bool>,
    done: JoinHandle<Summary>,
}

impl Running {
    fn start(directory: &Path, settings: Settings) -> Self {
        let store = Store::open(directory, Options::default()).unwrap();
        let crawl = Crawl::new(store, directory, settings, Clock::start(), None).unwrap();
        let handle = crawl.handle();
        let (stop, stopped) = watch::channel(false);
        let done = tokio::spawn(async move { crawl.run(stopped).await.unwrap() });
        Self { handle, reader: Reader::open(directory).unwrap(), stop, done }
    }

    async fn stop(self) -> Summary {
        self.stop.send_replace(true);
        self.done.await.unwrap()
    }

    async fn add(&self, urls: &[&str]) -> Vec<PageId> {
        let pages = urls.iter().map(|url| seed(url)).collect();
        self.handle.add(pages, "api").await.unwrap().iter().map(|added| added.unwrap().page).collect()
    }

    /// Work, whatever robots.txt says.
    async fn next(&self, most: usize) -> (Grant, Vec<Work>) {
        self.next_as(WorkWanted { most, ..wanted() }).await
    }

    async fn next_as(&self, wanted: WorkWanted) -> (Grant, Vec<Work>) {
        let grant = self.handle.next(wanted).await.unwrap();
        let (work, answered) = self.handle.resolve(grant.clone());
        if !answered.is_empty() {
            let answered = self.handle.prepare(&self.reader, answered).unwrap();
            self.handle.hand_in(answered).await.unwrap();
        }
        (grant, work)
    }

    async fn bring(&self, lease: LeaseId, saw: Saw) -> Receipt {
        self.bring_as_of(lease, saw, None).await
    }

    async fn bring_as_of(&self, lease: LeaseId, saw: Saw, fetched_at: Option<Time>) -> Receipt {
        let brought =
            Brought { lease, fetched_at, response: None, took: Span::from_millis(5), bytes: 9, saw };
        let results = self.handle.prepare(&self.reader, vec![brought]).unwrap();
        self.handle.hand_in(results).await.unwrap().remove(0)
    }
}

fn settings() -> Settings {
    Settings {
        rate: 1e6,
        gap: Span::ZERO,
        patience: 0.0,
        fetches: false,
        burst: Span::from_whole_secs(1),
        commit_within: Span::from_millis(20),
        ..Settings::default()
    }
}

fn wanted() -> WorkWanted {
    WorkWanted {
        most: 10,
        wait: Span::from_whole_secs(5),
        lease: Span::from_whole_secs(60),
        key: None,
        knows_robots: true,
    }
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn seed(text: &str) -> Seed {
    Seed { url: url(text), importance: None, max_age: None }
}

fn told(changed: Option<bool>, digest: Option<&str>) -> Saw {
    let digest = digest.map(|text| Digest::of(text.as_bytes()));
    Saw::Told { status: 200, url: None, headers: HeaderMap::new(), changed, digest, title: None }
}

fn page_of(body: &'static str) -> Saw {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "text/html".parse().unwrap());
    headers.insert("etag", "\"1\"".parse().unwrap());
    Saw::Answer { status: 200, url: None, headers, body: Bytes::from_static(body.as_bytes()) }
}

/// On one thread: what is asked one after the other is done so, and nothing is written in between.
#[tokio::test]
async fn a_fetch_is_under_way_until_what_it_saw_is_on_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    crawl.add(&["http://a.example/1"]).await;
    assert_eq!(crawl.handle.under_way().await, Ok(0));
    let (_, work) = crawl.next(1).await;
    assert_eq!(crawl.handle.under_way().await, Ok(1));
    let (lease, saw) = (work[0].lease, page_of("<p>one"));
    let brought =
        Brought { lease, fetched_at: None, response: None, took: Span::from_millis(5), bytes: 9, saw };
    let results = crawl.handle.prepare(&crawl.reader, vec![brought]).unwrap();
    let (receipts, meanwhile) = tokio::join!(biased; crawl.handle.hand_in(results), crawl.handle.under_way());
    assert_eq!(
        (receipts, meanwhile),
        (Ok(vec![Receipt::Taken]), Ok(1)),
        "it was seen, and is not written yet"
    );
    assert_eq!(crawl.handle.under_way().await, Ok(0));
    assert_eq!(crawl.reader.last_seq().unwrap(), Seq(1));
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_fetchers_keep_pages_fresh() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    crawl.add(&["http://a.example/1", "http://b.example/1"]).await;
    let (_, work) = crawl.next(10).await;
    assert_eq!(work.len(), 2, "one of each host");
    assert!(work.iter().all(|work| work.etag.is_none()));
    assert_eq!(crawl.bring(work[0].lease, page_of("<title>T</title><p>one")).await, Receipt::Taken);
    assert_eq!(crawl.bring(work[0].lease, page_of("<p>two")).await, Receipt::Over, "answered before");
    let nobody = LeaseId { grant: 99, ..work[0].lease };
    assert_eq!(crawl.bring(nobody, page_of("")).await, Receipt::Unknown);
    let other = LeaseId { page: work[0].lease.page, ..work[1].lease };
    assert_eq!(crawl.bring(other, page_of("")).await, Receipt::Unknown);
    let refused = crawl.bring(work[1].lease, told(None, None)).await;
    assert!(matches!(refused, Receipt::Refused(_)), "{refused:?}");
    assert_eq!(crawl.bring(work[1].lease, told(None, Some("x"))).await, Receipt::Taken, "mended");

    // What was seen is in the store when that is said, body and all.
    let page = crawl.reader.page(&work[0].url).unwrap().unwrap();
    assert_eq!((page.title.as_deref(), page.etag.as_deref()), (Some("T"), Some("\"1\"")));
    let versions = crawl.reader.versions_of(page.id).unwrap();
    let body = crawl.reader.answer(versions[0].id).unwrap().unwrap().body;
    assert_eq!(body, b"<title>T</title><p>one");
    assert_eq!(crawl.reader.changes_since(Seq(0), 9, refrain_store::Roles::ALL).unwrap().changes.len(), 2);

    // The next time it is asked for with what is known; several answers, each in its own way.
    for saw in [told(None, Some("x")), told(Some(true), None), told(Some(false), None), told(None, Some("y"))]
    {
        let (_, work) = crawl.next(10).await;
        for one in work {
            let saw = if one.url.contains("a.example") { not_modified() } else { saw.clone() };
            assert_eq!(one.etag.is_some(), one.url.contains("a.example"));
            assert_eq!(crawl.bring(one.lease, saw).await, Receipt::Taken);
        }
    }
    let page = crawl.reader.page("http://b.example/1").unwrap().unwrap();
    let outcomes: Vec<Outcome> =
        crawl.reader.observations_of(page.id, 9).unwrap().iter().rev().map(|look| look.outcome).collect();
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.as_str()).collect();
    assert_eq!(names[..5], ["first", "unchanged", "changed", "unchanged", "changed"], "{outcomes:?}");
    crawl.stop().await;
    let report = verify(folder.path(), |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

fn not_modified() -> Saw {
    Saw::Told { status: 304, url: None, headers: HeaderMap::new(), changed: None, digest: None, title: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn robots_txt_comes_first_and_is_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/open", "http://a.example/shut/1"]).await;
    let polite = || WorkWanted { knows_robots: false, ..wanted() };
    let (_, work) = crawl.next_as(polite()).await;
    let [robots] = &work[..] else { panic!("{work:?}") };
    assert!(robots.lease.is_robots && robots.url == "http://a.example/robots.txt");
    let text = "User-agent: *\nDisallow: /shut/\nCrawl-delay: 0.3\n";
    let body = Bytes::from_static(text.as_bytes());
    let saw = Saw::Answer { status: 200, url: None, headers: HeaderMap::new(), body };
    assert_eq!(crawl.bring(robots.lease, saw).await, Receipt::Taken);
    let mut seen = Vec::new();
    for _ in 0..3 {
        let (_, work) = crawl.next_as(polite()).await;
        for one in work {
            seen.push((crawl.handle.now(), one.url.clone()));
            crawl.bring(one.lease, told(Some(true), None)).await;
        }
    }
    assert!(!seen.is_empty() && seen.iter().all(|(_, url)| url == "http://a.example/open"), "{seen:?}");
    for pair in seen.windows(2) {
        assert!(pair[1].0.since(pair[0].0) >= Span::from_millis(290), "{seen:?}");
    }
    let shut = crawl.reader.page_by_id(pages[1]).unwrap().unwrap();
    assert_eq!(shut.state, PageState::Disallowed);
    let host = crawl.handle.hosts(vec!["http://a.example".to_owned()]).await.unwrap().remove(0).unwrap();
    assert_eq!(host.gap, Span::from_millis(300));
    crawl.stop().await;
}

/// Whoever asked was gone before what is forbidden was sorted out: it is not given to whoever asks again.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_again_obeys_robots_txt() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    crawl.add(&["http://a.example/shut/1"]).await;
    let keyed = |key: &str| WorkWanted { key: Some(key.to_owned()), knows_robots: false, ..wanted() };
    let (_, work) = crawl.next_as(keyed("first")).await;
    let body = Bytes::from_static(b"User-agent: *\nDisallow: /shut/\n");
    let saw = Saw::Answer { status: 200, url: None, headers: HeaderMap::new(), body };
    assert_eq!(crawl.bring(work[0].lease, saw).await, Receipt::Taken);
    let lost = crawl.handle.next(keyed("second")).await.unwrap();
    assert_eq!(lost.fetches.len(), 1);
    let (again, work) = crawl.next_as(keyed("second")).await;
    assert_eq!((again.id, work), (lost.id, Vec::new()));
    crawl.stop().await;
}

/// However many fetchers ask at the same time: one request to a host at a time, and the gap after it.
#[tokio::test(flavor = "multi_thread")]
async fn many_fetchers_are_polite_together() {
    let folder = tempfile::tempdir().unwrap();
    let gap = Span::from_millis(40);
    let crawl = Running::start(folder.path(), Settings { gap, ..settings() });
    let urls: Vec<String> =
        (0..40).map(|number| format!("http://h{}.example/{number}", number % 4)).collect();
    crawl.add(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut fetchers = Vec::new();
    for _ in 0..4 {
        let (handle, directory) = (crawl.handle.clone(), folder.path().to_owned());
        fetchers.push(tokio::spawn(async move {
            let mut log: Vec<(String, Time, Time)> = Vec::new();
            for _ in 0..15 {
                let grant = handle.next(WorkWanted { most: 3, ..wanted() }).await.unwrap();
                let work = handle.resolve(grant).0;
                let start = handle.now();
                let brought: Vec<Brought> = work
                    .iter()
                    .map(|work| Brought {
                        lease: work.lease,
                        fetched_at: None,
                        response: None,
                        took: Span::ZERO,
                        bytes: 0,
                        saw: told(Some(false), None),
                    })
                    .collect();
                let end = handle.now();
                log.extend(work.iter().map(|work| (url(&work.url).host().to_owned(), start, end)));
                let results = handle.prepare(&Reader::open(&directory).unwrap(), brought).unwrap();
                handle.hand_in(results).await.unwrap();
            }
            log
        }));
    }
    let mut visits = Vec::new();
    for fetcher in fetchers {
        visits.extend(fetcher.await.unwrap());
    }
    assert!(visits.len() >= 60, "{}", visits.len());
    visits.sort();
    for pair in visits.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        assert!(pair[1].1.since(pair[0].2) >= gap, "{pair:?}");
    }
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leases_outlive_the_process_that_gave_them() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    crawl.add(&["http://a.example/1", "http://a.example/2", "http://b.example/1"]).await;
    let keyed = || WorkWanted { key: Some("mine".to_owned()), ..wanted() };
    let (grant, work) = crawl.next_as(keyed()).await;
    assert_eq!(work.len(), 2);
    let (again, _) = crawl.next_as(keyed()).await;
    assert_eq!(again.id, grant.id, "asked again with the same words");
    // As if killed: nothing is said to it, and the lock is gone with it.
    crawl.done.abort();
    let _ = crawl.done.await;
    let crawl = loop {
        // The thread that writes may still be about to end.
        match Store::open(folder.path(), Options::default()) {
            Ok(store) => {
                drop(store);
                break Running::start(folder.path(), settings());
            }
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let (again, same) = crawl.next_as(keyed()).await;
    assert_eq!((again.id, same.len()), (grant.id, 2));
    // Both hosts are being visited, as far as is known: nobody else gets anything.
    let (none, _) = crawl.next_as(WorkWanted { wait: Span::from_millis(50), ..wanted() }).await;
    assert!(none.fetches.is_empty());
    let a = work.iter().find(|work| work.url.contains("a.example")).unwrap();
    assert_eq!(crawl.bring(a.lease, told(Some(true), None)).await, Receipt::Taken);
    assert_eq!(crawl.bring(a.lease, told(Some(true), None)).await, Receipt::Over);
    let (_, next) = crawl.next(10).await;
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].url, "http://a.example/2");
    assert_eq!(crawl.bring(next[0].lease, Saw::GivenBack).await, Receipt::Taken);
    let (_, next) = crawl.next(10).await;
    assert_eq!(next[0].url, "http://a.example/2", "given back, it is due again");
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_that_is_over_is_somebody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    crawl.add(&["http://a.example/1"]).await;
    let (_, first) = crawl.next_as(WorkWanted { lease: Span::from_millis(60), ..wanted() }).await;
    let (_, second) = crawl.next(1).await;
    assert_eq!(second[0].url, first[0].url);
    assert_eq!(crawl.bring(first[0].lease, told(Some(true), None)).await, Receipt::Over);
    assert_eq!(crawl.bring(second[0].lease, told(Some(true), None)).await, Receipt::Taken);
    let summary = crawl.stop().await;
    assert_eq!((summary.given, summary.taken, summary.given_up), (2, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_paused_or_forgotten_while_fetched_stays_so_and_frees_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/1", "http://b.example/1", "http://b.example/2"]).await;
    let (_, work) = crawl.next(10).await;
    let lease = |host: &str| work.iter().find(|work| work.url.contains(host)).unwrap().lease;
    // In one batch: what was seen, then what somebody says.
    let pause = Edit { state: Some(PageState::Paused), ..Edit::of(pages[0]) };
    let (receipt, _) =
        tokio::join!(crawl.bring(lease("a.example"), told(Some(true), None)), crawl.handle.edit(vec![pause]));
    assert_eq!(receipt, Receipt::Taken);
    assert_eq!(crawl.reader.page_by_id(pages[0]).unwrap().unwrap().state, PageState::Paused);
    let given = lease("b.example");
    crawl.handle.remove(vec![given.page]).await.unwrap();
    assert_eq!(crawl.bring(given, told(Some(true), None)).await, Receipt::Taken);
    let (_, next) = crawl.next(10).await;
    assert_eq!(next.len(), 1, "{next:?}");
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_added_changed_paused_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), Settings { most_pages: 3, ..settings() });
    let urls = ["http://a.example/1", "http://a.example/2", "http://b.example/"];
    let pages = crawl.add(&urls).await;
    let seeds = vec![
        Seed { importance: Some(7.0), max_age: Some(Span::from_whole_secs(60)), ..seed(urls[0]) },
        seed("http://c.example/"),
    ];
    let again = crawl.handle.add(seeds, "api").await.unwrap();
    assert!(again[0].is_some_and(|added| !added.new && added.page == pages[0]));
    assert_eq!(again[1], None, "three are enough");
    let record = crawl.reader.page_by_id(pages[0]).unwrap().unwrap();
    assert_eq!((record.importance, record.max_age), (7.0, Some(Span::from_whole_secs(60))));
    let now = crawl.handle.explain(vec![pages[0], PageId(99)]).await.unwrap();
    assert!(now[0].is_some_and(|page| page.importance == 7.0 && page.stale.is_none()) && now[1].is_none());

    let pause = |state| Edit { state: Some(state), ..Edit::of(pages[2]) };
    let unknown = crawl.handle.edit(vec![pause(PageState::Paused), Edit::of(PageId(99))]).await.unwrap();
    assert_eq!(unknown, [PageId(99)]);
    assert_eq!(crawl.handle.explain(vec![pages[2]]).await.unwrap(), [None]);
    assert_eq!(
        crawl.handle.hurry(vec![pages[1], pages[2]], None).await.unwrap(),
        Ok(vec![pages[2]]),
        "it is paused"
    );
    let (_, work) = crawl.next(10).await;
    assert_eq!(work.len(), 1);
    assert_eq!(work[0].lease.page, pages[1], "who is wanted at once goes first");
    crawl.bring(work[0].lease, told(Some(true), None)).await;
    crawl.handle.edit(vec![pause(PageState::Active)]).await.unwrap();
    let (_, work) = crawl.next(10).await;
    assert!(work.iter().any(|work| work.lease.page == pages[2]), "{work:?}");

    // Paused while it is fetched, it stays paused.
    crawl.handle.edit(vec![pause(PageState::Paused)]).await.unwrap();
    let lease = work.iter().find(|work| work.lease.page == pages[2]).unwrap().lease;
    assert_eq!(crawl.bring(lease, told(Some(true), None)).await, Receipt::Taken);
    assert_eq!(crawl.reader.page_by_id(pages[2]).unwrap().unwrap().state, PageState::Paused);

    assert_eq!(crawl.handle.remove(vec![pages[1], PageId(99)]).await.unwrap(), [PageId(99)]);
    assert!(crawl.reader.page_by_id(pages[1]).unwrap().is_none());
    let back = crawl.handle.add(vec![seed(urls[1])], "api").await.unwrap();
    assert!(back[0].is_some_and(|added| added.new && added.page != pages[1]), "{back:?}");
    crawl.stop().await;
    let report = verify(folder.path(), |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_and_budget_are_as_somebody_wants_them_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/1"]).await;
    let name = || "http://a.example".to_owned();
    let gap = Some(Some(Span::from_whole_secs(3)));
    let host =
        crawl.handle.set_host(name(), HostEdit { gap, paused: Some(true), back_off: None }).await.unwrap();
    assert!(host.is_some_and(|host| host.paused && host.gap == Span::from_whole_secs(3)));
    assert_eq!(crawl.handle.set_host("http://x".to_owned(), HostEdit::default()).await.unwrap(), None);
    assert!(crawl.handle.set_budget(Budget::Rate(f64::NAN)).await.unwrap().is_err());
    let price = Budget::Price { price: 2.0, cap: 50.0 };
    assert!(crawl.handle.set_budget(price).await.unwrap().is_ok_and(|now| now.budget == price));
    crawl.stop().await;

    let crawl = Running::start(folder.path(), settings());
    assert_eq!(crawl.handle.budget().await.unwrap().budget, price);
    let quickly = || WorkWanted { wait: Span::from_millis(30), ..wanted() };
    assert!(crawl.next_as(quickly()).await.1.is_empty(), "its host is paused");
    let now = crawl.handle.explain(pages).await.unwrap().remove(0).unwrap();
    assert!(matches!(now.waits_for, WaitsFor::Host(_)), "{now:?}");
    let edit = HostEdit { paused: Some(false), ..HostEdit::default() };
    crawl.handle.set_host(name(), edit).await.unwrap();
    assert_eq!(crawl.next(1).await.1.len(), 1);
    crawl.stop().await;
    // Other settings go before what was decided.
    let crawl = Running::start(folder.path(), Settings { rate: 7.0, ..settings() });
    assert_eq!(crawl.handle.budget().await.unwrap().budget, Budget::Rate(7.0));
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn signals_are_heard_judged_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/1"]).await;
    let (_, work) = crawl.next(1).await;
    crawl.bring(work[0].lease, told(Some(true), None)).await;
    let cdn = Kind::Source(Source::new("cdn").unwrap());
    let said = |text: &str, changed, adds| Said { url: url(text), changed, adds };
    let long_ago = Some(Time::from_nanos(1));
    let heard = crawl
        .handle
        .signal(
            cdn,
            vec![
                said("http://a.example/1", long_ago, false),
                said("http://a.example/1", None, false),
                said("http://a.example/2", None, false),
                said("http://a.example/3", None, true),
            ],
            None,
        )
        .await
        .unwrap()
        .unwrap();
    assert_eq!(heard, [Heard::Known, Heard::News, Heard::Stranger, Heard::Added]);
    let signals = crawl.reader.signals_of(pages[0], 9).unwrap();
    assert_eq!((signals.len(), signals[0].kind.as_str()), (1, "cdn"));
    let now = crawl.handle.explain(pages.clone()).await.unwrap().remove(0).unwrap();
    assert_eq!(now.signals, 1);
    // The next look finds out.
    while crawl.reader.signals_of(pages[0], 9).unwrap()[0].came_true.is_none() {
        let (_, work) = crawl.next(1).await;
        crawl.bring(work[0].lease, told(Some(true), None)).await;
    }
    assert_eq!(crawl.reader.signals_of(pages[0], 9).unwrap()[0].came_true, Some(true));
    crawl.handle.keep(vec![("x.y".to_owned(), b"z".to_vec())]).await.unwrap();
    assert_eq!(crawl.reader.meta("x.y").unwrap().as_deref(), Some(&b"z"[..]));
    assert_eq!(crawl.handle.reads(vec![(pages[0], 3.0), (PageId(99), 1.0)]).await.unwrap(), [PageId(99)]);
    let sample = crawl.handle.sample(100).await.unwrap();
    assert_eq!((sample.pages.len(), sample.of), (2, 2));
    crawl.stop().await;
}

/// What is announced while a page is being fetched may not be in the copy: it stays open until a later request.
#[tokio::test(flavor = "multi_thread")]
async fn signals_during_a_fetch_stay_open() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let page = crawl.add(&["http://a.example/1"]).await[0];
    let kind = Kind::Source(Source::new("cdn").unwrap());
    let announce = async |crawl: &Running| {
        let said = Said { url: url("http://a.example/1"), changed: None, adds: false };
        assert_eq!(crawl.handle.signal(kind, vec![said], None).await.unwrap().unwrap(), [Heard::News]);
    };
    let open = async |crawl: &Running| {
        let stored = crawl.reader.signals_of(page, 9).unwrap();
        let open = stored.iter().filter(|signal| signal.came_true.is_none()).count();
        let counted = crawl.handle.explain(vec![page]).await.unwrap().remove(0).unwrap().signals;
        assert_eq!(open, counted as usize, "memory and database agree");
        open
    };
    // Times are stored in milliseconds.
    let later = async || tokio::time::sleep(std::time::Duration::from_millis(3)).await;

    // During the first fetch, of which it is not known when it was made.
    let (_, work) = crawl.next(1).await;
    later().await;
    announce(&crawl).await;
    later().await;
    crawl.bring(work[0].lease, told(Some(true), None)).await;
    assert_eq!(open(&crawl).await, 1);
    crawl.stop().await;
    let crawl = Running::start(folder.path(), settings());
    assert_eq!(open(&crawl).await, 1, "as before the restart");

    // After the request that made the copy.
    let (_, work) = crawl.next(1).await;
    let sent = crawl.handle.now();
    later().await;
    announce(&crawl).await;
    crawl.bring_as_of(work[0].lease, told(Some(true), None), Some(sent)).await;
    assert_eq!(open(&crawl).await, 1);
    let fates = crawl.reader.signals_of(page, 9).unwrap();
    assert_eq!(fates.iter().map(|signal| signal.came_true).collect::<Vec<_>>(), [None, Some(true)]);

    // Before it.
    let (_, work) = crawl.next(1).await;
    announce(&crawl).await;
    later().await;
    crawl.bring_as_of(work[0].lease, told(Some(true), None), Some(crawl.handle.now())).await;
    assert_eq!(open(&crawl).await, 0);
    let fates = crawl.reader.signals_of(page, 9).unwrap();
    assert!(fates.iter().all(|signal| signal.came_true == Some(true)), "{fates:?}");
    crawl.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_twice_under_one_name_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/1"]).await;
    let once =
        |name: &str, says: &str| Some(Once::new(name.as_bytes(), says.as_bytes(), Span::from_whole_secs(60)));
    let counted = |reader: &Reader| {
        let mut count = 0.0;
        reader
            .reads(|facts| {
                count += facts.count;
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        count
    };
    let asked = || vec![(pages[0], 2.0), (PageId(99), 1.0)];
    for _ in 0..3 {
        assert_eq!(crawl.handle.requests(asked(), once("a", "x")).await.unwrap(), Ok(vec![PageId(99)]));
        assert_eq!(counted(&crawl.reader), 2.0, "it is on the disk when it is answered");
    }
    assert_eq!(crawl.handle.requests(asked(), once("a", "y")).await.unwrap(), Err(Reused));
    // The same at the same time: one of them is first.
    let (one, two) = tokio::join!(
        crawl.handle.requests(asked(), once("b", "x")),
        crawl.handle.requests(asked(), once("b", "x"))
    );
    assert_eq!((one.unwrap(), two.unwrap()), (Ok(vec![PageId(99)]), Ok(vec![PageId(99)])));
    assert!((counted(&crawl.reader) - 4.0).abs() < 1e-3);
    crawl.handle.requests(asked(), None).await.unwrap().unwrap();
    assert!((counted(&crawl.reader) - 6.0).abs() < 1e-3, "who gives no name is counted every time");
    crawl.stop().await;
    let crawl = Running::start(folder.path(), settings());
    crawl.handle.requests(asked(), once("a", "x")).await.unwrap().unwrap();
    assert!((counted(&crawl.reader) - 6.0).abs() < 1e-3, "{}", counted(&crawl.reader));
    crawl.stop().await;
}

/// Who asks for a fetch now wants one that begins after asking.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_wanted_while_it_is_fetched_is_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    // It would not be fetched again by itself before long: the budget is spent.
    let crawl = Running::start(folder.path(), settings());
    let pages = crawl.add(&["http://a.example/1", "http://a.example/2", "http://a.example/3"]).await;
    for (saw, again) in [
        (told(Some(true), None), "its first look"),
        (told(Some(false), None), "a later one"),
        (Saw::Nothing("no answer".to_owned()), "one that fails"),
        (Saw::GivenBack, "one that nobody made"),
    ] {
        let is_failure = matches!(saw, Saw::Nothing(_));
        crawl.handle.hurry(vec![pages[0]], None).await.unwrap().unwrap();
        let (_, work) = crawl.next(10).await;
        assert_eq!(work[0].lease.page, pages[0], "{again}");
        crawl.handle.hurry(vec![pages[0]], None).await.unwrap().unwrap();
        assert_eq!(crawl.bring(work[0].lease, saw).await, Receipt::Taken);
        if is_failure {
            // A host that does not answer is left alone; whoever knows better says so.
            let edit = HostEdit { back_off: Some(Time::MIN), ..HostEdit::default() };
            crawl.handle.set_host("http://a.example".to_owned(), edit).await.unwrap();
        }
        let (_, work) = crawl.next(10).await;
        assert_eq!(work[0].lease.page, pages[0], "{again}: asked for meanwhile, it is next");
        assert_eq!(crawl.bring(work[0].lease, told(Some(false), None)).await, Receipt::Taken);
        let (_, work) = crawl.next(10).await;
        assert_ne!(work[0].lease.page, pages[0], "{again}: once");
        crawl.bring(work[0].lease, told(Some(false), None)).await;
    }
    // Under one name it is asked for once.
    let once = || Some(Once::new(b"n", b"s", Span::from_whole_secs(60)));
    crawl.handle.hurry(vec![pages[0]], once()).await.unwrap().unwrap();
    let (_, work) = crawl.next(10).await;
    crawl.handle.hurry(vec![pages[0]], once()).await.unwrap().unwrap();
    crawl.bring(work[0].lease, told(Some(false), None)).await;
    let (_, work) = crawl.next(10).await;
    assert_ne!(work[0].lease.page, pages[0]);
    crawl.stop().await;
}

#[tokio::test]
async fn an_address_that_is_added_while_its_page_is_being_forgotten_is_a_new_page() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(folder.path(), settings());
    let mut page = running.add(&["http://a.example/1"]).await[0];
    for _ in 0..20 {
        // Both are asked before the crawl, on the same thread, hears of either.
        let removed = running.handle.remove(vec![page]);
        let (removed, added) =
            tokio::join!(removed, running.handle.add(vec![seed("http://a.example/1")], "api"));
        assert_eq!(removed.unwrap(), []);
        let added = added.unwrap()[0].unwrap();
        assert!(added.new && added.page != page);
        // What was acknowledged is on the disk.
        assert_eq!(running.reader.page("http://a.example/1").unwrap().unwrap().id, added.page);
        assert!(running.reader.page_by_id(page).unwrap().is_none());
        page = added.page;
    }
    running.stop().await;
    assert_eq!(verify(folder.path(), |_| {}).unwrap().findings, []);
}
