//! `refrain crawl` against a small web on loopback, and what looks into its data directory.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use crate::support::web::{Page, Web};
use crate::support::{
    Folder, command, complains, json, refrain, refrain_fed, refrain_until, stderr, stdout, text,
};

/// A site of three pages, one of them forbidden.
fn site() -> Web {
    let web = Web::start();
    web.put("/", Page::html("<title>Home</title><a href=/a>a</a> <a href=/private/b>b</a>"));
    web.put("/a", Page::html("<p>one</p>"));
    web.put(
        "/robots.txt",
        Page { status: 200, headers: vec![], body: "User-agent: Tester\nDisallow: /private/".into() },
    );
    web
}

/// A path as an argument.
fn path(folder: &Folder, name: &str) -> String {
    text(&folder.path(name)).to_owned()
}

/// The usual options, for a crawl of loopback.
fn crawl<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let usual =
        ["crawl", "--data", data, "--rate", "200/s", "--gap", "20ms", "--patience", "0", "--allow-private"];
    usual.iter().chain(&["--agent", "Tester", "--contact", "me@example.net"]).chain(more).copied().collect()
}

#[test]
fn a_site_is_crawled_kept_and_told_of() {
    let (web, folder) = (site(), Folder::new());
    let (data, feed) = (path(&folder, "data"), path(&folder, "changes.jsonl"));
    let first =
        refrain(&crawl(&data, &[&web.url("/"), "--follow", "same-host", "--once", "--changes", &feed]));
    assert!(first.status.success(), "{}", stderr(&first));
    let said = stdout(&first);
    assert!(said.contains("1 pages, 1 of them new") && said.contains("2 new copies"), "{said}");
    assert!(said.contains("disallowed ---"), "{said}");
    assert!(
        web.log()
            .iter()
            .all(|hit| hit.agent.starts_with("Tester/") && hit.agent.contains("(+me@example.net)"))
    );
    assert!(!web.log().iter().any(|hit| hit.path.starts_with("/private")));

    web.put("/a", Page::html("<p>two</p>"));
    let second = refrain_until(&crawl(&data, &["--changes", &feed]), "the change is seen", |said| {
        said.contains("text: 1 of 1 blocks")
    });
    assert!(second.status.success(), "{}", stderr(&second));
    assert!(stdout(&second).contains("text: 1 of 1 blocks"), "{}", stdout(&second));

    // Every change once, in order, in the file and in the directory.
    let told = std::fs::read_to_string(&feed).unwrap();
    assert_eq!(told, stdout(&refrain(&["changes", "--data", &data])));
    let changes: Vec<serde_json::Value> =
        told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(changes.iter().map(|change| change["seq"].as_i64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(changes[2]["url"], web.url("/a"));
    assert_eq!(changes[2]["old"], changes[1]["new"]);
    assert_eq!(stdout(&refrain(&["changes", "--data", &data, "--since", "2"])).lines().count(), 1);
    assert_eq!(
        stdout(&refrain(&["changes", "--data", &data, "--since", "2020-01-01", "--limit", "2"]))
            .lines()
            .count(),
        2
    );

    let status = json(&refrain(&["status", "--data", &data, "--json"]));
    assert_eq!((&status["pages"]["active"], &status["pages"]["disallowed"]), (&2.into(), &1.into()));
    assert!(stdout(&refrain(&["status", "--data", &data])).contains("2 active, 1 disallowed"));
    let checked = refrain(&["check", "--data", &data]);
    assert!(checked.status.success() && stdout(&checked).contains("all is well"), "{}", stdout(&checked));

    // Politely: the gap was kept, however busy the machine.
    for pair in web.log().windows(2) {
        assert!(pair[1].time.duration_since(pair[0].time) >= Duration::from_millis(20), "{pair:?}");
    }
}

#[test]
fn mistakes_get_a_sentence() {
    let folder = Folder::new();
    let data = path(&folder, "data");
    let bare = |more: &[&str]| {
        let usual = ["crawl", "--data", &data, "--rate", "2/s"];
        refrain(&usual.iter().chain(more).copied().collect::<Vec<_>>())
    };
    complains(&bare(&["https://example.org/"]), &["--agent and --contact are missing"]);
    complains(
        &bare(&["https://example.org/", "--agent", "a b", "--contact", "x"]),
        &["--agent a b", "letters, digits"],
    );
    let named = ["--agent", "Tester", "--contact", "me@example.net"];
    let crawl = |more: &[&str]| bare(&named.iter().chain(more).copied().collect::<Vec<_>>());
    complains(&crawl(&[]), &["there is nothing to crawl yet"]);
    complains(&crawl(&["ftp://example.org/"]), &["ftp://example.org/"]);
    complains(&crawl(&["seeds.txt"]), &["seeds.txt: no such file", "expected an address"]);
    let seeds = text(&folder.file("seeds.txt", "# mine\n\nhttp://a/ 1\nhttp://b/ x\n")).to_owned();
    complains(&crawl(&[&seeds]), &["seeds.txt, line 4", "the importance is 'x'"]);
    complains(
        &crawl(&["http://a/", "--follow", "everything"]),
        &["--follow everything", "expected same-host"],
    );
    complains(
        &refrain(&["status", "--data", &path(&folder, "nowhere")]),
        &["nowhere", "expected a data directory"],
    );
    complains(
        &refrain(&["changes", "--data", &data, "--since", "soon"]),
        &["--since", "the number of a change, or a date"],
    );
    let diary = text(&folder.file("diary.txt", "dear diary\n")).to_owned();
    complains(
        &crawl(&["http://127.0.0.1:9/", "--changes", &diary]),
        &["diary.txt: its last line is no change"],
    );
}

/// A second crawl into the same directory is refused; seeds may come from a pipe, and Ctrl-C ends a crawl in good order.
#[test]
fn one_crawl_at_a_time() {
    let (web, folder) = (site(), Folder::new());
    let data = path(&folder, "data");
    let mut child =
        command(&crawl(&data, &["-"])).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(web.url("/a").as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("first")));
    let other = refrain_fed(&crawl(&data, &["-"]), b"http://127.0.0.1:9/");
    assert!(
        !other.status.success() && stderr(&other).contains("another process is crawling"),
        "{}",
        stderr(&other)
    );
    let stopped =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert!(child.wait().unwrap().success());
    assert!(lines.last().unwrap().unwrap().contains("visits"));
}
