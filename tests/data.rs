//! What looks into a data directory, after a short crawl of a small web on loopback.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::web::{Page, Web};
use crate::support::{Folder, command, complains, json, refrain, refrain_until, stderr, stdout, text};
use refrain_core::time::Time;
use refrain_store::{Options, PageId, Retention, Store};
use serde_json::Value;

/// A data directory, and the web it was crawled from.
struct Crawled {
    web: Web,
    folder: Folder,
}

impl Crawled {
    fn new() -> Self {
        let web = Web::start();
        web.put(
            "/",
            Page::html(
                "<title>Home</title><a href=/news>news</a> <a href=/old>old</a> <a href=/private/x>x</a>",
            ),
        );
        web.put("/news", Page::html("<title>News</title><h1>News</h1><p>one</p><p>stays</p>"));
        web.put("/old", Page::html("<p>as ever</p>"));
        web.put(
            "/robots.txt",
            Page { status: 200, headers: vec![], body: "User-agent: *\nDisallow: /private/".into() },
        );
        let crawled = Self { web, folder: Folder::new() };
        crawled.crawl(&[&crawled.web.url("/"), "--follow", "same-host", "--once"]);
        crawled
    }

    fn path(&self, name: &str) -> String {
        text(&self.folder.path(name)).to_owned()
    }

    fn crawl(&self, more: &[&str]) {
        let data = self.path("data");
        let done = refrain(&crawl(&data, more));
        assert!(done.status.success(), "{}", stderr(&done));
    }

    fn crawl_until(&self, more: &[&str], is_so: impl FnMut(&str) -> bool) {
        let data = self.path("data");
        let done = refrain_until(&crawl(&data, more), "what is waited for is there", is_so);
        assert!(done.status.success(), "{}", stderr(&done));
    }

    /// Runs a command on the data directory.
    fn run(&self, args: &[&str]) -> Output {
        let data = self.path("data");
        refrain(&args.iter().chain(&["--data", &data]).copied().collect::<Vec<_>>())
    }

    /// The page changes, and the crawl sees it, and that it is the same after that: on a busy machine not at the first attempt.
    fn change(&self, path: &str, body: &str) {
        let outcomes = || -> Vec<String> {
            let looks = self.run(&["export", "--observations", "--prefix", &self.web.url(path)]);
            json_lines(&looks).iter().map(|look| look["outcome"].as_str().unwrap().to_owned()).collect()
        };
        let before = outcomes().len();
        self.web.put(path, Page::html(body));
        for _ in 0..20 {
            // Looks far enough apart that each knows what the store has of the one before: else unchanged ones leave no record.
            self.crawl(&["--for", "1500ms", "--gap", "300ms"]);
            let since = outcomes().split_off(before);
            let changed = since.iter().rposition(|outcome| outcome == "changed");
            if changed.is_some_and(|changed| since.len() - changed > 1) {
                return;
            }
        }
        panic!("nobody saw that {path} changed");
    }
}

/// The usual options, for a crawl of loopback.
fn crawl<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual = ["crawl", "--data", data, "--rate", "200/s", "--patience", "0", "--allow-private"];
    let named = ["--agent", "Tester", "--contact", "me@example.net"];
    let gap: &[&str] = if more.contains(&"--gap") { &[] } else { &["--gap", "10ms"] };
    usual.iter().chain(&named).chain(gap).chain(more).copied().collect()
}

