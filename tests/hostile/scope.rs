//! Hosts that name others, by the thousand: nobody is asked who is out of scope, and nobody takes what others need.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use refrain_fetch::url::PageUrl;

use crate::support::desk::{Desk, line_of};
use crate::support::fake::{Deed, Fake};
use crate::support::{json, stdout};

fn hosts_asked(fake: &Fake) -> BTreeSet<String> {
    fake.log().into_iter().map(|hit| hit.host).collect()
}

fn sitemap(urls: impl Iterator<Item = String>) -> Deed {
    let entries: Vec<String> = urls.map(|url| format!("<url><loc>{url}</loc></url>")).collect();
    Deed::kind("application/xml", format!("<urlset>{}</urlset>", entries.concat()))
}

/// How many addresses are known of each host.
fn known(desk: &Desk) -> BTreeMap<String, usize> {
    let mut known = BTreeMap::new();
    desk.reader()
        .pages(|row| {
            let host = PageUrl::parse(row.url).unwrap().host().trim_end_matches(".localhost").to_owned();
            *known.entry(host).or_default() += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    known
}

/// robots.txt, an index and a page name a thousand foreign hosts, each of which would name a thousand more.
#[test]
fn foreign_hosts_are_not_asked() {
    for follow in ["", "follow = \"same-host\"\n", "follow = \"same-site\"\n"] {
        let (fake, desk) = (Fake::start(), Desk::new(&format!("rate = \"1000/s\"\ngap = \"1ms\"\n{follow}")));
        let foreign = |number: usize, path: &str| fake.url(&format!("f{number}"), path);
        let lines = |path: &str| {
            let lines = (0..1000).map(|number| format!("Sitemap: {}\n", foreign(number, path)));
            lines.collect::<Vec<String>>().concat()
        };
        fake.put("own", "/robots.txt", Deed::kind("text/plain", lines("/map.xml")));
        let links: Vec<String> = (0..200)
            .map(|number| {
                format!(
                    "<a href='/out/{number}'>x</a><link rel=sitemap href='{}'>",
                    foreign(number, "/2.xml")
                )
            })
            .collect();
        fake.put("own", "/", Deed::html(links.concat()));
        for number in 0..1000 {
            let host = format!("f{number}");
            fake.put("own", &format!("/out/{number}"), Deed::redirect(foreign(number, "/")));
            fake.put(&host, "/robots.txt", Deed::kind("text/plain", lines("/other.xml")));
            fake.put(&host, "/map.xml", sitemap((0..50).map(|page| fake.url(&host, &format!("/{page}")))));
        }
        let lines = desk.crawl(&[&fake.url("own", "/"), "--once"]);
        line_of(&lines, &fake.url("own", "/"));
        let asked = hosts_asked(&fake);
        assert!(asked.len() <= 3, "{follow}: {} hosts, {asked:?}", asked.len());
        let foreign: Vec<_> = fake.log().into_iter().filter(|hit| hit.host != "own").collect();
        assert!(foreign.len() <= 4, "robots.txt and a sitemap of two hosts: {foreign:?}");
        desk.assert_sound();
    }
}

/// A sitemap on another host, named by robots.txt, speaks for the host that named it.
#[test]
fn sitemaps_on_other_hosts_are_read_if_robots_txt_names_them() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-host\"\n"));
    let own = |number: usize| fake.url("own", &format!("/{number}"));
    fake.put(
        "own",
        "/robots.txt",
        Deed::kind("text/plain", format!("Sitemap: {}\n", fake.url("cdn", "/own.xml"))),
    );
    fake.put("own", "*", Deed::html("<p>a page</p>"));
    fake.put(
        "cdn",
        "/own.xml",
        sitemap((0..5).map(own).chain([fake.url("cdn", "/no"), fake.url("own2", "/no")])),
    );
    let lines = desk.crawl(&[&own(0), "--once"]);
    for number in 0..5 {
        assert_eq!(line_of(&lines, &own(number)).outcome, "first");
    }
    assert_eq!(hosts_asked(&fake), BTreeSet::from(["cdn", "own"].map(str::to_owned)));
    assert!(fake.asked_for("cdn", "/no").is_empty());
}

