//! 429 and 503: a host is left alone for as long as it asks, whoever leads there, and whatever becomes of the crawler meanwhile.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use refrain_core::time::Span;

use crate::desk::{Desk, wait_until};
use crate::fake::{Deed, Fake};

/// Requests for pages of a host.
fn page_hits(fake: &Fake, host: &str) -> Vec<crate::fake::Hit> {
    fake.asked_of(host).into_iter().filter(|hit| hit.path != "/robots.txt").collect()
}

fn seeds(fake: &Fake, host: &str) -> Vec<String> {
    (0..12).map(|page| fake.url(host, &format!("/{page}"))).collect()
}

/// A request that came so shortly before a kill that what was answered could not be written down: it was under way.
struct Lost(Vec<(&'static str, usize)>);

impl Lost {
    /// After a kill.
    fn note(&mut self, fake: &Fake, desk: &Desk) {
        for host in ["seconds", "date"] {
            let asked = page_hits(fake, host).len();
            if asked > noted(fake, desk, host) {
                self.0.push((host, asked - 1));
            }
        }
    }

    fn has(&self, host: &str, hit: usize) -> bool {
        self.0.contains(&(host, hit))
    }
}

/// How many refusals of a host are written down.
fn noted(fake: &Fake, desk: &Desk, host: &str) -> usize {
    desk.host(&fake.host(host)).map_or(0, |host| host.failures as usize)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a server has a clock")]
fn a_host_is_left_alone_as_long_as_it_asks() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let dates: Arc<Mutex<Vec<(SystemTime, SystemTime)>>> = Arc::default();
    let given = Arc::clone(&dates);
    fake.put("seconds", "/robots.txt", Deed::status(404));
    fake.put("seconds", "*", Deed::status(429).with("Retry-After", "3"));
    fake.put("date", "/robots.txt", Deed::status(404));
    fake.put_with("date", "*", move |_| {
        // Dates have whole seconds.
        let now = SystemTime::now();
        let then = httpdate::fmt_http_date(now + Duration::from_secs(4));
        given.lock().unwrap().push((now, httpdate::parse_http_date(&then).unwrap()));
        Deed::status(503).with("Retry-After", then)
    });
    let all = desk.seeds(&[seeds(&fake, "seconds"), seeds(&fake, "date")].concat());
    let both_asked = |times: usize| {
        let is_noted = |host| {
            let asked = page_hits(&fake, host).len();
            asked >= times && noted(&fake, &desk, host) == asked
        };
        is_noted("seconds") && is_noted("date")
    };

    let begun = desk.start(&[&all]);
    wait_until("they asked to be left alone", || both_asked(1));
    begun.interrupt();
    let mut lost = Lost(Vec::new());
    // In the middle of it, and whenever they had asked again.
    for times in [1, 2, 3] {
        let running = desk.start(&[]);
        wait_until("they asked again", || both_asked(times));
        running.kill();
        lost.note(&fake, &desk);
    }
    desk.crawl(&["--for", "2s"]);

    let hits = page_hits(&fake, "seconds");
    assert!(hits.len() >= 3 && lost.0.len() < 3, "{hits:#?} {:?}", lost.0);
    for (index, pair) in hits.windows(2).enumerate().filter(|(index, _)| !lost.has("seconds", *index)) {
        assert!(pair[1].time - pair[0].time >= Duration::from_secs(3), "{index}: {pair:#?}");
    }
    let dates = dates.lock().unwrap().clone();
    assert!(dates.len() >= 3, "{dates:?}");
    for (index, pair) in dates.windows(2).enumerate().filter(|(index, _)| !lost.has("date", *index)) {
        assert!(pair[1].0 >= pair[0].1, "{index}: {dates:?}");
    }
    desk.assert_sound();
}

/// What makes no sense is no leave to come back at once, and no reason to stay away for ever.
#[test]
fn absurd_wishes() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let minute = Span::from_whole_secs(60);
    let week = Span::from_whole_secs(7 * 86_400);
    let wishes = [
        ("none", None, minute),
        ("zero", Some("0"), minute),
        ("negative", Some("-120"), minute),
        ("words", Some("soon, please"), minute),
        ("past", Some("Sun, 06 Nov 1994 08:49:37 GMT"), minute),
        ("fraction", Some("1.5"), minute),
        ("century", Some("3153600000"), week),
        ("overflow", Some("99999999999999999999999999"), week),
        ("far", Some("Fri, 31 Dec 9999 23:59:59 GMT"), week),
    ];
    let mut all = Vec::new();
    for (host, wish, _) in &wishes {
        let status = if host.len() % 2 == 0 { 429 } else { 503 };
        let deed = Deed::status(status);
        fake.put(host, "/robots.txt", Deed::status(404));
        fake.put(host, "*", wish.map_or(deed.clone(), |wish| deed.with("Retry-After", wish)));
        all.extend(seeds(&fake, host));
    }
    desk.crawl(&[&desk.seeds(&all), "--for", "2s"]);
    desk.crawl(&["--for", "1s"]);
    for (host, _, expected) in &wishes {
        assert_eq!(page_hits(&fake, host).len(), 1, "{host}");
        let (_, look) = desk.looks().into_iter().find(|(url, _)| url.starts_with(&fake.host(host))).unwrap();
        let until = desk.host(&fake.host(host)).unwrap().back_off_until.unwrap();
        let wait = until.since(look.time);
        assert!(wait >= *expected && wait < *expected + minute, "{host}: {wait:?}");
    }
    desk.assert_sound();
}

/// As if that time had passed: the moment until which hosts are left alone is moved, and nothing else.
fn pass_time(desk: &Desk) {
    let script = "import sqlite3,sys\n\
                  db=sqlite3.connect(sys.argv[1]); db.execute('UPDATE hosts SET back_off_until = 1000'); db.commit()";
    let database = desk.path("data").join("refrain.db");
    assert!(Command::new("python3").args(["-c", script]).arg(database).status().unwrap().success());
}

#[test]
fn without_a_wish_the_time_doubles() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("busy", "/robots.txt", Deed::status(404));
    fake.put("busy", "*", Deed::status(503));
    let all = desk.seeds(&(0..9).map(|page| fake.url("busy", &format!("/{page}"))).collect::<Vec<_>>());
    for round in 0..4u32 {
        desk.crawl(&[&all, "--for", "1s"]);
        assert_eq!(page_hits(&fake, "busy").len(), 1 + round as usize);
        let look = desk.looks().pop().unwrap().1;
        let wait = desk.host(&fake.host("busy")).unwrap().back_off_until.unwrap().since(look.time).as_secs();
        let expected = f64::from(60 << round);
        assert!(wait >= expected && wait < expected + 60.0, "{round}: {wait}");
        pass_time(&desk);
    }
    // An answer ends it.
    fake.put("busy", "*", Deed::html("<p>well again</p>"));
    desk.crawl(&["--for", "1s"]);
    assert_eq!(desk.host(&fake.host("busy")).unwrap().failures, 0);
    assert!(page_hits(&fake, "busy").len() > 5);
}

/// Pages elsewhere that lead to a host that is left alone do not lead to requests, there or here.
#[test]
fn redirects_do_not_get_around_it() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("busy", "/robots.txt", Deed::status(404));
    fake.put("busy", "*", Deed::status(429).with("Retry-After", "100"));
    let mut all = Vec::new();
    for page in 0..6 {
        fake.put("from", &format!("/{page}"), Deed::redirect(fake.url("busy", &format!("/{page}"))));
        all.push(fake.url("from", &format!("/{page}")));
    }
    desk.crawl(&[&desk.seeds(&all), "--for", "4s"]);
    assert_eq!(page_hits(&fake, "busy").len(), 1);
    for page in 0..6 {
        assert_eq!(fake.asked_for("from", &format!("/{page}")).len(), 1, "{page}");
    }
    desk.crawl(&["--for", "2s"]);
    assert_eq!(page_hits(&fake, "busy").len(), 1);
    desk.assert_sound();
}
