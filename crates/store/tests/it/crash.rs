//! Killed at any moment, again and again: what was acknowledged is there, exactly, and nothing is torn.
//!
//! The child is this test program itself. It commits batches whose content follows from their number, so the parent can say
//! what must be there after batch n.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::Span;
use refrain_store::{
    Batch, Compaction, Digest, Lease, Look, Options, Outcome, PageId, Retention, Roles, Seq, Store,
};

use crate::support::*;

const PAGES: usize = 23;
const KILLS: usize = 40;
const DIRECTORY: &str = "REFRAIN_CRASH_DIRECTORY";
const OPTIONS: Options = Options { segment_bytes: 20_000, cache_bytes: 1 << 20 };

/// What a page is expected to be.
#[derive(Clone, Default)]
struct Model {
    body: Option<Vec<u8>>,
    looks: usize,
    changes: usize,
}

/// The pages that batch `number` looks at, and whether each has changed.
fn plan(number: usize) -> impl Iterator<Item = (usize, bool)> {
    (0..5).map(move |step| ((number * 3 + step * 4) % PAGES, !(number + step).is_multiple_of(3)))
}

fn body(page: usize, number: usize) -> Vec<u8> {
    Digest::of(format!("{page} {number}").as_bytes()).to_string().repeat(1 + number % 50).into_bytes()
}

fn expected(after: usize) -> BTreeMap<usize, Model> {
    let mut pages: BTreeMap<usize, Model> = BTreeMap::new();
    for number in 1..=after {
        for (page, changed) in plan(number) {
            let model = pages.entry(page).or_default();
            model.looks += 1;
            if changed || model.body.is_none() {
                model.body = Some(body(page, number));
                model.changes += 1;
            }
        }
    }
    pages
}

fn batch(store: &Store, number: usize) -> Batch {
    let seconds = number as i64;
    let mut looks: Vec<Look> = Vec::new();
    for (page, changed) in plan(number) {
        let known = store.read().page(url(page).as_str()).unwrap().unwrap();
        let record = match known.digest {
            Some(digest) if !changed => {
                let earlier = store.read().version_with(known.id, &digest).unwrap().unwrap();
                let answer = store.read().answer(earlier.id).unwrap().unwrap();
                let again = revisit(&url(page), seconds, &answer.body, earlier.time, false);
                recorded(known.id, seconds, Outcome::Unchanged, again)
            }
            digest => {
                let outcome = if digest.is_some() { Outcome::Changed } else { Outcome::First };
                recorded(known.id, seconds, outcome, response(&url(page), seconds, &body(page, number)))
            }
        };
        looks.push(record);
    }
    Batch {
        pages: vec![new_page(PAGES + number)],
        leases: vec![Lease { page: PageId(1), order: number as u64, until: at(seconds) }],
        meta: vec![("batch".to_owned(), number.to_be_bytes().to_vec())],
        looks,
        ..Batch::default()
    }
}

fn last_batch(store: &Store) -> usize {
    let kept = store.read().meta("batch").unwrap();
    kept.map_or(0, |bytes| usize::from_be_bytes(bytes.try_into().unwrap()))
}

/// Not a test by itself: what the parent starts and kills.
#[test]
#[ignore = "started by the test below"]
fn child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let mut store = Store::open(Path::new(&directory), OPTIONS).unwrap();
    if last_batch(&store) == 0 {
        add_pages(&mut store, PAGES);
    }
    let compaction = Compaction { least_live: 0.6, most_bytes: 4000, grace: Span::from_whole_secs(5) };
    let retention = Retention { most_bodies: Some(3), longest: None };
    for number in last_batch(&store) + 1.. {
        let batch = batch(&store, number);
        store.commit(&batch).unwrap();
        let mut output = std::io::stdout().lock();
        writeln!(output, "\ncommitted {number}").unwrap();
        output.flush().unwrap();
        drop(output);
        store.retain(&retention, at(number as i64), PageId(0), 5).unwrap();
        store.compact(&compaction, at(number as i64)).unwrap();
    }
}

/// Lets a child work for a while, kills it, and gives the last batch that it acknowledged.
fn run_and_kill(directory: &Path, after: Duration) -> usize {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let reading = thread::spawn(move || {
        let numbers = output.lines().map_while(Result::ok).filter_map(|line| {
            line.strip_prefix("committed ").and_then(|number| number.parse::<usize>().ok())
        });
        numbers.last().unwrap_or(0)
    });
    thread::sleep(after);
    // On unix this is SIGKILL.
    child.kill().unwrap();
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(status.code().is_none(), "the child was to be killed, but ended by itself: {said}");
    reading.join().unwrap()
}

#[test]
fn kill_9_loses_nothing_that_was_acknowledged() {
    let directory = tempfile::tempdir().unwrap();
    let mut chance = ChaCha8Rng::seed_from_u64(1);
    let mut before = 0;
    for _ in 0..KILLS {
        let acknowledged = run_and_kill(directory.path(), Duration::from_millis(chance.random_range(5..150)));
        // Before anything is mended: damage there is none, only what the next start sees to.
        if directory.path().join("refrain.db").exists() && before > 0 {
            let report = refrain_store::verify(directory.path(), |_| {}).unwrap();
            assert!(report.is_sound(), "{:#?}", report.findings);
        }
        let store = Store::open(directory.path(), OPTIONS).unwrap();
        let last = last_batch(&store);
        assert!(last >= acknowledged.max(before), "{acknowledged} was acknowledged, {last} is there");
        before = last;
        assert_exactly(&store, last);
        drop(store);
        assert_sound(directory.path());
    }
    assert!(before > KILLS, "only {before} batches: the children had no time to do anything");
    assert_warcio_accepts(directory.path());
}

/// All of batches 1 to `last` is there, and nothing of another.
fn assert_exactly(store: &Store, last: usize) {
    let reader = store.read();
    let (mut looks, mut changes, mut first) = (0, 0, 0);
    for (page, model) in expected(last) {
        let found = reader.page(url(page).as_str()).unwrap().unwrap();
        assert_eq!(found.digest, model.body.as_ref().map(|body| Digest::of(body)));
        assert_eq!(reader.observations_of(found.id, usize::MAX).unwrap().len(), model.looks);
        let versions = reader.versions_of(found.id).unwrap();
        assert_eq!(reader.answer(versions[0].id).unwrap().unwrap().body, model.body.unwrap());
        looks += model.looks;
        changes += model.changes;
        first += usize::from(model.changes > 0);
    }
    let status = reader.status().unwrap();
    assert_eq!((status.observations, status.changes), (looks as u64, (changes - first) as u64));
    assert_eq!(reader.changes_since(Seq(0), usize::MAX, Roles::ALL).unwrap().changes.len(), changes);
    assert_eq!(reader.page(url(PAGES + last + 1).as_str()).unwrap(), None);
    if last > 0 {
        assert_eq!(reader.leases().unwrap()[0].order, last as u64);
        assert!(reader.page(url(PAGES + last).as_str()).unwrap().is_some());
    }
}
