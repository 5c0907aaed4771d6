//! Queues of crawlers that fetch by themselves, over restarts, and those in which values decide.

use std::path::Path;

use refrain_core::queues::Wanted;
use refrain_core::time::Span;
use refrain_engine::queues::{Put, Queues, Said, SeenByOthers, Took};
use refrain_engine::{Clock, Crawl, Handle, Schedules, Settings, Summary};
use refrain_store::{Options, Outcome, PageState, Reader, Role, Schedule, Store, verify};
use tokio::sync::watch;
use tokio::task::JoinHandle;

struct Running {
    queues: Queues,
    handle: Handle,
    reader: Reader,
    stop: watch::Sender<bool>,
    done: JoinHandle<Summary>,
}

impl Running {
    fn start(directory: &Path) -> Self {
        let settings = Settings {
            rate: 1e6,
            gap: Span::ZERO,
            patience: 0.0,
            fetches: false,
            burst: Span::from_whole_secs(1),
            commit_within: Span::from_millis(20),
            schedules: Schedules {
                default: Schedule::Client,
                patterns: vec![("valued*".to_owned(), Schedule::Server)],
            },
            ..Settings::default()
        };
        let store = Store::open(directory, Options::default()).unwrap();
        let mut crawl = Crawl::new(store, directory, settings, Clock::start(), None).unwrap();
        let (handle, queues) = (crawl.handle(), crawl.queues().unwrap());
        let (stop, stopped) = watch::channel(false);
        let done = tokio::spawn(async move { crawl.run(stopped).await.unwrap() });
        Self { queues, handle, reader: Reader::open(directory).unwrap(), stop, done }
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        self.done.await.unwrap();
    }

    /// The addresses that are given, by their texts.
    async fn take(&self, wanted: Wanted) -> Vec<String> {
        let given = self.queues.take(wanted).await.unwrap();
        let ids = given.queues.iter().flat_map(|(_, _, ids)| ids.iter().copied());
        self.reader.items(ids).unwrap().into_iter().map(|item| item.url).collect()
    }

