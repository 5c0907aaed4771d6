//! Whatever a host gives for its robots.txt, it is obeyed, or nothing is asked for.

use std::time::Duration;

use crate::support::desk::{Desk, Line, line_of};
use crate::support::fake::{Deed, Fake};

fn text(body: impl Into<Vec<u8>>) -> Deed {
    Deed::kind("text/plain", body)
}

/// A crawl of hosts with these robots.txt, each with the pages `/a` and `/b`, until something is said of these paths of each host.
fn crawl(fake: &Fake, hosts: Vec<(&str, Deed)>, paths: &[&str]) -> (Desk, Vec<Line>) {
    let desk = Desk::new(
        "[fetch]\nleast_speed = \"20kB\"\nspeed_window = \"1s\"\nhead_timeout = \"4s\"\nwhole_timeout = \"8s\"\n",
    );
    let (mut seeds, mut awaited) = (Vec::new(), Vec::new());
    for (host, robots) in hosts {
        awaited.extend(paths.iter().map(|path| fake.url(host, path)));
        fake.put(host, "/robots.txt", robots);
        for path in ["/a", "/b"] {
            fake.put(host, path, Deed::html("<p>page</p>"));
            seeds.push(fake.url(host, path));
        }
    }
    let lines = desk.crawl_until(&[&desk.seeds(&seeds)], "all are visited", |said| {
        awaited.iter().all(|url| said.contains(url))
    });
    desk.assert_sound();
    (desk, lines)
}

/// The pages of a host that were asked for.
fn pages(fake: &Fake, host: &str) -> Vec<String> {
    let mut pages: Vec<String> = fake.asked_of(host).into_iter().map(|hit| hit.path).collect();
    pages.retain(|path| path != "/robots.txt");
    pages.sort();
    pages.dedup();
    pages
}

#[test]
fn without_rules_everything_is_allowed() {
    let fake = Fake::start();
    let noise: Vec<u8> = (0..200_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let hosts = vec![
        ("none", Deed::status(404)),
        ("forbidden", Deed::status(403)),
        ("gone", Deed::status(410)),
        ("empty", text("")),
        ("binary", Deed::kind("application/octet-stream", noise)),
        ("page", Deed::html("<html><p>User-agent is missing</p></html>")),
        ("loop", Deed::redirect("/robots.txt")),
    ];
    let names: Vec<&str> = hosts.iter().map(|(host, _)| *host).collect();
    let (_, lines) = crawl(&fake, hosts, &["/a", "/b"]);
    for host in names {
        assert_eq!(pages(&fake, host), ["/a", "/b"], "{host}");
        let first =
            lines.iter().filter(|line| line.url.starts_with(&fake.host(host)) && line.outcome == "first");
        assert_eq!(first.count(), 2, "{host}");
    }
    // Five redirects are followed; and then it is known for a day.
    assert_eq!(fake.asked_for("loop", "/robots.txt").len(), 6);
    assert_eq!(fake.asked_for("none", "/robots.txt").len(), 1);
}

#[test]
fn a_host_whose_rules_cannot_be_had_is_left_alone() {
    let fake = Fake::start();
    let pause = Duration::from_millis(100);
    let hosts = vec![
        ("error", Deed::status(500)),
        ("busy", Deed::status(503)),
        ("later", Deed::status(503).with("Retry-After", "100")),
        ("too-many", Deed::status(429)),
        ("drip", Deed::endless("HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", "#", pause)),
        ("cut", Deed::raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nUser-agent: *\n")),
        ("no-gzip", text("User-agent: *\nAllow: /").with("Content-Encoding", "gzip")),
        ("reset", Deed::Reset),
        ("elsewhere", Deed::redirect("http://nobody.localhost:1/robots.txt")),
    ];
    let names: Vec<&str> = hosts.iter().map(|(host, _)| *host).collect();
    let (desk, lines) = crawl(&fake, hosts, &["/"]);
    for host in names {
        assert_eq!(pages(&fake, host), [""; 0], "{host}");
        assert_eq!(fake.asked_of(host).len(), 1, "{host} is not asked again so soon");
        let line = lines.iter().find(|line| line.url.starts_with(&fake.host(host))).expect(host);
        assert!(["failed", "slow down"].contains(&line.outcome.as_str()), "{line:?}");
        let row = desk.host(&fake.host(host)).unwrap();
        assert!(row.back_off_until.is_some(), "{host} is left alone after a restart as well");
    }
}

#[test]
fn rules_are_obeyed_however_they_come() {
    let fake = Fake::start();
    // Ten megabytes; what lies beyond the first half megabyte does not count.
    let mut long = b"User-agent: *\nDisallow: /a\n".to_vec();
    long.extend(b"# and so on\n".repeat(850_000));
    long.extend(b"Disallow: /b\n");
    assert!(long.len() > 10_000_000);
    fake.put("moved-to", "/rules", text("User-agent: Tester\nDisallow: /a"));
    let hosts = vec![
        ("long", text(long)),
        ("wild", text("User-agent: *\nDisallow: /*\nAllow: /b$\n")),
        ("named", text("User-agent: *\nDisallow: /b\n\nUser-agent: tester\nDisallow: /a")),
        ("messy", text("\u{feff}user-AGENT :  *  # all\r\n\0\r\rDISALLOW:/a\r\n\u{ff}\u{ff}\r\n")),
        ("moved", Deed::redirect(fake.url("moved-to", "/rules"))),
        ("coded", {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut encoder, b"User-agent: *\nDisallow: /a").unwrap();
            text(encoder.finish().unwrap()).with("Content-Encoding", "gzip")
        }),
    ];
    let names: Vec<&str> = hosts.iter().map(|(host, _)| *host).collect();
    let (desk, lines) = crawl(&fake, hosts, &["/a", "/b"]);
    for host in &names {
        assert_eq!(pages(&fake, host), ["/b"], "{host}");
        assert_eq!(line_of(&lines, &fake.url(host, "/a")).outcome, "disallowed");
    }
    // And after a restart, by what is kept.
    desk.crawl(&["--for", "500ms"]);
    for host in &names {
        assert_eq!(pages(&fake, host), ["/b"], "{host}");
        assert_eq!(fake.asked_for(host, "/robots.txt").len(), 1, "{host}");
    }
}

#[test]
fn a_crawl_delay_is_kept() {
    let fake = Fake::start();
    fake.put("slow", "/robots.txt", text("User-agent: *\nCrawl-delay: 1.2"));
    let desk = Desk::new("");
    let mut seeds = Vec::new();
    for page in 0..20 {
        fake.put("slow", &format!("/{page}"), Deed::html("<p>page</p>"));
        seeds.push(fake.url("slow", &format!("/{page}")));
    }
    desk.crawl_until(&[&desk.seeds(&seeds)], "some are visited", |_| fake.asked_of("slow").len() > 3);
    // Also across an end and a kill.
    desk.crawl(&["--for", "2s"]);
    let killed = desk.start(&[]);
    std::thread::sleep(Duration::from_secs(2));
    killed.kill();
    desk.crawl(&["--for", "2s"]);
    let asked = fake.asked_of("slow");
    for pair in asked.windows(2) {
        let gap = pair[1].time - pair[0].time;
        assert!(gap >= Duration::from_millis(1200), "{gap:?}");
    }
    desk.assert_sound();
}
