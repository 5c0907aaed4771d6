//! What is committed is there, for the writer, for other readers, and after opening the store anew.

use std::ops::ControlFlow;

use crate::support::*;
use refrain_core::time::{Span, Time};
use refrain_store::warc::Kind;
use refrain_store::{
    Added, Batch, ChangeKind, Digest, Edit, Filter, GrantFacts, HostUpdate, HubFacts, Known, Lease, Leased,
    Look, NewPage, Options, Order, Origin, Outcome, PageId, PageState, PastLooks, Reader, ReadsFacts, Robots,
    Role, Roles, Sample, Seq, Signal, Store, StoreError,
};

#[test]
fn pages_are_added_once() {
    let (directory, mut store) = opened();
    let first = add_pages(&mut store, 3);
    let mut again = new_page(1);
    again.importance = 9.0;
    let batch = Batch { pages: vec![again, new_page(7)], ..Batch::default() };
    let done = store.commit(&batch).unwrap();
    let added = |at: usize| done.pages[at].unwrap();
    assert_eq!((added(0).page, added(0).new), (first[1], false));
    assert!(added(1).new);
    let page = store.read().page(url(1).as_str()).unwrap().unwrap();
    assert_eq!(page.importance, 1.0, "what is there stays as it is");
    let mut urls = Vec::new();
    Reader::open(directory.path())
        .unwrap()
        .pages(|row| {
            urls.push(row.url.to_owned());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(urls, [0, 1, 2, 7].map(|number| url(number).to_string()));
}

#[test]
fn a_look_leaves_its_traces_everywhere() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let body = b"hello";
    let known = Known {
        etag: Some("\"x\"".into()),
        last_modified: Some("yesterday".into()),
        redirect: None,
        title: Some("ä".repeat(10_000)),
        kept: Some(vec![9; 10]),
        hint: Some(7),
    };
    let look = Look {
        known: Some(known),
        counted: Some("text".into()),
        ..recorded(page, 5, Outcome::First, response(&url(0), 5, body))
    };
    let done = commit_looks(&mut store, vec![look]);
    drop(store);

    let reader = Reader::open(directory.path()).unwrap();
    let record = reader.page_by_id(page).unwrap().unwrap();
    assert_eq!(
        (record.looked, record.fetched, record.changed),
        (Some(at(5)), Some(at(5)), None),
        "a first copy is no change"
    );
    assert_eq!((record.etag.as_deref(), record.last_modified.as_deref()), (Some("\"x\""), Some("yesterday")));
    assert_eq!(record.title.unwrap().chars().count(), 500);
    assert_eq!((record.history, record.kept), (Some(vec![1, 2, 3]), Some(vec![9; 10])));
    assert_eq!(record.digest, Some(Digest::of(body)));
    let seen = &reader.observations_of(page, 10).unwrap()[0];
    assert_eq!(
        (seen.outcome, seen.counted.as_deref(), seen.status),
        (Outcome::First, Some("text"), Some(200))
    );
    assert_eq!((seen.elapsed, seen.duration), (Some(Span::from_whole_secs(60)), Span::from_millis(20)));
    let changes = reader.changes_since(Seq(0), 10, Roles::default()).unwrap().changes;
    assert_eq!((changes[0].old, changes[0].new, changes[0].time), (None, Some(Digest::of(body)), at(5)));
    assert_eq!(done.last_change, Some(changes[0].seq));
    let version = done.versions[0].unwrap();
    assert_eq!(reader.answer(version).unwrap().unwrap().body, body);
    assert_eq!(reader.version(version).unwrap().unwrap().kind, Kind::Response);
    assert_sound(directory.path());
}

#[test]
fn failures_leave_what_is_known_and_count() {
    let (_directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let known = Some(Known { etag: Some("\"x\"".into()), ..Known::default() });
    commit_looks(&mut store, vec![Look { known, ..look(page, 1, Outcome::First, Some(Digest::of(b"a"))) }]);
    let failed = |seconds| Look {
        known: None,
        history: None,
        status: None,
        ..look(page, seconds, Outcome::Failed, None)
    };
    commit_looks(&mut store, vec![failed(2), failed(3)]);
    let record = store.read().page_by_id(page).unwrap().unwrap();
    assert_eq!((record.failures, record.status, record.etag.as_deref()), (2, None, Some("\"x\"")));
    assert_eq!(
        (record.looked, record.fetched, record.digest),
        (Some(at(3)), Some(at(1)), Some(Digest::of(b"a")))
    );
    assert_eq!(record.history, Some(vec![1, 2, 3]));
    commit_looks(&mut store, vec![look(page, 4, Outcome::NotModified, None)]);
    let record = store.read().page_by_id(page).unwrap().unwrap();
    assert_eq!((record.failures, record.fetched, record.changed), (0, Some(at(4)), None));
}

#[test]
fn fetches_that_find_a_page_missing_are_counted() {
    let (_directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let failed = |seconds| look(page, seconds, Outcome::Failed, None);
    let gone = |seconds| Look { state: PageState::Gone, ..look(page, seconds, Outcome::Gone, None) };
    let failures = |store: &Store| {
        let record = store.read().page_by_id(page).unwrap().unwrap();
        let head = store.read().page_head(page).unwrap().unwrap();
        assert_eq!((record.state, record.failures), (head.state, head.failures));
        (record.state, record.failures)
    };
    // In one batch, and one by one.
    commit_looks(&mut store, vec![failed(1), failed(2), gone(3), gone(4)]);
    assert_eq!(failures(&store), (PageState::Gone, 2));
    commit_looks(&mut store, vec![gone(5)]);
    assert_eq!(failures(&store), (PageState::Gone, 3));
    commit_looks(&mut store, vec![failed(6)]);
    assert_eq!(failures(&store), (PageState::Active, 4));
    commit_looks(&mut store, vec![look(page, 7, Outcome::First, Some(Digest::of(b"a")))]);
    assert_eq!(failures(&store), (PageState::Active, 0));
}

#[test]
fn a_page_that_goes_and_comes_is_told_of_each_time_once() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
    let gone = |seconds| Look { state: PageState::Gone, ..look(page, seconds, Outcome::Gone, None) };
    let looks = vec![
        gone(0),
        look(page, 1, Outcome::First, Some(a)),
        gone(2),
        gone(3),
        look(page, 4, Outcome::Changed, Some(b)),
        look(page, 5, Outcome::Unchanged, Some(b)),
    ];
    commit_looks(&mut store, looks);
    let told = store.read().changes_since(Seq(0), 99, Roles::default()).unwrap().changes;
    let told: Vec<_> = told.iter().map(|change| (change.kind, change.old, change.new)).collect();
    let expected = [
        (ChangeKind::First, None, Some(a)),
        (ChangeKind::Gone, Some(a), None),
        (ChangeKind::Back, None, Some(b)),
    ];
    assert_eq!(told, expected);
    assert_eq!(store.read().page_by_id(page).unwrap().unwrap().changed, Some(at(4)));
    assert_eq!(store.read().status().unwrap().changes, 0, "no body became another one");
    assert_sound(directory.path());
}

#[test]
fn the_feed_gives_every_change_once_while_the_crawl_goes_on() {
    let (directory, mut store) = opened();
    let pages = add_pages(&mut store, 10);
    let reader = Reader::open(directory.path()).unwrap();
    let (mut seen, mut cursor) = (Vec::new(), Seq(0));
    for round in 0..30 {
        let digest = Some(Digest::of(format!("{round}").as_bytes()));
        let outcome = if round == 0 { Outcome::First } else { Outcome::Changed };
        commit_looks(&mut store, pages.iter().map(|page| look(*page, round, outcome, digest)).collect());
        let part = reader.changes_since(cursor, 7, Roles::default()).unwrap();
        cursor = part.end;
        seen.extend(part.changes.iter().map(|change| (change.page, change.time)));
    }
    while cursor < reader.last_seq().unwrap() {
        let part = reader.changes_since(cursor, 50, Roles::default()).unwrap();
        cursor = part.end;
        seen.extend(part.changes.iter().map(|change| (change.page, change.time)));
    }
    let expected: Vec<_> =
        (0..30).flat_map(|round| pages.iter().map(move |page| (*page, at(round)))).collect();
    assert_eq!(seen, expected);
    assert_eq!(reader.seq_before(at(29)).unwrap(), Seq(290));
    assert_eq!(reader.seq_before(at(30)).unwrap(), Seq(300));
    assert_eq!(reader.seq_before(Time::MIN).unwrap(), Seq(0));
}

#[test]
fn the_feed_is_of_pages_unless_others_are_asked_for_and_cursors_pass_what_is_left_out() {
    let (_directory, mut store) = opened();
    let origin = |role| Origin { role, ..Origin::default() };
    let new = |(number, role)| NewPage { origin: origin(role), ..new_page(number) };
    let roles = [Role::Page, Role::Sitemap, Role::Feed];
    let pages: Vec<NewPage> = roles.into_iter().enumerate().map(new).collect();
    let added = store.commit(&Batch { pages, ..Batch::default() }).unwrap().pages;
    let known = Some(Known { title: Some("News".into()), ..Known::default() });
    for round in 0..3 {
        let digest = Some(Digest::of(&[round]));
        let outcome = if round == 0 { Outcome::First } else { Outcome::Changed };
        let counted = (round > 0).then(|| "text: 1 of 34 blocks".to_owned());
        let look = |page: &Option<Added>| Look {
            known: known.clone(),
            counted: counted.clone(),
            ..look(page.unwrap().page, round.into(), outcome, digest)
        };
        commit_looks(&mut store, added.iter().map(look).collect());
    }
    let reader = store.read();
    let of = |roles: &[Role], after, limit| {
        let found = reader.changes_since(Seq(after), limit, roles.iter().copied().collect()).unwrap();
        (found.changes.iter().map(|change| change.seq.0).collect::<Vec<_>>(), found.end.0)
    };
    assert_eq!(of(&[Role::Page], 0, 99), (vec![1, 4, 7], 9), "what comes after the last page is passed");
    assert_eq!(of(&[Role::Page], 0, 2), (vec![1, 4], 4), "there may be more");
    assert_eq!(of(&[Role::Page], 7, 99), (vec![], 9));
    assert_eq!(of(&[Role::Page], 9, 99), (vec![], 9));
    assert_eq!(of(&[Role::Page], 50, 99), (vec![], 50), "a cursor never goes back");
    assert_eq!(of(&[Role::Page], 0, 0), (vec![], 0));
    assert_eq!(of(&[Role::Sitemap, Role::Feed], 0, 99), (vec![2, 3, 5, 6, 8, 9], 9));
    assert_eq!(of(&Role::ALL, 3, 99).0, [4, 5, 6, 7, 8, 9]);
    let last = &reader.changes_since(Seq(6), 1, Roles::default()).unwrap().changes[0];
    assert_eq!(
        (last.kind, last.role, last.title.as_deref()),
        (ChangeKind::Changed, Role::Page, Some("News"))
    );
    assert_eq!(last.counted.as_deref(), Some("text: 1 of 34 blocks"));
    let latest = reader.last_changes(5, 100, Roles::default()).unwrap();
    assert_eq!(latest.iter().map(|change| change.seq.0).collect::<Vec<_>>(), [7, 4]);
    assert_eq!(reader.last_changes(5, 3, Roles::default()).unwrap().len(), 1);
    // Changes are counted as the feed lists them.
    assert_eq!(reader.status().unwrap().changes, 2);
}

#[test]
fn cursors_leases_signals_and_the_rest_survive() {
    let (directory, mut store) = opened();
    let pages = add_pages(&mut store, 3);
    let lease = |page, order| Lease { page, order, until: Time::from_nanos(1_500_001) };
    let robots = Robots { text: b"User-agent: \xff".to_vec(), fetched: at(1), status: Some(200) };
    let host = HostUpdate {
        name: "https://example.org".into(),
        gap: Some(Span::from_nanos(1_000_001)),
        back_off_until: Some(Time::from_nanos(1)),
        failures: 2,
        robots: Some(robots.clone()),
        wanted_gap: Some(Span::from_whole_secs(7)),
        paused: true,
    };
    let reads = ReadsFacts { page: pages[1], count: 2.5, time: at(3) };
    let grant = |id, key: Option<&str>| GrantFacts {
        id,
        until: at(9),
        key: key.map(str::to_owned),
        pages: vec![Leased::Page(pages[0]), Leased::Answered, Leased::Robots(pages[2])],
    };
    let batch = Batch {
        grants: vec![grant(4, None), grant(7, Some("mine")), grant(9, None)],
        settled: vec![9],
        reads: vec![reads, ReadsFacts { page: PageId(99), ..reads }],
        hosts: vec![host.clone()],
        signals: vec![Signal::new(pages[0], "websub", at(4))],
        leases: vec![lease(pages[0], u64::MAX), lease(pages[1], 2)],
        released: vec![pages[1], pages[2]],
        delivered: vec![("hook".into(), Seq(5)), ("hook".into(), Seq(3))],
        meta: vec![("model".into(), vec![1])],
        ..Batch::default()
    };
    store.commit(&batch).unwrap();
    store.commit(&Batch { hosts: vec![HostUpdate { robots: None, ..host }], ..Batch::default() }).unwrap();
    drop(store);
    let store = Store::open(directory.path(), Options::default()).unwrap();
    let reader = store.read();
    assert_eq!(reader.delivered("hook").unwrap(), Seq(5), "a cursor does not go back");
    assert_eq!(reader.delivered("nobody").unwrap(), Seq(0));
    assert_eq!(reader.grants().unwrap(), [grant(4, None), grant(7, Some("mine"))]);
    assert_eq!(reader.last_grant().unwrap(), 9, "numbers are never used twice");
    let mut read = Vec::new();
    reader
        .reads(|facts| {
            read.push(facts);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(read, [reads]);
    let host = reader.host("https://example.org").unwrap().unwrap();
    assert_eq!((host.wanted_gap, host.paused), (Some(Span::from_whole_secs(7)), true));
    let leases = reader.leases().unwrap();
    assert_eq!(leases.len(), 1);
    assert_eq!((leases[0].page, leases[0].order), (pages[0], u64::MAX));
    assert_eq!(leases[0].until, Time::from_nanos(2_000_000), "never too early");
    assert_eq!(reader.meta("model").unwrap(), Some(vec![1]));
    let host = reader.host("https://example.org").unwrap().unwrap();
    assert_eq!(
        (host.gap, host.back_off_until),
        (Some(Span::from_millis(2)), Some(Time::from_nanos(1_000_000)))
    );
    assert_eq!(host.robots, Some(robots));
    let mut signals = Vec::new();
    reader
        .signals(at(4), |signal| {
            signals.push(signal);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(signals, [Signal::new(pages[0], "websub", at(4))]);
}

#[test]
fn a_removed_page_leaves_nothing_and_late_facts_about_it_are_reported() {
    let (directory, mut store) = opened();
    let pages = add_pages(&mut store, 2);
    let record = |page: usize| recorded(pages[page], 1, Outcome::First, response(&url(page), 1, b"x"));
    commit_looks(&mut store, vec![record(0), record(1)]);
    store.commit(&Batch { removals: vec![pages[0]], ..Batch::default() }).unwrap();
    let late = Batch {
        looks: vec![record(0), look(pages[1], 2, Outcome::Unchanged, None)],
        edits: vec![Edit { state: Some(PageState::Paused), ..Edit::of(pages[0]) }],
        signals: vec![Signal::new(PageId(77), "x", at(0))],
        leases: vec![Lease { page: PageId(78), order: 1, until: at(0) }],
        ..Batch::default()
    };
    let done = store.commit(&late).unwrap();
    assert_eq!(done.unknown, [pages[0], pages[0], PageId(77), PageId(78)]);
    assert_eq!(store.read().observations_of(pages[1], 9).unwrap().len(), 2);
    let status = store.read().status().unwrap();
    assert_eq!((status.observations, status.versions, status.changes, status.leases), (2, 1, 0, 0));
    let again = store.commit(&Batch { pages: vec![new_page(0)], ..Batch::default() }).unwrap();
    assert!(again.pages[0].unwrap().page > pages[1], "numbers are not used again");
    assert_sound(directory.path());
}

#[test]
fn an_address_that_is_forgotten_and_added_in_one_batch_is_a_new_page() {
    let (directory, mut store) = opened();
    let old = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![recorded(old, 1, Outcome::First, response(&url(0), 1, b"x"))]);
    let batch = Batch {
        removals: vec![old],
        pages: vec![new_page(0)],
        looks: vec![look(old, 2, Outcome::Unchanged, None)],
        ..Batch::default()
    };
    let done = store.commit(&batch).unwrap();
    let added = done.pages[0].unwrap();
    assert!(added.new && added.page != old);
    assert_eq!(done.unknown, [old]);
    let page = store.read().page(url(0).as_str()).unwrap().unwrap();
    assert_eq!((page.id, page.fetched), (added.page, None));
    assert_sound(directory.path());
}

#[test]
fn a_clock_that_runs_backwards_does_not_turn_looks_round() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![look(page, 100, Outcome::First, Some(Digest::of(b"a")))]);
    commit_looks(&mut store, vec![look(page, 50, Outcome::Changed, Some(Digest::of(b"b")))]);
    let times: Vec<_> = store.read().observations_of(page, 9).unwrap().iter().map(|seen| seen.time).collect();
    assert_eq!(times, [at(100), at(100)]);
    assert_sound(directory.path());
}

#[test]
fn a_clock_that_was_years_ahead_does_not_date_what_comes_after() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let years = 4 * 365 * 86_400;
    commit_looks(&mut store, vec![look(page, years, Outcome::First, Some(Digest::of(b"a")))]);
    commit_looks(&mut store, vec![look(page, 100, Outcome::Changed, Some(Digest::of(b"b")))]);
    commit_looks(&mut store, vec![look(page, 90, Outcome::Changed, Some(Digest::of(b"c")))]);
    let times: Vec<_> = store.read().observations_of(page, 9).unwrap().iter().map(|seen| seen.time).collect();
    assert_eq!(times, [at(100), at(100), at(years)]);
    assert_eq!(store.read().page_by_id(page).unwrap().unwrap().looked, Some(at(100)));
    assert_sound(directory.path());
}

#[test]
fn lists_are_filtered_and_ordered() {
    let (_directory, mut store) = opened();
    let pages = add_pages(&mut store, 5);
    let fetched = |page: usize, seconds| look(pages[page], seconds, Outcome::First, Some(Digest::of(b"x")));
    commit_looks(&mut store, vec![fetched(3, 30), fetched(1, 10), fetched(2, 20)]);
    let changed = |page: usize, seconds| look(pages[page], seconds, Outcome::Changed, Some(Digest::of(b"y")));
    commit_looks(&mut store, vec![changed(1, 10), changed(2, 20)]);
    let edit = Edit { importance: Some(7.0), state: Some(PageState::Paused), ..Edit::of(pages[4]) };
    store.commit(&Batch { edits: vec![edit], ..Batch::default() }).unwrap();
    let list = |filter: Filter| {
        let mut ids = Vec::new();
        let each = |row: refrain_store::PageRow<'_>| {
            ids.push(pages.iter().position(|page| *page == row.id).unwrap());
            ControlFlow::Continue(())
        };
        store.read().list(&filter, each).unwrap();
        ids
    };
    assert_eq!(list(Filter { order: Order::Stalest, ..Filter::default() }), [0, 4, 1, 2, 3]);
    assert_eq!(list(Filter { fetched_before: Some(at(20)), ..Filter::default() }), [0, 1, 4]);
    assert_eq!(list(Filter { state: Some(PageState::Paused), ..Filter::default() }), [4]);
    assert_eq!(list(Filter { order: Order::Importance, limit: 1, ..Filter::default() }), [4]);
    assert_eq!(list(Filter { prefix: Some(url(2).to_string()), ..Filter::default() }), [2]);
    assert_eq!(list(Filter { order: Order::LastChanged, limit: 2, ..Filter::default() }), [2, 1]);
}

#[test]
fn facts_that_cannot_be_are_refused_as_a_whole() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let unknown_body = recorded(page, 1, Outcome::Unchanged, revisit(&url(0), 1, b"x", at(0), false));
    let batch = Batch { pages: vec![new_page(5)], looks: vec![unknown_body], ..Batch::default() };
    let why = store.commit(&batch).unwrap_err();
    assert!(why.to_string().contains("a revisit of a body that is not there"), "{why}");
    let wrong = NewPage { importance: f64::NAN, ..new_page(6) };
    let why = store.commit(&Batch { pages: vec![wrong], ..Batch::default() }).unwrap_err();
    assert!(why.to_string().ends_with("the importance is NaN; expected a number from 0 to 1e30"), "{why}");
    let bare = look(page, 1, Outcome::Changed, None);
    assert!(matches!(
        store.commit(&Batch { looks: vec![bare], ..Batch::default() }),
        Err(StoreError::Refused(_))
    ));
    let status = store.read().status().unwrap();
    assert_eq!((status.observations, status.segments), (0, 0));
    assert!(store.read().page(url(5).as_str()).unwrap().is_none());
    assert!(segment_files(directory.path()).is_empty());
    // And the store goes on.
    commit_looks(&mut store, vec![recorded(page, 1, Outcome::First, response(&url(0), 1, b"x"))]);
    assert_sound(directory.path());
}

