//! Pages that differ at every request: noise is not reported, changes beside it are, and what is ignored can be seen.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};
use crate::support::{json, stdout};

/// A page with a revision that changes when it is told to, and a token and a clock that are others at each request.
fn serve(fake: &Fake) -> (String, Arc<AtomicU32>) {
    let revision = Arc::new(AtomicU32::new(17));
    let (served, requests) = (Arc::clone(&revision), AtomicU32::new(0));
    fake.put_with("a", "/", move |_| {
        let request = requests.fetch_add(1, Ordering::Relaxed);
        let token = request.wrapping_mul(2_654_435_761);
        let revision = served.load(Ordering::Relaxed);
        Deed::html(format!(
            "<title>Status</title><p>Revision {revision} token {token:08x} end</p><p>Build</p><p>{token:08x}</p><p>A text that stays.</p>"
        ))
    });
    (fake.url("a", "/"), revision)
}

fn changes(desk: &Desk) -> Vec<Value> {
    let told = desk.run(&["changes"]);
    let told = if told.status.success() { stdout(&told) } else { String::new() };
    told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn places(desk: &Desk, url: &str) -> u64 {
    // The page, and the directory itself, are not there at once.
    let explained = desk.run(&["explain", url, "--json"]);
    if explained.status.success() { json(&explained)["noise"]["places"].as_u64().unwrap_or(0) } else { 0 }
}

#[test]
fn noise_is_not_reported_and_changes_beside_it_are() {
    let (fake, desk) = (Fake::start(), Desk::new("rate = \"5/s\"\n"));
    let (url, revision) = serve(&fake);
    let running = desk.start(&[&url]);
    wait_until("noise is known", || places(&desk, &url) == 2);
    assert_eq!(changes(&desk).len(), 1, "noise was reported while it was learned");

    for (reported, next) in [(2, 18), (3, 19)] {
        revision.store(next, Ordering::Relaxed);
        wait_until("a change beside noise is reported", || changes(&desk).len() == reported);
    }
    // Many visits later, nothing else was reported.
    let so_far = fake.asked_for("a", "/").len();
    wait_until("it is visited again and again", || fake.asked_for("a", "/").len() > so_far + 15);
    assert_eq!(changes(&desk).len(), 3);
    running.interrupt();

    let explained = json(&desk.run(&["explain", &url, "--json"]));
    assert_eq!(explained["noise"]["shown"][0]["kind"], "words", "{explained}");
    let explained = stdout(&desk.run(&["explain", &url]));
    assert!(
        explained.contains("ignored: 2 places with noise") && explained.contains("others at each look"),
        "{explained}"
    );
    let diff = stdout(&desk.run(&["diff", &url]));
    assert!(diff.contains("+Revision 19 token [ignored] end") && diff.contains(" [ignored]"), "{diff}");
    assert!(diff.contains("2 places with noise left out"), "{diff}");
    assert!(!stdout(&desk.run(&["diff", &url, "--raw"])).contains("[ignored]"));
    desk.assert_sound();
}

/// The verdict on a change waits for a second look; if the crawl ends before, or that look fails, the change is reported all the same.
#[test]
fn a_change_is_reported_though_the_second_look_fails() {
    let (fake, desk) = (Fake::start(), Desk::new("rate = \"20/s\"\n"));
    let (url, requests) = (fake.url("a", "/"), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&requests);
    fake.put_with("a", "/", move |_| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Deed::html("<p>one</p>"),
        1 => Deed::html("<p>two</p>"),
        _ => Deed::status(500),
    });
    let running = desk.start(&[&url]);
    wait_until("the change is reported", || changes(&desk).len() == 2);
    assert!(requests.load(Ordering::Relaxed) >= 3);
    running.interrupt();
    desk.assert_sound();
}
