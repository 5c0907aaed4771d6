//! Running the binary as a user does.

pub(crate) mod desk;
pub(crate) mod fake;
pub(crate) mod golden;
pub(crate) mod web;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;

/// A folder of its own for each test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file");
        path
    }
}

pub(crate) fn refrain(args: &[&str]) -> Output {
    command(args).output().expect("the binary runs")
}

/// Runs until something is so, of what it has said up to now or of the world; then Ctrl-C ends it. On a busy machine nothing happens within a given
/// time, but it does happen.
#[track_caller]
pub(crate) fn refrain_until(args: &[&str], what: &str, mut is_so: impl FnMut(&str) -> bool) -> Output {
    let mut child = command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let read = |mut from: Box<dyn Read + Send>| {
        let said: Arc<Mutex<Vec<u8>>> = Arc::default();
        let hears = Arc::clone(&said);
        let reading = std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut some) {
                hears.lock().expect("a lock").extend_from_slice(&some[..count]);
            }
        });
        (said, reading)
    };
    let (said, out) = read(Box::new(child.stdout.take().expect("a pipe")));
    let (complained, err) = read(Box::new(child.stderr.take().expect("a pipe")));
    let taken = |from: &Mutex<Vec<u8>>| from.lock().expect("a lock").clone();
    desk::wait_until(what, || {
        let has_ended = child.try_wait().expect("a child").is_some();
        is_so(&String::from_utf8_lossy(&taken(&said))) || has_ended
    });
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
    let status = child.wait().expect("it ends");
    out.join().expect("the reader ends");
    err.join().expect("the reader ends");
    Output { status, stdout: taken(&said), stderr: taken(&complained) }
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_refrain"));
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs with this on standard input.
pub(crate) fn refrain_fed(args: &[&str], input: &[u8]) -> Output {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // It may stop reading before the end; that is its right.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("a path of plain letters")
}

pub(crate) fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_str(&stdout(output)).expect("JSON")
}

pub(crate) fn close(found: &Value, expected: f64, tolerance: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - expected).abs() <= tolerance, "{found}, not {expected}");
}

/// Exit code 2, and one sentence with these parts.
pub(crate) fn complains(output: &Output, parts: &[&str]) {
    let said = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert_eq!(output.stdout, b"", "nothing on stdout");
    assert_eq!(said.lines().count(), 1, "one sentence: {said}");
    for part in parts {
        assert!(said.contains(part), "'{part}' is not in: {said}");
    }
}
