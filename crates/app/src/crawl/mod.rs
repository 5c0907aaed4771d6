//! `refrain crawl`: the engine, with a person in front of it.

mod feed;
mod lines;
pub(crate) mod seeds;

use std::path::Path;

use refrain_engine::{Clock, Crawl, CrawlError, Follow, Settings, Summary, Until, add_seeds};
use refrain_fetch::client;
use refrain_store::{Options, Store};
use tokio::sync::{mpsc, watch};

use crate::cli::CrawlArgs;
use crate::failure::Failure;
use feed::Feed;
use lines::Lines;

pub(crate) fn run(args: &CrawlArgs) -> Result<(), Failure> {
    let settings = settings(args)?;
    let seeds = seeds::read(&args.seeds)?;
    let clock = Clock::start();
    let mut store = Store::open(&args.data, Options::default()).map_err(CrawlError::from)?;
    let new = add_seeds(&mut store, &seeds, clock.now()).map_err(CrawlError::from)?;
    let lines = Lines::new(args.quiet, args.changes.as_deref() == Some(Path::new("-")));
    let known = store.read().status().map_err(CrawlError::from)?;
    let pages: u64 = known.pages.iter().map(|(_, count)| count).sum();
    if pages == 0 {
        return Err(Failure::input(format!(
            "{}: there is nothing to crawl yet; expected addresses, or files of addresses",
            args.data.display()
        )));
    }
    let feed = args.changes.as_deref().map(|to| Feed::open(to, &args.data)).transpose()?;
    lines.begin(pages, new, &args.data);
    let (told, hears) = mpsc::unbounded_channel();
    let crawl = Crawl::new(store, &args.data, settings, clock, Some(told))?;
    let watcher = std::thread::spawn(move || lines.watch(hears, feed));
    let summary = crawl_until_stopped(crawl)?;
    let (lines, told) = watcher.join().map_err(|_| Failure::OnTheWay("what was told is lost".to_owned()))?;
    told?;
    lines.end(&summary);
    Ok(())
}

fn crawl_until_stopped(crawl: Crawl) -> Result<Summary, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let (stop, stopped) = watch::channel(false);
    let done = runtime.block_on(async move {
        tokio::spawn(async move {
            asked_to_stop().await;
            // If the crawl is over there is nobody to stop.
            let _ = stop.send(true);
            // Asked twice: at once. What was committed is safe.
            asked_to_stop().await;
            std::process::exit(130);
        });
        crawl.run(stopped).await
    });
    Ok(done?)
}

/// Waits for Ctrl-C, or for who ends processes.
async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Then there is Ctrl-C.
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn settings(args: &CrawlArgs) -> Result<Settings, Failure> {
    let agent = agent(args)?;
    let about = args.contact.as_ref().map(|contact| format!(" (+{contact})")).unwrap_or_default();
    let client = client::Settings {
        user_agent: format!("{agent}/{}{about}", env!("CARGO_PKG_VERSION")),
        allow_private: args.allow_private,
        extra_authorities: args.authorities.clone(),
        ..client::Settings::default()
    };
    let follow = args.follow.as_deref().map(|which| match which {
        "same-host" => Follow::SameHost,
        "same-site" => Follow::SameSite,
        pattern => Follow::Pattern(pattern.to_owned()),
    });
    if let Some(Follow::Pattern(pattern)) = &follow
        && !pattern.contains("://")
    {
        return Err(Failure::input(format!(
            "--follow {pattern}: this fits no address; expected same-host, same-site, or a pattern like https://example.org/news/*"
        )));
    }
    if !(args.patience.is_finite() && args.patience >= 0.0) {
        return Err(Failure::input("--patience: expected a number that is not negative"));
    }
    let until = match (args.duration, args.once) {
        (Some(span), _) => Until::After(span),
        (None, true) => Until::Once,
        (None, false) => Until::Stopped,
    };
    Ok(Settings {
        rate: 1.0 / args.rate.as_secs(),
        gap: args.gap,
        patience: args.patience,
        agent,
        client,
        follow,
        most_pages: args.max_pages,
        until,
        ..Settings::default()
    })
}

/// The crawler's name. Nobody goes out into the web without one, and without somebody who answers for it.
fn agent(args: &CrawlArgs) -> Result<String, Failure> {
    match (&args.agent, &args.contact) {
        (Some(agent), Some(_)) => {
            let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if agent.is_empty() || !agent.chars().all(is_token) {
                return Err(Failure::input(format!(
                    "--agent {agent}: cannot be found in a robots.txt; expected letters, digits, - and _"
                )));
            }
            Ok(agent.clone())
        }
        _ if args.allow_private => Ok(args.agent.clone().unwrap_or_else(|| "Refrain".to_owned())),
        _ => Err(Failure::input(
            "--agent and --contact are missing: sites must be able to tell who visits them, and whom to ask; \
             expected a name and an address (--allow-private is for your own)",
        )),
    }
}

impl From<CrawlError> for Failure {
    fn from(why: CrawlError) -> Self {
        Self::OnTheWay(why.to_string())
    }
}
