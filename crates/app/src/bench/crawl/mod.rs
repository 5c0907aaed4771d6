//! `refrain bench crawl`: what the whole crawler makes of this machine, beside what its HTTP client alone does.

mod sitemap;
mod start;
mod web;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use refrain_core::time::Span;
use refrain_engine::{Clock, Crawl, Follow, Politeness, Seed, Settings, Summary, Until, add_seeds};
use refrain_fetch::client::{self, Client, Request};
use refrain_fetch::url::PageUrl;
use refrain_store::{Options, Store};
use tokio::runtime::Runtime;

use super::SEED;
use super::folder::Folder;
use crate::chart::{grouped, percent};
use crate::cli::BenchCrawlArgs;
use crate::failure::Failure;
use crate::stopwatch::{Stopwatch, cpu_seconds, memory_bytes};
use start::stdout;
use web::Web;

/// Requests under way at the same time.
const PARALLEL: usize = 128;
/// The budget at which what a crawl costs is measured, per second.
const CALM: f64 = 100.0;

/// `refrain bench web`, for the other process.
pub(crate) fn serve() -> Result<(), Failure> {
    web::serve()
}

/// `refrain bench crawl`
pub(crate) fn run(args: &BenchCrawlArgs) -> Result<(), Failure> {
    let folder = Folder::new()?;
    let mut out = io::stdout().lock();
    let mut say = |text: String| writeln!(out, "{text}").and_then(|()| out.flush()).map_err(stdout);
    say("Starting, with what is known".to_owned())?;
    start::write(&mut io::stdout(), &folder.0, if args.quick { 20_000 } else { 1_000_000 })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    say("\nListening: a sitemap with 50,000 entries, from the request for it to the last signal".to_owned())?;
    for known in if args.quick { [20_000, 50_000] } else { [50_000, 1_000_000] } {
        say(sitemap::heard(&runtime, &folder.0.join(format!("listening-{known}")), known)?)?;
    }
    let web = Web::start()?;
    let urls = web.urls(if args.quick { 2000 } else { 20_000 });
    say(format!(
        "\nCrawling {} pages of 10 kB with 30 links on 200 hosts, on loopback, the server in a process of its own",
        grouped(urls.len())
    ))?;
    let bare = bare_client(&runtime, &urls, if args.quick { 1 } else { 5 })?;
    say(format!("  {:<46} {:>9} pages/s", "the HTTP client alone", grouped(bare as usize)))?;
    let data = folder.0.join("data");
    let fast = Settings { rate: 1e6, ..settings(Until::Once) };
    let (summary, seconds) = crawl(&runtime, &data, &urls, fast)?;
    let rate = summary.looks as f64 / seconds;
    say(format!(
        "  {:<46} {:>9} pages/s, {:.2} of that",
        "first visits, everything on",
        grouped(rate as usize),
        rate / bare
    ))?;
    let span = |seconds: u64| Until::After(Span::from_whole_secs(seconds));
    let fast = Settings { rate: 1e6, ..settings(span(if args.quick { 1 } else { 10 })) };
    let (summary, seconds) = crawl(&runtime, &data, &[], fast)?;
    let rate = summary.looks as f64 / seconds;
    say(format!(
        "  {:<46} {:>9} pages/s, {:.2} of that",
        "later visits, nothing changed",
        grouped(rate as usize),
        rate / bare
    ))?;
    // A few rounds over its pages, and it has settled.
    let (hosts, settle, measure) = if args.quick { (2, 4, 2) } else { (20, 60, 20) };
    let few = folder.0.join("few");
    let fast = Settings { rate: 1e6, ..settings(Until::Once) };
    crawl(&runtime, &few, &web.all_of(hosts), fast)?;
    let calm = Settings { rate: CALM, ..settings(span(settle + measure + 1)) };
    say(calmly(&runtime, &few, calm, (settle, measure))?)?;
    match args.soak {
        Some(soak) => soaked(&runtime, &data, soak, &mut say),
        None => Ok(()),
    }
}

