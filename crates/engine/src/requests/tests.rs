use std::io::{self, Write};

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;

const NOON: i64 = 1_794_744_000;

fn at(seconds: i64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

fn rules(site: Option<&str>) -> Rules {
    Rules { site: site.and_then(|site| PageUrl::parse(site).ok()), bots: false, now: at(NOON + 86_400) }
}

fn read(source: impl Read, rules: &Rules) -> (Vec<(i64, String)>, Tally) {
    let mut requests = Requests::new(source, rules);
    let found = requests
        .by_ref()
        .map(|request| (request.time.as_nanos() / 1_000_000_000 - NOON, request.url.to_string()))
        .collect();
    (found, requests.tally().clone())
}

fn urls(log: &str, site: Option<&str>) -> Vec<String> {
    read(log.as_bytes(), &rules(site)).0.into_iter().map(|(_, url)| url).collect()
}

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";

fn combined(path: &str, agent: &str) -> String {
    format!(
        "203.0.113.7 - - [15/Nov/2026:13:00:05 +0100] \"GET {path} HTTP/1.1\" 200 5120 \"https://example.org/\" \"{agent}\"\n"
    )
}

#[test]
fn common_combined_and_tables() {
    let log = [
        "203.0.113.7 - ann [15/Nov/2026:12:00:01 +0000] \"GET /a?b=%7e HTTP/1.0\" 200 17\n".to_owned(),
        "2001:db8::1 - - [15/Nov/2026:06:30:02 -0530] \"GET /b HTTP/2.0\" 304 0\n".to_owned(),
        combined("/c", BROWSER),
        combined("/a \\\"quoted\\\" path", BROWSER),
        combined("/\\xc3\\xa9\\\\", BROWSER),
        "time,url\n".to_owned(),
        "2026-11-15T12:00:09Z,https://example.org/d,e\n".to_owned(),
        "1794744010,\"https://example.org/f\"\r\n".to_owned(),
        "\n# a comment\n".to_owned(),
        "203.0.113.7 - - [2026-11-15T12:00:11+00:00] \"GET /g HTTP/1.1\" 206 17".to_owned(),
    ]
    .concat();
    let (found, tally) = read(log.as_bytes(), &rules(Some("https://example.org/x/y")));
    let expected = [
        (1, "https://example.org/a?b=~"),
        (2, "https://example.org/b"),
        (5, "https://example.org/c"),
        (5, "https://example.org/a%20%22quoted%22%20path"),
        (5, "https://example.org/%C3%A9%5C"),
        (9, "https://example.org/d,e"),
        (10, "https://example.org/f"),
        (11, "https://example.org/g"),
    ];
    assert_eq!(found, expected.map(|(time, url)| (time, url.to_owned())));
    // The header is one only on the first line.
    assert_eq!((tally.lines, tally.requests, tally.bad), (9, 8, 1));
    assert_eq!(read("time,url\n".as_bytes(), &rules(None)).1, Tally::default());
}

#[test]
fn virtual_hosts_go_before_the_site() {
    let line = |host: &str| format!("{host} {}", combined("//p", BROWSER));
    assert_eq!(urls(&line("www.example.com:443"), None), ["https://www.example.com//p"]);
    assert_eq!(urls(&line("www.example.com:80"), None), ["http://www.example.com//p"]);
    assert_eq!(urls(&line("www.example.com"), Some("http://example.org")), ["https://www.example.com//p"]);
    assert_eq!(urls(&line("example.org:8080"), Some("http://example.org")), ["http://example.org//p"]);
    assert_eq!(urls(&line("[2001:db8::1]:8080"), None), ["https://[2001:db8::1]:8080//p"]);
    assert_eq!(urls(&line("2001:db8::1"), None), ["https://[2001:db8::1]//p"]);
    assert_eq!(
        urls(&line("2001:db8::1"), Some("http://[2001:db8::1]:8080")),
        ["http://[2001:db8::1]:8080//p"]
    );
    let (found, tally) = read(combined("/p", BROWSER).as_bytes(), &rules(None));
    assert_eq!((found.len(), tally.homeless), (0, 1));
}

#[test]
fn only_pages_that_people_got() {
    let line = |request: &str, status: u16| {
        format!("203.0.113.7 - - [15/Nov/2026:12:00:00 +0000] \"{request}\" {status} 1 \"-\" \"{BROWSER}\"\n")
    };
    let log = [
        line("GET / HTTP/1.1", 404),
        line("GET / HTTP/1.1", 301),
        line("POST / HTTP/1.1", 200),
        line("HEAD / HTTP/1.1", 200),
        combined("/bot", "Examplebot/1.0"),
        combined("/nobody", "-"),
        combined("/person", BROWSER),
    ]
    .concat();
    let site = rules(Some("https://example.org"));
    let (found, tally) = read(log.as_bytes(), &site);
    assert_eq!(found.len(), 1);
    assert_eq!((tally.unanswered, tally.other_methods, tally.bots), (2, 2, 2));
    let with_bots = Rules { bots: true, ..site };
    assert_eq!(read(log.as_bytes(), &with_bots).0.len(), 3);
}

#[test]
fn garbage_is_counted_and_the_first_of_it_shown() {
    let mut log = combined("/a", BROWSER).into_bytes();
    log.extend_from_slice(b"\x16\x03\x01\xff\xfe\n");
    log.extend_from_slice(b"203.0.113.7 - - [15/Nov/2026:12:00:00 +0000] \"\\x16\\x03\\x01\" 400 0\n");
    log.extend_from_slice(b"203.0.113.7 - - [15/Nov/2096:12:00:00 +0000] \"GET / HTTP/1.1\" 200 0\n");
    log.extend_from_slice(b"203.0.113.7 - - [31/Feb/2026:12:00:00 +0000] \"GET / HTTP/1.1\" 200 0\n");
    log.extend_from_slice(b"2026-11-15,https://example.org/\n");
    log.resize(log.len() + 1_000_000, b'x');
    log.push(b'\n');
    log.extend_from_slice(combined("/b", BROWSER).as_bytes());
    log.resize(log.len() + 300_000, 0);
    let (found, tally) = read(&log[..], &rules(Some("https://example.org")));
    assert_eq!(found.len(), 2);
    assert_eq!((tally.lines, tally.bad), (9, 7));
    assert_eq!(
        tally.to_string(),
        "2 of 9 lines are requests of people for pages; 7 not understood (line 2: it is not text)"
    );
}

#[test]
fn gzip_in_members_and_broken_off() {
    let zipped = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("memory")
    };
    let site = rules(Some("https://example.org"));
    let two = [zipped(&combined("/a", BROWSER)), zipped(&combined("/b", BROWSER))].concat();
    let (found, mut tally) = read(&two[..], &site);
    assert_eq!((found.len(), tally.broken.as_deref()), (2, None));
    let many: String = (0..20_000).map(|number| combined(&format!("/{}", number * 7919), BROWSER)).collect();
    let many = zipped(&many);
    let (found, half) = read(&many[..many.len() / 2], &site);
    assert!(found.len() > 1000 && half.broken.is_some() && half.bad == 0);
    tally.add(half);
    assert_eq!(tally.requests, 2 + found.len() as u64);
    assert!(tally.broken.is_some());
}

