//! Versions go, the rest stays readable, and the space comes back.

use std::sync::atomic::{AtomicBool, Ordering};

use refrain_core::time::Span;
use refrain_store::{Compaction, Digest, Options, Outcome, PageId, Reader, Retention, Store};

use crate::support::*;

const EAGER: Compaction = Compaction { least_live: 0.7, most_bytes: 3000, grace: Span::ZERO };

fn body(page: usize, round: i64) -> Vec<u8> {
    // Text that does not compress to nothing.
    Digest::of(format!("{page} {round}").as_bytes()).to_string().repeat(3).into_bytes()
}

/// Ten pages, each with so many bodies, and a revisit after each.
fn filled(store: &mut Store, rounds: i64) -> Vec<PageId> {
    let pages = add_pages(store, 10);
    for round in 0..rounds {
        let mut looks = Vec::new();
        for (number, page) in pages.iter().enumerate() {
            let (url, body) = (url(number), body(number, round));
            let outcome = if round == 0 { Outcome::First } else { Outcome::Changed };
            let (seen, again) = (round * 10, round * 10 + 5);
            looks.push(recorded(*page, seen, outcome, response(&url, seen, &body)));
            looks.push(recorded(
                *page,
                again,
                Outcome::NotModified,
                revisit(&url, again, &body, at(seen), true),
            ));
        }
        commit_looks(store, looks);
    }
    pages
}

fn small_segments(directory: &std::path::Path) -> Store {
    Store::open(directory, Options { segment_bytes: 8000, ..Options::default() }).unwrap()
}

#[test]
fn old_versions_go_and_their_space_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = small_segments(directory.path());
    let pages = filled(&mut store, 12);
    let before = store.read().status().unwrap();
    let retention = Retention { most_bodies: Some(2), longest: None };
    let mut from = PageId(0);
    let mut dropped = 0;
    loop {
        let step = store.retain(&retention, at(1000), from, 3).unwrap();
        dropped += step.dropped;
        let Some(next) = step.next else { break };
        from = next;
    }
    assert_eq!(dropped, 10 * 10 * 2);
    let reader = Reader::open(directory.path()).unwrap();
    let mut steps = 0;
    loop {
        // After each step everything that is kept is readable, for those as well who opened the store before.
        for (number, page) in pages.iter().enumerate() {
            let versions = reader.versions_of(*page).unwrap();
            assert_eq!(versions.len(), 4);
            for (version, round) in versions.iter().zip([11, 11, 10, 10]) {
                assert_eq!(reader.answer(version.id).unwrap().unwrap().body, body(number, round));
            }
        }
        if store.compact(&EAGER, at(1000)).unwrap().is_nothing() {
            break;
        }
        steps += 1;
    }
    assert!(steps > 3, "the test is to see several steps");
    let after = store.read().status().unwrap();
    assert!(
        after.segment_bytes * 3 < before.segment_bytes,
        "{} {}",
        before.segment_bytes,
        after.segment_bytes
    );
    assert_sound(directory.path());
    assert_warcio_accepts(directory.path());
    drop(store);
    small_segments(directory.path());
    assert_sound(directory.path());
}

#[test]
fn what_is_too_old_goes_but_never_the_latest() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = small_segments(directory.path());
    let pages = filled(&mut store, 5);
    let retention = Retention { most_bodies: None, longest: Some(Span::from_whole_secs(7)) };
    // The last body was seen at 40 and again at 45: at 50 the first is too old by itself, but the second needs it.
    store.retain(&retention, at(50), PageId(0), 100).unwrap();
    let kept: Vec<_> =
        store.read().versions_of(pages[0]).unwrap().iter().map(|version| version.time).collect();
    assert_eq!(kept, [at(45), at(40)]);
    store.retain(&retention, at(1_000_000), PageId(0), 100).unwrap();
    assert_eq!(store.read().versions_of(pages[0]).unwrap().len(), 2);
    assert_sound(directory.path());
}

#[test]
fn a_file_stays_for_readers_that_began_before() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = small_segments(directory.path());
    filled(&mut store, 6);
    store.retain(&Retention { most_bodies: Some(1), longest: None }, at(99), PageId(0), 100).unwrap();
    let files = segment_files(directory.path()).len();
    let patient = Compaction { grace: Span::from_whole_secs(100), ..EAGER };
    let mut retired = 0;
    loop {
        let step = store.compact(&patient, at(1000)).unwrap();
        assert_eq!(step.freed, 0);
        retired += step.retired as usize;
        if step.is_nothing() {
            break;
        }
    }
    assert!(retired > 1 && segment_files(directory.path()).len() >= files);
    assert_sound(directory.path());
    let last = store.compact(&patient, at(1101)).unwrap();
    assert!(last.freed > 0);
    let status = store.read().status().unwrap();
    assert_eq!(segment_files(directory.path()).len() as u64, status.segments);
    assert_sound(directory.path());
}

#[test]
fn whoever_reads_while_files_are_rewritten_always_gets_the_body() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = small_segments(directory.path());
    let pages = filled(&mut store, 1);
    let done = AtomicBool::new(false);
    let read = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let reader = Reader::open(directory.path()).unwrap();
            let mut read = 0u64;
            while !done.load(Ordering::Relaxed) {
                for page in &pages {
                    let latest = reader.versions_of(*page).unwrap().remove(0);
                    // Dropped meanwhile is all that may have happened to it.
                    if let Some(answer) = reader.answer(latest.id).unwrap() {
                        assert_eq!(Digest::of(&answer.body), latest.digest);
                        read += 1;
                    }
                }
            }
            read
        });
        for round in 1..60 {
            let looks = pages.iter().enumerate().map(|(number, page)| {
                recorded(*page, round, Outcome::Changed, response(&url(number), round, &body(number, round)))
            });
            commit_looks(&mut store, looks.collect());
            store
                .retain(&Retention { most_bodies: Some(1), longest: None }, at(round), PageId(0), 100)
                .unwrap();
            while !store.compact(&EAGER, at(round)).unwrap().is_nothing() {}
        }
        done.store(true, Ordering::Relaxed);
        reading.join().unwrap()
    });
    assert!(read > 0);
    assert_sound(directory.path());
}
