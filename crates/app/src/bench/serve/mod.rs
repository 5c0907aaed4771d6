//! `refrain bench serve`: what the doors of a crawl that runs can bear, through HTTP, with the server in a process of its own.

mod announced;
mod client;
mod dashboard;

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::SEED;
use super::folder::Folder;
use super::server::{Pace, Server};
use crate::chart::grouped;
use crate::cli::BenchServeArgs;
use crate::failure::Failure;
use crate::stopwatch::{Stopwatch, spoken};
use crate::synthetic::Synthetic;
use client::{Client, texts};

/// Pages are on so many hosts: a host is asked for one page at a time.
const HOSTS: usize = 10_000;
/// So many add pages at the same time.
const ADDERS: usize = 2;

impl Server {
    fn client(&self) -> Result<Client, Failure> {
        Client::new(&self.address).map_err(broken)
    }
}

fn broken(why: io::Error) -> Failure {
    Failure::system("the server does not answer as it should", why)
}

/// `refrain bench serve`
pub(crate) fn run(args: &BenchServeArgs) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let pages = if args.quick { 20_000 } else { 1_000_000 };
    let seconds = if args.quick { 1 } else { 10 };
    let clients = args.clients;
    let server = Server::start(&folder.0.join("many"), &[])?;
    let mut out = io::stdout().lock();
    let mut say = |what: &str, figure: String, wanted: &str| {
        writeln!(out, "  {what:<54} {figure:<44} {wanted}")
            .and_then(|()| out.flush())
            .map_err(|why| Failure::system("standard output cannot be written", why))
    };
    let (median, worst) = median_and_worst(folder.disk(if args.quick { 5 } else { 50 })?);
    let figure = format!("{} at the median, {} at the worst", spoken(median), spoken(worst));
    say("until 256 KB are on this disk, whoever writes them", figure, "")?;
    say(&format!("{} pages on {} hosts", grouped(pages), grouped(HOSTS)), String::new(), "wanted")?;
    let before = server.worked();
    let took = add(&server, pages)?.as_secs_f64();
    let micros = 1e6 * (server.worked() - before) / pages as f64;
    let pace = Pace { each_second: pages as f64 / took, micros };
    say(
        "pages added in bulk, on the disk when that is said",
        format!("{pace}{}", server.memory()),
        "100,000",
    )?;
    let lists_of = [
        ("a list page", ""),
        ("one of a host", "&host=http://h77.example"),
        ("of pages that fail", "&failing=true"),
    ];
    for (name, filter) in lists_of.into_iter().filter(|_| !args.fetches) {
        let (median, worst) = lists(&server, pages, filter)?;
        say(name, format!("{} at the median, {} at the worst", spoken(median), spoken(worst)), "50 ms")?;
    }
    if !args.fetches {
        let reads = together((&server, clients), seconds, |client, random| {
            client.get(&format!("/v1/pages/{}", 1 + (random.uniform() * pages as f64) as usize)).map(|_| 1)
        })?;
        say("reads of a page", reads.to_string(), "20,000")?;
    }
    let first = together((&server, clients), seconds, |client, _| fetch(client, "first"))?;
    say("fetches/next + fetches/results by 100, first visits", first.to_string(), "50,000")?;
    for (what, figure, wanted) in dashboard::measure(&server)? {
        say(&what, figure, wanted)?;
    }
    let (median, worst) = feed(&server, if args.quick { 5 } else { 50 })?;
    say(
        "a change, from the result to the change feed",
        format!("{} at the median, {} at the worst", spoken(median), spoken(worst)),
        "100 ms",
    )?;
    drop(server);
    if !args.fetches {
        let (what, figure, wanted) =
            dashboard::measure_unranked(|| Server::start(&folder.0.join("many"), &[]))?;
        say(&what, figure, wanted)?;
        let data = folder.0.join("announced");
        announced::fill(&data)?;
        let server = Server::start(&data, &[])?;
        let what = format!("{} voices on {} hosts", grouped(announced::VOICES), grouped(announced::HOSTS));
        say(&format!("{what}, {} hubs", grouped(announced::HUBS)), String::new(), "wanted")?;
        for (what, figure, wanted) in dashboard::measure_announced(&server)? {
            say(&what, figure, wanted)?;
        }
    }
    let server = Server::start(&folder.0.join("fewer"), &[])?;
    let pages = if args.quick { 20_000 } else { 100_000 };
    say(&format!("{} pages on {} hosts", grouped(pages), grouped(HOSTS)), String::new(), "wanted")?;
    add(&server, pages)?;
    let first = all((&server, clients), pages)?;
    say("fetches/next + fetches/results by 100, first visits", first.to_string(), "50,000")?;
    let later = together((&server, clients), seconds, |client, random| {
        fetch(client, if random.uniform() < 0.1 { "now" } else { "first" })
    })?;
    say("the same, later visits, a tenth with a change", format!("{later}{}", server.memory()), "50,000")
}

