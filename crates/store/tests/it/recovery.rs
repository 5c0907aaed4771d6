//! The database rebuilt from the archive.

use std::fs;
use std::path::Path;

use crate::support::*;
use refrain_core::time::Time;
use refrain_store::warc::Record;
use refrain_store::{
    Address, Compaction, Digest, Edit, Interpret, Look, Options, Outcome, PageId, Reader, Recovered,
    Recovery, Retention, Roles, Seq, Store,
};

struct Plain;

impl Interpret for Plain {
    fn page(&self, url: &str) -> Option<(Address, String)> {
        let rest = url.strip_prefix("https://")?;
        let host = format!("https://{}", rest.split('/').next()?);
        Some((Address::new(url).ok()?, host))
    }

    fn copy(&self, _: &Address, answer: &Record) -> (Option<String>, Option<Vec<u8>>) {
        (Some(String::from_utf8_lossy(&answer.body).into_owned()), None)
    }
}

fn recover(directory: &Path) -> Recovered {
    let mut recovery = Recovery::begin(directory).unwrap().unwrap();
    recovery.read(&Plain, |_| {}).unwrap();
    recovery.finish().unwrap().0
}

/// What records tell of a page.
type Told = (Time, Outcome, Option<u16>, Option<Digest>);

/// By page: what was seen, latest first, and the bodies of its versions.
fn told(directory: &Path, urls: &[Address]) -> Vec<(Vec<Told>, Vec<Vec<u8>>)> {
    let reader = Reader::open(directory).unwrap();
    let of_page = |url: &Address| {
        let page = reader.page(url.as_str()).unwrap().unwrap().id;
        let looks = reader.observations_of(page, usize::MAX).unwrap();
        let looks = looks.into_iter().filter(|look| look.digest.is_some());
        let looks = looks.map(|look| (look.time, look.outcome, look.status, look.digest)).collect();
        let versions = reader.versions_of(page).unwrap();
        let bodies =
            versions.iter().map(|version| reader.answer(version.id).unwrap().unwrap().body).collect();
        (looks, bodies)
    };
    urls.iter().map(of_page).collect()
}

/// Some changes, visits without news and a failure, in several files; gives the addresses.
fn crawled(directory: &Path) -> Vec<Address> {
    let mut store = Store::open(directory, Options { segment_bytes: 1500, ..Options::default() }).unwrap();
    let pages = add_pages(&mut store, 3);
    for round in 0..6 {
        let second = 10 * round;
        let mut looks = vec![look(pages[2], second, Outcome::Failed, None)];
        for (number, page) in pages.iter().take(2).enumerate() {
            let changes = round % 3 != 2;
            let body = format!("page {number}, {}", if changes { round } else { round - 1 });
            let record = if changes {
                response(&url(number), second, body.as_bytes())
            } else {
                revisit(&url(number), second, body.as_bytes(), at(second - 10), round == 5)
            };
            let outcome = match round {
                0 => Outcome::First,
                2 => Outcome::Unchanged,
                5 => Outcome::NotModified,
                _ => Outcome::Changed,
            };
            let status = Some(if outcome == Outcome::NotModified { 304 } else { 200 });
            looks.push(Look { status, ..recorded(*page, second, outcome, record) });
        }
        commit_looks(&mut store, looks);
    }
    vec![url(0), url(1)]
}

fn without_notes(directory: &Path) -> Vec<String> {
    let findings = refrain_store::verify(directory, |_| {}).unwrap().findings;
    let is_known = |sentence: &String| sentence.contains("has no history; it will be learned anew");
    findings.into_iter().map(|finding| finding.sentence).filter(|sentence| !is_known(sentence)).collect()
}

