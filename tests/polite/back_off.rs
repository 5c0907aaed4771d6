//! 429 and 503: a host is left alone for as long as it asks, whoever leads there, and whatever becomes of the crawler meanwhile.

use std::io::Write;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use refrain_core::time::Span;
use refrain_store::PageState;

use crate::support::desk::{Desk, wait_until};
use crate::support::fake::{Deed, Fake};

/// Requests for pages of a host.
fn page_hits(fake: &Fake, host: &str) -> Vec<crate::support::fake::Hit> {
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
    desk.crawl_until(&[&desk.seeds(&all)], "all have said what they wish", |said| {
        wishes.iter().all(|(host, ..)| said.contains(&fake.host(host)))
    });
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

/// Requests that were under way when a host asked for an hour end that neither by an answer nor by asking for less, in memory or in the store.
#[test]
fn requests_under_way_do_not_end_a_back_off() {
    let (fake, desk) = (Fake::start(), Desk::new("per_host = 3\n"));
    let (asked, noted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    // Nothing is answered before all are asked, and nothing but the hour before that is on the disk.
    let held = |is_hour: bool, answer: &'static str| {
        let (asked, noted) = (Arc::clone(&asked), Arc::clone(&noted));
        Deed::wild(move |stream| {
            asked.fetch_add(1, Ordering::Relaxed);
            wait_until("it is its turn", || {
                asked.load(Ordering::Relaxed) == 3 && (is_hour || noted.load(Ordering::Relaxed))
            });
            drop(stream.write_all(answer.as_bytes()));
        })
    };
    fake.put("busy", "/robots.txt", Deed::status(404));
    let hour = "HTTP/1.1 429 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n";
    let soon = "HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";
    fake.put("busy", "/hour", held(true, hour));
    fake.put("busy", "/soon", held(false, soon));
    fake.put("busy", "/fine", held(false, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes"));
    let all = ["/fine", "/soon", "/hour"].map(|path| fake.url("busy", path));
    let running = desk.start(&[&desk.seeds(&all)]);
    let until = || desk.host(&fake.host("busy")).and_then(|host| host.back_off_until);
    wait_until("all are asked, and the hour is on the disk", || {
        page_hits(&fake, "busy").len() == 3 && until().is_some()
    });
    let hour = until().unwrap();
    noted.store(true, Ordering::Relaxed);
    wait_until("all are answered", || desk.looks().len() == 3);
    running.interrupt();
    assert!(until() >= Some(hour), "{:?} {hour:?}", until());
    desk.crawl(&["--for", "1s"]);
    assert_eq!(page_hits(&fake, "busy").len(), 3);
    desk.assert_sound();
}

/// A page that is not there is looked for after an hour, then after two and so on, also if the crawler is started anew each time.
#[test]
fn a_missing_page_is_asked_for_ever_more_rarely() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    for host in ["missing", "there"] {
        fake.put(host, "/robots.txt", Deed::status(404));
    }
    fake.put("missing", "/", Deed::status(410));
    fake.put("there", "/", Deed::html("<p>there</p>"));
    let all = [fake.url("missing", "/"), fake.url("there", "/")];
    let asked = |host| page_hits(&fake, host).len();
    let running = desk.start(&[&desk.seeds(&all)]);
    let looks = |url: &str| desk.looks().into_iter().filter(|look| look.0 == url).count();
    wait_until("it is found to be missing", || asked("missing") == 1 && looks(&all[0]) == 1);
    running.interrupt();
    for round in 0..4 {
        // A minute before its time, and a minute after it.
        for (minutes, times) in [((60 << round) - 1, round + 1), (2, round + 2)] {
            let sql =
                format!("UPDATE pages SET looked = looked - {minutes} * 60000 WHERE url LIKE '%missing%'");
            execute(&desk, &sql);
            let before = asked("there");
            let running = desk.start(&[]);
            wait_until("the crawl runs", || asked("there") > before + 2 && looks(&all[0]) >= times);
            running.interrupt();
            assert_eq!(asked("missing"), times, "{round}");
        }
    }
    let page = desk.reader().page(&all[0]).unwrap().unwrap();
    assert_eq!((page.state, page.failures), (PageState::Gone, 5));
    desk.assert_sound();
}

fn execute(desk: &Desk, sql: &str) {
    let script = "import sqlite3,sys\n\
                  db=sqlite3.connect(sys.argv[1]); db.execute(sys.argv[2]); db.commit()";
    let database = desk.path("data").join("refrain.db");
    assert!(Command::new("python3").args(["-c", script]).arg(database).arg(sql).status().unwrap().success());
}

/// As if that time had passed: the moment until which hosts are left alone is moved, and nothing else.
fn pass_time(desk: &Desk) {
    execute(desk, "UPDATE hosts SET back_off_until = 1000");
}

#[test]
fn without_a_wish_the_time_doubles() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("busy", "/robots.txt", Deed::status(404));
    fake.put("busy", "*", Deed::status(503));
    let all = desk.seeds(&(0..9).map(|page| fake.url("busy", &format!("/{page}"))).collect::<Vec<_>>());
    for round in 0..4u32 {
        desk.crawl_until(&[&all], "it is asked", |said| said.contains(&fake.host("busy")));
        assert_eq!(page_hits(&fake, "busy").len(), 1 + round as usize);
        let look = desk.looks().pop().unwrap().1;
        let wait = desk.host(&fake.host("busy")).unwrap().back_off_until.unwrap().since(look.time).as_secs();
        let expected = f64::from(60 << round);
        assert!(wait >= expected && wait < expected + 60.0, "{round}: {wait}");
        pass_time(&desk);
    }
    // An answer ends it.
    fake.put("busy", "*", Deed::html("<p>well again</p>"));
    desk.crawl_until(&[], "it is visited", |_| page_hits(&fake, "busy").len() > 5);
    assert_eq!(desk.host(&fake.host("busy")).unwrap().failures, 0);
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
    desk.crawl_until(&[&desk.seeds(&all)], "all lead there", |said| {
        let led = (0..6).all(|page| !fake.asked_for("from", &format!("/{page}")).is_empty());
        led && said.contains("://") && !page_hits(&fake, "busy").is_empty()
    });
    assert_eq!(page_hits(&fake, "busy").len(), 1);
    for page in 0..6 {
        assert_eq!(fake.asked_for("from", &format!("/{page}")).len(), 1, "{page}");
    }
    desk.crawl(&["--for", "2s"]);
    assert_eq!(page_hits(&fake, "busy").len(), 1);
    desk.assert_sound();
}
