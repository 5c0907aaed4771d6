//! Redirects that lead in circles, nowhere, or where they should not.

use std::time::Duration;

use crate::support::desk::{Desk, line_of};
use crate::support::fake::{Deed, Fake};

#[test]
fn redirects_end_somewhere() {
    let (fake, desk) = (Fake::start(), Desk::new("redirects = 4\n[fetch]\nconnect_timeout = \"2s\"\n"));
    fake.put("self", "/", Deed::redirect("/"));
    fake.put("pair", "/", Deed::redirect("/other"));
    fake.put("pair", "/other", Deed::redirect("/"));
    fake.put("ping", "/", Deed::redirect(fake.url("pong", "/")));
    fake.put("pong", "/", Deed::redirect(fake.url("ping", "/")));
    for hop in 0..6 {
        fake.put("chain", &format!("/{hop}"), Deed::redirect(format!("/{}", hop + 1)));
    }
    fake.put("chain", "/6", Deed::html("<p>the end</p>"));
    // To what is no address, nobody's address, or not there.
    for (host, target) in [
        ("empty", String::new()),
        ("scheme", "ftp://example.org/".to_owned()),
        ("script", "javascript:alert(1)".to_owned()),
        ("nobody", "http://".to_owned()),
        ("file", "file:///etc/passwd".to_owned()),
        ("port", "http://a.localhost:99999/".to_owned()),
        ("refused", "http://nobody.localhost:1/".to_owned()),
        ("gone", fake.url("gone", "/elsewhere")),
        ("no-target", fake.url("no-target", "/bare")),
    ] {
        fake.put(host, "/", Deed::redirect(target));
    }
    fake.put("no-target", "/bare", Deed::status(302));
    fake.put("not-asked", "/", Deed::status(304));
    let paths = [("chain", "/0"), ("chain", "/1"), ("chain", "/2")];
    let hosts = [
        "self",
        "pair",
        "ping",
        "scheme",
        "script",
        "nobody",
        "file",
        "port",
        "refused",
        "gone",
        "no-target",
    ];
    let mut seeds: Vec<String> = paths.iter().map(|(host, path)| fake.url(host, path)).collect();
    seeds.extend(hosts.iter().chain(&["empty", "not-asked"]).map(|host| fake.url(host, "/")));
    let lines = desk.crawl(&[&desk.seeds(&seeds), "--once"]);

    let note = |host: &str, path: &str| line_of(&lines, &fake.url(host, path)).note.clone();
    for host in ["self", "pair", "ping", "empty"] {
        assert_eq!(note(host, "/"), "more than 4 redirects", "{host}");
    }
    assert_eq!(note("chain", "/0"), "more than 4 redirects");
    assert_eq!(note("chain", "/1"), "more than 4 redirects");
    // Four are followed, not one more.
    assert_eq!(desk.body(&fake.url("chain", "/2")), b"<p>the end</p>");
    assert_eq!(desk.versions(&fake.url("chain", "/2"))[0].0.url, fake.url("chain", "/6"));
    for host in ["scheme", "script", "nobody", "file", "port"] {
        assert!(note(host, "/").starts_with("a redirect to nowhere"), "{host}: {}", note(host, "/"));
    }
    assert!(note("refused", "/").contains("no connection"), "{}", note("refused", "/"));
    assert_eq!(line_of(&lines, &fake.url("gone", "/")).outcome, "gone");
    assert_eq!(
        (note("no-target", "/"), note("not-asked", "/")),
        ("status 302".to_owned(), "status 304".to_owned())
    );
    assert_eq!(fake.asked_for("self", "/").len(), 5);
    assert_eq!(fake.asked_for("ping", "/").len() + fake.asked_for("pong", "/").len(), 5);
    desk.assert_sound();
}

/// The host that a redirect leads to is asked for its robots.txt first, and is obeyed.
#[test]
fn another_host_has_its_own_rules() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("strict", "/robots.txt", Deed::kind("text/plain", "User-agent: *\nDisallow: /"));
    fake.put("strict", "/page", Deed::html("<p>private</p>"));
    fake.put("slow", "/robots.txt", Deed::kind("text/plain", "User-agent: *\nCrawl-delay: 1"));
    fake.put("broken", "/robots.txt", Deed::status(500));
    let mut seeds = Vec::new();
    for page in 0..3 {
        for host in ["strict", "slow", "broken"] {
            fake.put(host, &format!("/{page}"), Deed::html(format!("<p>{page}</p>")));
            let from = format!("from-{host}-{page}");
            fake.put(&from, "/", Deed::redirect(fake.url(host, &format!("/{page}"))));
            seeds.push(fake.url(&from, "/"));
        }
    }
    let lines = desk.crawl_until(&[&desk.seeds(&seeds)], "all are led elsewhere", |said| {
        let all = (0..3).all(|page| {
            said.contains(&fake.url(&format!("from-strict-{page}"), "/"))
                && !fake.asked_for(&format!("from-broken-{page}"), "/").is_empty()
        });
        let slow = fake.asked_of("slow").iter().filter(|hit| hit.path != "/robots.txt").count();
        all && slow >= 3 && said.contains("from-broken-")
    });
    let outcomes = |host: &str| {
        let from = format!("from-{host}-");
        lines
            .iter()
            .filter(|line| line.url.contains(&from))
            .map(|line| line.outcome.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes("strict"), ["disallowed"; 3]);
    assert!(outcomes("slow").iter().all(|outcome| ["first", "unchanged"].contains(&outcome.as_str())));
    let asked = |host: &str| fake.asked_of(host).into_iter().map(|hit| hit.path).collect::<Vec<_>>();
    assert!(asked("strict").iter().all(|path| path == "/robots.txt"), "{:?}", asked("strict"));
    // It is left alone, whoever else leads there; they are not asked again in vain.
    assert_eq!(asked("broken"), ["/robots.txt"]);
    assert_eq!(outcomes("broken"), ["failed"]);
    for page in 0..3 {
        assert_eq!(fake.asked_for(&format!("from-broken-{page}"), "/").len(), 1, "{page}");
    }
    let slow = fake.asked_of("slow");
    assert!(slow.iter().filter(|hit| hit.path != "/robots.txt").count() >= 2, "{slow:#?}");
    // Once its delay is known; visits that came at the same time may all have asked for it.
    let ruled = slow.iter().position(|hit| hit.path != "/robots.txt").unwrap();
    for pair in slow[ruled - 1..].windows(2) {
        assert!(pair[1].time - pair[0].time >= Duration::from_secs(1), "{pair:?}");
    }
    desk.assert_sound();
}