/// Where a seed leads is followed; a page that was found stays within its site.
#[test]
fn redirects_of_pages_that_were_found_stay_in_scope() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-host\"\n"));
    fake.put("own", "/", Deed::html("<a href='/in'>in</a><a href='/out'>out</a><a href='/www'>www</a>"));
    fake.put("own", "/in", Deed::redirect("/there"));
    fake.put("own", "/there", Deed::html("<p>there</p>"));
    fake.put("own", "/out", Deed::redirect(fake.url("foreign", "/")));
    fake.put("own", "/www", Deed::redirect(fake.url("www.own", "/")));
    fake.put("www.own", "/", Deed::html("<a href='/more'>more</a>"));
    fake.put("old", "/", Deed::redirect(fake.url("new", "/")));
    fake.put("new", "/", Deed::html("<a href='/more'>more</a>"));
    fake.put("new", "/more", Deed::html("<p>more</p>"));
    let lines = desk.crawl(&[&fake.url("own", "/"), &fake.url("old", "/"), "--once"]);
    let out = line_of(&lines, &fake.url("own", "/out"));
    assert_eq!((out.outcome.as_str(), out.note.contains("leads to")), ("redirected", true), "{out:?}");
    assert_eq!(line_of(&lines, &fake.url("own", "/in")).outcome, "first");
    assert_eq!(line_of(&lines, &fake.url("own", "/www")).outcome, "first");
    assert_eq!(line_of(&lines, &fake.url("new", "/more")).outcome, "first", "a chosen page leads on");
    assert_eq!(hosts_asked(&fake), BTreeSet::from(["new", "old", "own", "www.own"].map(str::to_owned)));
    assert!(fake.asked_for("www.own", "/more").is_empty());
}

/// One sitemap with far more entries than there may be pages, and another site that has a few: alone it may have everything, beside it no more than
/// half.
#[test]
fn one_sitemap_does_not_take_what_others_need() {
    for alone in [true, false] {
        let (fake, desk) =
            (Fake::start(), Desk::new("rate = \"1000/s\"\ngap = \"0s\"\nfollow = \"same-host\"\n"));
        let large = |page: usize| fake.url("large", &format!("/{page}"));
        fake.put("large", "/robots.txt", Deed::kind("text/plain", "Sitemap: /map.xml\n"));
        fake.put("large", "/map.xml", sitemap((0..6000).map(large)));
        fake.put("large", "*", Deed::html("<p>one of very many</p>"));
        let links: Vec<String> = (0..100).map(|page| format!("<a href='/{page}'>x</a>")).collect();
        fake.put("small", "*", Deed::html(links.concat()));
        let mut arguments = vec!["--once", "--max-pages", "600"];
        let seeds = [large(0), fake.url("small", "/")];
        arguments.extend(seeds.iter().take(if alone { 1 } else { 2 }).map(String::as_str));
        desk.crawl(&arguments);
        let known = known(&desk);
        assert_eq!(known["large"], if alone { 600 } else { 300 }, "the sitemap included: {known:?}");
        assert_eq!(known.get("small").copied(), (!alone).then_some(101), "{known:?}");
    }
}

/// Every page links to names that nobody has heard of, all of one domain and at one address.
#[test]
fn names_without_end_are_left_out() {
    let fake = Fake::start();
    let desk = Desk::new("rate = \"1000/s\"\ngap = \"1ms\"\nfollow = \"same-site\"\npoliteness = \"auto\"\n");
    for number in 0..200 {
        let links = (1..=20).map(|more| fake.url(&format!("n{}.trap", number * 20 + more), "/"));
        let links: Vec<String> = links.map(|url| format!("<a href='{url}'>x</a>")).collect();
        fake.put(
            &if number == 0 { "trap".to_owned() } else { format!("n{number}.trap") },
            "/",
            Deed::html(links.concat()),
        );
    }
    let done = crate::support::refrain(&desk.arguments(&[&fake.url("trap", "/"), "--once", "--plain"]));
    let said = stdout(&done) + &crate::support::stderr(&done);
    assert_eq!(hosts_asked(&fake).len(), 51, "the seed, and fifty names that were found");
    assert_eq!(said.matches("max_names_per_domain").count(), 1, "said once: {said}");
    let status = json(&desk.run(&["status", "--json"]));
    assert!(status["endless"]["trap.localhost"].as_u64() >= Some(1), "{status}");
    assert!(stdout(&desk.run(&["status"])).contains("trap.localhost"), "{}", stdout(&desk.run(&["status"])));
    // Another process knows it as well.
    let before = fake.log().len();
    desk.crawl(&["--for", "1s"]);
    assert_eq!(hosts_asked(&fake).len(), 51, "{:?}", &fake.log()[before..]);
}

