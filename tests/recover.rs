//! A data directory that lost its database, or whose crawl failed: nothing is made worse, and `refrain recover` mends it.

use std::fs;

use crate::support::desk::Desk;
use crate::support::fake::{Deed, Fake};
use crate::support::{complains, refrain, stderr, stdout};

/// Two pages, one of them behind a redirect, crawled in two versions each; and the addresses.
fn crawled() -> (Fake, Desk, Vec<String>) {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    fake.put("a", "/moved", Deed::redirect("/target"));
    let urls: Vec<String> = ["/news", "/moved"].map(|path| fake.url("a", path)).to_vec();
    let seeds = desk.seeds(&urls);
    for version in ["one", "two"] {
        for path in ["/news", "/target"] {
            fake.put("a", path, Deed::html(format!("<title>T</title><p>{path} {version}</p>")));
        }
        desk.crawl(&[&seeds, "--once"]);
    }
    (fake, desk, urls)
}

/// What records tell of looks: everything but how long they took and how many bytes were sent.
fn observations(desk: &Desk) -> Vec<(String, i64, String, Option<String>)> {
    let looks = desk.looks().into_iter();
    let mut looks: Vec<_> = looks
        .map(|(url, look)| {
            let digest = look.digest.map(|digest| digest.to_string());
            (url, look.time.as_nanos(), look.outcome.as_str().to_owned(), digest)
        })
        .collect();
    looks.sort();
    looks
}

#[test]
fn a_crawl_whose_database_is_lost_is_refused_until_it_is_recovered() {
    let (fake, desk, urls) = crawled();
    let before = observations(&desk);
    assert_eq!(before.len(), 4);
    let diffs = || urls.iter().map(|url| stdout(&desk.run(&["diff", url]))).collect::<Vec<_>>();
    let diffs_before = diffs();
    let segment = desk.path("data/warc/000001.warc.gz");
    let archive = fs::read(&segment).unwrap();
    for database in [None, Some("")] {
        fs::remove_file(desk.path("data/refrain.db")).unwrap();
        if let Some(text) = database {
            fs::write(desk.path("data/refrain.db"), text).unwrap();
        }
        let expected = ["refrain.db", "000001.warc.gz", "`refrain recover "];
        complains(&refrain(&desk.arguments(&["--once"])), &expected);
        complains(&desk.run(&["check"]), &expected);
        complains(&desk.run(&["status"]), &expected);
        assert_eq!(fs::read(&segment).unwrap(), archive);
        fs::write(desk.path("data/refrain.db"), "").unwrap();
    }

    let recovered = refrain(&["recover", desk.data()]);
    assert!(recovered.status.success(), "{}", stderr(&recovered));
    let said = stdout(&recovered);
    assert!(said.contains("2 pages new, 4 looks and 4 versions recovered"), "{said}");
    assert!(said.contains("refrain.db.before-recovery-1 now"), "{said}");
    assert_eq!(fs::read(&segment).unwrap(), archive);
    assert_eq!(observations(&desk), before, "also of the page behind a redirect");
    assert_eq!(diffs(), diffs_before);
    let checked = desk.run(&["check"]);
    assert!(stdout(&checked).contains("all is well"), "{}", stdout(&checked));

    // A further crawl sees what has changed since, and nothing else.
    fake.put("a", "/news", Deed::html("<title>T</title><p>/news three</p>"));
    desk.crawl(&["--once"]);
    let mut outcomes: Vec<String> =
        observations(&desk).into_iter().filter(|look| !before.contains(look)).map(|look| look.2).collect();
    outcomes.sort();
    assert_eq!(outcomes, ["changed", "unchanged"]);
    desk.assert_sound();
    let again = refrain(&["recover", desk.data()]);
    assert!(again.status.success() && stdout(&again).contains("nothing was changed"), "{}", stdout(&again));
}

#[test]
fn damage_is_found_and_named_with_its_place() {
    let (_fake, desk, _) = crawled();
    let segment = desk.path("data/warc/000001.warc.gz");
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8].fill(0);
    fs::write(&segment, bytes).unwrap();
    let checked = desk.run(&["check"]);
    assert_eq!(checked.status.code(), Some(1), "{}", stderr(&checked));
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(said.contains("000001.warc.gz: the record of version"), "{said}");
    fs::remove_file(desk.path("data/refrain.db")).unwrap();
    let recovered = refrain(&["recover", "--data", desk.data()]);
    assert_eq!(recovered.status.code(), Some(1));
    let said = String::from_utf8_lossy(&recovered.stdout);
    assert!(said.contains("000001.warc.gz: ") && said.contains(" from byte "), "{said}");
    assert!(said.contains("3 looks and 3 versions recovered"), "{said}");
    desk.assert_sound();
}

#[test]
fn a_crawl_in_which_no_page_can_be_read_ends_with_1() {
    let fake = Fake::start();
    fake.put("a", "/broken", Deed::status(500));
    fake.put("a", "/missing", Deed::status(404));
    fake.put("a", "/works", Deed::html("<p>yes</p>"));
    fake.put("b", "/robots.txt", Deed::kind("text/plain", "User-agent: *\nDisallow: /"));
    fake.put("b", "/", Deed::html("<p>not for crawlers</p>"));
    let url = |path| fake.url("a", path);
    for (urls, status) in [
        (vec![url("/broken")], 1),
        (vec![url("/missing")], 1),
        (vec![fake.url("b", "/")], 1),
        (vec![url("/broken"), url("/missing"), fake.url("b", "/")], 1),
        (vec![url("/works"), url("/broken"), url("/missing")], 0),
    ] {
        let desk = Desk::new("");
        let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
        let done = refrain(&desk.arguments(&[&urls[..], &["--once"]].concat()));
        assert_eq!(done.status.code(), Some(status), "{urls:?}: {}", stderr(&done));
        assert_eq!(stderr(&done).contains("no page could be read: "), status == 1, "{}", stderr(&done));
    }
    // A page that is gone is news if there was a copy.
    let desk = Desk::new("");
    for deed in [Deed::html("<p>still there</p>"), Deed::status(410)] {
        fake.put("a", "/goes", deed);
        let done = refrain(&desk.arguments(&[&url("/goes"), "--once"]));
        assert!(done.status.success(), "{}", stderr(&done));
    }
}

#[test]
fn names_and_numbers_that_cannot_be_kept_are_refused_before_the_crawl() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let url = fake.url("a", "/");
    let seeds = desk.seeds(&[format!("{url} 1e40")]);
    complains(
        &refrain(&desk.arguments(&[&seeds])),
        &["the importance is '1e40'; expected a number from 0 to 1e30"],
    );
    let hook = format!("[[webhook]]\nurl = \"http://127.0.0.1:9/{}\"\n", "x".repeat(1100));
    complains(
        &refrain(&Desk::new(&hook).arguments(&[&url])),
        &["[[webhook]]", "bytes; expected at most 1024, as in name ="],
    );
    let site = format!("[[site]]\nstart = \"{url}\"\nhalf_life = \"1h\"\nimportance = 1e40\n");
    complains(
        &refrain(&Desk::new(&site).arguments(&[&url])),
        &["the importance is", "expected a number from 0 to 1e30"],
    );
}
