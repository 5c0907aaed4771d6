//! Bodies that are too much, too slow, too short, or not what they are said to be.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::Duration;

use refrain_store::{Outcome, PageRow, Role};

use crate::support::desk::{Desk, line_of, wait_until};
use crate::support::fake::{Deed, Fake};

/// Bodies are cut at a megabyte, and must come with 20 kB/s. Heads may take as long as a busy machine needs.
const SMALL_AND_FAST: &str =
    "[fetch]\nmax_body = \"1MB\"\nleast_speed = \"20kB\"\nspeed_window = \"1s\"\nwhole_timeout = \"8s\"\n";
const MOST: usize = 1_000_000;

/// 256 MiB of the letter a, as Brotli's encoder packs them.
const BROTLI_BOMB: &[u8] = include_bytes!("data/bomb.br");

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn said(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{head}\r\n").as_bytes(), body].concat()
}

/// Every kind of bomb at once, each unpacking to a quarter of a gigabyte or more: none takes more memory than a few bodies.
#[test]
fn bombs_are_cut_and_take_little_memory() {
    let (fake, desk) = (Fake::start(), Desk::new("[fetch]\nmax_body = \"1MB\"\n"));
    let letters = vec![b'a'; 1 << 24];
    // Members and frames may follow each other.
    let gzip = gzipped(&letters).repeat(32);
    let twice = gzipped(&gzip);
    let zstd = zstd::encode_all(&letters[..], 3).unwrap().repeat(32);
    let markup = gzipped(&b"<div>".repeat(1 << 22)).repeat(4);
    let bombs: [(&str, &str, Vec<u8>); 5] = [
        ("gzip", "gzip", gzip),
        ("twice", "gzip, gzip", twice),
        ("br", "br", BROTLI_BOMB.to_vec()),
        ("zstd", "zstd", zstd),
        ("markup", "gzip", markup),
    ];
    let mut seeds = vec![fake.url("good", "/")];
    fake.put("good", "/", Deed::html("<p>good</p>"));
    for (host, coding, bytes) in &bombs {
        assert!(bytes.len() < MOST, "{host}: {} bytes; the bomb is in what it unpacks to", bytes.len());
        fake.put(host, "/", Deed::html(bytes.clone()).with("Content-Encoding", *coding));
        seeds.push(fake.url(host, "/"));
    }
    let peak = desk.start(&[&desk.seeds(&seeds), "--once"]).peak_memory();
    // The store's cache is 64 MB of it, and reading a megabyte of open tags takes some.
    assert!(peak > 1 << 20 && peak < 400 << 20, "{} MB", peak >> 20);
    for (host, ..) in &bombs {
        let body = desk.body(&fake.url(host, "/"));
        assert_eq!(body.len(), MOST, "{host}");
        assert!(*host == "markup" || body.iter().all(|letter| *letter == b'a'), "{host}");
    }
    assert_eq!(desk.body(&fake.url("good", "/")), b"<p>good</p>");
    desk.assert_sound();
}

/// Many sitemaps at once, each of a few hundred kilobytes that unpack to 50 MB: none is ever there as a whole.
#[test]
fn sitemaps_are_read_piece_by_piece() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-site\"\n"));
    let mut seeds = Vec::new();
    let names: Vec<String> = (0..16).map(|host| format!("h{host}")).collect();
    let entry =
        |host: &str| format!("<url><loc>{}</loc><priority>0.5</priority></url>\n", fake.url(host, "/new"));
    for (at, host) in names.iter().enumerate() {
        let start = "<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">";
        // An entry, and then spaces: what is compressed is small.
        let mut text = format!("{start}{}", entry(host)).into_bytes();
        text.resize(50 << 20, b' ');
        text.extend_from_slice(b"</urlset>");
        let body = gzipped(&text);
        assert!(body.len() < 200_000);
        let deed = if at % 2 == 0 {
            Deed::kind("application/xml", body).with("Content-Encoding", "gzip")
        } else {
            Deed::kind("application/gzip", body)
        };
        let robots = format!("Sitemap: {}", fake.url(host, "/sitemap.xml"));
        fake.put(host, "/robots.txt", Deed::kind("text/plain", robots));
        fake.put(host, "/sitemap.xml", deed);
        for path in ["/", "/new"] {
            fake.put(host, path, Deed::html(format!("<p>{path}</p>")));
        }
        seeds.push(fake.url(host, "/"));
    }
    let peak = desk.start(&[&desk.seeds(&seeds), "--once"]).peak_memory();
    for host in &names {
        assert_eq!(fake.asked_for(host, "/sitemap.xml").len(), 1, "{host}");
        assert_eq!(desk.body(&fake.url(host, "/new")), b"<p>/new</p>", "{host}: its sitemap was read");
    }
    assert!(peak < 300 << 20, "{} MB", peak >> 20);
    desk.assert_sound();
}

