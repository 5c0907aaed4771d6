//! `refrain crawl`: the engine, with a person in front of it.

pub(crate) mod config;
pub(crate) mod feed;
mod lines;
pub(crate) mod seeds;
mod view;
pub(crate) mod wanted;
pub(crate) mod watch;
pub(crate) mod webhook;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use refrain_engine::{Clock, Crawl, CrawlError, Summary, Until, add_seeds, channel};
use refrain_store::Batch;
use tokio::signal::unix::{SignalKind, signal};

use crate::chart::counted;
use crate::cli::CrawlArgs;
use crate::data::open_to_write;
use crate::decisions;
use crate::failure::Failure;
use crate::output::to_stdout;
use crate::serve::dashboard::beside::{self, Beside, Shown};
use config::Config;
use feed::Feed;
pub(crate) use lines::Lines;
pub(crate) use view::{Extra, Extras};
use wanted::{SiteRules, Wanted};
pub(crate) use watch::{Face, Watch, run_watched};
use webhook::Delivery;

/// `refrain config`
pub(crate) fn print_config() -> Result<(), Failure> {
    to_stdout(|out| out.write_all(config::EXAMPLE.as_bytes()))
}

/// `refrain crawl`
pub(crate) fn run(args: &CrawlArgs) -> Result<(), Failure> {
    let wanted = Wanted::new(args, Config::find(args.config.as_deref())?, true)?;
    let seeds = seeds::read(&wanted.seeds)?;
    outlive_limits_of_files()?;
    let clock = Clock::start();
    let mut store = open_to_write(&wanted.data)?;
    let new = add_seeds(&mut store, &seeds, clock.now())?;
    let known = store.read().status()?;
    let pages: u64 = known.pages.iter().map(|(_, count)| count).sum();
    if pages == 0 {
        return Err(Failure::input(format!(
            "{}: there is nothing to crawl yet; expected addresses, or files of addresses",
            wanted.data.display()
        )));
    }
    let lines = Lines::new(args.quiet, wanted.changes_to_stdout());
    let rules = Arc::new(SiteRules(wanted.settings.rules.clone()));
    let feed = wanted.changes.as_deref().map(|to| Feed::open(to, &wanted.data, &rules)).transpose()?;
    lines.begin(pages, new, &wanted.data);
    let (told, hears) = channel();
    let is_plain = args.plain || args.quiet || wanted.changes_to_stdout() || !is_screen();
    let agent = wanted.settings.client.user_agent.clone();
    let robot = wanted.settings.agent.clone();
    let ends = wanted.settings.until != Until::Stopped;
    let mut crawl = Crawl::new(store, &wanted.data, wanted.settings, clock, Some(told.clone()))?;
    let deliver =
        |hook| Delivery::new(hook, &wanted.data, &rules, &agent, clock, crawl.ledger(), told.clone());
    let deliveries = wanted.hooks.into_iter().map(deliver).collect::<Result<Vec<_>, _>>()?;
    let log = match &wanted.decisions {
        Some(log) => {
            let (to, log) = decisions::Log::open(log, &wanted.data, told.clone())?;
            crawl.tell_decisions(to);
            Some(log)
        }
        None => None,
    };
    drop(told);
    let (board, hears) = match &args.dashboard {
        Some(listen) => {
            let shown = Shown {
                handle: crawl.handle(),
                clock,
                data: &wanted.data,
                config: Config::find(args.config.as_deref())?,
                agent: robot,
                decisions: wanted.decisions.as_ref().map(|log| log.folder.clone()),
                stays: false,
            };
            let (board, hears) = beside::open(listen, shown, hears)?;
            (Some(board), hears)
        }
        None => (None, hears),
    };
    let address = board.as_ref().map(Beside::url);
    let face = if is_plain {
        if let Some(address) = &address {
            eprintln!("Watch it: {address}");
        }
        Face::Lines(lines)
    } else {
        // What was said before is behind the view.
        Face::View { lines, extras: None, board: address }
    };
    let watched = run_watched(crawl, Watch { face, hears, feed, deliveries });
    drop(board);
    let logged = log.map_or(Ok(()), decisions::Log::close);
    let (summary, delivered) = watched?;
    if !delivered.is_empty() {
        // What was delivered after the crawl had closed the store.
        let delivered = delivered.into_iter().map(|delivered| (delivered.name, delivered.last)).collect();
        open_to_write(&wanted.data)?.commit(&Batch { delivered, ..Batch::default() })?;
    }
    logged?;
    if ends { saw_something(&summary, &wanted.data) } else { Ok(()) }
}

/// A crawl that was to end by itself has failed if no page could be read. One that was stopped has not: its pages are tried again.
fn saw_something(summary: &Summary, data: &Path) -> Result<(), Failure> {
    let Summary { page_visits, page_answers, unvisited, .. } = summary;
    if *page_answers > 0 || page_visits + unvisited == 0 {
        return Ok(());
    }
    let what = match page_visits {
        0 => format!("none of {unvisited} pages was visited: their hosts want to be left alone"),
        _ => format!(
            "no page could be read: each of {} failed, found the page gone, or was forbidden by robots.txt",
            counted(*page_visits as usize, "visit")
        ),
    };
    let data = data.display();
    Err(Failure::OnTheWay(format!("{what}; `refrain pages --data {data}` lists the pages")))
}

/// Who writes beyond a limit on the size of files (`ulimit -f`) is killed by a signal, unless somebody listens for it: then the write
/// fails, like one to a full disk, and there is a sentence for that.
pub(crate) fn outlive_limits_of_files() -> Result<(), Failure> {
    /// SIGXFSZ, where Refrain runs.
    const TOO_LARGE: i32 = 25;
    let failed = |why| Failure::system("cannot listen for signals", why);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(failed)?;
    // Once somebody has listened the signal kills no more, until the process ends.
    let _listens = runtime.enter();
    signal(SignalKind::from_raw(TOO_LARGE)).map(drop).map_err(failed)
}

/// Whether there is a terminal that can show more than lines.
pub(crate) fn is_screen() -> bool {
    std::io::stdout().is_terminal()
        && std::io::stdin().is_terminal()
        && std::env::var_os("TERM").is_some_and(|name| name != "dumb")
}

impl From<CrawlError> for Failure {
    fn from(why: CrawlError) -> Self {
        match why {
            CrawlError::Store(why) => why.into(),
            other => Self::OnTheWay(other.to_string()),
        }
    }
}
