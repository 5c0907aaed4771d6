//! Killed at random moments while pages change: what is kept was served, what is told happened, and nothing that was told is lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use refrain_store::{Digest, Seq};

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake, Hit};
use crate::support::{refrain, stdout, text};

const HOSTS: usize = 3;
const PAGES: usize = 8;
const ROUNDS: usize = 16;

/// Always the same numbers, one after the other.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

struct World {
    fake: Fake,
    desk: Desk,
    versions: Vec<Arc<AtomicU32>>,
    feed: String,
}

fn place(index: usize) -> (String, String) {
    (format!("h{}", index / PAGES), format!("/{}", index % PAGES))
}

impl World {
    /// Without second looks: a verdict that waits for one is on its way, and a kill loses it like a visit under way.
    fn new() -> Self {
        let (fake, desk) = (
            Fake::start(),
            Desk::new("gap = \"10ms\"\n[[site]]\nstart = \"http://\"\nlearn_noise = false\n"),
        );
        let mut versions = Vec::new();
        for index in 0..HOSTS * PAGES {
            let version = Arc::new(AtomicU32::new(0));
            versions.push(Arc::clone(&version));
            let (host, path) = place(index);
            fake.put_with(&host, &path, move |_| {
                Deed::html(format!("<p>page {index}</p><p>version {}</p>", version.load(Ordering::Relaxed)))
            });
        }
        let feed = text(&desk.path("changes.jsonl")).to_owned();
        Self { fake, desk, versions, feed }
    }

    fn url(&self, index: usize) -> String {
        let (host, path) = place(index);
        self.fake.url(&host, &path)
    }

    fn seeds(&self) -> String {
        self.desk.seeds(&(0..HOSTS * PAGES).map(|index| self.url(index)).collect::<Vec<_>>())
    }

    /// Pages asked for from this place of the log on, by host.
    fn asked_since(&self, start: usize) -> HashMap<String, Vec<String>> {
        let mut by_host: HashMap<String, Vec<String>> = HashMap::new();
        for hit in self.fake.log().into_iter().skip(start).filter(|hit| hit.path != "/robots.txt") {
            let url = self.fake.url(&hit.host, &hit.path);
            by_host.entry(self.fake.host(&hit.host)).or_default().push(url);
        }
        by_host
    }

    /// What the file says is in the directory, and the file is never ahead of it.
    fn assert_told(&self) {
        let told = std::fs::read_to_string(&self.feed).unwrap_or_default();
        let kept = stdout(&self.desk.run(&["changes"]));
        let whole = told.rfind('\n').map_or("", |end| &told[..=end]);
        assert!(kept.starts_with(whole), "{told}\n---\n{kept}");
    }

    /// Of the requests of a round those that count are the first so many, host by host: none is lost before one that is kept.
    fn assert_no_holes(&self, log_start: usize, looks_start: usize) {
        let mut kept: HashMap<String, Vec<String>> = HashMap::new();
        for (url, look) in self.desk.looks().into_iter().skip(looks_start) {
            assert_eq!(look.status, Some(200), "{url}");
            let host = url.rsplit_once('/').unwrap().0.to_owned();
            kept.entry(host).or_default().push(url);
        }
        let asked = self.asked_since(log_start);
        for (host, kept) in kept {
            let asked = asked.get(&host).map_or(&[][..], Vec::as_slice);
            assert!(asked.starts_with(&kept), "{host}: asked for {asked:#?}, kept {kept:#?}");
        }
    }

    /// Every version was served as it is kept; every change is a transition between two answers, in their order.
    fn assert_true(&self) {
        let log = self.fake.log();
        let reader = self.desk.reader();
        let changes =
            reader.changes_since(Seq(0), usize::MAX >> 1, refrain_store::Roles::ALL).unwrap().changes;
        for index in 0..HOSTS * PAGES {
            let (host, path) = place(index);
            let served: Vec<&Hit> = log.iter().filter(|hit| hit.host == host && hit.path == path).collect();
            let digests: Vec<Digest> = served.iter().map(|hit| Digest::of(&hit.body)).collect();
            for (version, record) in self.desk.versions(&self.url(index)) {
                assert!(served.iter().any(|hit| hit.body == record.body), "{path}");
                assert_eq!(Digest::of(&record.body), version.digest);
            }
            let mut old = None;
            let mut from = 0;
            for change in changes.iter().filter(|change| change.url == self.url(index)) {
                assert_eq!(change.old, old);
                let new = change.new.expect("nothing was ever gone");
                let found = digests[from..].iter().position(|digest| *digest == new);
                from += found.unwrap_or_else(|| panic!("{change:?} did not happen after the one before"));
                old = Some(new);
            }
            assert!(old.is_some(), "{path} has a copy");
        }
        assert!(changes.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    }
}

#[test]
fn killed_at_random_moments() {
    let world = World::new();
    let seeds = world.seeds();
    let mut dice = Dice(20_261_116);
    let mut cut_short = 0;
    for _ in 0..ROUNDS {
        let (log_start, looks_start) = (world.fake.log().len(), world.desk.path("data/refrain.db").exists());
        let looks_start = if looks_start { world.desk.looks().len() } else { 0 };
        let running = world.desk.start(&[&seeds, "--changes", &world.feed]);
        wait_until("it has begun", || world.fake.log().len() > log_start);
        for _ in 0..=dice.below(6) {
            let index = dice.below((HOSTS * PAGES) as u64) as usize;
            world.versions[index].fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_micros(dice.below(120_000)));
        }
        running.kill();
        world.desk.assert_sound();
        world.assert_told();
        world.assert_no_holes(log_start, looks_start);
        let asked: usize = world.asked_since(log_start).values().map(Vec::len).sum();
        cut_short += usize::from(asked > world.desk.looks().len() - looks_start);
    }
    assert!(cut_short > 0, "some kill came between a request and its commit, else this shows little");
    let before = world.fake.log().len();
    world.desk.crawl_until(&["--changes", &world.feed], "all are visited", |_| {
        world.asked_since(before).values().map(Vec::len).sum::<usize>() > 2 * HOSTS * PAGES
    });
    world.desk.assert_sound();
    world.assert_true();
    let told = std::fs::read_to_string(&world.feed).unwrap();
    assert_eq!(told, stdout(&refrain(&["changes", "--data", world.desk.data()])));
    assert!(told.lines().count() > HOSTS * PAGES, "pages did change");
}
