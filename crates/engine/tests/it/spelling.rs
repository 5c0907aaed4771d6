//! The store and the crawl agree on how addresses are spelled.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Address, Batch, NewPage, Options, Origin, Store};

/// A directory of version 6 has addresses as they were spelled then. Once it is brought up to date, each is the one that a link to it leads to.
#[test]
fn stored_addresses_become_those_that_links_lead_to() {
    // Queries may hold some octets raw that paths never did.
    let (path, query) = (["[", "%5B", "|", "^", "x%5Dy", "%2F", "%25", "\u{e9}"], ["`", "{", "}", "\\", "?"]);
    let mut older: BTreeSet<String> = BTreeSet::new();
    for octet in path.into_iter().chain(query) {
        let octet = octet.replace('\u{e9}', "%C3%A9");
        older.insert(format!("http://[::1]/a?b{octet}c"));
        older.insert(format!("http://[::1]/a?{octet}"));
        if path.contains(&&*octet) {
            older.insert(format!("http://[::1]/a{octet}b"));
            older.insert(format!("http://[::1]/a{octet}?"));
        }
    }
    let page = |url: &String| NewPage {
        url: Address::new(url.as_str()).unwrap(),
        host: "http://[::1]".to_owned(),
        importance: 1.0,
        max_age: None,
        added: Time::ZERO,
        found: "seed",
        origin: Origin::default(),
    };
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path(), Options::default()).unwrap();
    store.commit(&Batch { pages: older.iter().map(page).collect(), ..Batch::default() }).unwrap();
    drop(store);
    let database = rusqlite::Connection::open(directory.path().join("refrain.db")).unwrap();
    database.pragma_update(None, "user_version", 6).unwrap();
    drop(database);
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let mut stored = BTreeSet::new();
    store
        .read()
        .pages(|row| {
            stored.insert(row.url.to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
    let led_to = older.iter().map(|url| PageUrl::parse(url).unwrap().as_str().to_owned()).collect();
    assert_eq!(stored, led_to);
    assert!(stored.len() < older.len(), "some of them are one page");
}
