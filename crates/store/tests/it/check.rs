//! `verify` finds what is wrong, says it in one sentence, and finds nothing where nothing is.

use std::fs;
use std::path::Path;

use refrain_store::{Options, Outcome, Reader, Store};

use crate::support::*;

/// Three pages: one with a body and a revisit of it, one with two bodies, one with a failure.
fn small_store(directory: &Path) {
    let mut store = Store::open(directory, Options::default()).unwrap();
    let pages = add_pages(&mut store, 3);
    let looks = vec![
        recorded(pages[0], 1, Outcome::First, response(&url(0), 1, b"zero")),
        recorded(pages[1], 1, Outcome::First, response(&url(1), 1, b"one")),
        recorded(pages[0], 2, Outcome::Unchanged, revisit(&url(0), 2, b"zero", at(1), false)),
        recorded(pages[1], 2, Outcome::Changed, response(&url(1), 2, b"two")),
        look(pages[2], 3, Outcome::Failed, None),
    ];
    commit_looks(&mut store, looks);
}

/// The findings after somebody has meddled with the database.
fn after(sql: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    small_store(directory.path());
    let connection = rusqlite::Connection::open(directory.path().join("refrain.db")).unwrap();
    connection
        .execute_batch(&format!("PRAGMA foreign_keys = off; PRAGMA ignore_check_constraints = on; {sql}"))
        .unwrap();
    drop(connection);
    findings(directory.path())
}

fn findings(directory: &Path) -> Vec<String> {
    let report = refrain_store::verify(directory, |_| {}).unwrap();
    report.findings.into_iter().map(|finding| finding.sentence).collect()
}

#[test]
fn a_sound_store_is_found_sound_and_untouched() {
    let directory = tempfile::tempdir().unwrap();
    small_store(directory.path());
    let before = fs::read(directory.path().join("refrain.db")).unwrap();
    let checked = assert_sound(directory.path()).checked;
    assert_eq!((checked.pages, checked.observations, checked.changes), (3, 5, 3));
    assert_eq!((checked.versions, checked.segments), (4, 1));
    assert_eq!(fs::read(directory.path().join("refrain.db")).unwrap(), before);
}

#[test]
fn every_flipped_byte_of_a_segment_is_found_or_means_nothing() {
    let directory = tempfile::tempdir().unwrap();
    small_store(directory.path());
    let segment = segment_files(directory.path()).remove(0);
    let sound = fs::read(&segment).unwrap();
    let reader = Reader::open(directory.path()).unwrap();
    let bodies = || -> Vec<_> {
        let pages = (0..2).map(|number| reader.page(url(number).as_str()).unwrap().unwrap().id);
        let versions = pages.flat_map(|page| reader.versions_of(page).unwrap());
        versions.map(|version| reader.answer(version.id).ok().flatten().map(|answer| answer.body)).collect()
    };
    let expected = bodies();
    let mut found = 0;
    for at in (0..sound.len()).step_by(7) {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x55;
        fs::write(&segment, &bytes).unwrap();
        if findings(directory.path()).is_empty() {
            assert_eq!(bodies(), expected, "byte {at} was changed, and nobody noticed");
        } else {
            found += 1;
        }
    }
    assert!(found > sound.len() / 7 / 2, "only {found}");
}

#[test]
fn each_kind_of_damage_has_its_sentence() {
    for (sql, expected) in [
        ("UPDATE versions SET digest = zeroblob(32) WHERE id = 2", "(https://example.org/page/1) at byte"),
        ("UPDATE versions SET \"offset\" = \"offset\" + 1 WHERE id = 4", "lies beyond what was committed"),
        (
            "UPDATE versions SET length = length + 5 WHERE id = 1",
            "is followed by something else than its request",
        ),
        ("UPDATE versions SET url = 'http://x/' WHERE id = 1", "is about \"https://example.org/page/0\""),
        (
            "UPDATE versions SET body = 2 WHERE id = 3",
            "version 3 is a revisit of something else than its body",
        ),
        (
            "DELETE FROM versions WHERE id = 1",
            "row 3 of versions refers to a row of versions that is not there",
        ),
        ("UPDATE observations SET time = time - 60000 WHERE id = 3", "was written earlier but made later"),
        ("UPDATE changes SET old = zeroblob(32) WHERE seq = 3", "change 3 of page 2 does not start where"),
        ("DELETE FROM changes WHERE seq = 3", "page 2 is not what change 2, its last, made it"),
        ("DELETE FROM changes WHERE page = 1", "page 1 has a digest that no change tells of"),
        ("DELETE FROM observations WHERE id = 1", "change 1 of page 1 has no observation that saw it"),
        (
            "DELETE FROM observations WHERE id = 1",
            "the chain of looks at page 1 leads to observation 1, which",
        ),
        ("UPDATE observations SET before = NULL WHERE id = 4", "observation 2 of page 2 is not in the chain"),
        (
            "UPDATE pages SET observation = 9 WHERE id = 3",
            "the last look at page 3, observation 9, is not there",
        ),
        ("DELETE FROM pages WHERE id = 3", "1 observations are of page 3, which is not there"),
        ("UPDATE pages SET history = NULL WHERE id = 1", "page 1 was fetched but has no history"),
        (
            "UPDATE pages SET state = 'lost' WHERE id = 1",
            "page 1 is in the state \"lost\", which there is not",
        ),
        ("UPDATE observations SET outcome = 'odd' WHERE id = 5", "observation 5 has the outcome \"odd\""),
        ("DELETE FROM segments", "row 1 of versions refers to a row of segments that is not there"),
    ] {
        let found = after(sql);
        assert!(found.iter().any(|sentence| sentence.contains(expected)), "{sql}: {found:#?}");
    }
}

#[test]
fn files_that_are_short_gone_or_strange_are_told_of() {
    let directory = tempfile::tempdir().unwrap();
    small_store(directory.path());
    let segment = segment_files(directory.path()).remove(0);
    let bytes = fs::read(&segment).unwrap();
    fs::write(&segment, &bytes[..bytes.len() - 3]).unwrap();
    let found = findings(directory.path());
    assert!(found[0].starts_with("000001.warc.gz: has only"), "{found:?}");
    assert!(found[1].ends_with("is cut short"), "{found:?}");
    fs::remove_file(&segment).unwrap();
    assert!(findings(directory.path())[0].starts_with("000001.warc.gz: is missing; expected"));
}
