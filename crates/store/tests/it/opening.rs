//! Opening: what is refused, in one sentence, and what a crash left behind.

use std::fs;
use std::path::Path;

use crate::support::*;
use refrain_store::{Options, Outcome, Reader, Store};

fn refused(directory: &Path) -> String {
    Store::open(directory, Options::default()).unwrap_err().to_string()
}

fn sqlite(directory: &Path, sql: &str) {
    rusqlite::Connection::open(directory.join("refrain.db")).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_second_writer_is_refused_and_readers_are_not() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let why = refused(directory.path());
    assert!(
        why.ends_with("another process is crawling into this directory; stop it first, or only read"),
        "{why}"
    );
    add_pages(&mut store, 2);
    let reader = Reader::open(directory.path()).unwrap();
    assert!(reader.page(url(1).as_str()).unwrap().is_some());
    drop(store);
    Store::open(directory.path(), Options::default()).unwrap();
}

#[test]
#[ignore = "started by the test below"]
fn read_only_disk() {
    let Some(directory) = std::env::var_os("REFRAIN_READ_ONLY_DIRECTORY") else { return };
    let directory = Path::new(&directory).join("50% of #1?");
    assert!(fs::write(directory.join("x"), "").is_err(), "the test is to see a disk that cannot be written");
    let reader = Reader::open(&directory).unwrap();
    assert!(reader.page(url(0).as_str()).unwrap().is_some());
    assert_sound(&directory);
}

#[test]
fn a_store_on_a_disk_that_cannot_be_written_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    with_body(&directory.path().join("50% of #1?"));
    let path = directory.path().display();
    let mount =
        format!("mount --bind '{path}' '{path}' && mount -o remount,bind,ro '{path}' && exec \"$0\" \"$@\"");
    let Some(mut shell) = in_own_mounts(&mount) else { return };
    let output = shell
        .arg(std::env::current_exe().unwrap())
        .args(["opening::read_only_disk", "--exact", "--ignored", "--nocapture"])
        .env("REFRAIN_READ_ONLY_DIRECTORY", directory.path())
        .output()
        .unwrap();
    assert_passed(&output);
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    assert!(Reader::open(directory.path()).unwrap_err().to_string().contains("there is no such file"));
    sqlite(directory.path(), "CREATE TABLE theirs (x); PRAGMA user_version = 3");
    let before = fs::read(directory.path().join("refrain.db")).unwrap();
    assert!(refused(directory.path()).contains("it is the database of another program"));
    assert_eq!(fs::read(directory.path().join("refrain.db")).unwrap(), before);
    fs::write(directory.path().join("refrain.db"), "certainly not a database, but long enough".repeat(50))
        .unwrap();
    assert!(refused(directory.path()).contains("it is not an SQLite database"));
}

#[test]
fn newer_versions_are_refused_also_to_read() {
    let directory = tempfile::tempdir().unwrap();
    drop(Store::open(directory.path(), Options::default()).unwrap());
    sqlite(directory.path(), "PRAGMA user_version = 8");
    let expected = "written by a newer Refrain (schema 8, this one knows 7); use the newer one";
    assert!(refused(directory.path()).ends_with(expected));
    assert!(Reader::open(directory.path()).unwrap_err().to_string().ends_with(expected));
}

/// A store with a committed body, and its segment.
fn with_body(directory: &Path) -> std::path::PathBuf {
    let mut store = Store::open(directory, Options::default()).unwrap();
    let page = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![recorded(page, 1, Outcome::First, response(&url(0), 1, b"body"))]);
    segment_files(directory).remove(0)
}

#[test]
fn bytes_of_no_commit_are_moved_aside() {
    let directory = tempfile::tempdir().unwrap();
    let segment = with_body(directory.path());
    let committed = fs::read(&segment).unwrap();
    // An earlier version wrote no mark. What it left is no whole record, so nothing says that the database is older than the files.
    fs::remove_file(directory.path().join("warc/committed")).unwrap();
    fs::write(&segment, [&committed[..], &committed[..50]].concat()).unwrap();
    for name in ["000002.warc.gz", "000003.warc.gz"] {
        fs::write(segment.with_file_name(name), "torn").unwrap();
    }
    fs::write(segment.with_file_name("mine.warc.gz"), "a file of the user").unwrap();
    let report = refrain_store::verify(directory.path(), |_| {}).unwrap();
    assert!(report.is_sound());
    assert_eq!(report.findings.len(), 3);

    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(store.leftovers().unwrap().bytes, 58);
    let aside = |name: &str| fs::read(directory.path().join("warc/uncommitted").join(name)).unwrap();
    assert_eq!(aside(&format!("000001-from-{}.warc.gz", committed.len())), &committed[..50]);
    assert_eq!(
        (aside("000002-from-0.warc.gz"), aside("000003-from-0.warc.gz")),
        (b"torn".into(), b"torn".into())
    );
    assert_eq!(fs::read(&segment).unwrap(), committed);
    let left: Vec<_> = segment_files(directory.path());
    assert_eq!(left, [segment.clone(), segment.with_file_name("mine.warc.gz")]);
    let page = store.read().page(url(0).as_str()).unwrap().unwrap().id;
    commit_looks(&mut store, vec![recorded(page, 2, Outcome::Changed, response(&url(0), 2, b"next"))]);
    assert_sound(directory.path());
}