/// Full sitemaps at once: fifty thousand long addresses each, all of them unknown.
#[test]
fn long_announcements_take_little_memory() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-host\"\nmax_pages = 400\n"));
    let mut text =
        b"<?xml version=\"1.0\"?><urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_vec();
    let long = "/long".repeat(190);
    for number in 0..50_000 {
        text.extend_from_slice(format!("<url><loc>{long}/{number}</loc></url>\n").as_bytes());
    }
    text.extend_from_slice(b"</urlset>");
    assert!((40 << 20..55 << 20).contains(&text.len()), "{}", text.len());
    let body = gzipped(&text);
    assert!(body.len() < 1 << 20, "{}", body.len());
    let hosts: Vec<String> = (0..8).map(|host| format!("h{host}")).collect();
    let mut seeds = Vec::new();
    for host in &hosts {
        fake.put(host, "/robots.txt", Deed::kind("text/plain", "Sitemap: /sitemap.xml"));
        fake.put(host, "/sitemap.xml", Deed::kind("application/gzip", body.clone()));
        fake.put(host, "*", Deed::html("<p>a page</p>"));
        seeds.push(fake.url(host, "/"));
    }
    let running = desk.start(&[&desk.seeds(&seeds)]);
    wait_until("the crawl began", || !fake.asked_for("h0", "/robots.txt").is_empty());
    wait_until("all sitemaps were read", || {
        let mut read = 0;
        let count = |row: PageRow<'_>| {
            read += usize::from(row.origin.role == Role::Sitemap && row.fetched.is_some());
            ControlFlow::Continue(())
        };
        desk.reader().pages(count).unwrap();
        read == hosts.len()
    });
    let peak = running.memory();
    running.interrupt();
    assert!(peak < 260 << 20, "{} MB", peak >> 20);
    desk.assert_sound();
}

#[test]
fn bodies_that_break_their_promises() {
    let (fake, desk) = (Fake::start(), Desk::new(SMALL_AND_FAST));
    let pause = Duration::from_millis(100);
    let broken: [(&str, Deed, &str); 10] = [
        ("drip", Deed::endless(said("", b""), "x", pause), "less than 20000 bytes per second"),
        (
            "stall",
            Deed::endless(said("Content-Length: 99\r\n", b"a"), "", pause),
            "less than 20000 bytes per second",
        ),
        ("long", Deed::raw(said("Content-Length: 1000\r\n", b"<p>half</p>")), "the body broke off"),
        ("huge", Deed::raw(said("Content-Length: 999999999999\r\n", b"<p>a</p>")), "the body broke off"),
        (
            "chunks",
            Deed::raw(said("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n9\r\nand")),
            "the body broke off",
        ),
        (
            "chunk-size",
            Deed::raw(said("Transfer-Encoding: chunked\r\n", b"xyz\r\nhello\r\n")),
            "the body broke off",
        ),
        ("no-gzip", Deed::html("<p>plain</p>").with("Content-Encoding", "gzip"), "not proper gzip"),
        ("no-br", Deed::html("<p>plain</p>").with("Content-Encoding", "br"), "not proper br"),
        ("no-zstd", Deed::html("<p>plain</p>").with("Content-Encoding", "zstd"), "not proper zstd"),
        ("half", Deed::html(&gzipped(&[7; 5000])[..20]).with("Content-Encoding", "gzip"), "not proper gzip"),
    ];
    let mut seeds = Vec::new();
    for (host, deed, _) in &broken {
        fake.put(host, "/", deed.clone());
        fake.put(host, "/good", Deed::html("<p>good</p>"));
        seeds.push(fake.url(host, "/"));
    }
    fake.put("good", "/", Deed::html("<p>good</p>"));
    seeds.push(fake.url("good", "/"));
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    for (host, _, why) in &broken {
        let line = line_of(&lines, &fake.url(host, "/"));
        assert!(line.outcome == "failed" && line.note.contains(why), "{line:?}");
        assert_eq!(fake.asked_for(host, "/").len(), 1, "{host} was asked once");
    }
    assert_eq!(line_of(&lines, &fake.url("good", "/")).outcome, "first");
    assert_eq!(desk.reader().status().unwrap().fetched, 1, "nothing of what broke is kept");
    desk.assert_sound();
}