#[test]
fn facts_that_cannot_be_are_left_out_and_the_rest_is_committed() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    let endless = NewPage { importance: 1e40, ..new_page(6) };
    let unknown_body = recorded(page, 2, Outcome::Unchanged, revisit(&url(0), 2, b"y", at(0), false));
    let hub =
        HubFacts { page, visits: 1, news: 1, rate: f64::NAN, profit: 1.0, decay: 1.0, learned: Vec::new() };
    let mut batch = Batch {
        pages: vec![new_page(5), endless, new_page(7)],
        looks: vec![
            recorded(page, 1, Outcome::First, response(&url(0), 1, b"x")),
            look(page, 1, Outcome::Changed, None),
            unknown_body,
        ],
        edits: vec![Edit { importance: Some(f64::INFINITY), ..Edit::of(page) }],
        hubs: vec![hub],
        delivered: vec![("x".repeat(1025), Seq(1)), ("reader".to_owned(), Seq(1))],
        meta: vec![("k".repeat(1025), vec![1])],
        ..Batch::default()
    };
    let done = store.commit_valid(&mut batch).unwrap();
    let new: Vec<bool> = done.pages.iter().map(|added| added.is_some_and(|added| added.new)).collect();
    assert_eq!(new, [true, false, true]);
    for expected in [
        "https://example.org/page/6: the importance is 1e40",
        "the look at page 1 has the outcome \"changed\" but no digest",
        "page 1: the importance is inf",
        "what is known of hub 1: NaN is among its numbers",
        "the name of a consumer has 1025 bytes; expected at most 1024",
        "the name of a key has 1025 bytes",
        "the look at page 1 (https://example.org/page/0) is a revisit of a body that is not there",
    ] {
        let matching = done.refused.iter().filter(|why| why.starts_with(expected));
        assert_eq!(matching.count(), 1, "{expected}: {:?}", done.refused);
    }
    assert_eq!(done.refused.len(), 7);
    assert!(store.read().page(url(6).as_str()).unwrap().is_none());
    assert_eq!(store.read().delivered("reader").unwrap(), Seq(1));
    assert_eq!(store.read().observations_of(page, 9).unwrap().len(), 2);
    assert_eq!(store.read().versions_of(page).unwrap().len(), 1);
    assert_sound(directory.path());
}