#[test]
fn lost_bytes_are_damage_and_nothing_is_made_worse() {
    let directory = tempfile::tempdir().unwrap();
    let segment = with_body(directory.path());
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, &bytes[..bytes.len() - 1]).unwrap();
    let expected = format!("has only {} bytes; expected {}", bytes.len() - 1, bytes.len());
    assert!(refused(directory.path()).contains(&expected));
    fs::remove_file(&segment).unwrap();
    assert!(refused(directory.path()).contains("is missing; expected"));
    assert!(!refrain_store::verify(directory.path(), |_| {}).unwrap().is_sound());
    // Put back, all is well.
    fs::write(&segment, bytes).unwrap();
    drop(Store::open(directory.path(), Options::default()).unwrap());
    assert_sound(directory.path());
}

/// The files of the archive, with what is in them.
fn archive(directory: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    segment_files(directory).into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn an_archive_without_its_database_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    with_body(directory.path());
    let (database, before) = (directory.path().join("refrain.db"), archive(directory.path()));
    for (state, expected) in [
        (None, "there is no such file"),
        (Some(Vec::new()), "it has no tables yet"),
        (Some(b"not a database, but long enough to be one ".repeat(50)), "it is not an SQLite database"),
    ] {
        fs::remove_file(&database).unwrap();
        if let Some(bytes) = &state {
            fs::write(&database, bytes).unwrap();
        }
        let recover = format!("`refrain recover {}`", directory.path().display());
        let reading = Reader::open(directory.path()).unwrap_err().to_string();
        for why in [refused(directory.path()), reading] {
            assert!(
                why.contains(expected) && why.contains("000001.warc.gz") && why.contains(&recover),
                "{why}"
            );
        }
        assert_eq!(archive(directory.path()), before);
        assert_eq!(fs::read(&database).ok(), state, "nothing was written");
        fs::write(&database, "").unwrap();
    }
}

#[test]
fn a_database_that_is_damaged_is_refused_with_the_way_out() {
    let directory = tempfile::tempdir().unwrap();
    with_body(directory.path());
    let database = directory.path().join("refrain.db");
    let mut bytes = fs::read(&database).unwrap();
    bytes[1000..].fill(0xa5);
    fs::write(&database, bytes).unwrap();
    let why = refused(directory.path());
    assert!(why.contains("damaged") && why.contains("`refrain recover "), "{why}");
}

#[test]
fn a_data_directory_that_lost_both_database_and_archive_does_not_begin_anew() {
    let directory = tempfile::tempdir().unwrap();
    let segment = with_body(directory.path());
    fs::remove_file(segment).unwrap();
    fs::remove_file(directory.path().join("refrain.db")).unwrap();
    assert!(refused(directory.path()).contains("there is no such file"));
}

#[test]
fn a_database_that_knows_less_than_the_archive_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut store =
        Store::open(directory.path(), Options { segment_bytes: 1, ..Options::default() }).unwrap();
    let page = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![recorded(page, 1, Outcome::First, response(&url(0), 1, b"one"))]);
    drop(store);
    let database = directory.path().join("refrain.db");
    let older = fs::read(&database).unwrap();
    // More in a file that the database knows, then a file that it does not know.
    for (segment_bytes, second) in [(1_000_000, 2), (1, 3)] {
        let mut store =
            Store::open(directory.path(), Options { segment_bytes, ..Options::default() }).unwrap();
        let body = second.to_string();
        let look = recorded(page, second, Outcome::Changed, response(&url(0), second, body.as_bytes()));
        commit_looks(&mut store, vec![look]);
        drop(store);
        let (newer, files) = (fs::read(&database).unwrap(), archive(directory.path()));
        fs::write(&database, &older).unwrap();
        let why = refused(directory.path());
        assert!(why.contains("is older than the archive") && why.contains("refrain recover"), "{why}");
        let report = refrain_store::verify(directory.path(), |_| {}).unwrap();
        assert!(!report.is_sound(), "{:?}", report.findings);
        assert_eq!(archive(directory.path()), files);
        // The same without the mark, as an earlier version of Refrain left it.
        let mark = fs::read(directory.path().join("warc/committed")).unwrap();
        fs::remove_file(directory.path().join("warc/committed")).unwrap();
        assert!(refused(directory.path()).contains("is older than the archive"));
        assert_eq!(archive(directory.path()), files);
        fs::write(directory.path().join("warc/committed"), mark).unwrap();
        fs::write(&database, newer).unwrap();
        drop(Store::open(directory.path(), Options::default()).unwrap());
        assert_sound(directory.path());
    }
}
