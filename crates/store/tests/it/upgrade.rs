//! Directories of older versions are brought up to date, and are then like new ones.

use std::collections::BTreeMap;
use std::path::Path;

use refrain_core::time::Time;
use refrain_store::{
    Address, Announcement, Batch, Digest, NewPage, Options, Origin, Outcome, Reader, ReadsFacts, Respelled,
    Roles, Seq, Signal, Store, StoreError,
};
use rusqlite::Connection;

use crate::support::*;

const VERSION_1: &str = include_str!("data/version-1.sql");
const VERSION_3: &str = include_str!("data/version-3.sql");

/// A directory of an older version, as it was made then.
fn older(schema: &str, version: u32, rows: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let connection = Connection::open(directory.path().join("refrain.db")).unwrap();
    connection.execute_batch(schema).unwrap();
    connection.execute_batch(rows).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA application_id = {}; PRAGMA user_version = {version}",
            i32::from_be_bytes(*b"Rfrn")
        ))
        .unwrap();
    directory
}

/// The columns of all tables, and what indexes there are.
fn shape(directory: &Path) -> BTreeMap<String, Vec<String>> {
    let connection = Connection::open(directory.join("refrain.db")).unwrap();
    let mut names =
        connection.prepare("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'index')").unwrap();
    let names: Vec<(String, String)> =
        names.query_map((), |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let columns = |(name, kind): (String, String)| {
        let sql = match &kind[..] {
            "table" => {
                format!(
                    "SELECT format('%s %s %d %s %d', name, type, \"notnull\", dflt_value, pk) FROM pragma_table_info('{name}')"
                )
            }
            _ => format!("SELECT format('%d %s', seqno, name) FROM pragma_index_info('{name}')"),
        };
        let mut info = connection.prepare(&sql).unwrap();
        // The order of columns that were added later is another one.
        let mut columns: Vec<String> =
            info.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        columns.sort();
        (name, columns)
    };
    names.into_iter().map(columns).collect()
}

fn assert_like_new(directory: &Path) {
    let new = tempfile::tempdir().unwrap();
    drop(Store::open(new.path(), Options::default()).unwrap());
    assert_eq!(shape(directory), shape(new.path()));
    assert_sound(directory);
}

#[test]
fn the_first_version() {
    let rows = "INSERT INTO hosts (name) VALUES ('http://a');
         INSERT INTO pages (url, host, importance, added, found) VALUES ('http://a/', 1, 2.0, 5, 'seed');
         INSERT INTO signals (page, kind, time) VALUES (1, 'x', 7);";
    let directory = older(VERSION_1, 1, rows);
    let refused = Reader::open(directory.path()).unwrap_err();
    assert!(matches!(refused, StoreError::Older { .. }), "{refused}");
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let page = store.read().page("http://a/").unwrap().unwrap();
    assert_eq!((page.importance, page.origin), (2.0, Origin::default()));
    assert_eq!(store.read().signals_of(page.id, 9).unwrap()[0].time, Time::from_nanos(7_000_000));
    drop(store);
    assert_like_new(directory.path());
}

#[test]
fn looks_become_chains() {
    // Two pages whose looks alternate, one of which another crawler had watched before; a third that was removed, and had the last look and change.
    let rows = "INSERT INTO hosts (name) VALUES ('http://a');
         INSERT INTO pages (url, host, importance, added, found, looked, fetched, digest, history)
             VALUES ('http://a/1', 1, 1.0, 0, 'seed', 40, 40, x'02', x'00'), ('http://a/2', 1, 1.0, 0, 'seed', 30, 30, x'05', x'00'),
                    ('http://a/3', 1, 1.0, 0, 'seed', NULL, NULL, NULL, NULL);
         INSERT INTO observations (page, time, outcome, counted, bytes, duration)
             VALUES (1, 10, 'first', NULL, 0, 0), (2, 20, 'first', NULL, 0, 0), (1, 40, 'changed', NULL, 0, 0),
                    (2, 30, 'unchanged', NULL, 0, 0), (1, 5, 'unchanged', 'imported', 0, 0), (2, 30, 'unchanged', NULL, 0, 0);
         INSERT INTO observations (id, page, time, outcome, bytes, duration) VALUES (99, 3, 50, 'first', 0, 0);
         INSERT INTO changes (page, time, old, new, observation)
             VALUES (1, 10, NULL, x'01', 1), (2, 20, NULL, x'05', 2), (1, 40, x'01', x'02', 3), (3, 50, NULL, x'09', 99);
         DELETE FROM pages WHERE id = 3;";
    // Digests are as long as they should be.
    let wide = |text: String| {
        (1..=9).fold(text, |text, byte| {
            text.replace(&format!("x'0{byte}'"), &format!("x'{}'", format!("0{byte}").repeat(32)))
        })
    };
    let directory = older(VERSION_3, 3, &format!("PRAGMA foreign_keys = on; {}", wide(rows.to_owned())));
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    let pages = ["http://a/1", "http://a/2"].map(|url| store.read().page(url).unwrap().unwrap().id);
    let numbers = |store: &Store, page: usize, most| -> Vec<i64> {
        store.read().observations_of(pages[page], most).unwrap().iter().map(|look| look.id).collect()
    };
    assert_eq!((numbers(&store, 0, 9), numbers(&store, 1, 9)), (vec![3, 1, 5], vec![6, 4, 2]));
    assert_eq!((numbers(&store, 0, 2), numbers(&store, 0, 0)), (vec![3, 1], vec![]));
    assert_eq!(pages.map(|page| store.read().bodies_seen(page).unwrap()), [2, 1]);
    // Numbers of what was removed are not used again.
    commit_looks(&mut store, vec![look(pages[0], 60, Outcome::Changed, Some(Digest::of(b"new")))]);
    assert_eq!(numbers(&store, 0, 9), [100, 3, 1, 5]);
    let changes = store.read().changes_since(Seq(0), 9, Roles::ALL).unwrap().changes;
    assert_eq!(
        changes.iter().map(|change| (change.seq.0, change.observation)).collect::<Vec<_>>(),
        [(1, 1), (2, 2), (3, 3), (5, 100)]
    );
    // A page that is removed takes its looks and changes along, and nothing else.
    store.commit(&Batch { removals: vec![pages[0]], ..Batch::default() }).unwrap();
    let changes = store.read().changes_since(Seq(0), 9, Roles::ALL).unwrap().changes;
    assert_eq!(changes.iter().map(|change| change.seq.0).collect::<Vec<_>>(), [2]);
    let mut left = Vec::new();
    store
        .read()
        .observations(0, |look| {
            left.push(look.id);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(left, [2, 4, 6]);
    drop(store);
    assert_like_new(directory.path());
}

/// Before version 4 hosts that are addresses of IPv6 had no brackets, so that two of them could have one name.
#[test]
fn hosts_without_brackets_are_named_anew() {
    let directory = older(
        VERSION_3,
        3,
        "INSERT INTO hosts (id, name, gap, failures, robots, robots_fetched, wanted_gap, paused) VALUES
             (1, 'https://::1:8443', 3000, 2, x'78', 5, 7000, 1), (2, 'http://a.example', 1, 0, x'79', 5, NULL, 0), (3, 'http://::1', 9, 0, NULL, NULL, NULL, 0);
         INSERT INTO pages (url, host, importance, added, found) VALUES
             ('https://[::1]:8443/a', 1, 1, 0, 'seed'), ('https://[::1]:8443/b?c=/d', 1, 1, 0, 'seed'),
             ('https://[::1:8443]/', 1, 1, 0, 'seed'), ('http://a.example/[x]', 2, 1, 0, 'seed'), ('http://[::1]/', 3, 1, 0, 'seed');
         INSERT INTO voices (host, kind, intervals, precision, recall, heard, learned) VALUES
             (1, 'feed', 3, 0.5, 0.5, 1, x'00'), (2, 'feed', 3, 0.5, 0.5, 1, x'00');
         INSERT INTO meta (key, value) VALUES ('hours https://::1:8443', x'00'), ('hours http://a.example', x'00'), ('websub.x', x'');",
    );
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let reader = store.read();
    let host_of = |url: &str| {
        let page = reader.page(url).unwrap().unwrap();
        reader.host_by_id(page.host).unwrap().unwrap()
    };
    for (url, name) in [
        ("https://[::1]:8443/a", "https://[::1]:8443"),
        ("https://[::1]:8443/b?c=/d", "https://[::1]:8443"),
        ("https://[::1:8443]/", "https://[::1:8443]"),
        ("http://a.example/%5Bx%5D", "http://a.example"),
        ("http://[::1]/", "http://[::1]"),
    ] {
        assert_eq!(host_of(url).name, name);
    }
    let moved = host_of("https://[::1]:8443/a");
    assert_eq!(
        (moved.wanted_gap.map(refrain_core::time::Span::as_secs), moved.paused),
        (Some(7.0), true),
        "what was wanted holds"
    );
    assert_eq!((moved.failures, moved.robots), (2, None), "its rules are asked for");
    assert!(host_of("http://a.example/%5Bx%5D").robots.is_some(), "others are as they were");
    let mut names = Vec::new();
    reader
        .hosts(|host| {
            names.push(host.name);
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    names.sort();
    assert_eq!(names, ["http://[::1]", "http://a.example", "https://[::1:8443]", "https://[::1]:8443"]);
    assert_eq!(reader.meta("hours https://::1:8443").unwrap(), None);
    assert!(reader.meta("hours http://a.example").unwrap().is_some());
    assert_eq!(reader.meta("websub.x").unwrap(), None, "nothing is kept of it");
    assert_eq!(reader.hosts_named("::1").unwrap(), reader.hosts_named("[::1]").unwrap());
    assert_eq!(reader.hosts_named("::1").unwrap().len(), 2, "with any scheme and port");
    drop(store);
    assert_like_new(directory.path());
    let voices = "SELECT count(*) FROM voices JOIN hosts ON hosts.id = host";
    let database = rusqlite::Connection::open(directory.path().join("refrain.db")).unwrap();
    assert_eq!(database.query_row(voices, (), |row| row.get::<_, i64>(0)).unwrap(), 3);
    assert_sound(directory.path());
}

/// Limits counted what was completed; that is written down from version 6 on.
#[test]
fn what_is_completed_counts_under_limits() {
    let directory = tempfile::tempdir().unwrap();
    drop(Store::open(directory.path(), Options::default()).unwrap());
    let connection = Connection::open(directory.path().join("refrain.db")).unwrap();
    connection
        .execute_batch(
            "DROP TABLE counted; ALTER TABLE samples RENAME COLUMN foretold TO watched; PRAGMA user_version = 5;
             INSERT INTO crawls (name, schedule) VALUES ('c', 'client');
             INSERT INTO queues (id, crawl, key, most) VALUES (1, 'c', 'limited', 3), (2, 'c', 'free', NULL);
             INSERT INTO items (id, queue, created, due, since, url, metadata) VALUES
                 (1, 1, 5, 0, 0, 'http://a/1', x''), (2, 1, 5, 9, 0, 'http://a/2', x''), (3, 2, 5, 0, 0, 'http://b/', x'');",
        )
        .unwrap();
    drop(connection);
    let store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(store.read().counted().unwrap(), [(1, 1)]);
    drop(store);
    assert_like_new(directory.path());
}

/// Until version 6 a page could be stored under two spellings of one address.
#[test]
fn spellings_of_one_address_become_one_page() {
    let (directory, mut store) = opened();
    assert_eq!(store.respelled(), None);
    let url = |path: &str| Address::new(format!("https://example.org/{path}")).unwrap();
    let paths = ["?a[b]=1", "?a%5Bb%5D=1", "x|y", "x%7Cy", "e?", "s", "[[", "[%5B"];
    let new = |(at, path): (usize, &&str)| NewPage {
        url: url(path),
        importance: 1.0 + at as f64,
        found: if at == 2 { "seed" } else { "link" },
        ..new_page(0)
    };
    let pages = paths.iter().enumerate().map(new).collect();
    let added = store.commit(&Batch { pages, ..Batch::default() }).unwrap().pages;
    let ids: Vec<_> = added.iter().map(|added| added.unwrap().page).collect();
    let look = |at: usize, seconds, outcome, body: &[u8]| {
        recorded(ids[at], seconds, outcome, response(&url(paths[at]), seconds, body))
    };
    let first = Outcome::First;
    commit_looks(
        &mut store,
        vec![look(0, 1, first, b"one"), look(1, 2, first, b"two"), look(3, 3, first, b"x")],
    );
    commit_looks(&mut store, vec![look(0, 4, Outcome::Changed, b"three")]);
    let reads = |at: usize, count| ReadsFacts { page: ids[at], count, time: Time::ZERO };
    store
        .commit(&Batch {
            signals: vec![Signal::new(ids[2], "feed", at(5))],
            announced: vec![Announcement { page: ids[2], kind: "feed", said: at(6) }],
            reads: vec![reads(2, 2.0), reads(3, 1.0)],
            ..Batch::default()
        })
        .unwrap();
    drop(store);
    let connection = Connection::open(directory.path().join("refrain.db")).unwrap();
    connection
        .execute_batch(&format!(
            "PRAGMA user_version = 6; UPDATE pages SET redirect = 'https://example.org/x|y', hub = {page} WHERE url LIKE '%/s';
             UPDATE pages SET hub = {kept} WHERE id = {page}; UPDATE pages SET state = 'paused', max_age = 9 WHERE id = {page};
             INSERT INTO crawls (name, schedule) VALUES ('c', 'server'); INSERT INTO queues (id, crawl, key) VALUES (1, 'c', 'k');
             INSERT INTO items (queue, created, due, since, page, url, metadata) VALUES (1, 0, 0, 0, {page}, 'https://example.org/x|y', x'');",
            page = ids[2].0,
            kept = ids[3].0,
        ))
        .unwrap();
    drop(connection);

    let store = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(store.respelled(), Some(Respelled { renamed: 3, merged: 3, looks: 1 }));
    let reader = store.read();
    let page = |path: &str| reader.page(url(path).as_str()).unwrap();
    for (path, kept) in [("?a%5Bb%5D=1", 0), ("x%7Cy", 3), ("e", 4), ("s", 5), ("%5B%5B", 7)] {
        assert_eq!(page(path).map(|page| page.id), Some(ids[kept]), "{path}");
    }
    for path in ["?a[b]=1", "x|y", "e?", "[[", "[%5B"] {
        assert_eq!(page(path), None, "{path}");
    }
    // The page with more looks stays with its own; the copies of both are there, each under the address that answered.
    assert_eq!(reader.observations_of(ids[0], 9).unwrap().len(), 2);
    let versions = reader.versions_of(ids[0]).unwrap();
    let versions: Vec<_> = versions.iter().map(|one| (one.url.as_str(), one.digest)).collect();
    let address = |path: &str| format!("https://example.org/{path}");
    let (raw, encoded) = (address(paths[0]), address(paths[1]));
    assert_eq!(
        versions,
        [(&*raw, Digest::of(b"three")), (&*encoded, Digest::of(b"two")), (&*raw, Digest::of(b"one"))]
    );
    let told = reader.meta(&format!("merged.{encoded}")).unwrap();
    assert_eq!(told.as_deref(), Some(&b"1"[..]), "looks that were given up are counted");
    // What people and sites said of either holds.
    let kept = page("x%7Cy").unwrap();
    assert_eq!((kept.importance, kept.found.as_str(), kept.origin.hub), (4.0, "seed", None));
    assert_eq!(
        (kept.state, kept.max_age.map(refrain_core::time::Span::as_secs)),
        (refrain_store::PageState::Paused, Some(0.009))
    );
    assert_eq!(reader.signals_of(ids[3], 9).unwrap().len(), 1);
    let mut said = Vec::new();
    reader
        .announced(|page, _, time| {
            said.push((page, time));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(said, [(ids[3], at(6))]);
    let mut read = Vec::new();
    reader
        .reads(|reads| {
            read.push((reads.page, reads.count));
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(read, [(ids[3], 3.0)]);
    let led = page("s").unwrap();
    assert_eq!((led.redirect.as_deref(), led.origin.hub), (Some(&*address("x%7Cy")), Some(ids[3])));
    let mut items = Vec::new();
    reader.each_item(|item| items.push((item.page, item.url))).unwrap();
    assert_eq!(items, [(Some(ids[3]), address("x|y"))], "a client's address stays as it came");
    drop(store);
    assert_like_new(directory.path());
    let again = Store::open(directory.path(), Options::default()).unwrap();
    assert_eq!(again.respelled(), None);
}