/// A page that is broken is no reason to leave its host alone: it answered.
#[test]
fn a_broken_page_does_not_hold_up_its_host() {
    let (fake, desk) = (Fake::start(), Desk::new(SMALL_AND_FAST));
    let mut seeds = Vec::new();
    for page in 0..5 {
        fake.put("a", &format!("/gzip{page}"), Deed::html("<p>plain</p>").with("Content-Encoding", "gzip"));
        fake.put("a", &format!("/cut{page}"), Deed::raw(said("Content-Length: 1000\r\n", b"<p>half</p>")));
        fake.put("a", &format!("/good{page}"), Deed::html("<p>good</p>"));
        seeds.extend(["gzip", "cut", "good"].map(|kind| fake.url("a", &format!("/{kind}{page}"))));
    }
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    assert_eq!(lines.len(), 15);
    let host = desk.host(&fake.host("a")).unwrap();
    assert_eq!((host.back_off_until, host.failures), (None, 0));
    desk.assert_sound();
}

#[test]
fn odd_bodies_are_kept_as_they_are() {
    let (fake, desk) = (Fake::start(), Desk::new(SMALL_AND_FAST));
    let noise: Vec<u8> = (0..50_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let latin = b"<title>caf\xe9</title><p>\xff\xfe\x00 not UTF-8</p>".to_vec();
    let odd: [(&str, Deed, &[u8]); 8] = [
        ("empty", Deed::html(""), b""),
        ("nothing", Deed::raw("HTTP/1.1 200 OK\r\n\r\n"), b""),
        ("latin", Deed::kind("text/html; charset=utf-8", latin.clone()), &latin),
        ("wide", Deed::kind("text/html; charset=utf-16le", latin.clone()), &latin),
        ("martian", Deed::kind("text/html; charset=martian", latin.clone()), &latin),
        ("binary", Deed::kind("application/octet-stream", noise.clone()), &noise),
        ("masked", Deed::html(noise.clone()), &noise),
        ("rot13", Deed::html("<p>uryyb</p>").with("Content-Encoding", "rot13"), b"<p>uryyb</p>"),
    ];
    let mut seeds = Vec::new();
    for (host, deed, _) in &odd {
        fake.put(host, "/", deed.clone());
        seeds.push(fake.url(host, "/"));
    }
    fake.put("endless", "/", Deed::endless(said("", b""), [b'x'; 10_000], Duration::ZERO));
    seeds.push(fake.url("endless", "/"));
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    for (host, _, body) in &odd {
        let url = fake.url(host, "/");
        assert_eq!(line_of(&lines, &url).outcome, "first", "{host}");
        assert_eq!(desk.body(&url), *body, "{host}");
    }
    assert_eq!(desk.body(&fake.url("endless", "/")), vec![b'x'; MOST]);
    desk.assert_sound();
    // Looked at again, nothing has changed.
    fake.put("endless", "/", Deed::status(404));
    desk.crawl_until(&[], "all are looked at again", |_| {
        odd.iter().all(|(host, ..)| fake.asked_for(host, "/").len() > 1)
    });
    for (host, ..) in &odd {
        let looks = desk.looks().into_iter().filter(|(url, _)| *url == fake.url(host, "/"));
        let outcomes: Vec<Outcome> = looks.map(|(_, look)| look.outcome).collect();
        assert!(
            outcomes.len() > 1 && outcomes[1..].iter().all(|one| *one == Outcome::Unchanged),
            "{host}: {outcomes:?}"
        );
    }
    desk.assert_sound();
}

/// What follows a body that is longer than it says is not the answer to the next request.
#[test]
fn an_answer_cannot_smuggle_in_another() {
    let (fake, desk) = (Fake::start(), Desk::new(SMALL_AND_FAST));
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n<p>evil</p>";
    let smuggled = said("Content-Length: 11\r\n", format!("<p>liar</p>{}", evil.repeat(20)).as_bytes());
    let mut seeds = Vec::new();
    for page in 0..8 {
        let smuggled = smuggled.clone();
        fake.put(
            "a",
            &format!("/liar{page}"),
            Deed::wild(move |stream| {
                drop(stream.write_all(&smuggled));
                std::thread::sleep(Duration::from_millis(200));
            }),
        );
        fake.put("a", &format!("/good{page}"), Deed::html("<p>good</p>"));
        seeds.extend([fake.url("a", &format!("/liar{page}")), fake.url("a", &format!("/good{page}"))]);
    }
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    for url in &seeds {
        assert_eq!(line_of(&lines, url).outcome, "first");
        let expected: &[u8] = if url.contains("liar") { b"<p>liar</p>" } else { b"<p>good</p>" };
        assert_eq!(desk.body(url), expected, "{url}");
    }
    desk.assert_sound();
}