    /// What is given within a while: values become due in their own time.
    async fn take_soon(&self, crawl: &str, count: usize) -> Vec<String> {
        let mut all = Vec::new();
        for _ in 0..200 {
            all.extend(self.take(any(crawl)).await);
            if all.len() >= count {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        all.sort();
        all
    }
}

fn any(crawl: &str) -> Wanted {
    let crawl = Some(crawl.to_owned());
    Wanted { crawl, key: None, queues: 100, each: 100, most: 1000, lease: Span::from_whole_secs(60) }
}

fn put(crawl: &str, url: &str, said: Said) -> Put {
    Put {
        crawl: crawl.to_owned(),
        key: "k".to_owned(),
        url: url.to_owned(),
        metadata: [&[0x1a, url.len() as u8], url.as_bytes()].concat(),
        created: None,
        said,
        schedule: None,
        seen: None,
    }
}

fn seen(crawl: &str, url: &str, seen: SeenByOthers) -> Put {
    Put { seen: Some(Box::new(seen)), ..put(crawl, url, Said::Known(0)) }
}

const NEW: Took = Took::Taken { new: true, completed: false };

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_queues_and_who_has_it_outlives_the_process() {
    let directory = tempfile::tempdir().unwrap();
    let running = Running::start(directory.path());
    let items = ["1", "2", "3"].map(|name| put("a", name, Said::Discovered)).to_vec();
    assert_eq!(running.queues.put(items.clone(), false).await.unwrap(), [NEW; 3]);
    assert_eq!(running.queues.put(items, false).await.unwrap(), [Took::Ignored; 3]);
    let completed = running.queues.put(vec![put("a", "done", Said::Known(0))], false).await.unwrap();
    assert_eq!(completed, [Took::Taken { new: true, completed: true }]);
    running.queues.set_delay("a".to_owned(), Some("k".to_owned()), 0).await.unwrap();
    assert_eq!(running.take(Wanted { each: 1, ..any("a") }).await, ["1"]);
    running.queues.block("b".to_owned(), "k".to_owned(), 4_000_000_000).await.unwrap();
    running.stop().await;

    let running = Running::start(directory.path());
    assert_eq!(running.queues.crawls().await.unwrap(), ["a", "b"]);
    assert_eq!(running.take(any("a")).await, ["2", "3"], "somebody has the first");
    running
        .queues
        .put(vec![put("a", "1", Said::Known(7)), put("b", "x", Said::Discovered)], false)
        .await
        .unwrap();
    assert_eq!(running.take(any("b")).await, [""; 0], "blocked, as before");
    running.stop().await;

    let running = Running::start(directory.path());
    assert_eq!(running.take(any("a")).await, ["1"], "it was brought back, and the others were not");
    let tally = running.queues.tally(Some("a".to_owned()), None).await.unwrap();
    assert_eq!((tally.waiting, tally.leased, tally.completed), (3, 3, 1));
    assert_eq!(running.queues.delete("a".to_owned(), None).await.unwrap(), 4);
    running.stop().await;

    let running = Running::start(directory.path());
    assert_eq!(running.queues.crawls().await.unwrap(), ["b"]);
    assert_eq!(running.queues.status("a".to_owned(), "k".to_owned(), "1".to_owned()).await.unwrap(), None);
    let again = running.queues.put(vec![put("a", "1", Said::Discovered)], false).await.unwrap();
    assert_eq!(again, [NEW], "it is forgotten");
    running.stop().await;
    assert!(verify(directory.path(), |_| {}).unwrap().findings.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_values_decide_a_look_is_a_look() {
    let directory = tempfile::tempdir().unwrap();
    let running = Running::start(directory.path());
    let (crawl, url) = ("valued", "http://a.example/page");
    let signed = |signature: &str| SeenByOthers {
        signature: Some(signature.to_owned()),
        status: Some(200),
        ..SeenByOthers::default()
    };
    assert_eq!(running.queues.put(vec![put(crawl, url, Said::Discovered)], false).await.unwrap(), [NEW]);
    assert!(running.queues.is_server_scheduled(crawl) && !running.queues.is_server_scheduled("a"));
    assert_eq!(running.take_soon(crawl, 1).await, [url]);
    for signature in ["one", "one", "two"] {
        running.queues.put(vec![seen(crawl, url, signed(signature))], false).await.unwrap();
    }
    let page = running.reader.page(url).unwrap().unwrap();
    let looks = running.reader.observations_of(page.id, 9).unwrap();
    let outcomes: Vec<Outcome> = looks.iter().map(|look| look.outcome).collect();
    assert_eq!(outcomes, [Outcome::Changed, Outcome::Unchanged, Outcome::First], "the last one first");
    running
        .queues
        .put(vec![seen(crawl, url, SeenByOthers { status: Some(404), ..signed("x") })], false)
        .await
        .unwrap();
    assert_eq!(running.reader.page(url).unwrap().unwrap().state, PageState::Gone);
    let feed = SeenByOthers { is_feed: true, ..SeenByOthers::default() };
    running.queues.put(vec![seen(crawl, "http://a.example/feed", feed)], false).await.unwrap();
    assert_eq!(running.reader.page("http://a.example/feed").unwrap().unwrap().origin.role, Role::Feed);
    let refused =
        running.queues.put(vec![put(crawl, "ftp://a.example/", Said::Discovered)], false).await.unwrap();
    assert_eq!(refused, [Took::Refused]);
    assert_eq!(running.queues.delete(crawl.to_owned(), None).await.unwrap(), 2);
    assert_eq!(running.reader.page(url).unwrap(), None);
    running.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_others_are_given_to_nobody_else_and_come_back_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let running = Running::start(directory.path());
    let urls: Vec<String> = (0..20).map(|number| format!("http://h{number}.example/")).collect();
    let items = urls.iter().map(|url| put("valued", url, Said::Discovered)).collect();
    running.queues.put(items, false).await.unwrap();
    let wanted = refrain_engine::WorkWanted {
        most: 100,
        wait: Span::from_millis(200),
        lease: Span::from_whole_secs(60),
        key: None,
        knows_robots: true,
    };
    assert!(running.handle.next(wanted).await.unwrap().fetches.is_empty(), "other fetchers get none of them");
    running.stop().await;
    let running = Running::start(directory.path());
    let mut expected = urls.clone();
    expected.sort();
    assert_eq!(running.take_soon("valued", 20).await, expected);
    running.stop().await;
}
