//! A folder with a refrain.toml and a data directory, and crawls that are run there.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::Duration;

use refrain_store::warc::Record;
use refrain_store::{HostRow, Observation, Reader, Version};

use super::{Folder, command, refrain, refrain_until, stderr, text};

pub(crate) struct Desk {
    folder: Folder,
    config: String,
    data: String,
}

/// A crawl under way, which does not outlive the test.
pub(crate) struct Running {
    child: Option<Child>,
}

/// A line that a crawl writes for a visit.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) outcome: String,
    pub(crate) url: String,
    pub(crate) note: String,
}

impl Desk {
    /// Loopback is crawled fast, unless these lines say otherwise.
    pub(crate) fn new(more: &str) -> Self {
        let folder = Folder::new();
        let mut config =
            String::from("allow_private = true\nagent = \"Tester\"\ncontact = \"me@example.net\"\n");
        for (key, usual) in [
            ("rate", "\"200/s\""),
            ("gap", "\"20ms\""),
            ("patience", "0.0"),
            ("data", "\"data\""),
            // All hosts are names of one address.
            ("politeness", "\"host\""),
        ] {
            if !more.lines().any(|line| line.starts_with(&format!("{key} ="))) {
                config.push_str(&format!("{key} = {usual}\n"));
            }
        }
        let config = text(&folder.file("refrain.toml", config + more)).to_owned();
        let elsewhere = more.lines().find_map(|line| line.strip_prefix("data = \"")?.strip_suffix('"'));
        let data = elsewhere.map_or_else(|| text(&folder.path("data")).to_owned(), str::to_owned);
        Self { folder, config, data }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path(name)
    }

    pub(crate) fn data(&self) -> &str {
        &self.data
    }

    /// A file of seeds.
    pub(crate) fn seeds(&self, urls: &[String]) -> String {
        text(&self.folder.file("seeds.txt", urls.join("\n"))).to_owned()
    }

    pub(crate) fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        ["crawl", "--config", &self.config].iter().chain(more).copied().collect()
    }

    /// A crawl that ends well, or in which every visit failed; what it said.
    #[track_caller]
    pub(crate) fn crawl(&self, more: &[&str]) -> Vec<Line> {
        said(&refrain(&self.arguments(more)))
    }

    /// The same, until something is so.
    #[track_caller]
    pub(crate) fn crawl_until(
        &self,
        more: &[&str],
        what: &str,
        is_so: impl FnMut(&str) -> bool,
    ) -> Vec<Line> {
        said(&refrain_until(&self.arguments(more), what, is_so))
    }

    pub(crate) fn start(&self, more: &[&str]) -> Running {
        let mut command = command(&self.arguments(more));
        Running { child: Some(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()) }
    }

    /// Runs a command on the data directory.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        refrain(&args.iter().chain(&["--data", &self.data]).copied().collect::<Vec<_>>())
    }

    #[track_caller]
    pub(crate) fn assert_sound(&self) {
        let checked = self.run(&["check"]);
        assert!(checked.status.success(), "{}{}", stderr(&checked), String::from_utf8_lossy(&checked.stdout));
    }

    pub(crate) fn reader(&self) -> Reader {
        Reader::open(Path::new(&self.data)).unwrap()
    }

    /// All looks with their addresses, in the order in which they were committed.
    pub(crate) fn looks(&self) -> Vec<(String, Observation)> {
        let mut looks = Vec::new();
        let reader = self.reader();
        reader
            .looks(0, |seen| {
                looks.push((seen.url.to_owned(), seen.look));
                ControlFlow::Continue(())
            })
            .unwrap();
        looks
    }

    pub(crate) fn host(&self, name: &str) -> Option<HostRow> {
        self.reader().host(name).unwrap()
    }

    /// Versions of a page, the latest first, with the answers that have their bodies.
    pub(crate) fn versions(&self, url: &str) -> Vec<(Version, Record)> {
        let reader = self.reader();
        let page = reader.page(url).unwrap().expect("a page").id;
        let versions = reader.versions_of(page).unwrap().into_iter();
        versions
            .map(|version| (version.clone(), reader.answer(version.id).unwrap().expect("its record")))
            .collect()
    }

    /// The only body of a page that is kept.
    #[track_caller]
    pub(crate) fn body(&self, url: &str) -> Vec<u8> {
        let mut versions = self.versions(url);
        assert_eq!(versions.len(), 1, "{url}");
        versions.remove(0).1.body
    }
}

impl Running {
    /// kill -9
    pub(crate) fn kill(mut self) {
        let mut child = self.child.take().expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ctrl-C, and it ends in good order.
    pub(crate) fn interrupt(mut self) {
        let mut child = self.child.take().expect("it runs");
        let signalled = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(signalled.unwrap().success());
        let status = child.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Waits for its end: the most memory it had, in bytes.
    pub(crate) fn peak_memory(mut self) -> u64 {
        let mut child = self.child.take().expect("it runs");
        let mut peak = 0;
        while child.try_wait().unwrap().is_none() {
            peak = most_memory(&child).unwrap_or(peak);
            std::thread::sleep(Duration::from_millis(20));
        }
        let status = child.wait().unwrap();
        assert!(status.success(), "{status}");
        peak
    }

    /// The most memory that it has had up to now, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.child.as_ref().and_then(most_memory).expect("it runs")
    }
}

fn most_memory(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The lines of a crawl that went well, or in which no page could be read.
#[track_caller]
fn said(done: &std::process::Output) -> Vec<Line> {
    let all_failed = done.status.code() == Some(1) && stderr(done).contains("no page could be read: ");
    assert!(done.status.success() || all_failed, "{}", stderr(done));
    lines(&String::from_utf8_lossy(&done.stdout))
}

/// `12:00:00  failed     ---      0 B    20 ms  http://a.localhost/  (why)`
fn lines(said: &str) -> Vec<Line> {
    let visits = said.lines().filter(|line| line.contains("://"));
    visits
        .filter_map(|line| {
            let outcome = line.get(10..20)?.trim().to_owned();
            let start = line.find("http")?;
            let (url, note) = line[start..].split_once("  (").unwrap_or((&line[start..], ""));
            Some(Line { outcome, url: url.to_owned(), note: note.trim_end_matches(')').to_owned() })
        })
        .collect()
}

/// The line of a page, of which there is one.
#[track_caller]
pub(crate) fn line_of<'a>(lines: &'a [Line], url: &str) -> &'a Line {
    let mut found = lines.iter().filter(|line| line.url == url);
    let line = found.next().unwrap_or_else(|| panic!("no visit to {url}: {lines:#?}"));
    assert!(found.next().is_none(), "{url} was visited twice");
    line
}

/// Waits until something is so; it must be so at some time.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..3000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("in a minute it was never so that {what}");
}