fn json_lines(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn diffs_of_versions() {
    let crawled = Crawled::new();
    let url = crawled.web.url("/news");
    let alone = stdout(&crawled.run(&["diff", &url]));
    assert!(alone.contains("there is only one version") && alone.lines().count() == 1, "{alone}");

    crawled.change("/news", "<title>News</title><h1>News</h1><p>two \u{1b}[31m\u{202e}evil</p><p>stays</p>");
    let diff = stdout(&crawled.run(&["diff", &url]));
    let lines: Vec<&str> = diff.lines().collect();
    assert!(lines[0].starts_with(&format!("--- {url}  version ")), "{diff}");
    assert!(lines[1].starts_with(&format!("+++ {url}  version ")), "{diff}");
    assert!(
        lines[2].starts_with("@@ -") && lines[3..].contains(&"-one") && lines[3..].contains(&" stays"),
        "{diff}"
    );
    assert!(lines[3..].contains(&"+two \\u{1b}[31m\\u{202e}evil"), "{diff}");
    assert!(!diff.contains('\u{1b}'), "no colours and nobody's escapes in a pipe");
    // By the rules for its site.
    let site = format!("[[site]]\nstart = \"{}\"\nignore = [\"p\"]\n", crawled.web.url("/"));
    let rules = text(&crawled.folder.file("rules.toml", site)).to_owned();
    let same = stdout(&crawled.run(&["diff", &url, "--config", &rules]));
    assert!(same.contains("by the rules for its site, is the same"), "{same}");
    let raw = stdout(&crawled.run(&["diff", &url, "--raw"]));
    assert!(raw.contains("+<title>News</title><h1>News</h1><p>two"), "{raw}");

    // By number and by moment, either way round.
    let versions = json_lines(&crawled.run(&["diff", &url, "--list", "--json"]));
    let (newest, oldest) = (&versions[0], versions.last().unwrap());
    let number = |version: &Value| version["version"].to_string();
    let back = crawled.run(&["diff", &url, "--from", &number(newest), "--to", &number(oldest)]);
    assert!(stdout(&back).contains("+one"), "{}", stdout(&back));
    let early = oldest["time"].as_str().unwrap();
    let found = json(&crawled.run(&["diff", &url, "--from", &number(newest), "--to", early, "--json"]));
    assert_eq!(found["to"]["version"], oldest["version"]);
    assert_eq!(found["hunks"][0]["lines"].as_array().unwrap().len(), 5);
    assert!(stdout(&crawled.run(&["diff", &url, "--list"])).contains("sha256"));

    let same = stdout(&crawled.run(&["diff", &url, "--from", &number(newest)]));
    assert!(same.contains("are the same"), "{same}");

    complains(&crawled.run(&["diff", &url, "--from", "999"]), &["version 999 is not kept", "--list"]);
    complains(
        &crawled.run(&["diff", &url, "--from", "2001-01-01"]),
        &["no version from before 2001-01-01 00:00:00 is kept; the oldest is of 20"],
    );
    complains(&crawled.run(&["diff", &url, "--to", "soon"]), &["the number of a version, or a date"]);
    complains(&crawled.run(&["diff", &format!("{url}/")]), &["no such page; did you mean", &url]);
    complains(
        &crawled.run(&["diff", "example.org"]),
        &["example.org: not an address; expected one like https://"],
    );
    complains(&crawled.run(&["diff", "https://example.org/x"]), &["no such page", "refrain pages"]);
    let unseen = stdout(&crawled.run(&["diff", &crawled.web.url("/private/x")]));
    assert!(unseen.contains("it was not fetched yet"), "{unseen}");

    // What was dropped is missed in one sentence.
    let mut store = Store::open(&crawled.folder.path("data"), Options::default()).unwrap();
    let one = Retention { most_bodies: Some(1), longest: None };
    assert!(store.retain(&one, Time::ZERO, PageId(0), 100).unwrap().dropped > 0);
    drop(store);
    let dropped = stdout(&crawled.run(&["diff", &url]));
    assert!(
        dropped.contains("only one version is kept, of ") && dropped.contains("the other was dropped"),
        "{dropped}"
    );
    complains(&crawled.run(&["diff", &url, "--from", &number(oldest)]), &["is not kept", "--list"]);
}

#[test]
fn explanations() {
    let crawled = Crawled::new();
    let url = crawled.web.url("/news");
    // Nobody knows yet what a fetch must be worth: no page was fetched twice.
    let early = stdout(&crawled.run(&["explain", &url]));
    assert!(early.contains("price        not known yet: no page that had a copy was fetched"), "{early}");
    assert!(
        early.contains("\nNo crawl runs here. The last one ended ") && !early.contains("worth 0"),
        "{early}"
    );
    assert!(early.contains("from other pages: this one was not seen twice yet"), "{early}");
    crawled.web.put("/news", Page::html("<title>N\u{1b}[1mews</title><p>two</p>"));
    let before = crawled.web.asked("/news");
    crawled.crawl_until(&["--gap", "100ms"], |said| {
        said.contains(" changed ") && crawled.web.asked("/news") > before + 1
    });
    let sheet = stdout(&crawled.run(&["explain", &url]));
    for part in [
        &format!("{url}  (N\\u{{1b}}[1mews)\nNo crawl runs here. The last one ended ") as &str,
        "then its copy was ",
        "stale with a probability of ",
        "  importance   1\n",
        "as a link",
        "about every ",
        " with a change",
        "price        ",
        " requests a second",
        "gap          100 ms between two requests",
        "robots.txt   allows it, status 200",
        "changed      200  after ",
        "text: ",
    ] {
        assert!(sheet.contains(part), "'{part}' is not in: {sheet}");
    }
    let facts = json(&crawled.run(&["explain", &url, "--json"]));
    assert_eq!((&facts["state"], &facts["found"]), (&"active".into(), &"link".into()));
    let stale = facts["stale_probability"].as_f64().unwrap();
    assert!((0.0..1.0).contains(&stale), "{stale}");
    assert!(facts["price"].as_f64().unwrap() > 0.0 && facts["value"].as_f64().unwrap() > 0.0);
    assert!(facts["changes"]["low"].as_f64() < facts["changes"]["per_day"].as_f64());
    // Nothing fetches it: no turn is foretold, and the rest is as of the end of the crawl.
    assert!(facts["due"].is_null() && facts["as_of"].is_string(), "{facts}");
    assert!(facts["price_fetches"].as_u64() > Some(0), "{facts}");
    let looks = facts["looks"].as_array().unwrap();
    assert!((2..=10).contains(&looks.len()) && looks[0]["time"].as_str() > looks[1]["time"].as_str());

    let forbidden = stdout(&crawled.run(&["explain", &crawled.web.url("/private/x")]));
    assert!(
        forbidden.contains("It is not fetched: robots.txt forbids it (Disallow: /private/)"),
        "{forbidden}"
    );
    let facts = json(&crawled.run(&["explain", &crawled.web.url("/private/x"), "--json"]));
    assert_eq!(facts["host"]["robots"]["rule"], "Disallow: /private/");
    crawled.web.put("/old", Page::status(404));
    crawled
        .crawl_until(&[], |said| said.lines().any(|line| line.contains(" gone ") && line.contains("/old")));
    let gone = stdout(&crawled.run(&["explain", &crawled.web.url("/old")]));
    assert!(gone.contains("It is gone, its server says (404)"), "{gone}");
    complains(&crawled.run(&["explain", &format!("{url}/")]), &["no such page; did you mean", &url]);
    complains(
        &refrain(&["explain", "http://a/", "--data", &crawled.path("nowhere")]),
        &["expected a data directory"],
    );
}

#[test]
fn lists_of_pages() {
    let crawled = Crawled::new();
    crawled.web.put("/old", Page::status(404));
    crawled.web.put("/bad", Page::status(500));
    crawled.crawl_until(&[&crawled.web.url("/bad")], |said| {
        ["/bad", "/old", "/news"].iter().all(|path| said.lines().any(|line| line.contains(path)))
    });
    let all = json_lines(&crawled.run(&["pages", "--json"]));
    let urls: Vec<&str> = all.iter().map(|page| page["url"].as_str().unwrap()).collect();
    assert_eq!((urls.len(), urls[0]), (5, crawled.web.url("/").as_str()));
    let stale = json_lines(&crawled.run(&["pages", "--stale", "--json"]));
    let weights: Vec<f64> = stale.iter().map(|page| page["stale_probability"].as_f64().unwrap()).collect();
    assert_eq!(weights.len(), 2, "what is gone, forbidden or was never fetched is not stale");
    assert!(weights[0] >= weights[1]);
    // What the one says the other says.
    let facts = json(&crawled.run(&["explain", stale[0]["url"].as_str().unwrap(), "--json"]));
    let rate = facts["changes"]["per_day"].as_f64().unwrap();
    assert!((rate / stale[0]["changes_per_day"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    let failing = json_lines(&crawled.run(&["pages", "--failing", "--json"]));
    assert_eq!((failing.len(), &failing[0]["url"]), (1, &crawled.web.url("/bad").into()));
    let gone = stdout(&crawled.run(&["pages", "--gone", "--csv"]));
    assert!(gone.lines().count() == 2 && gone.contains("/old,gone,1,"), "{gone}");
    let table = stdout(&crawled.run(&["pages", "--limit", "2", "--sort", "importance"]));
    assert!(
        table.contains("changes every") && table.ends_with("2 of 5 pages; --limit shows more\n"),
        "{table}"
    );
    assert_eq!(json_lines(&crawled.run(&["pages", "--host", "127.0.0.1", "--json"])).len(), 5);
    complains(
        &crawled.run(&["pages", "--host", "example.org"]),
        &["--host example.org: no page is of this host"],
    );
    complains(&crawled.run(&["pages", "--stale", "--gone"]), &["cannot be used with"]);
    complains(&crawled.run(&["pages", "--sort", "beauty"]), &["beauty"]);
}

#[test]
fn seeds_and_histories_come_in() {
    let crawled = Crawled::new();
    let seeds =
        text(&crawled.folder.file("seeds.txt", "http://example.org/a 5\nhttp://example.org/b\n")).to_owned();
    assert_eq!(stdout(&crawled.run(&["import", "seeds", &seeds])), "2 pages added\n");
    assert_eq!(stdout(&crawled.run(&["import", "seeds", &seeds])), "0 pages added; 2 were there already\n");

    // Ten days of a page that changes every hour, and of one that never does, in no order; one of them was crawled.
    let news = crawled.web.url("/news");
    let mut rows = vec!["url,time,changed".to_owned()];
    for hour in 0..240u32 {
        rows.push(format!("{news},{},1", 1_700_000_000 + 3600 * u64::from(hour * 7 % 240)));
        rows.push(format!("http://example.org/still,2024-01-{:02}T{:02}:00:00Z,0", 1 + hour / 24, hour % 24));
    }
    let file = text(&crawled.folder.file("visits.csv", rows.join("\n"))).to_owned();
    let before = json(&crawled.run(&["explain", &news, "--json"]))["changes"]["intervals"].as_f64().unwrap();
    let said = stdout(&crawled.run(&["import", "history", &file]));
    assert_eq!(said, "480 visits of 2 pages (1 new) learned from\n");
    let facts = json(&crawled.run(&["explain", &news, "--json"]));
    assert_eq!(facts["changes"]["intervals"].as_f64().unwrap(), before + 239.0);
    assert!(facts["changes"]["per_day"].as_f64().unwrap() > 20.0, "{facts}");
    let still = json(&crawled.run(&["explain", "http://example.org/still", "--json"]));
    assert!(still["changes"]["per_day"].as_f64().unwrap() < 1.0, "{still}");
    assert_eq!((&still["fetched"], &still["found"]), (&Value::Null, &"import".into()));
    let again = stdout(&crawled.run(&["import", "history", &file]));
    assert_eq!(again, "0 visits of 2 pages learned from; 480 were there already\n");
    assert_eq!(json(&crawled.run(&["explain", &news, "--json"]))["changes"], facts["changes"]);
    let checked = crawled.run(&["check"]);
    assert!(checked.status.success(), "{}", stdout(&checked));

    // A crawl goes on from there.
    let seen = crawled.web.asked("/news");
    crawled.crawl_until(&[], |_| crawled.web.asked("/news") > seen + 1);
    let after = json(&crawled.run(&["explain", &news, "--json"]));
    assert!(after["changes"]["intervals"].as_f64().unwrap() > before + 239.0, "{after}");
}

#[test]
fn pages_matter_as_they_are_asked_for() {
    let crawled = Crawled::new();
    let importance = |path: &str| {
        let facts = json(&crawled.run(&["explain", &crawled.web.url(path), "--json"]));
        facts["importance"].as_f64().unwrap()
    };
    let before: f64 = ["/", "/news", "/old", "/private/x"].map(importance).iter().sum();
    // In a log that was rotated, and the older file compressed; with a crawler, a failure, garbage and a page that nobody crawls.
    let line = |day: u32, path: &str, status: u16, agent: &str| {
        format!(
            "192.0.2.7 - - [{day:02}/Oct/2026:12:00:00 +0000] \"GET {path} HTTP/1.1\" {status} 5 \"-\" \"{agent}\"\n"
        )
    };
    let mut log = String::new();
    for day in 1..=20 {
        log.push_str(&line(day, "/news", 200, "Mozilla/5.0").repeat(8));
        log.push_str(&line(day, "/old", 304, "Mozilla/5.0").repeat(2));
        log.push_str(&line(day, "/", 200, "Somebot/2.0 (+http://bot.example)").repeat(50));
        log.push_str(&line(day, "/", 500, "Mozilla/5.0"));
        log.push_str(&line(day, "/logo.png", 200, "Mozilla/5.0"));
    }
    let (older, newer) = log.split_at(log.len() / 2 + log[log.len() / 2..].find('\n').unwrap() + 1);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut gzip, older.as_bytes()).unwrap();
    let older = text(&crawled.folder.file("access.log.1.gz", gzip.finish().unwrap())).to_owned();
    let newer = [newer.as_bytes(), b"\xff\xfe\x00garbage\n"].concat();
    let newer = text(&crawled.folder.file("access.log", newer)).to_owned();
    let site = crawled.web.url("/");

    complains(&crawled.run(&["import", "requests", &newer]), &["--site says where its paths are"]);
    let said = crawled.run(&["import", "requests", &newer, &older, "--site", &site]);
    assert!(said.status.success(), "{}", stderr(&said));
    let said = stdout(&said);
    assert!(said.contains("220 of 1241 lines are requests of people for pages"), "{said}");
    assert!(said.contains("4 pages weighed by 19 d of requests: 2 of them asked for"), "{said}");
    assert!(said.contains("not known here: 1"), "{said}");
    assert!((importance("/news") / importance("/old") - 4.0).abs() < 0.01);
    assert!(importance("/") > 0.0 && importance("/") < 0.01 * importance("/old"));
    let after: f64 = ["/", "/news", "/old", "/private/x"].map(importance).iter().sum();
    assert!((after / before - 1.0).abs() < 1e-9, "{before} {after}");

    // The same twice is the same as once; by the day it is the number of requests.
    crawled.run(&["import", "requests", &newer, &older, "--site", &site, "--per-day", "--memory", "1000d"]);
    assert!((importance("/news") - 8.0).abs() < 0.8, "{}", importance("/news"));

    let elsewhere = crawled.folder.file("other.csv", "time,url\n2026-10-01T00:00:00Z,https://example.net/\n");
    let said = stdout(&crawled.run(&["import", "requests", text(&elsewhere)]));
    assert!(said.contains("nothing has changed"), "{said}");
    complains(
        &crawled.run(&["import", "requests", &crawled.path("none.log")]),
        &["none.log: cannot be read"],
    );
    complains(&crawled.run(&["import", "requests", &newer, "--site", "nowhere"]), &["--site: "]);
}

#[test]
fn mistakes_in_histories_import_nothing() {
    let crawled = Crawled::new();
    let refuse = |rows: &str, parts: &[&str]| {
        let file = text(&crawled.folder.file("visits.csv", format!("url,time,changed\n{rows}"))).to_owned();
        complains(&crawled.run(&["import", "history", &file]), parts);
        assert_eq!(json_lines(&crawled.run(&["pages", "--json"])).len(), 4, "nothing was imported");
    };
    let good = "http://example.org/a,1700000000,0\n";
    refuse("", &["visits.csv: there is a header, but no visits"]);
    refuse(&format!("{good}ftp://a/,1700000000,0"), &["visits.csv: line 3, column url: the URL's scheme"]);
    refuse(&format!("{good}http://a/,soon,0"), &["line 3, column time: 'soon' is not a time like 2026"]);
    refuse(&format!("{good}http://a/,4000000000,0"), &["line 3, column time: '4000000000' is in the future"]);
    refuse(&format!("{good}http://a/,1700000000,maybe"), &["line 3, column changed: 'maybe' is not 0 or 1"]);
    refuse(
        &format!("{good}http://a/,1700000000,0\nhttp://example.org/a,2023-11-14T22:13:20Z,1"),
        &["line 4, column changed: line 2 has the same page and time, and says the opposite"],
    );
    let url = crawled.web.url("/");
    let file = |changed| {
        let rows = format!("url,time,changed\n\n{url},1700000000,{changed}\n");
        text(&crawled.folder.file("visits.csv", rows)).to_owned()
    };
    assert!(crawled.run(&["import", "history", &file(1)]).status.success());
    complains(
        &crawled.run(&["import", "history", &file(0)]),
        &[
            "visits.csv: line 3: this visit was imported before, with the opposite in 'changed'; nothing is imported",
        ],
    );
    complains(&crawled.run(&["import", "history", &crawled.path("none.csv")]), &["none.csv: cannot be read"]);
    complains(&crawled.run(&["import", "seeds", &crawled.path("none.txt")]), &["none.txt: no such file"]);
}

#[test]
fn a_crawl_at_work_lets_others_read_but_not_write() {
    let crawled = Crawled::new();
    let data = crawled.path("data");
    let mut child = command(&crawl(&data, &[])).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.by_ref().any(|line| line.unwrap().contains("unchanged")));
    let url = crawled.web.url("/news");
    for args in [
        &["pages", "--stale"][..],
        &["explain", &url],
        &["diff", &url],
        &["export", "--beliefs"],
        &["export", "--observations"],
        &["status"],
    ] {
        assert!(crawled.run(args).status.success(), "{args:?}: {}", stderr(&crawled.run(args)));
    }
    let file = text(&crawled.folder.file("visits.csv", format!("url,time,changed\n{url},1700000000,1\n")))
        .to_owned();
    for args in [["import", "history", &file], ["import", "seeds", "http://example.org/"]] {
        complains(&crawled.run(&args), &["another process is crawling into this directory; stop it first"]);
    }
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    said.for_each(drop);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_is_exported_is_read_by_other_commands() {
    let crawled = Crawled::new();
    crawled.change("/news", "<p>two</p>");
    let pages = json_lines(&crawled.run(&["export", "--pages"]));
    assert_eq!(pages.len(), 4);
    assert_eq!((&pages[0]["title"], &pages[0]["found"]), (&"Home".into(), &"seed".into()));
    let looks =
        json_lines(&crawled.run(&["export", "--observations", "--prefix", &crawled.web.url("/news")]));
    assert!(looks.iter().all(|look| look["url"] == crawled.web.url("/news").as_str()));
    assert_eq!(looks.iter().filter(|look| look["outcome"] == "changed").count(), 1);
    let later = crawled.run(&["export", "--observations", "--since", "2100-01-01"]);
    assert_eq!(stdout(&later), "");

    let beliefs = crawled.path("pages.csv.gz");
    assert_eq!(stdout(&crawled.run(&["export", "--beliefs", "--out", &beliefs])), "");
    let optimum = refrain(&["optimum", "--pages", &beliefs, "--rate", "100", "--json"]);
    assert!(json(&optimum)["freshness"].as_f64().unwrap() > 0.0);
    assert_eq!(stderr(&optimum), "", "every column is used");
    let simulated = refrain(&["lab", "simulate", "--pages", &beliefs, "--rate", "100", "--horizon", "10"]);
    assert!(simulated.status.success() && stderr(&simulated).is_empty(), "{}", stderr(&simulated));
    // One table, with the same meaning everywhere: units are in the header, ages and gaps in the table.
    let header = "page_id,host,importance,change_rate_per_day,recall,false_rate_per_day,age_days,gap_seconds";
    assert_eq!(stdout(&crawled.run(&["export", "--beliefs"])).lines().next(), Some(header));
    let by_day = refrain(&["optimum", "--pages", &beliefs, "--rate", "100/d", "--json"]);
    assert_eq!(json(&by_day)["freshness"], json(&optimum)["freshness"]);
    let directly = json(&crawled.run(&["optimum", "--rate", "100", "--json"]));
    let close = |a: &serde_json::Value, b: &serde_json::Value| {
        (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-3
    };
    assert!(close(&directly["freshness"], &json(&optimum)["freshness"]), "{directly}");
    let plan = ["plan", "--horizon", "1h", "--budget", "3", "--json"];
    let planned = refrain(&[&plan[..], &["--pages", &beliefs]].concat());
    assert_eq!(stderr(&planned), "", "every column is used");
    let planned_directly = json(&crawled.run(&plan));
    assert!(close(&planned_directly["staleness_at_start"], &json(&planned)["staleness_at_start"]));
    // A greatest age is a least rate.
    assert!(crawled.run(&["import", "seeds", "http://example.org/ 1 12h"]).status.success());
    let bounded = stdout(&crawled.run(&["export", "--beliefs", "--host", "example.org"]));
    assert!(
        bounded.starts_with(&format!("{header},min_rate_per_day\nhttp://example.org/,http://example.org,1,")),
        "{bounded}"
    );
    assert!(bounded.contains(",never,") && bounded.ends_with(",2\n"), "{bounded}");

    let log = crawled.path("log.csv");
    assert_eq!(stdout(&crawled.run(&["export", "--crawl-log", "--out", &log])), "");
    let trace = crawled.path("trace");
    let imported = refrain(&["lab", "import", "--crawl-log", &log, "--out", &trace]);
    assert!(imported.status.success() && stderr(&imported).is_empty(), "{}", stderr(&imported));
    // And by ourselves: what was exported here can be inherited elsewhere.
    let visits = std::fs::read_to_string(&log).unwrap().replace("page_id", "url");
    let visits = text(&crawled.folder.file("visits.csv", visits)).to_owned();
    let other = crawled.path("other");
    let inherited = refrain(&["import", "history", &visits, "--data", &other]);
    assert!(stdout(&inherited).contains("of 3 pages (3 new) learned from"), "{}", stdout(&inherited));

    complains(&crawled.run(&["export"]), &["--pages"]);
    complains(&crawled.run(&["export", "--pages", "--beliefs"]), &["cannot be used with"]);
    complains(
        &crawled.run(&["export", "--pages", "--since", "2026-01-01"]),
        &["--since", "cannot be used with"],
    );
    let swapped = ["export", "--observations", "--since", "2026-02-01", "--until", "2026-01-01"];
    complains(&crawled.run(&swapped), &["--until: is not after --since"]);
    complains(
        &crawled.run(&["export", "--pages", "--host", "nobody"]),
        &["--host nobody: no page is of this host"],
    );
}

/// A program of the warcio that `scripts/test` installs.
fn warcio(args: &[&str]) -> Output {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("warcio/bin/warcio");
    assert!(path.exists(), "{} is missing; scripts/test installs it", path.display());
    Command::new(path).args(args).output().unwrap()
}

#[test]
fn archives_are_read_by_the_tools_of_the_field() {
    let crawled = Crawled::new();
    crawled.change("/news", "<p>two</p>");
    let (latest, news) = (crawled.path("latest.warc.gz"), crawled.path("news.warc.gz"));
    assert!(stdout(&crawled.run(&["export", "--warc", &latest])).starts_with("3 records in "));
    let prefix = crawled.web.url("/news");
    let said = stdout(&crawled.run(&["export", "--warc", &news, "--prefix", &prefix, "--all"]));
    for file in [&latest, &news] {
        let checked = warcio(&["check", file]);
        assert!(
            checked.status.success() && checked.stdout.is_empty(),
            "{}",
            String::from_utf8_lossy(&checked.stdout)
        );
    }
    let index =
        String::from_utf8(warcio(&["index", &latest, "-f", "warc-type,warc-target-uri"]).stdout).unwrap();
    assert_eq!(index.matches("\"response\"").count(), 3, "{index}");
    let index =
        String::from_utf8(warcio(&["index", &news, "-f", "warc-type,warc-target-uri"]).stdout).unwrap();
    let records = index.lines().count() - 1;
    let looks = stdout(&crawled.run(&["export", "--observations", "--prefix", &prefix]));
    assert!(records > 2 && said.starts_with(&format!("{records} records in ")), "{said}{index}{looks}");
    assert_eq!(index.matches("\"response\"").count(), 2, "{index}");
    assert!(index.lines().skip(1).all(|line| line.contains("/news")), "{index}");
    // Only revisits were made since: the bodies they refer to come along.
    let late = crawled.path("late.warc.gz");
    let looks = json_lines(&crawled.run(&["export", "--observations", "--prefix", &prefix]));
    let last = looks.last().unwrap()["time"].as_str().unwrap();
    let said =
        stdout(&crawled.run(&["export", "--warc", &late, "--prefix", &prefix, "--all", "--since", last]));
    assert!(said.starts_with("2 records in "), "{said}");
    complains(&crawled.run(&["export", "--warc", &latest]), &["there is such a file already"]);
    complains(&crawled.run(&["export", "--warc", "x.warc"]), &["expected a name that ends in .warc.gz"]);
    complains(&crawled.run(&["export", "--pages", "--all"]), &["--all", "expected --warc as well"]);
}