#[test]
fn a_source_that_fails_ends() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let source = combined("/a", BROWSER).into_bytes();
    let (found, tally) = read(source.chain(Fails), &rules(Some("https://example.org")));
    assert_eq!((found.len(), tally.broken.as_deref()), (1, Some("gone")));
}

/// Every line of garbage is counted, however it is made.
#[test]
fn no_line_is_too_strange() {
    let parts = [
        "203.0.113.7",
        " ",
        "-",
        "[",
        "15/Nov/2026:12:00:00 +0000",
        "15/é/2026:12:00:00 +0000",
        "]",
        "\"",
        "GET",
        "/",
        "HTTP/1.1",
        "200",
        ",",
        "\\",
        "\\x",
        "é",
        "2026-11-15T12:00:00Z",
        "https://",
        "example.org",
        ":",
        "\u{feff}",
        "#",
    ];
    let site = rules(Some("https://example.org"));
    // A generator of its own: no two lines alike, always the same ones.
    let mut state = 1u64;
    let mut log = String::new();
    for _ in 0..20_000 {
        for _ in 0..12 {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            log.push_str(parts[(state >> 33) as usize % parts.len()]);
        }
        log.push('\n');
    }
    let (found, tally) = read(log.as_bytes(), &site);
    let skipped = tally.bad + tally.bots + tally.homeless + tally.other_methods + tally.unanswered;
    assert_eq!(tally.lines, found.len() as u64 + skipped);
    assert!(tally.bad > 1000);
}
