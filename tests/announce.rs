//! What sites announce, as a person sees it: `refrain crawl`, `refrain signals`, `refrain explain`, `refrain import requests`.

use crate::support::web::{Page, Web};
use crate::support::{Folder, complains, json, refrain, refrain_until, stderr, stdout, text};

fn path(folder: &Folder, name: &str) -> String {
    text(&folder.path(name)).to_owned()
}

fn crawl<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual =
        ["crawl", "--data", data, "--rate", "100/s", "--gap", "10ms", "--patience", "0", "--allow-private"];
    usual.iter().chain(more).copied().collect()
}

fn page(kind: &str, body: String) -> Page {
    Page { status: 200, headers: vec![("Content-Type", kind.to_owned())], body }
}

fn sitemap(web: &Web, entries: &[(&str, &str)]) -> Page {
    let entry = |(path, date): &(&str, &str)| {
        format!("<url><loc>{}</loc><lastmod>{date}</lastmod></url>", web.url(path))
    };
    let entries: Vec<String> = entries.iter().map(entry).collect();
    page("application/xml", format!("<urlset>{}</urlset>", entries.concat()))
}

#[test]
fn what_a_sitemap_says_is_heard_judged_and_shown() {
    let (web, folder) = (Web::start(), Folder::new());
    let data = path(&folder, "data");
    web.put("/robots.txt", page("text/plain", format!("Sitemap: {}\n", web.url("/sitemap.xml"))));
    for path in ["/a", "/b"] {
        web.put(path, Page::html("<p>one</p>"));
    }
    let old = "2020-01-01T00:00:00Z";
    web.put("/sitemap.xml", sitemap(&web, &[("/a", old), ("/b", old)]));
    let first = refrain_until(&crawl(&data, &[&web.url("/a"), &web.url("/b")]), "all is known", |_| {
        ["/a", "/b", "/sitemap.xml"].iter().all(|path| web.asked(path) > 1)
    });
    assert!(first.status.success(), "{}", stderr(&first));

    web.put("/a", Page::html("<p>two</p>"));
    let now = jiff::Timestamp::now().to_string();
    web.put("/sitemap.xml", sitemap(&web, &[("/a", &now), ("/b", old)]));
    let mut looks_before = None;
    let second = refrain_until(&crawl(&data, &[]), "it is heard, and looked at after that", |said| {
        if said.contains("heard      sitemap: 1 changed") {
            looks_before.get_or_insert_with(|| web.asked("/a"));
        }
        looks_before.is_some_and(|before| web.asked("/a") > before + 1)
    });
    assert!(stdout(&second).contains("heard      sitemap: 1 changed, 0 new"), "{}", stdout(&second));

    // The sitemap was read and changed, and the feed of changes is of pages; what is counted is what it lists.
    let lines = |more: &[&str]| -> Vec<serde_json::Value> {
        let told = stdout(&refrain(&[&["changes", "--data", &data], more].concat()));
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let of = |lines: &[serde_json::Value], field: &str, value: &str| {
        lines.iter().filter(|line| line[field] == value).count()
    };
    let (pages, all) = (lines(&[]), lines(&["--role", "all", "--no-diff"]));
    assert_eq!(of(&pages, "role", "page"), pages.len(), "{pages:?}");
    assert!(of(&all, "role", "sitemap") >= 2 && of(&all, "role", "page") == pages.len(), "{all:?}");
    assert_eq!(lines(&["--role", "sitemap"]).len() + pages.len(), all.len());
    assert_eq!((of(&pages, "kind", "first"), of(&pages, "kind", "changed")), (2, 1), "{pages:?}");
    let changed = pages.iter().find(|line| line["kind"] == "changed").unwrap();
    assert_eq!(changed["changed_share"], 1.0, "{changed}");
    assert_eq!(changed["diff"], serde_json::json!({"removed": ["one"], "added": ["two"], "more": 0}));
    assert!(all.iter().all(|line| line["diff"].is_null()));
    assert_eq!(json(&refrain(&["status", "--data", &data, "--json"]))["changes"], 1);
    let end = stdout(&second);
    assert!(end.contains("0 new copies, 1 changes") && end.contains(" to sitemaps and feeds"), "{end}");

    let signals = json(&refrain(&["signals", "--data", &data, "--json"]));
    assert_eq!(signals["hubs"][0]["role"], "sitemap");
    assert!(signals["hubs"][0]["news"].as_u64() >= Some(1), "{signals}");
    let voices = signals["signals"].as_array().unwrap();
    assert!(voices.iter().any(|voice| voice["kind"] == "sitemap" && voice["heard"] == true), "{signals}");
    let shown = stdout(&refrain(&["signals", "--data", &data]));
    assert!(shown.contains("announced") && shown.contains("/sitemap.xml"), "{shown}");

    let why = json(&refrain(&["explain", "--data", &data, "--json", &web.url("/a")]));
    let signal = &why["signals"][0];
    assert!(
        signal["kind"] == "sitemap" && signal["said"].is_string() && signal["worth"].is_number(),
        "{why}"
    );
    assert!(signal["came_true"].is_boolean(), "{why}");
    let sheet = stdout(&refrain(&["explain", "--data", &data, &web.url("/a")]));
    assert!(sheet.contains("signals, the latest first"), "{sheet}");
    // A sitemap is no page that somebody reads.
    let pages = stdout(&refrain(&["pages", "--data", &data, "--json"]));
    assert_eq!(pages.lines().count(), 2, "{pages}");
}

#[test]
fn nothing_is_heard_where_nobody_listens() {
    let (web, folder) = (Web::start(), Folder::new());
    let (data, config) = (path(&folder, "data"), path(&folder, "refrain.toml"));
    web.put("/robots.txt", page("text/plain", format!("Sitemap: {}\n", web.url("/sitemap.xml"))));
    web.put("/a", Page::html("<p>one</p>"));
    std::fs::write(&config, "listen = false\n").unwrap();
    let page = web.url("/a");
    for (data, deaf) in
        [(data.clone(), &["--config", &config][..]), (path(&folder, "other"), &["--no-listen"])]
    {
        let arguments = crawl(&data, &[&[page.as_str()], deaf].concat());
        let before = web.asked("/a");
        let done =
            refrain_until(&arguments, "it is looked at again and again", |_| web.asked("/a") > before + 5);
        assert!(done.status.success(), "{}", stderr(&done));
        assert!(!web.log().iter().any(|hit| hit.path == "/sitemap.xml"), "{deaf:?}");
        assert!(stdout(&refrain(&["signals", "--data", &data])).starts_with("Nothing is announced here"));
    }

    for (lines, says) in [
        ("half_life = \"0s\"", "half_life is no time at all"),
        ("importance = 2.0", "expected a half_life with it"),
        ("half_life = \"1h\"\nimportance = -1.0", "expected a number from 0 to"),
    ] {
        std::fs::write(&config, format!("[[site]]\nstart = \"http://a/\"\n{lines}\n")).unwrap();
        complains(&refrain(&crawl(&data, &["--config", &config])), &[says]);
    }
}

/// Two hundred articles that a front page led to, each asked for a dozen times within minutes: news are believed to live minutes.
#[test]
fn how_long_news_matter_is_learned_from_requests() {
    let (web, folder) = (Web::start(), Folder::new());
    let (data, log) = (path(&folder, "data"), path(&folder, "requests.csv"));
    let links: Vec<String> = (0..200).map(|number| format!("<a href=/news/{number}>n</a>")).collect();
    web.put("/", Page::html(links.join(" ")));
    let begin = jiff::Timestamp::now();
    // What is followed is there once it is looked at.
    let front = web.url("/");
    let arguments = crawl(&data, &[&front, "--follow", "same-host", "--quiet"]);
    let found = refrain_until(&arguments, "the links are followed", |_| {
        web.log().iter().any(|hit| hit.path.starts_with("/news/"))
    });
    assert!(found.status.success(), "{}", stderr(&found));
    // Quantiles of an exponential distribution with a mean of ten minutes.
    let mut lines = "time,url\n".to_owned();
    for number in 0..200 {
        for quantile in 0..12 {
            let age = -600.0 * (1.0 - (f64::from(quantile) + 0.5) / 12.0).ln();
            let time = begin.as_second() + 1 + age as i64;
            lines.push_str(&format!("{time},{}\n", web.url(&format!("/news/{number}"))));
        }
    }
    // The last request says how long was watched.
    lines.push_str(&format!("{},{}\n", begin.as_second() + 86_400, web.url("/")));
    std::fs::write(&log, lines).unwrap();
    let learned = refrain(&["import", "requests", "--data", &data, &log]);
    assert!(learned.status.success(), "{}", stderr(&learned));
    let said = stdout(&learned);
    assert!(said.contains("New pages are asked for") && said.contains("learned for 1 hub"), "{said}");
}
