//! What is asked for a few pages at a time.

use std::ops::ControlFlow;

use crate::support::*;
use refrain_store::{Batch, HostId, HostUpdate, Outcome, Robots};

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
