//! The field's tools read what we write.

use crate::support::*;
use refrain_store::warc::{Body, HttpHead, Response, Truncated};
use refrain_store::{Digest, Options, Outcome, Store};

#[test]
fn warcio_reads_every_record_while_the_crawl_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let mut store =
        Store::open(directory.path(), Options { segment_bytes: 2000, ..Options::default() }).unwrap();
    let pages = add_pages(&mut store, 1);
    let url = url(0);
    let body = b"<title>H\xc3\xa4</title>\r\n\r\nWARC/1.1\r\n".repeat(9);
    let large = b"x".repeat(100_000);
    let asked = HttpHead::request("GET", "/page/0", [("Host", &b"example.org"[..])]).unwrap();
    let answered = head(200);
    let full = Response {
        url: &url,
        page: &url,
        time: at(1),
        ip: Some("2001:db8::1".parse().unwrap()),
        head: &answered,
        body: Body::new(&body),
        truncated: Some(Truncated::Length),
        request: Some(&asked),
    };
    let first = recorded(pages[0], 1, Outcome::First, full.encode().unwrap());
    commit_looks(&mut store, vec![first]);
    let looks = vec![
        recorded(pages[0], 2, Outcome::NotModified, revisit(&url, 2, &body, at(1), true)),
        recorded(pages[0], 3, Outcome::Unchanged, revisit(&url, 3, &body, at(1), false)),
        recorded(pages[0], 4, Outcome::Changed, response(&url, 4, b"")),
        recorded(pages[0], 5, Outcome::Changed, response(&url, 5, &large)),
    ];
    commit_looks(&mut store, looks);

    assert!(segment_files(directory.path()).len() > 1, "the test is to see several segments");
    assert_warcio_accepts(directory.path());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/read_back.py");
    let output = warcio("python").arg(script).args(segment_files(directory.path())).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = String::from_utf8(output.stdout).unwrap();
    let records: Vec<&str> = read.lines().filter(|line| !line.starts_with("warcinfo")).collect();
    let hex = |bytes: &[u8]| Digest::of(bytes).to_string().split_off("sha256:".len());
    let profile = "http://netpreserve.org/warc/1.1/revisit";
    let line = |kind: &str, second: u32, rest: &str| {
        format!("{kind} https://example.org/page/0 2023-11-14T22:13:2{second}.000Z {rest}")
    };
    let earlier = "2023-11-14T22:13:21.000Z";
    let expected = [
        line("response", 1, &format!("- - length 200 {}", hex(&body))),
        line("request", 1, &format!("- - - - {}", hex(b""))),
        line("revisit", 2, &format!("{profile}/server-not-modified {earlier} - - {}", hex(b""))),
        line("revisit", 3, &format!("{profile}/identical-payload-digest {earlier} - - {}", hex(b""))),
        line("response", 4, &format!("- - - 200 {}", hex(b""))),
        line("response", 5, &format!("- - - 200 {}", hex(&large))),
    ];
    assert_eq!(records, expected);
}

#[test]
fn warcio_notices_a_wrong_digest() {
    // So that the test above means something: the checker does check.
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong.warc.gz");
    let record = response(&url(0), 0, b"some body");
    let mut store = Store::open(&directory.path().join("store"), Options::default()).unwrap();
    let pages = add_pages(&mut store, 1);
    commit_looks(&mut store, vec![recorded(pages[0], 0, Outcome::First, record)]);
    let bytes = std::fs::read(&segment_files(&directory.path().join("store"))[0]).unwrap();
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut plain).unwrap();
    let start = plain.windows(9).position(|nine| nine == b"some body").unwrap();
    plain[start] = b'S';
    std::fs::write(&path, plain).unwrap();
    let output = warcio("warcio").arg("check").arg(&path).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("payload digest failed"));
}
