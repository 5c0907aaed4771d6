//! What a crawl keeps is read back by the field's own tool.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use refrain_store::warc::Kind;

use crate::support::desk::Desk;
use crate::support::fake::{Deed, Fake};
use crate::support::text;

/// A program of the warcio that `scripts/test` installs.
fn warcio(program: &str) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("warcio/bin").join(program);
    assert!(path.exists(), "{} is missing; scripts/test installs it", path.display());
    Command::new(path)
}

#[test]
fn warcio_reads_what_was_served() {
    let (fake, desk) = (Fake::start(), Desk::new(""));
    let stage = |number: u32| {
        let body = format!("<title>H\u{e4}</title><p>stage {number}</p>\r\n\r\nWARC/1.1\r\n");
        let tag = format!("\"{number}\"");
        fake.put_with("a", "/tagged", {
            let (body, tag) = (body.clone(), tag.clone());
            move |asked| {
                let known = asked.head.to_ascii_lowercase().contains(&format!("if-none-match: {tag}"));
                let deed = if known { Deed::status(304) } else { Deed::html(body.clone()) };
                deed.with("ETag", tag.clone())
            }
        });
        fake.put("a", "/plain", Deed::html(body.clone()));
        fake.put("a", "/moved", Deed::redirect("/plain"));
        fake.put("a", "/binary", Deed::kind("image/png", [body.as_bytes(), &[0, 255, 13, 10, 0]].concat()));
    };
    let urls: Vec<String> =
        ["/tagged", "/plain", "/moved", "/binary"].map(|path| fake.url("a", path)).to_vec();
    let seeds = desk.seeds(&urls);
    for number in 0..4 {
        stage(number);
        let running = desk.start(&[&seeds]);
        let before = fake.log().len();
        crate::support::desk::wait_until("every page was looked at a few times", || {
            let log = fake.log();
            let asked = |path: &str| log[before..].iter().filter(|hit| hit.path == path).count();
            ["/tagged", "/plain", "/moved", "/binary"].into_iter().all(|path| asked(path) > 2)
        });
        if number % 2 == 0 { running.kill() } else { running.interrupt() }
    }
    desk.crawl(&["--for", "300ms"]);
    desk.assert_sound();

    let folder = desk.path("data").join("warc");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| text(path).ends_with(".warc.gz"));
    files.sort();
    let checked = warcio("warcio").arg("check").args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(
        checked.status.success() && said.is_empty(),
        "{said}{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../store/tests/it/data/read_back.py");
    let read = warcio("python").arg(script).args(&files).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let read = String::from_utf8(read.stdout).unwrap();

    let hex = |bytes: &[u8]| refrain_store::Digest::of(bytes).to_string().split_off("sha256:".len());
    let served: HashSet<(String, String)> = fake
        .log()
        .iter()
        .filter(|hit| hit.status == Some(200))
        .map(|hit| (fake.url("a", &hit.path), hex(&hit.body)))
        .collect();
    let (mut responses, mut same, mut not_modified) = (0, 0, 0);
    for line in read.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        match fields[0] {
            "response" => {
                responses += 1;
                let (url, digest) = (fields[1].to_owned(), fields[7].to_owned());
                assert!(served.contains(&(url, digest)), "{line}");
            }
            "revisit" if line.contains("server-not-modified") => not_modified += 1,
            "revisit" => same += 1,
            other => assert_eq!(other, "warcinfo"),
        }
    }
    // What was served shortly before a kill may not have been kept; what was before a good end was.
    assert!(same > 0 && not_modified > 0 && responses >= 2 * urls.len(), "{responses} {same} {not_modified}");
    let kept: usize = urls
        .iter()
        .map(|url| desk.versions(url).iter().filter(|(one, _)| one.kind == Kind::Response).count())
        .sum();
    assert_eq!(responses, kept, "every answer in the archive is a version, and every version is there");
}
