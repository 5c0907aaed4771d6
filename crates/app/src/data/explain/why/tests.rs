//! Each sentence is said in a state that implies it, and not in one that does not.

use refrain_core::estimate::counts::Counts;
use refrain_core::estimate::{Confidence, Posterior};
use refrain_engine::{Believed, Outlook, Price, Standing};
use refrain_store::{HostId, HostRow, Origin, Outcome, PageId, PageRecord};

use super::*;

fn at(seconds: u64) -> Time {
    Time::from_nanos(1_700_000_000_000_000_000) + Span::from_whole_secs(seconds)
}

/// Now.
const NOW: u64 = 1000;

fn learned(value: f64, fetches: u64) -> Price {
    Price { value, fetches: Some(fetches) }
}

/// A page that was fetched 10 s ago by a crawl whose price is settled and known to be 5.
fn facts() -> Facts {
    let changes = Posterior::new(2.0, 100.0).unwrap();
    Facts {
        now: at(NOW),
        page: PageRecord {
            id: PageId(1),
            url: "http://a.example/".to_owned(),
            host: HostId(1),
            state: PageState::Active,
            importance: 1.0,
            max_age: None,
            added: at(0),
            found: "seed".to_owned(),
            looked: Some(at(NOW - 10)),
            fetched: Some(at(NOW - 10)),
            changed: None,
            status: Some(200),
            failures: 0,
            digest: None,
            etag: None,
            last_modified: None,
            redirect: None,
            title: None,
            history: None,
            kept: None,
            origin: Origin::default(),
        },
        host: HostRow {
            id: HostId(1),
            name: "http://a.example".to_owned(),
            gap: None,
            back_off_until: None,
            failures: 0,
            robots: None,
            wanted_gap: None,
            paused: false,
        },
        robots: None,
        believed: Believed {
            changes,
            counts: Counts::default(),
            signals: None,
            stale: Some(0.25),
            value: 3.0,
        },
        value: Some(3.0),
        rate: changes.estimate(Confidence::new(0.9).unwrap()),
        sure: 0.9,
        standing: Some(Standing {
            rate: 1.0,
            gap: Span::from_whole_secs(1),
            agent: "Refrain".to_owned(),
            follow: String::new(),
            price: Some(learned(5.0, 100)),
            time: Some(at(NOW)),
            ended: false,
        }),
        outlook: Some(Outlook { due: Some(at(NOW + 60)), not_before: None }),
        left: None,
        is_under_way: false,
        looks: Vec::new(),
        signals: Vec::new(),
        queued: Vec::new(),
        noise: None,
    }
}

fn with(change: impl FnOnce(&mut Facts)) -> String {
    let mut facts = facts();
    change(&mut facts);
    why(&facts)
}

fn priced(facts: &mut Facts, price: Option<Price>) {
    facts.standing.as_mut().unwrap().price = price;
}

fn refetched(seconds: u64, elapsed: u64) -> Observation {
    Observation {
        id: 1,
        page: PageId(1),
        time: at(seconds),
        elapsed: Some(Span::from_whole_secs(elapsed)),
        outcome: Outcome::Unchanged,
        counted: None,
        status: Some(200),
        bytes: 1,
        duration: Span::ZERO,
        digest: None,
    }
}

#[test]
fn turns_are_foretold_only_if_the_price_is_settled() {
    let usual = with(|_| {});
    assert!(usual.starts_with("Its copy is 10 s old, and stale with a probability of 25"), "{usual}");
    assert!(
        usual.contains("its turn is expected at") && usual.contains("in 60 s") || usual.contains("in 1 min"),
        "{usual}"
    );
    let due = |facts: &mut Facts, seconds| facts.outlook = Some(Outlook { due: seconds, not_before: None });
    assert!(
        with(|facts| due(facts, Some(at(NOW))))
            .ends_with("it is worth a fetch, as soon as the budget and its host have one")
    );
    for few in [0, 1, 10, 63] {
        for turn in [None, Some(at(NOW)), Some(at(NOW + 60))] {
            let said = with(|facts| {
                priced(facts, Some(learned(204.9, few)));
                due(facts, turn);
            });
            assert!(
                said.contains("a fetch is worth 3;") && said.contains("is not settled yet (about 204.9"),
                "{said}"
            );
            assert!(!said.contains("expected at") && !said.contains("never"), "{said}");
        }
    }
    let said = with(|facts| priced(facts, None));
    assert!(
        said.ends_with("what it must be worth is not known yet, as no page that had a copy was fetched"),
        "{said}"
    );
    assert!(with(|facts| priced(facts, Some(Price { value: 5.0, fetches: None }))).contains("expected at"));
}