#[test]
fn a_lost_database_is_rebuilt_with_all_that_records_tell() {
    let directory = tempfile::tempdir().unwrap();
    let urls = crawled(directory.path());
    let before = told(directory.path(), &urls);
    let changes =
        Reader::open(directory.path()).unwrap().changes_since(Seq(0), 100, Roles::ALL).unwrap().changes;
    assert!(segment_files(directory.path()).len() > 2, "the test is to see several files");
    assert!(Recovery::begin(directory.path()).unwrap().is_none(), "nothing is missing");
    fs::remove_file(directory.path().join("refrain.db")).unwrap();

    let recovered = recover(directory.path());
    assert_eq!((recovered.pages, recovered.observations, recovered.versions), (2, 12, 12));
    assert!(recovered.anew.unwrap().contains("there is no such file"));
    assert_eq!((recovered.gaps, recovered.passed_over), (vec![], vec![]));
    assert_eq!(told(directory.path(), &urls), before);
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
    let reader = Reader::open(directory.path()).unwrap();
    let again = reader.changes_since(Seq(0), 100, Roles::ALL).unwrap().changes;
    let key = |change: &refrain_store::Change| (change.url.clone(), change.time, change.old, change.new);
    let mut both = [&changes, &again].map(|changes| changes.iter().map(key).collect::<Vec<_>>());
    for changes in &mut both {
        changes.sort_by_key(|(url, time, ..)| (*time, url.clone()));
    }
    assert_eq!(both[0], both[1]);
    assert_eq!(reader.page(url(1).as_str()).unwrap().unwrap().title.unwrap(), "page 1, 4");

    // It is written on as if nothing had happened.
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(store.leftovers(), None);
    let page = store.read().page(url(0).as_str()).unwrap().unwrap().id;
    commit_looks(&mut store, vec![recorded(page, 99, Outcome::Changed, response(&url(0), 99, b"next"))]);
    drop(store);
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
}

#[test]
fn an_older_database_is_gone_on_from_and_keeps_what_only_it_knows() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("refrain.db");
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let page = add_pages(&mut store, 2)[0];
    let matters = Edit { importance: Some(7.0), ..Edit::of(page) };
    store.commit(&refrain_store::Batch { edits: vec![matters], ..Default::default() }).unwrap();
    commit_looks(&mut store, vec![recorded(page, 1, Outcome::First, response(&url(0), 1, b"one"))]);
    drop(store);
    let older = fs::read(&database).unwrap();
    let mut store =
        Store::open(directory.path(), Options { segment_bytes: 1, ..Options::default() }).unwrap();
    commit_looks(&mut store, vec![recorded(page, 2, Outcome::Changed, response(&url(0), 2, b"two"))]);
    commit_looks(
        &mut store,
        vec![recorded(page, 3, Outcome::Unchanged, revisit(&url(0), 3, b"two", at(2), false))],
    );
    drop(store);
    let before = told(directory.path(), &[url(0)]);
    fs::write(&database, &older).unwrap();

    let recovered = recover(directory.path());
    assert_eq!((recovered.anew, recovered.pages, recovered.observations), (None, 0, 2));
    assert_eq!(told(directory.path(), &[url(0)]), before);
    let record = Reader::open(directory.path()).unwrap().page_by_id(page).unwrap().unwrap();
    assert_eq!((record.importance, record.history), (7.0, Some(vec![1, 2, 3])));
    assert_eq!(fs::read(directory.path().join("refrain.db.before-recovery-1")).unwrap(), older);
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
    drop(Store::open(directory.path(), Options::default()).unwrap());
}

#[test]
fn an_older_database_is_kept_when_files_were_compacted_since() {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("refrain.db");
    let urls = crawled(directory.path());
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let page = store.read().page(urls[0].as_str()).unwrap().unwrap().id;
    let matters = Edit { importance: Some(7.0), ..Edit::of(page) };
    store.commit(&refrain_store::Batch { edits: vec![matters], ..Default::default() }).unwrap();
    drop(store);
    let older = fs::read(&database).unwrap();
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    store.retain(&Retention { most_bodies: Some(1), longest: None }, at(100), PageId(0), 100).unwrap();
    let compaction = Compaction { least_live: 0.9, ..Compaction::default() };
    while !store.compact(&compaction, at(100)).unwrap().is_nothing() {}
    drop(store);
    // The next start removes the files that nothing refers to any more.
    drop(Store::open(directory.path(), Options::default()).unwrap());
    let (kept, files) = (told(directory.path(), &urls), segment_files(directory.path()));
    assert!(!files.iter().any(|file| file.ends_with("000001.warc.gz")), "{files:?}");
    fs::write(&database, &older).unwrap();

    let recovered = recover(directory.path());
    assert_eq!((recovered.anew, recovered.pages, recovered.observations), (None, 0, 0));
    assert!(!recovered.gaps.is_empty() && recovered.gaps[0].contains("versions are lost"));
    let reader = Reader::open(directory.path()).unwrap();
    assert_eq!(reader.page_by_id(page).unwrap().unwrap().importance, 7.0, "only the database knew it");
    for ((looks, bodies), (all, after)) in kept.iter().zip(told(directory.path(), &urls)) {
        assert_eq!((looks, &bodies[0]), (&all, &after[0]), "the latest body was moved, and is found");
    }
    drop(reader);
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
    drop(Store::open(directory.path(), Options::default()).unwrap());
}