/// What a crawl costs at a modest budget, once it has settled: `seconds` to settle, and to measure.
fn calmly(
    runtime: &Runtime,
    data: &Path,
    settings: Settings,
    seconds: (u64, u64),
) -> Result<String, Failure> {
    let store = Store::open(data, Options::default())?;
    let crawl = Crawl::new(store, data, settings, Clock::start(), None)?;
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let running = runtime.spawn(crawl.run(stop));
    std::thread::sleep(Duration::from_secs(seconds.0));
    let (watch, before) = (Stopwatch::start(), cpu_seconds());
    std::thread::sleep(Duration::from_secs(seconds.1));
    let (elapsed, after) = (watch.elapsed().as_secs_f64(), cpu_seconds());
    let busy = after.zip(before).map(|(after, before)| (after - before) / elapsed);
    let summary = runtime.block_on(running).map_err(|why| Failure::OnTheWay(why.to_string()))??;
    let whole = (seconds.0 + seconds.1 + 1) as f64;
    Ok(format!(
        "  at a budget of {CALM}/s: {:.1} visits/s for {} of one core",
        summary.looks as f64 / whole,
        busy.map_or("?".to_owned(), percent)
    ))
}

/// The crawl as fast as it goes, and what memory it takes.
fn soaked(
    runtime: &Runtime,
    data: &Path,
    soak: Span,
    say: &mut dyn FnMut(String) -> Result<(), Failure>,
) -> Result<(), Failure> {
    say(format!("\nAs fast as it goes for {}: memory", crate::units::spoken(soak)))?;
    let store = Store::open(data, Options::default())?;
    let settings = Settings { rate: 1e6, ..settings(Until::After(soak)) };
    let clock = Clock::start();
    let crawl = Crawl::new(store, data, settings, clock, None)?;
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let running = runtime.spawn(crawl.run(stop));
    let watch = Stopwatch::start();
    let step = Duration::from_secs_f64((soak.as_secs() / 30.0).clamp(1.0, 60.0));
    while !running.is_finished() {
        std::thread::sleep(step);
        let memory = memory_bytes().unwrap_or(0) / 1_000_000;
        say(format!("  {:>6.0} s  {memory:>5} MB", watch.elapsed().as_secs_f64()))?;
    }
    let summary = runtime.block_on(running).map_err(|why| Failure::OnTheWay(why.to_string()))??;
    say(format!("  {} visits", grouped(summary.looks as usize)))
}

fn settings(until: Until) -> Settings {
    Settings {
        gap: Span::ZERO,
        patience: 0.0,
        parallel: PARALLEL,
        follow: Some(Follow::SameHost),
        politeness: Politeness::Host,
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        until,
        ..Settings::default()
    }
}

/// Pages per second of the client, with nothing done with them.
fn bare_client(runtime: &Runtime, urls: &[PageUrl], seconds: u64) -> Result<f64, Failure> {
    let client = Client::new(settings(Until::Once).client)?;
    let urls: Arc<[PageUrl]> = urls.into();
    let done = Arc::new(AtomicUsize::new(0));
    let watch = Stopwatch::start();
    let asking: Vec<_> = (0..PARALLEL)
        .map(|first| {
            let (client, urls, done) = (client.clone(), Arc::clone(&urls), Arc::clone(&done));
            runtime.spawn(async move {
                for url in urls.iter().cycle().skip(first).step_by(PARALLEL) {
                    if client.get(&Request::new(url.clone())).await.is_ok_and(|answer| answer.status == 200) {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    std::thread::sleep(Duration::from_secs(seconds));
    let rate = done.load(Ordering::Relaxed) as f64 / watch.elapsed().as_secs_f64();
    asking.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(rate)
}

/// A crawl, and how many seconds it took.
fn crawl(
    runtime: &Runtime,
    data: &Path,
    seeds: &[PageUrl],
    settings: Settings,
) -> Result<(Summary, f64), Failure> {
    let clock = Clock::start();
    let mut store = Store::open(data, Options::default())?;
    let seed = |url: &PageUrl| Seed { url: url.clone(), importance: None, max_age: None };
    add_seeds(&mut store, &seeds.iter().map(seed).collect::<Vec<_>>(), clock.now())?;
    let crawl = Crawl::new(store, data, settings, clock, None)?;
    let (_keep, stop) = tokio::sync::watch::channel(false);
    let watch = Stopwatch::start();
    let summary = runtime.block_on(crawl.run(stop))?;
    Ok((summary, watch.elapsed().as_secs_f64()))
}
