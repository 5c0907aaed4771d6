//! `refrain demo`: a small living web on loopback, crawled live. It is made up, so it knows the truth, and tells it.

mod announce;
mod explorers;
pub(crate) mod finders;
pub(crate) mod hearing;
pub(crate) mod hosts;
mod log;
pub(crate) mod news;
mod outcome;
mod page;
mod profit;
mod rivals;
pub(crate) mod serve;
mod story;
pub(crate) mod truth;
mod voices;
mod words;
pub(crate) mod world;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use refrain_core::time::Span;
use refrain_engine::{
    Clock, Crawl, CrawlError, Follow, Politeness, Settings, ToldReceiver, Until, add_seeds, channel,
};
use refrain_fetch::client;
use refrain_store::{Options, Store};

use crate::chart::percent;
use crate::cli::DemoArgs;
use crate::crawl::config::Config;
use crate::crawl::watch::StopSignals;
use crate::crawl::{Extra, Extras, Face, Lines, Watch, is_screen, run_watched};
use crate::failure::Failure;
use crate::output::{to_file, to_stdout};
use crate::serve::dashboard::beside::{self, Beside, Shown};
use explorers::Explorer;
use outcome::Outcome;
use rivals::Rival;
use serve::Site;
use world::World;

/// Pages change a little longer than anybody looks.
const SPARE: f64 = 30.0;
/// Small hosts on the same machine do not mind ten visits a second.
const GAP: Span = Span::from_millis(100);
/// Its name in robots.txt.
const AGENT: &str = "RefrainDemo";
/// Where it is shown.
const USUAL: &str = "127.0.0.1:7070";
/// Freshness "now" is that of the last seconds.
const LATELY: f64 = 5.0;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let folder = folder(args)?;
    let (rate, seconds) = (1.0 / args.rate.as_secs(), args.duration.as_secs());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let clock = Clock::start();
    let site = runtime.block_on(Site::open(World::new(args.seed, seconds + SPARE), clock))?;
    let data = folder.join("data");
    let mut store = Store::open(&data, Options::default())?;
    add_seeds(&mut store, &site.world.seeds(site.port), clock.now())?;
    to_stdout(|out| story::begin(out, &site.world, rate, seconds))?;
    let (told, hears) = channel();
    let crawl = Crawl::new(store, &data, settings(&site, rate, args.duration), clock, Some(told))?;
    let (board, hears) = dashboard(args, &crawl, &data, clock, hears)?;
    to_stdout(|out| writeln!(out, "Watch it: {}\n", board.url()))?;
    let screen = !args.plain && is_screen();
    // In a pipe a line for each visit would bury the story.
    let lines = Lines::new(!args.plain, false);
    let face = if screen {
        let watched = Arc::clone(&site);
        let extras: Extras = Box::new(move || truth_so_far(&watched, rate));
        Face::View { lines, extras: Some(extras), board: Some(board.url()) }
    } else {
        Face::Lines(lines)
    };
    let (summary, _) = run_watched(crawl, Watch { face, hears, feed: None, deliveries: Vec::new() })?;
    let outcome = Outcome::new(&site, summary, &data, clock.now(), rate)?;
    let report = folder.join("index.html");
    to_file(&report, |out| out.write_all(page::html(&outcome).as_bytes()))?;
    to_stdout(|out| story::end(out, &outcome, &data, &report))?;
    if args.stay {
        let mut signals = StopSignals::listen(&runtime)?;
        to_stdout(|out| writeln!(out, "\nIt is over, and can be looked at until Ctrl-C: {}", board.url()))?;
        runtime.block_on(signals.next());
    }
    drop(board);
    Ok(())
}

