//! How fast the pages of the dashboard come, and how large they are.

use std::io;
use std::time::Duration;

use super::client::Client;
use super::{Server, announced, broken, median_and_worst};
use crate::chart::grouped;
use crate::failure::Failure;
use crate::stopwatch::{Stopwatch, spoken};

/// So often each page is asked for.
const TIMES: usize = 20;
/// So often the server is started to be asked before it has ranked anything.
const STARTS: usize = 5;
/// Pages are ranked within this time, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(300);

/// A line of the report: what it is, and the figure.
pub(super) type Line = (String, String, &'static str);

/// The list of pages as somebody finds it who comes first, before all pages are ranked: after each of several starts.
pub(super) fn measure_unranked(mut start: impl FnMut() -> Result<Server, Failure>) -> Result<Line, Failure> {
    let mut times = Vec::new();
    let mut largest = 0;
    for _ in 0..STARTS {
        let server = start()?;
        let (first, size) = timed(&mut server.client()?, "/pages").map_err(broken)?;
        times.push(first);
        largest = largest.max(size);
    }
    Ok(line("pages, before they are ranked", times, largest))
}

/// All pages of the dashboard, when all pages are ranked.
pub(super) fn measure(server: &Server) -> Result<Vec<Line>, Failure> {
    let mut client = server.client()?;
    let mut lines = Vec::new();
    let ranked = until(&mut client, "/pages", ", ranked ")?;
    let figure = format!("{} beside{}", spoken(ranked), server.memory());
    lines.push(("pages are ranked in memory, in".to_owned(), figure, ""));
    let planned = until(&mut client, "/plan", "requests a second buy")?;
    lines.push(("what budgets buy is computed in".to_owned(), spoken(planned), ""));
    for (name, path) in [
        ("overview", "/"),
        ("pages, the stalest", "/pages"),
        ("pages, by part of the address", "/pages?q=page-77&sort=importance"),
        ("pages, a rare part, turned round", "/pages?q=h77.example/section/page-7&turned=yes"),
        ("pages, never fetched, far down", "/pages?only=never&skip=400000"),
        ("one page", "/pages/1"),
        ("hosts", "/hosts"),
        ("hosts, by part of the name", "/hosts?q=h9999"),
        ("plan", "/plan"),
    ] {
        lines.push(repeated(&mut client, name, path)?);
    }
    Ok(lines)
}

/// The pages that show what sites announce, where that is much.
pub(super) fn measure_announced(server: &Server) -> Result<Vec<Line>, Failure> {
    let mut client = server.client()?;
    [
        ("signals", "/signals"),
        ("signals, of a kind, far down", "/signals?kind=feed&skip=9000"),
        ("signals, by part of the host", "/signals?host=h99"),
        ("hubs", "/hubs"),
        ("hubs, far down", "/hubs?skip=4900"),
        ("one host", &announced::host_path()),
    ]
    .into_iter()
    .map(|(name, path)| repeated(&mut client, name, path))
    .collect()
}

fn repeated(client: &mut Client, name: &str, path: &str) -> Result<Line, Failure> {
    let mut times = Vec::new();
    let mut largest = 0;
    for _ in 0..TIMES {
        let (first, size) = timed(client, path).map_err(broken)?;
        times.push(first);
        largest = largest.max(size);
    }
    Ok(line(name, times, largest))
}

fn line(name: &str, times: Vec<Duration>, largest: usize) -> Line {
    let (median, worst) = median_and_worst(times);
    let figure = format!(
        "{} at the median, {} at the worst, {} bytes",
        spoken(median),
        spoken(worst),
        grouped(largest)
    );
    (format!("dashboard, {name}"), figure, "50 ms, 100 KB")
}

/// How long it takes to the first byte of an answer, and how long that is.
fn timed(client: &mut Client, path: &str) -> io::Result<(Duration, usize)> {
    let watch = Stopwatch::start();
    client.ask(path)?;
    client.first_byte()?;
    let first = watch.elapsed();
    Ok((first, client.answer()?.len()))
}

/// How long it takes until a page has this in it.
fn until(client: &mut Client, path: &str, text: &str) -> Result<Duration, Failure> {
    let watch = Stopwatch::start();
    while memchr::memmem::find(client.get(path).map_err(broken)?, text.as_bytes()).is_none() {
        if watch.elapsed() > PATIENCE {
            return Err(Failure::OnTheWay(format!("{path} never has {text:?} in it")));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(watch.elapsed())
}