#[test]
fn a_page_whose_body_is_lost_is_fetched_as_if_for_the_first_time() {
    let directory = tempfile::tempdir().unwrap();
    let mut store =
        Store::open(directory.path(), Options { segment_bytes: 1, ..Options::default() }).unwrap();
    let pages = add_pages(&mut store, 2);
    for (number, page) in pages.iter().enumerate() {
        let second = number as i64 + 1;
        let record = response(&url(number), second, b"body");
        commit_looks(&mut store, vec![recorded(*page, second, Outcome::First, record)]);
    }
    drop(store);
    fs::remove_file(directory.path().join("warc/000001.warc.gz")).unwrap();
    let why = Store::open(directory.path(), Options::default()).unwrap_err().to_string();
    assert!(why.contains("000001.warc.gz: is missing") && why.contains("`refrain recover "), "{why}");

    let recovered = recover(directory.path());
    assert_eq!(recovered.gaps, ["000001.warc.gz: is missing or cut short: 1 versions are lost"]);
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let record = |page| store.read().page_by_id(page).unwrap().unwrap();
    assert_eq!((record(pages[0]).digest, record(pages[0]).fetched), (None, None));
    assert!(record(pages[1]).digest.is_some() && record(pages[1]).fetched.is_some());
    drop(store);
    let found = || {
        let report = refrain_store::verify(directory.path(), |_| {}).unwrap();
        assert!(report.is_sound(), "{:?}", report.findings);
        without_notes(directory.path())
    };
    assert_eq!(found(), ["page 1 has lost the copy that change 1 made; it will be fetched anew"]);
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let record = response(&url(0), 9, b"body");
    commit_looks(&mut store, vec![recorded(pages[0], 9, Outcome::First, record)]);
    drop(store);
    let sentence = "page 1 was fetched as if for the first time at change 3: its copy was lost";
    assert_eq!(found(), [sentence]);
}

#[test]
fn damage_is_named_and_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let urls = crawled(directory.path());
    let all: usize = told(directory.path(), &urls).iter().map(|(looks, _)| looks.len()).sum();
    let files = segment_files(directory.path());
    let (first, last) = (&files[0], files.last().unwrap());
    let mut bytes = fs::read(first).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 20].fill(0x1f);
    fs::write(first, bytes).unwrap();
    // Killed while it was writing.
    let bytes = fs::read(last).unwrap();
    fs::write(last, &bytes[..bytes.len() - 9]).unwrap();
    fs::write(directory.path().join("refrain.db"), "").unwrap();

    let recovered = recover(directory.path());
    assert_eq!(recovered.gaps.len(), 2, "{:?}", recovered.gaps);
    assert!(recovered.gaps[0].starts_with("000001.warc.gz: "), "{:?}", recovered.gaps);
    assert_eq!(recovered.observations as usize, all - 2);
    let store = Store::open(directory.path(), Options::default()).unwrap();
    assert!(store.leftovers().is_some(), "the torn end is in the way");
    drop(store);
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
}

#[test]
fn records_that_were_moved_are_counted_once() {
    let directory = tempfile::tempdir().unwrap();
    let urls = crawled(directory.path());
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let retention = Retention { most_bodies: Some(1), longest: None };
    store.retain(&retention, at(100), PageId(0), 100).unwrap();
    let compaction = Compaction { least_live: 0.9, ..Compaction::default() };
    // The files that were given up stay for a while.
    while !store.compact(&compaction, at(100)).unwrap().is_nothing() {}
    drop(store);
    let kept = told(directory.path(), &urls);
    fs::remove_file(directory.path().join("refrain.db")).unwrap();
    let recovered = recover(directory.path());
    assert_eq!(recovered.observations, 12, "dropped versions come back while their files are there");
    for ((_, before), (looks, after)) in kept.iter().zip(told(directory.path(), &urls)) {
        assert_eq!((looks.len(), &after[0]), (6, &before[0]));
    }
    assert_eq!(without_notes(directory.path()), Vec::<String>::new());
}

#[test]
fn a_directory_without_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let why = Recovery::begin(directory.path()).unwrap_err().to_string();
    assert!(why.contains("there are no archive files"), "{why}");
}