/// A page in a browser, beside all of this.
fn dashboard(
    args: &DemoArgs,
    crawl: &Crawl,
    data: &Path,
    clock: Clock,
    hears: ToldReceiver,
) -> Result<(Beside, ToldReceiver), Failure> {
    let listen = args.dashboard.as_deref().unwrap_or_else(|| {
        // Whoever has the usual port keeps it.
        if std::net::TcpListener::bind(USUAL).is_ok() { USUAL } else { "127.0.0.1:0" }
    });
    let shown = Shown {
        handle: crawl.handle(),
        clock,
        data,
        config: Config::default(),
        agent: AGENT.to_owned(),
        decisions: None,
        stays: args.stay,
    };
    beside::open(listen, shown, hears)
}

/// How a small web is crawled.
pub(crate) fn settings(site: &Site, rate: f64, duration: Span) -> Settings {
    Settings {
        rate,
        gap: GAP,
        agent: AGENT.to_owned(),
        // New articles are found; of the others all pages are known.
        follow: Some(Follow::Pattern(hosts::links_to_follow(site.port))),
        news: news::known_beforehand(&site.world, site.port),
        // Each host is a machine of its own, if it were not made up.
        politeness: Politeness::Host,
        client: client::Settings { allow_private: true, ..client::Settings::default() },
        until: Until::After(duration),
        ..Settings::default()
    }
}

/// A new folder: what is there already is somebody's.
fn folder(args: &DemoArgs) -> Result<PathBuf, Failure> {
    let chosen = match &args.data {
        Some(chosen) if chosen.exists() => {
            return Err(Failure::input(format!(
                "{}: is there already; expected the name of a new folder",
                chosen.display()
            )));
        }
        Some(chosen) => {
            std::fs::create_dir_all(chosen).map_err(|why| cannot_make(chosen, why))?;
            chosen.clone()
        }
        None => temporary_folder()?,
    };
    // Named in full, so that it can be opened from anywhere.
    chosen.canonicalize().map_err(|why| cannot_make(&chosen, why))
}

/// The first of its kind that is not there yet.
fn temporary_folder() -> Result<PathBuf, Failure> {
    for number in 1..u32::MAX {
        let folder = std::env::temp_dir().join(format!("refrain-demo-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(why) => return Err(cannot_make(&folder, why)),
        }
    }
    Err(Failure::input("there are too many demos among temporary files; expected --data DIR"))
}

fn cannot_make(folder: &Path, why: std::io::Error) -> Failure {
    Failure::system(format!("{}: cannot be made", folder.display()), why)
}

/// For the view: true freshness lately, ours and theirs.
fn truth_so_far(site: &Site, rate: f64) -> Vec<Extra> {
    let fetches = site.fetches();
    let mut moments: Vec<f64> = fetches.iter().flatten().copied().collect();
    moments.sort_by(f64::total_cmp);
    let (now, from) = (site.now(), (site.now() - LATELY).max(0.0));
    let line = |name: &str, fetches: &truth::Fetches, main| Extra {
        name: name.to_owned(),
        value: percent(truth::freshness(&site.world, fetches, from, now)),
        note: format!(
            "fresh in the last seconds, {} since the start",
            percent(truth::freshness(&site.world, fetches, 0.0, now))
        ),
        main,
    };
    let mut lines = vec![line("Refrain", &fetches, true)];
    for rival in Rival::ALL {
        lines.push(line(rival.name(), &rival.fetches(&site.world, &moments, rate), false));
    }
    lines.push(news_so_far(site, now));
    lines
}

/// The same for new articles.
fn news_so_far(site: &Site, now: f64) -> Extra {
    let (world, moments) = (&site.world, site.news_moments());
    let share = |finds| percent(profit::share(world, &finds, now));
    let others =
        Explorer::ALL.map(|other| format!("{} {}", other.name(), share(other.finds(world, &moments))));
    Extra {
        name: "Refrain, new articles".to_owned(),
        value: share(site.finds()),
        note: format!("of what they were worth; {}", others.join(", ")),
        main: true,
    }
}

impl From<refrain_fetch::client::BadSettings> for Failure {
    fn from(why: refrain_fetch::client::BadSettings) -> Self {
        CrawlError::from(why).into()
    }
}
