//! A full disk: the batch is refused, nothing is torn, and the same batch goes through once there is room.
//!
//! Both tests start this test program again, once on a file system of a few megabytes, once with a limit on the size of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use refrain_store::{Batch, Digest, Options, Outcome, PageId, Store, StoreError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::*;

const DIRECTORY: &str = "REFRAIN_FULL_DIRECTORY";
const PAGES: usize = 50;

/// What does not compress.
fn noise(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes / 32).flat_map(|at| *Digest::of(format!("{seed} {at}").as_bytes()).as_bytes()).collect()
}

/// Batch `number`: a body for each page.
fn batch(pages: &[PageId], number: usize, bytes: usize) -> Batch {
    let outcome = if number == 0 { Outcome::First } else { Outcome::Changed };
    let seconds = number as i64;
    let look = |(at, page): (usize, &PageId)| {
        let body = noise(number * PAGES + at, bytes);
        recorded(*page, seconds, outcome, response(&url(at), seconds, &body))
    };
    Batch { looks: pages.iter().enumerate().map(look).collect(), ..Batch::default() }
}

/// Everything up to batch `number` can be read, and nothing else is there.
fn assert_committed(store: &Store, pages: &[PageId], batches: usize, bytes: usize) {
    let status = store.read().status().unwrap();
    assert_eq!(status.observations, (batches * PAGES) as u64);
    for (at, page) in pages.iter().enumerate() {
        let versions = store.read().versions_of(*page).unwrap();
        assert_eq!(versions.len(), batches);
        if let Some(latest) = versions.first() {
            let body = store.read().answer(latest.id).unwrap().unwrap().body;
            assert_eq!(body, noise((batches - 1) * PAGES + at, bytes));
        }
    }
}

fn directory() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(Into::into)
}

fn start(mut launcher: Command, test: &str, directory: &Path) -> Output {
    launcher
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .output()
        .unwrap()
}

#[test]
#[ignore = "started by the test below"]
fn small_disk() {
    let Some(directory) = directory() else { return };
    let ballast = directory.join("ballast");
    fs::write(&ballast, noise(0, 1 << 20)).unwrap();
    let options = Options { segment_bytes: 700_000, ..Options::default() };
    let mut store = Store::open(&directory.join("store"), options).unwrap();
    let pages = add_pages(&mut store, PAGES);
    for fill in 0..2 {
        let bytes = 3000;
        let mut number = store.read().status().unwrap().observations as usize / PAGES;
        let why = loop {
            match store.commit(&batch(&pages, number, bytes)) {
                Ok(_) => number += 1,
                Err(why) => break why,
            }
        };
        assert!(matches!(why, StoreError::DiskFull { free: Some(_), .. }), "{why}");
        assert!(number > 0);
        assert_committed(&store, &pages, number, bytes);
        // Still full.
        assert!(store.commit(&batch(&pages, number, bytes)).unwrap_err().is_full());
        assert_committed(&store, &pages, number, bytes);
        if fill == 0 {
            fs::remove_file(&ballast).unwrap();
            store.commit(&batch(&pages, number, bytes)).unwrap();
            assert_committed(&store, &pages, number + 1, bytes);
        }
    }
    assert_sound(&directory.join("store"));
}

#[test]
fn a_full_disk_loses_nothing_and_room_mends_it() {
    let directory = tempfile::tempdir().unwrap();
    let mount =
        format!("mount -t tmpfs -o size=6m none '{}' && exec \"$0\" \"$@\"", directory.path().display());
    let Some(shell) = in_own_mounts(&mount) else { return };
    assert_passed(&start(shell, "full::small_disk", directory.path()));
}

#[test]
#[ignore = "started by the test below"]
fn small_files() {
    let Some(directory) = directory() else { return };
    let bytes = 60_000;
    let mut store = Store::open(&directory, Options::default()).unwrap();
    let pages = add_pages(&mut store, PAGES);
    store.commit(&batch(&pages, 0, bytes)).unwrap();
    let committed = fs::metadata(&segment_files(&directory)[0]).unwrap().len();
    let before = getrlimit(Resource::Fsize);
    // Half of the next batch.
    let limit = Rlimit { current: Some(committed + committed / 2), maximum: before.maximum };
    setrlimit(Resource::Fsize, limit).unwrap();
    for _ in 0..2 {
        let why = store.commit(&batch(&pages, 1, bytes)).unwrap_err();
        assert!(why.is_full(), "{why}");
        assert_committed(&store, &pages, 1, bytes);
        assert_eq!(
            fs::metadata(&segment_files(&directory)[0]).unwrap().len(),
            committed,
            "the torn tail is gone"
        );
    }
    setrlimit(Resource::Fsize, before).unwrap();
    store.commit(&batch(&pages, 1, bytes)).unwrap();
    assert_committed(&store, &pages, 2, bytes);
    assert_sound(&directory);
}

#[test]
fn a_limit_on_the_size_of_files_loses_nothing_either() {
    let directory = tempfile::tempdir().unwrap();
    // A process that does not ignore the signal is killed by it.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ && exec \"$0\" \"$@\""]);
    assert_passed(&start(shell, "full::small_files", directory.path()));
}