/// Pages that were chosen, and robots.txt files, lead to ever new names of one domain.
#[test]
fn redirects_do_not_lead_to_names_without_end() {
    let (fake, desk) = (Fake::start(), Desk::new("rate = \"1000/s\"\n"));
    let mut seeds = Vec::new();
    for number in 0..60 {
        let path = format!("/{number}");
        fake.put("trap", &path, Deed::redirect(fake.url(&format!("n{number}.trap"), "/")));
        seeds.push(fake.url("trap", &path));
        let host = format!("own{number}");
        fake.put(&host, "/robots.txt", Deed::redirect(fake.url(&format!("m{number}.snare"), "/robots.txt")));
        fake.put(&host, "/", Deed::html("<p>a page</p>"));
        seeds.push(fake.url(&host, "/"));
    }
    desk.crawl(&[&desk.seeds(&seeds), "--once"]);
    let asked = hosts_asked(&fake);
    for domain in [".trap", ".snare"] {
        let names = asked.iter().filter(|host| host.ends_with(domain)).count();
        assert!((40..=50).contains(&names), "{names} names of {domain}");
    }
    desk.assert_sound();
}

/// A host that has no pages in the crawl names another one: by a redirect of its robots.txt.
#[test]
fn a_guest_brings_no_guests() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-host\"\n"));
    let robots = format!("Sitemap: {}", fake.url("cdn", "/own.xml"));
    fake.put("own", "/robots.txt", Deed::kind("text/plain", robots));
    fake.put("own", "*", Deed::html("<p>a page</p>"));
    fake.put("cdn", "/robots.txt", Deed::redirect(fake.url("other", "/robots.txt")));
    fake.put("cdn", "/own.xml", sitemap(std::iter::once(fake.url("own", "/new"))));
    let lines = desk.crawl(&[&fake.url("own", "/"), "--once"]);
    assert_eq!(line_of(&lines, &fake.url("own", "/new")).outcome, "first", "the guest is asked");
    assert_eq!(hosts_asked(&fake), BTreeSet::from(["cdn", "own"].map(str::to_owned)));
}

/// A page names other sitemaps at every look, on hosts that have no pages in the crawl: two of those are asked, not two more after each restart.
#[test]
fn guests_are_known_again_after_a_restart() {
    let (fake, desk) = (Fake::start(), Desk::new("follow = \"same-host\"\n"));
    let (looks, site) = (AtomicU32::new(0), fake.clone());
    fake.put_with("own", "/", move |_| {
        let look = looks.fetch_add(1, Ordering::Relaxed);
        let links: Vec<String> = (0..5)
            .map(|number| {
                let url = site.url(&format!("s{look}-{number}.own"), "/map.xml");
                format!("<p>{look}</p><link rel=sitemap href='{url}'>")
            })
            .collect();
        Deed::html(links.concat())
    });
    for _ in 0..3 {
        let before = fake.asked_for("own", "/").len();
        desk.crawl_until(&[&fake.url("own", "/")], "it was looked at again", |_| {
            fake.asked_for("own", "/").len() >= before + 4
        });
    }
    let guests: BTreeSet<String> = hosts_asked(&fake).into_iter().filter(|host| host != "own").collect();
    assert!((1..=2).contains(&guests.len()), "{guests:?}");
    desk.assert_sound();
}
