//! Queues of other crawlers: what is committed is read again, and what is wrong with it is found.

use std::path::Path;

use refrain_store::{
    CrawlRow, ItemNews, ItemRow, Options, PageId, QueueChanges, QueueRow, Reader, Schedule, ServedRow, Store,
};

use crate::support::*;

fn queue(id: i64, crawl: &str, limit: Option<u32>) -> QueueRow {
    let (crawl, key) = (crawl.to_owned(), format!("k{id}"));
    QueueRow { id, crawl, key, delay: None, blocked_until: None, limit, served: None }
}

fn item(id: u32, queue: i64, page: Option<PageId>) -> ItemRow {
    let (url, metadata) = (format!("http://a.example/{id}"), vec![0x1a, 3, 10, 1, b'k']);
    let due = if page.is_some() { u32::MAX } else { 50 };
    ItemRow { id, queue, created: 40, due, since: 0, page, url, metadata }
}

/// A crawl with two queues and four addresses, and one of a page.
fn small(directory: &Path) -> Store {
    let mut store = Store::open(directory, Options::default()).unwrap();
    let page = add_pages(&mut store, 1)[0];
    let crawl = |name: &str, schedule| CrawlRow { name: name.to_owned(), schedule };
    let changes = QueueChanges {
        crawls: vec![crawl("c", Schedule::Client), crawl("s", Schedule::Server)],
        queues: vec![queue(1, "c", None), queue(2, "c", Some(3)), queue(3, "s", None)],
        items: vec![
            item(1, 1, None),
            item(2, 2, None),
            item(3, 1, None),
            item(4, 2, None),
            item(5, 3, Some(page)),
        ],
        served: vec![
            ServedRow { id: 1, until: 90, items: vec![1, 2] },
            ServedRow { id: 2, until: 80, items: vec![3] },
        ],
        counted: vec![(2, 2), (2, 4), (2, 2)],
        ..QueueChanges::default()
    };
    store.commit_queues(&[changes]).unwrap();
    store
}

#[test]
fn what_is_committed_is_there() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = small(directory.path());
    let reader = Reader::open(directory.path()).unwrap();
    assert_eq!(reader.counted().unwrap(), [(2, 2), (2, 4)]);
    // The one that was given first ends last.
    let changes = QueueChanges {
        ended: vec![2],
        not_counted: vec![(2, 4)],
        no_items: vec![4],
        news: vec![ItemNews { id: 1, due: 0, since: 1, metadata: None }],
        ..QueueChanges::default()
    };
    store.commit_queues(&[changes]).unwrap();
    let served: Vec<i64> = reader.served().unwrap().iter().map(|served| served.id).collect();
    assert_eq!((served, reader.counted().unwrap()), (vec![1], vec![(2, 2)]));
    let checked = assert_sound(directory.path()).checked;
    assert_eq!((checked.queues, checked.urls), (3, 4));
    let changes = QueueChanges { no_limits: vec![2], ..QueueChanges::default() };
    store.commit_queues(&[changes]).unwrap();
    assert_eq!(reader.counted().unwrap(), []);
}

#[test]
fn many_are_read_together_and_told_in_the_order_that_is_wanted() {
    let directory = tempfile::tempdir().unwrap();
    drop(small(directory.path()));
    let reader = Reader::open(directory.path()).unwrap();
    let all = reader.items_beside(&[4, 9, 1, 3], 1 << 20).unwrap();
    let found = |beside: &refrain_store::Beside| -> Vec<(usize, u32)> {
        beside.found.iter().map(|(place, row)| (*place, row.id)).collect()
    };
    assert_eq!((found(&all), all.left.len()), (vec![(0, 4), (2, 1), (3, 3)], 0), "9 is not there");
    // Those with the lowest numbers first, at least one, until it is enough.
    let some = reader.items_beside(&[4, 9, 1, 3], 1).unwrap();
    assert_eq!((found(&some), some.left), (vec![(2, 1)], vec![0, 1, 3]));
    let some = reader.items_beside(&[4, 9, 1, 3], 30).unwrap();
    assert_eq!((found(&some), some.left), (vec![(2, 1), (3, 3)], vec![0, 1]));
}

#[test]
fn each_kind_of_damage_has_its_sentence() {
    for (sql, expected) in [
        ("DELETE FROM queues WHERE id = 1", "URL 1 is in queue 1, which is not there"),
        ("DELETE FROM crawls WHERE name = 'c'", "queue 1 is of the crawl \"c\", which is not there"),
        ("UPDATE items SET page = NULL WHERE id = 5", "URL 5 is in a crawl in which values decide"),
        ("UPDATE items SET page = 1 WHERE id = 2", "URL 2 is in a crawl in which its crawler decides"),
        ("UPDATE items SET due = 4294967295 WHERE id = 2", "URL 2 waits for a value, and is of no page"),
        ("UPDATE items SET page = 77 WHERE id = 5", "URL 5 is of page 77, which is not there"),
        ("UPDATE items SET metadata = x'1a05aa' WHERE id = 3", "what is kept with URL 3 cannot be read"),
        ("UPDATE items SET metadata = x'1aff' WHERE id = 3", "what is kept with URL 3 cannot be read"),
        ("UPDATE items SET metadata = x'0a00' WHERE id = 3", "what is kept with URL 3 cannot be read"),
        ("UPDATE items SET url = 'http://a.example/1' WHERE id = 3", "URL 3 is in queue 1 more than once"),
        ("DELETE FROM items WHERE id = 2", "URL 2 counts under the limit of queue 2, and is not in it"),
        ("UPDATE served SET items = x'010203'", "what was given as 1 is cut short"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        drop(small(directory.path()));
        let connection = rusqlite::Connection::open(directory.path().join("refrain.db")).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let report = refrain_store::verify(directory.path(), |_| {}).unwrap();
        let found: Vec<String> = report.findings.into_iter().map(|finding| finding.sentence).collect();
        assert!(found.iter().any(|sentence| sentence.contains(expected)), "{sql}: {found:#?}");
    }
}