#[test]
fn never_is_said_only_of_pages_that_are_not_fetched() {
    let never = |change: &dyn Fn(&mut Facts)| {
        with(|facts| {
            facts.outlook = Some(Outlook { due: None, not_before: None });
            change(facts);
        })
    };
    let said = never(&|_| {});
    assert!(said.ends_with("at the present price (5) waiting alone never makes it worth a fetch: a signal would, or a lower price"), "{said}");
    // Ten fetches in fifteen seconds.
    let often = |facts: &mut Facts| facts.looks = (0..10).map(|k| refetched(NOW - 1 - 2 * k, 2)).collect();
    let said = never(&often);
    assert!(said.contains("it was fetched about every 2 s lately") && !said.contains("never"), "{said}");
    // That was long ago.
    let once = |facts: &mut Facts| facts.looks = (0..10).map(|k| refetched(NOW - 100 - 2 * k, 2)).collect();
    assert!(never(&once).contains("never"));
    assert!(
        never(&|facts| facts.page.importance = 0.0)
            .ends_with("its importance is 0, so no fetch is worth anything")
    );
    assert!(!said.contains("always"));
}

#[test]
fn what_keeps_it_from_being_fetched_goes_first() {
    assert!(with(|facts| facts.page.state = PageState::Paused).starts_with("It is paused"));
    let gone = with(|facts| (facts.page.state, facts.page.status) = (PageState::Gone, Some(410)));
    assert!(gone.starts_with("It is gone, its server says (410): it is asked for again"), "{gone}");
    assert!(with(|facts| facts.page.state = PageState::Disallowed).contains("robots.txt forbids it"));
    assert!(with(|facts| facts.host.paused = true).starts_with("Its host is paused"));
    assert!(with(|facts| facts.is_under_way = true).starts_with("It is being fetched"));
    let waits = with(|facts| facts.host.back_off_until = Some(at(NOW + 30)));
    assert!(waits.starts_with("It waits for its host, which is left alone until"), "{waits}");
    assert!(with(|facts| facts.host.back_off_until = Some(at(NOW - 30))).starts_with("Its copy"));
    let failed = with(|facts| {
        facts.page.failures = 2;
        facts.outlook = Some(Outlook { due: None, not_before: Some(at(NOW + 90)) });
    });
    assert!(failed.starts_with("It failed 2 times in a row, and is tried again from"), "{failed}");
}

#[test]
fn of_a_crawl_that_is_over_everything_is_as_of_its_end() {
    let over = |ended| {
        with(|facts| {
            facts.left = Some(Left { time: at(NOW - 4), ended });
            // What would be said of a crawl that runs is not.
            facts.is_under_way = true;
            facts.host.back_off_until = Some(at(NOW + 30));
        })
    };
    let said = over(true);
    assert!(said.starts_with("No crawl runs here. The last one ended 4"), "{said}");
    assert!(said.ends_with("then its copy was 6 s old, and stale with a probability of 25.0 %; a fetch was worth 3, and had to be worth 5"), "{said}");
    assert!(over(false).starts_with("No crawl seems to run here. The last one wrote nothing for 4"));
    let never = with(|facts| {
        facts.left = Some(Left { time: at(NOW - 4), ended: true });
        facts.page.fetched = None;
    });
    assert!(never.ends_with("and never fetched it"), "{never}");
    // No price: nothing is said of it.
    let said = with(|facts| {
        facts.left = Some(Left { time: at(NOW - 4), ended: true });
        priced(facts, None);
    });
    assert!(said.ends_with("; a fetch was worth 3"), "{said}");
}

#[test]
fn what_was_never_fetched_and_what_is_no_page() {
    let new = with(|facts| facts.page.fetched = None);
    assert!(new.starts_with("It was never fetched; its turn is expected at"), "{new}");
    let redirect = |target: Option<&str>| {
        with(|facts| {
            (facts.page.fetched, facts.page.status) = (None, Some(301));
            facts.page.redirect = target.map(str::to_owned);
        })
    };
    assert_eq!(
        redirect(Some("http://a.example/to")),
        "It redirects to http://a.example/to; it is asked for again once a day"
    );
    assert_eq!(redirect(None), "It redirects; it is asked for again once a day");
    let none = with(|facts| (facts.page.fetched, facts.standing) = (None, None));
    assert_eq!(none, "It was never fetched: no crawl has run here yet");
    let sitemap = with(|facts| facts.page.origin.role = Role::Sitemap);
    assert!(
        sitemap.ends_with("it is a sitemap, visited for what it announces, not for its copy"),
        "{sitemap}"
    );
    assert!(with(|facts| facts.value = None).ends_with("what a fetch is worth is not known"));
}

#[test]
fn whether_a_crawl_runs_is_seen_from_outside() {
    let mut standing = facts().standing.unwrap();
    assert_eq!(Left::of(&standing, at(NOW + 100)), None, "it writes once a minute");
    assert_eq!(Left::of(&standing, at(NOW + 1000)), Some(Left { time: at(NOW), ended: false }));
    standing.ended = true;
    assert_eq!(Left::of(&standing, at(NOW + 1)), Some(Left { time: at(NOW), ended: true }));
    standing.time = None;
    assert_eq!(Left::of(&standing, at(NOW + 1)), None, "an earlier version wrote it");
}