#[test]
fn the_queries_of_the_guide_work() {
    let (directory, mut store) = opened();
    let page = add_pages(&mut store, 1)[0];
    commit_looks(&mut store, vec![recorded(page, 1, Outcome::First, response(&url(0), 1, b"x"))]);
    let guide = include_str!("../../../../docs/store.md");
    let queries: Vec<&str> =
        guide.split("```sql\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(queries.len() >= 5);
    let connection = rusqlite::Connection::open(directory.path().join("refrain.db")).unwrap();
    for query in queries {
        let mut statement = connection.prepare(query).unwrap_or_else(|why| panic!("{query}: {why}"));
        let rows = statement.query_map((), |_| Ok(())).unwrap().collect::<Result<Vec<_>, _>>();
        assert!(rows.is_ok(), "{query}");
    }
}

#[test]
fn looks_of_other_crawlers_are_kept_beside_ours() {
    let (directory, mut store) = opened();
    let pages = add_pages(&mut store, 2);
    let first = recorded(pages[0], 100, Outcome::First, response(&url(0), 100, b"x"));
    commit_looks(&mut store, vec![first]);
    let looks = vec![(at(10), None, true), (at(40), Some(Span::from_whole_secs(30)), false)];
    let past = PastLooks { page: pages[0], looks, history: vec![7] };
    let nobody = PastLooks { page: PageId(99), looks: vec![], history: vec![] };
    let done = store.commit(&Batch { past: vec![past, nobody], ..Batch::default() }).unwrap();
    assert_eq!((done.unknown, done.last_change), (vec![PageId(99)], None));
    let reader = store.read();
    let seen: Vec<(bool, Outcome)> = reader
        .observations_of(pages[0], 10)
        .unwrap()
        .iter()
        .map(|look| (look.is_imported(), look.outcome))
        .collect();
    assert_eq!(seen, [(false, Outcome::First), (true, Outcome::Unchanged), (true, Outcome::Changed)]);
    let page = reader.page_by_id(pages[0]).unwrap().unwrap();
    assert_eq!((page.history, page.fetched), (Some(vec![7]), Some(at(100))), "nothing was fetched");
    let mut by_time = Vec::new();
    reader
        .looks_by_time(at(10), at(100), |seen| {
            by_time.push((seen.look.time, seen.url.to_owned(), seen.host_name.to_owned()));
            ControlFlow::Continue(())
        })
        .unwrap();
    let host = "https://example.org".to_owned();
    let page = url(0).as_str().to_owned();
    assert_eq!(by_time, [(at(10), page.clone(), host.clone()), (at(40), page, host)]);
    assert_sound(directory.path());
}

#[test]
fn hosts_are_found_by_what_people_call_them() {
    let (_directory, mut store) = opened();
    let host = |name: &str| HostUpdate {
        name: name.to_owned(),
        gap: None,
        back_off_until: None,
        failures: 0,
        robots: None,
        wanted_gap: None,
        paused: false,
    };
    let names =
        ["https://a.org", "http://a.org", "http://a.org:8080", "https://a.organic", "https://b.a.org"];
    store.commit(&Batch { hosts: names.map(host).to_vec(), ..Batch::default() }).unwrap();
    for (name, count) in
        [("a.org", 3), ("https://a.org", 1), ("http://a.org", 2), ("a.org:8080", 1), ("a", 0), ("%", 0)]
    {
        assert_eq!(store.read().hosts_named(name).unwrap().len(), count, "{name}");
    }
}

#[test]
fn samples_are_kept_and_thinned() {
    // When an hour begins.
    let at = |seconds| crate::support::at(2800 + seconds);
    let (directory, mut store) = opened();
    let minute = |number: i64| Sample {
        time: at(60 * (number + 1)),
        span: Span::from_whole_secs(60),
        freshness: Some(if number % 2 == 0 { 0.4 } else { 0.6 }),
        fresh: 3.0,
        foretold: 4.0,
        rate: 2.0,
        price: Some((number + 1) as f64),
        requests: 10,
        looks: 9,
        changed: 4,
        unchanged: 3,
        failed: 2,
    };
    // Two hours, and much later a minute.
    let early = (0..120).map(minute).collect();
    store.commit(&Batch { samples: early, ..Batch::default() }).unwrap();
    assert_eq!(store.read().samples(at(0)).unwrap().len(), 120);
    assert_eq!(store.read().samples(at(0)).unwrap()[7], minute(7));
    assert_eq!(store.read().samples(at(7140)).unwrap(), [minute(119)]);
    let late = minute(60 * 24 * 8);
    store.commit(&Batch { samples: vec![late], ..Batch::default() }).unwrap();
    let kept = store.read().samples(at(0)).unwrap();
    assert_eq!(kept.len(), 3);
    assert_eq!((kept[0].span, kept[0].requests, kept[0].changed), (Span::from_whole_secs(3600), 600, 240));
    assert!((kept[0].freshness.unwrap() - 0.5).abs() < 1e-9 && (kept[0].price.unwrap() - 30.5).abs() < 1e-9);
    assert_eq!(kept[1].time, at(7200));
    assert!((kept[1].found().unwrap() - 0.5 * 0.75).abs() < 1e-9);
    assert_eq!(kept[2], late);
    assert_sound(directory.path());
}
