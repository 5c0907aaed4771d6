//! Heads that are none, too large, or want to be something else.

use std::time::Duration;

use crate::support::desk::{Desk, line_of};
use crate::support::fake::{Deed, Fake};

const IMPATIENT: &str = "[fetch]\nhead_timeout = \"4s\"\nwhole_timeout = \"8s\"\n";
const GOOD: &str = "<p>good</p>";

fn head(lines: &str) -> Deed {
    Deed::raw(format!("HTTP/1.1 200 OK\r\n{lines}Content-Length: {}\r\n\r\n{GOOD}", GOOD.len()))
}

#[test]
fn what_is_no_answer_is_a_failure_and_nothing_more() {
    let (fake, desk) = (Fake::start(), Desk::new(IMPATIENT));
    let many = (0..5000).map(|line| format!("X-{line}: y\r\n")).collect::<Vec<_>>().concat();
    let pause = Duration::from_millis(1);
    let broken: Vec<(&str, Deed, &str)> = vec![
        ("status-word", Deed::raw("HTTP/1.1 fine OK\r\n\r\n"), "no proper HTTP answer"),
        ("status-long", Deed::raw("HTTP/1.1 20000 OK\r\n\r\n"), "no proper HTTP answer"),
        ("version", Deed::raw("HTTP/9.9 200 OK\r\n\r\n"), "no proper HTTP answer"),
        ("no-version", Deed::raw("200 OK\r\n\r\n"), "no proper HTTP answer"),
        ("http-0-9", Deed::raw("<html><p>as in 1991</p></html>"), "no proper HTTP answer"),
        ("garbage", Deed::raw((0..=255u8).rev().collect::<Vec<u8>>()), "no proper HTTP answer"),
        ("tls", Deed::raw([22, 3, 1, 0, 5, 1, 0, 0, 1, 0]), "no proper HTTP answer"),
        ("half", Deed::raw("HTTP/1.1 200 OK\r\nContent-Le"), "no proper HTTP answer"),
        ("lengths", head("Content-Length: 3\r\n"), "no proper HTTP answer"),
        ("huge", head(&format!("X: {}\r\n", "y".repeat(1 << 20))), "head is larger than allowed"),
        ("many", head(&many), "head is larger than allowed"),
        (
            "endless",
            Deed::endless("HTTP/1.1 200 OK\r\nX: ", [b'y'; 1000], pause),
            "head is larger than allowed",
        ),
        ("continue", Deed::endless("", "HTTP/1.1 100 Continue\r\n\r\n", pause), ""),
        (
            "switch",
            Deed::raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
            "",
        ),
        ("closed", Deed::raw(""), "no proper HTTP answer"),
        ("reset", Deed::Reset, "no proper HTTP answer"),
        ("silent", Deed::silence(), "timed out waiting for an answer"),
        ("slow", Deed::endless("", "H", Duration::from_millis(200)), ""),
    ];
    let mut seeds = vec![fake.url("good", "/")];
    fake.put("good", "/", Deed::html(GOOD));
    for (host, deed, _) in &broken {
        fake.put(host, "/", deed.clone());
        seeds.push(fake.url(host, "/"));
        // The same from the first request on.
        let all = format!("all-{host}");
        fake.put(&all, "*", deed.clone());
        seeds.push(fake.url(&all, "/"));
    }
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    assert_eq!(line_of(&lines, &fake.url("good", "/")).outcome, "first");
    for (host, _, why) in &broken {
        let line = line_of(&lines, &fake.url(host, "/"));
        assert!(line.outcome == "failed" && line.note.contains(why), "{line:?}");
        // On the connection that robots.txt came on, it may have been closed before the request: that is made once more.
        let most = if ["closed", "reset"].contains(host) { 2 } else { 1 };
        assert!((1..=most).contains(&fake.asked_for(host, "/").len()), "{host} was asked once");
        // Who has no robots.txt to be read is asked for no page.
        let all = format!("all-{host}");
        let line = line_of(&lines, &fake.url(&all, "/"));
        assert!(line.outcome == "failed" && line.note.contains("robots.txt"), "{line:?}");
        assert_eq!(fake.asked_for(&all, "/robots.txt").len(), 1, "{all}");
        assert_eq!(fake.asked_for(&all, "/").len(), 0, "{all}");
    }
    desk.assert_sound();
}

/// Lines of a head that try to be records of the archive, or lines of our next request.
#[test]
fn heads_cannot_forge_anything() {
    let (fake, desk) = (Fake::start(), Desk::new(IMPATIENT));
    let record = "\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://evil/\r\nContent-Length: 4\r\n\r\nevil\r\n\r\n";
    let odd: Vec<(&str, Deed)> = vec![
        ("folded", head("X-A: one\r\n WARC/1.1\r\n\tWARC-Type: response\r\n")),
        ("no-colon", head("WARC/1.1\r\nX: y\r\n")),
        ("bare", head("X: a\rWARC-Type: response\r\n")),
        ("nul", head("X: a\0b\r\n")),
        ("reason", Deed::raw(format!("HTTP/1.1 200 \t\u{e9}\u{1b}[31m\r\nContent-Length: 11\r\n\r\n{GOOD}"))),
        ("no-reason", Deed::raw(format!("HTTP/1.1 200\r\nContent-Length: 11\r\n\r\n{GOOD}"))),
        ("line-feeds", Deed::raw(format!("HTTP/1.0 200 OK\nContent-Length: 11\nX: y\n\n{GOOD}"))),
        ("etag", head("ETag: \"a\", X-Evil: \tb\u{e9}\r\nLast-Modified: yesterday\r\n")),
        ("body", Deed::html(record)),
        ("title", Deed::html("<title>a\r\nb\u{1b}[31m\u{202e}</title>")),
    ];
    let mut seeds = Vec::new();
    for (host, deed) in &odd {
        fake.put(host, "/", deed.clone());
        seeds.push(fake.url(host, "/"));
    }
    desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    desk.crawl_until(&[], "they are looked at again", |said| said.lines().count() > 2 * odd.len());
    desk.assert_sound();
    let mut kept = 0;
    for (host, _) in &odd {
        for (version, record) in desk.versions(&fake.url(host, "/")) {
            assert_eq!(version.url, fake.url(host, "/"));
            let expected: &[u8] =
                if record.body.starts_with(b"<p>") { GOOD.as_bytes() } else { &record.body };
            assert_eq!(record.body, expected);
            kept += 1;
        }
    }
    assert!(kept >= odd.len() - 2, "most of them are readable: {kept}");
    for hit in fake.log() {
        let names: Vec<&str> =
            hit.head.lines().skip(1).filter_map(|line| line.split_once(':')).map(|(name, _)| name).collect();
        let usual = ["user-agent", "accept", "accept-encoding", "host", "if-none-match", "if-modified-since"];
        assert!(names.iter().all(|name| usual.contains(&name.to_ascii_lowercase().as_str())), "{}", hit.head);
        assert!(hit.head.starts_with("GET /"), "{}", hit.head);
    }
}
