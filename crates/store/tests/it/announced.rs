//! What sites announce, and data directories from before anybody listened.

use std::ops::ControlFlow;

use refrain_store::{
    Announcement, Batch, Digest, HubFacts, Look, NewPage, Origin, Outcome, Reader, Role, Signal, Store, Voice,
};

use crate::support::{add_pages, assert_sound, at, commit_looks, look, new_page, opened};

#[test]
fn signals_come_true_or_do_not() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let digest = |text: &[u8]| Some(Digest::of(text));
    let signal =
        |second| Signal { worth: Some(2.5), said: Some(at(1)), ..Signal::new(page, "feed", at(second)) };
    commit_looks(&mut store, vec![look(page, 1, Outcome::First, digest(b"a"))]);
    store.commit(&Batch { signals: vec![signal(2), signal(3)], ..Batch::default() }).unwrap();
    commit_looks(&mut store, vec![look(page, 4, Outcome::Failed, None)]);
    let fates = |store: &Store| -> Vec<_> {
        store.read().signals_of(page, 9).unwrap().iter().map(|signal| signal.came_true).collect()
    };
    assert_eq!(fates(&store), [None, None], "a failure tells nothing");
    commit_looks(&mut store, vec![look(page, 5, Outcome::Changed, digest(b"b"))]);
    store.commit(&Batch { signals: vec![signal(6)], ..Batch::default() }).unwrap();
    assert_eq!(fates(&store), [None, Some(true), Some(true)]);
    let open = |store: &Store| {
        let mut open = Vec::new();
        let each = |page, kind: &str, came| {
            open.push((page, kind.to_owned(), came));
            ControlFlow::Continue(())
        };
        store.read().open_signals(each).unwrap();
        open
    };
    assert_eq!(open(&store), [(page, "feed".to_owned(), at(6))]);
    // A request that was sent before the signal came cannot have seen what it announces, whenever its answer is dated.
    commit_looks(&mut store, vec![Look { asked: at(5), ..look(page, 7, Outcome::NotModified, None) }]);
    assert_eq!(open(&store), [(page, "feed".to_owned(), at(6))]);
    commit_looks(&mut store, vec![look(page, 8, Outcome::NotModified, None)]);
    assert_eq!(fates(&store), [Some(false), Some(true), Some(true)]);
    let first = &store.read().signals_of(page, 9).unwrap()[2];
    assert_eq!((first.worth, first.said), (Some(2.5), Some(at(1))));
    assert_sound(directory.path());
}

/// A sitemap that lies at every visit does not fill the disk.
#[test]
fn of_many_signals_the_last_are_kept() {
    let (_directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![look(page, 1, Outcome::First, Some(Digest::of(b"a")))]);
    let signals = (2..500).map(|second| Signal::new(page, "sitemap", at(second))).collect();
    store.commit(&Batch { signals, ..Batch::default() }).unwrap();
    commit_looks(&mut store, vec![look(page, 500, Outcome::Unchanged, Some(Digest::of(b"a")))]);
    let kept = store.read().signals_of(page, 1000).unwrap();
    assert!((200..=201).contains(&kept.len()) && kept[0].time == at(499), "{}", kept.len());
}

#[test]
fn voices_hubs_and_origins_survive() {
    let (directory, mut store) = opened();
    let hub = add_pages(&mut store, 1)[0];
    let origin =
        Origin { role: Role::Feed, hub: Some(hub), born: Some(at(3)), decay: Some(0.5), hint: Some(9) };
    let found = NewPage { origin, importance: 8.0, ..new_page(1) };
    let page =
        store.commit(&Batch { pages: vec![found], ..Batch::default() }).unwrap().pages[0].unwrap().page;
    let voice = Voice {
        host: "https://example.org".into(),
        kind: "sitemap".into(),
        intervals: 12.0,
        precision: 0.9,
        recall: 0.8,
        heard: true,
        learned: vec![1, 2],
    };
    let facts =
        HubFacts { page: hub, visits: 3, news: 7, rate: 0.1, profit: 5.0, decay: 0.2, learned: vec![3] };
    let gone = HubFacts { page, ..facts.clone() };
    let announced = vec![
        Announcement { page, kind: "sitemap", said: at(4) },
        Announcement { page, kind: "sitemap", said: at(5) },
    ];
    let (voices, hubs) = (vec![voice.clone()], vec![facts.clone(), gone]);
    store.commit(&Batch { announced, voices, hubs, ..Batch::default() }).unwrap();
    store.commit(&Batch { no_hubs: vec![page], ..Batch::default() }).unwrap();
    drop(store);
    let reader = Reader::open(directory.path()).unwrap();
    assert_eq!(reader.voices().unwrap(), [voice]);
    let hubs = reader.hubs().unwrap();
    assert_eq!((hubs.len(), &hubs[0].hub, hubs[0].role), (1, &facts, Role::Page));
    let mut said = Vec::new();
    let each = |page, kind: &str, time| {
        said.push((page, kind.to_owned(), time));
        ControlFlow::Continue(())
    };
    reader.announced(each).unwrap();
    assert_eq!(said, [(page, "sitemap".to_owned(), at(5))]);
    let record = reader.page_by_id(page).unwrap().unwrap();
    assert_eq!(record.origin, origin);
    assert!((record.row().importance_at(at(5)) - 8.0 * (-1.0f64).exp()).abs() < 1e-12);
}
