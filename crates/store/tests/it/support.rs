//! What the tests of the store share: facts in a few words.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use refrain_core::time::{Span, Time};
use refrain_store::warc::{Body, Encoded, HttpHead, Response, Revisit};
use refrain_store::{
    Address, Batch, Digest, Known, Look, NewPage, Options, Origin, Outcome, PageId, PageState, Report, Store,
};

/// Some moment, `seconds` after the first.
pub(crate) fn at(seconds: i64) -> Time {
    Time::from_nanos((1_700_000_000 + seconds) * 1_000_000_000)
}

pub(crate) fn url(number: usize) -> Address {
    Address::new(format!("https://example.org/page/{number}")).unwrap()
}

pub(crate) fn new_page(number: usize) -> NewPage {
    NewPage {
        url: url(number),
        host: "https://example.org".to_owned(),
        importance: 1.0,
        max_age: None,
        added: at(0),
        found: "seed",
        origin: Origin::default(),
    }
}

/// An empty store.
pub(crate) fn opened() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), Options::default()).unwrap();
    (directory, store)
}

/// Adds `count` pages.
pub(crate) fn add_pages(store: &mut Store, count: usize) -> Vec<PageId> {
    let batch = Batch { pages: (0..count).map(new_page).collect(), ..Batch::default() };
    store.commit(&batch).unwrap().pages.iter().map(|added| added.unwrap().page).collect()
}

pub(crate) fn head(status: u16) -> HttpHead {
    HttpHead::response(status, "Whatever", [("Content-Type", &b"text/html"[..])]).unwrap()
}

/// The record of an answer.
pub(crate) fn response(url: &Address, seconds: i64, body: &[u8]) -> Encoded {
    let head = head(200);
    let ip = Some("192.0.2.7".parse().unwrap());
    Response {
        url,
        page: url,
        time: at(seconds),
        ip,
        head: &head,
        body: Body::new(body),
        truncated: None,
        request: None,
    }
    .encode()
    .unwrap()
}

/// The record of an answer whose body is known since `earlier`.
pub(crate) fn revisit(
    url: &Address,
    seconds: i64,
    body: &[u8],
    earlier: Time,
    not_modified: bool,
) -> Encoded {
    let head = head(if not_modified { 304 } else { 200 });
    let digest = Digest::of(body);
    Revisit {
        url,
        page: url,
        time: at(seconds),
        ip: None,
        head: &head,
        digest,
        earlier_url: url,
        earlier_time: earlier,
        not_modified,
    }
    .encode()
    .unwrap()
}

/// A look without a record.
pub(crate) fn look(page: PageId, seconds: i64, outcome: Outcome, digest: Option<Digest>) -> Look {
    Look {
        page,
        time: at(seconds),
        asked: at(seconds),
        elapsed: Some(Span::from_whole_secs(60)),
        outcome,
        counted: None,
        status: Some(200),
        bytes: 100,
        duration: Span::from_millis(20),
        digest,
        state: PageState::Active,
        history: Some(vec![1, 2, 3]),
        known: Some(Known::default()),
        record: None,
    }
}

/// A look with the record of its answer.
pub(crate) fn recorded(page: PageId, seconds: i64, outcome: Outcome, record: Encoded) -> Look {
    let digest = record.digest();
    Look { record: Some(record), ..look(page, seconds, outcome, Some(digest)) }
}

/// Commits the looks and nothing else.
pub(crate) fn commit_looks(store: &mut Store, looks: Vec<Look>) -> refrain_store::Committed {
    store.commit(&Batch { looks, ..Batch::default() }).unwrap()
}

/// Everything must be right: no damage, no notes.
#[track_caller]
pub(crate) fn assert_sound(directory: &Path) -> Report {
    let report = refrain_store::verify(directory, |_| {}).unwrap();
    assert!(report.findings.is_empty(), "{:#?}", report.findings);
    report
}

/// The WARC files of a store, in order.
pub(crate) fn segment_files(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory.join("warc")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().unwrap().ends_with(".warc.gz"));
    files.sort();
    files
}

/// A program of the warcio that `scripts/test` installs.
pub(crate) fn warcio(program: &str) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let path = target.join("warcio/bin").join(program);
    assert!(path.exists(), "{} is missing; scripts/test installs it", path.display());
    Command::new(path)
}

/// warcio finds every record and every digest right.
#[track_caller]
pub(crate) fn assert_warcio_accepts(directory: &Path) {
    let output = warcio("warcio").arg("check").args(segment_files(directory)).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.is_empty(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// A shell that may mount file systems nobody else sees, where the system lets us have one.
pub(crate) fn in_own_mounts(script: &str) -> Option<Command> {
    let shell = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command
    };
    if shell("true").output().is_ok_and(|output| output.status.success()) {
        return Some(shell(script));
    }
    eprintln!("skipped: this system does not let us mount a file system");
    None
}

/// The one test that another process was to run has passed.
#[track_caller]
pub(crate) fn assert_passed(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let passed = output.status.success() && said.contains("1 passed");
    assert!(passed, "{said}{}", String::from_utf8_lossy(&output.stderr));
}
