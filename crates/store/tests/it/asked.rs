//! What is asked for a few pages at a time.

use std::ops::ControlFlow;

use crate::support::*;
use refrain_store::{Batch, Digest, HostId, HostUpdate, Known, Look, Outcome, PageId, Robots};

#[test]
fn pages_come_by_their_addresses() {
    let (_folder, mut store) = opened();
    add_pages(&mut store, 30);
    let from = |start: &str, most: usize| {
        let mut urls = Vec::new();
        store
            .read()
            .pages_by_address(start, |row| {
                urls.push(row.url.trim_start_matches("https://example.org/page/").to_owned());
                if urls.len() == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        urls
    };
    assert_eq!(from("https://example.org/page/2", 4), ["2", "20", "21", "22"]);
    assert_eq!(from("https://example.org/page/8", 9), ["8", "9"]);
    assert_eq!(from("", usize::MAX).len(), 30);
}

#[test]
fn what_fetchers_need_is_found_by_number() {
    let (_folder, mut store) = opened();
    let pages = add_pages(&mut store, 2);
    let known = Known { etag: Some("\"x\"".into()), last_modified: Some("then".into()), ..Known::default() };
    let first = look(pages[1], 1, Outcome::First, Some(Digest::of(b"a")));
    commit_looks(&mut store, vec![Look { known: Some(known), ..first }]);
    let found = store.read().to_fetch(&[pages[1], PageId(77), pages[0]]).unwrap();
    let fetched = found[0].as_ref().unwrap();
    assert_eq!(fetched.url, url(1).as_str());
    assert_eq!((fetched.etag.as_deref(), fetched.last_modified.as_deref()), (Some("\"x\""), Some("then")));
    assert!(found[1].is_none());
    assert_eq!(found[2].as_ref().unwrap().etag, None);
    let ids = store.read().ids_of([url(1).as_str(), "https://example.org/other"]).unwrap();
    assert_eq!(ids, [Some(pages[1]), None]);
    // The moment is over: what is committed now is seen.
    add_pages(&mut store, 3);
    assert!(store.read().ids_of([url(2).as_str()]).unwrap()[0].is_some());
}

#[test]
fn a_version_is_that_of_its_time() {
    let (_folder, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let seen = |seconds, body: &[u8]| {
        let outcome = if seconds == 10 { Outcome::First } else { Outcome::Changed };
        recorded(page, seconds, outcome, response(&url(0), seconds, body))
    };
    let done = commit_looks(&mut store, vec![seen(10, b"a"), seen(20, b"b")]);
    let at = |seconds| store.read().version_at(page, at(seconds)).unwrap().map(|version| version.id);
    assert_eq!((at(9), at(10), at(19)), (None, done.versions[0], done.versions[0]));
    assert_eq!((at(20), at(99)), (done.versions[1], done.versions[1]));
}

#[test]
fn hosts_come_a_few_at_a_time() {
    let (_folder, mut store) = opened();
    let host = |number: usize| HostUpdate {
        name: format!("https://{number}.example"),
        gap: None,
        back_off_until: None,
        failures: 0,
        robots: Some(Robots { text: b"User-agent: *".to_vec(), fetched: at(1), status: Some(200) }),
        wanted_gap: None,
        paused: false,
    };
    store.commit(&Batch { hosts: (0..5).map(host).collect(), ..Batch::default() }).unwrap();
    let first = store.read().hosts_after(HostId(0), 3).unwrap();
    assert_eq!(
        first.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(),
        ["https://0.example", "https://1.example", "https://2.example"]
    );
    let robots = first[0].robots.as_ref().unwrap();
    assert_eq!((robots.text.len(), robots.fetched, robots.status), (0, at(1), Some(200)));
    assert_eq!(store.read().hosts_after(first[2].id, 3).unwrap().len(), 2);
}