/// All pages are fetched, once.
fn all((server, clients): (&Server, u16), pages: usize) -> Result<Pace, Failure> {
    let left = AtomicU64::new(pages as u64);
    together_while(
        (server, clients),
        || left.load(Ordering::Relaxed) > 0,
        |client, _| {
            let done = fetch(client, "first")?;
            let _ = left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(done)));
            Ok(done)
        },
    )
}

/// Adds all pages, by two clients at a time.
fn add(server: &Server, pages: usize) -> Result<Duration, Failure> {
    let bodies: Vec<Vec<u8>> = (0..ADDERS)
        .map(|part| {
            let mut lines = Vec::new();
            for number in (part..pages).step_by(ADDERS) {
                let (host, page) = (number % HOSTS, number / HOSTS);
                lines.extend_from_slice(
                    format!(
                        "{{\"url\":\"http://h{host}.example/section/page-{page}\",\"importance\":1.5}}\n"
                    )
                    .as_bytes(),
                );
            }
            lines
        })
        .collect();
    let watch = Stopwatch::start();
    let added: Result<Vec<u64>, Failure> = std::thread::scope(|scope| {
        let threads: Vec<_> = bodies
            .iter()
            .map(|body| {
                scope.spawn(|| {
                    let mut client = server.client()?;
                    let said = client.post("/v1/pages", "application/x-ndjson", body).map_err(broken)?;
                    let said: serde_json::Value = serde_json::from_slice(said).unwrap_or_default();
                    Ok(said["added"].as_u64().unwrap_or(0))
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0))).collect()
    });
    let took = watch.elapsed();
    let added: u64 = added?.iter().sum();
    if added != pages as u64 {
        return Err(Failure::OnTheWay(format!("{added} of {pages} pages were added")));
    }
    Ok(took)
}

/// How long lists take, from anywhere in the collection.
fn lists(server: &Server, pages: usize, filter: &str) -> Result<(Duration, Duration), Failure> {
    let mut client = server.client()?;
    let mut times = Vec::new();
    for part in 0..50 {
        // A cursor is the number of a page, as the server writes it.
        let cursor = URL_SAFE_NO_PAD.encode(format!("n{}", pages * part / 50));
        let watch = Stopwatch::start();
        client.get(&format!("/v1/pages?limit=100&cursor={cursor}{filter}")).map_err(broken)?;
        times.push(watch.elapsed());
    }
    Ok(median_and_worst(times))
}

fn median_and_worst(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort_unstable();
    (times[times.len() / 2], times[times.len() - 1])
}

/// What all clients get done per second, for so long.
fn together(
    crowd: (&Server, u16),
    seconds: u64,
    work: impl Fn(&mut Client, &mut Synthetic) -> io::Result<u64> + Sync,
) -> Result<Pace, Failure> {
    let watch = Stopwatch::start();
    together_while(crowd, || watch.elapsed() < Duration::from_secs(seconds), work)
}

/// What all clients get done per second, as long as there is something to do.
fn together_while(
    (server, clients): (&Server, u16),
    goes_on: impl Fn() -> bool + Sync,
    work: impl Fn(&mut Client, &mut Synthetic) -> io::Result<u64> + Sync,
) -> Result<Pace, Failure> {
    let done = AtomicU64::new(0);
    let (watch, before) = (Stopwatch::start(), server.worked());
    let result: Result<(), Failure> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..clients)
            .map(|number| {
                let (work, done, goes_on) = (&work, &done, &goes_on);
                scope.spawn(move || {
                    let mut client = server.client()?;
                    let mut random = Synthetic::new(SEED + u64::from(number));
                    while goes_on() {
                        done.fetch_add(work(&mut client, &mut random).map_err(broken)?, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        let mut all = threads.into_iter();
        let failed = || Failure::OnTheWay("a client failed".to_owned());
        all.try_for_each(|thread| thread.join().unwrap_or_else(|_| Err(failed())))
    });
    result?;
    let done = done.load(Ordering::Relaxed) as f64;
    let micros = 1e6 * (server.worked() - before) / done.max(1.0);
    Ok(Pace { each_second: done / watch.elapsed().as_secs_f64(), micros })
}

/// Takes a hundred fetches, and brings back what they saw: bodies known by this text. How many there were.
fn fetch(client: &mut Client, content: &str) -> io::Result<u64> {
    let wanted = br#"{"most":100,"wait_seconds":1,"knows_robots":true}"#;
    let given = client.post("/v1/fetches/next", "application/json", wanted)?;
    let digest = refrain_store::Digest::of(content.as_bytes());
    let mut results = String::from("{\"results\":[");
    let mut count = 0;
    for lease in texts(given, "lease") {
        if count > 0 {
            results.push(',');
        }
        count += 1;
        results.push_str(&format!(
            "{{\"lease\":\"{lease}\",\"status\":200,\"digest\":\"{digest}\",\"duration_seconds\":0.1,\"bytes\":9000}}"
        ));
    }
    results.push_str("]}");
    if count > 0 {
        let taken = client.post("/v1/fetches/results", "application/json", results.as_bytes())?;
        if let Some(other) = texts(taken, "result").find(|result| *result != "taken") {
            return Err(io::Error::other(format!("a result is {other:?}")));
        }
    }
    Ok(count)
}

/// How long it takes from a result that is sent to the change that it tells of.
fn feed(server: &Server, times: usize) -> Result<(Duration, Duration), Failure> {
    let mut client = server.client()?;
    let last: serde_json::Value =
        serde_json::from_slice(client.get("/v1/status").map_err(broken)?).unwrap_or_default();
    let after = last["last_change"].as_i64().unwrap_or(0);
    let mut lines = server.client()?.stream(&format!("/v1/changes/stream?after={after}")).map_err(broken)?;
    let mut all = Vec::new();
    for number in 0..times {
        let wanted = br#"{"most":1,"wait_seconds":5,"knows_robots":true}"#;
        let given = client.post("/v1/fetches/next", "application/json", wanted).map_err(broken)?;
        let Some(lease) = texts(given, "lease").next() else { continue };
        let result = format!(
            "{{\"results\":[{{\"lease\":\"{lease}\",\"status\":200,\"digest\":\"{}\"}}]}}",
            refrain_store::Digest::of(format!("{number} of the feed").as_bytes())
        );
        let watch = Stopwatch::start();
        client.post("/v1/fetches/results", "application/json", result.as_bytes()).map_err(broken)?;
        while !lines().map_err(broken)?.starts_with("data:") {}
        all.push(watch.elapsed());
    }
    if all.is_empty() {
        return Err(Failure::OnTheWay("nothing changed".to_owned()));
    }
    Ok(median_and_worst(all))
}
