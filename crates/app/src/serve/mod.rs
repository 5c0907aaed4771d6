//! `refrain serve`: a crawl, and doors for everybody else.
//!
//! - `server`: connections; `guard`: who comes in; `named`: the host that a request is addressed to; `tokens`: who may do what; `allowance`: how much
//! - `api`: the doors; `problem`: what they say when something is wrong; `readers`: the store, for those who ask
//! - `push`: what others announce by themselves; `dashboard`: all of it, for people
//! - `urlfrontier`: a door of its own, over gRPC, for crawlers that exist
//! - `log`, `notify`, `metrics`, `counted`: what operators and their systems hear

mod allowance;
mod api;
mod caught;
mod counted;
pub(crate) mod dashboard;
mod guard;
mod log;
mod metrics;
mod named;
mod notify;
mod problem;
mod push;
mod readers;
mod server;
pub(crate) mod tokens;
pub(crate) mod urlfrontier;
mod wanted;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::IntoResponse;
use refrain_engine::{Clock, Crawl, CrawlError, Handle, Pulse, add_seeds, channel};
use refrain_store::{Batch, Seq};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::cli::ServeArgs;
use crate::crawl::config::Config;
use crate::crawl::feed::Feed;
use crate::crawl::watch::{StopSignals, crawl_and_deliver};
use crate::crawl::webhook::{Delivered, Delivery};
use crate::crawl::{outlive_limits_of_files, seeds, wanted as crawl_wanted};
use crate::data::open_to_write;
use crate::decisions;
use crate::failure::{self, Failure};
use crate::output::to_stdout;
use api::{App, Reads, Shared};
use counted::Pushes;
use guard::Guard;
use log::Ears;
use metrics::Metrics;
use problem::Problem;
use push::Push;
use readers::Readers;
use server::Protocol;
use server::tls::Certificate;
use tokens::Book;
use wanted::Wanted;
pub(crate) use wanted::socket_address;

/// `refrain serve`
pub(crate) fn run(args: &ServeArgs) -> Result<(), Failure> {
    let config = Config::find(args.crawl.config.as_deref())?;
    if args.crawl.dashboard.is_some() {
        return Err(Failure::input(
            "--dashboard: `refrain serve` has its dashboard where it listens; expected --listen",
        ));
    }
    let wanted = Wanted::new(args, &config)?;
    let has_budget = args.crawl.rate.is_some() || config.rate.is_some();
    // Once more, for what counts as a change on which site.
    let again = Config::find(args.crawl.config.as_deref())?;
    let mut crawls = crawl_wanted::Wanted::new(&args.crawl, config, wanted.fetches)?;
    wanted.apply(&mut crawls.settings);
    let seeds = seeds::read(&crawls.seeds)?;
    let tls = match &wanted.tls {
        Some((cert, key)) => Some(Certificate::read(cert, key)?),
        None => None,
    };
    outlive_limits_of_files()?;
    let clock = Clock::start();
    let book = Book::open(&crawls.data, clock.now())?;
    for (option, listen) in [("--listen", Some(wanted.listen)), ("--urlfrontier", wanted.urlfrontier)] {
        if let Some(listen) = listen.filter(|listen| !listen.ip().is_loopback() && book.is_empty(clock.now()))
        {
            return Err(Failure::input(format!(
                "{option} {listen}: others could come in, and there is no token; expected `refrain token create` first, or a loopback address"
            )));
        }
    }
    let levels = log::start(args.log_format, &args.log_level)?;
    if !has_budget {
        let rate = crawls.settings.rate;
        tracing::info!("other fetchers are told to make {rate} fetches a second; --rate changes that");
    }
    let mut store = open_to_write(&crawls.data)?;
    add_seeds(&mut store, &seeds, clock.now())?;
    let last = store.read().last_seq()?;
    let rules = Arc::new(crawl_wanted::SiteRules(crawls.settings.rules.clone()));
    let feed = crawls.changes.as_deref().map(|to| Feed::open(to, &crawls.data, &rules)).transpose()?;
    let (agent, robot) = (crawls.settings.client.user_agent.clone(), crawls.settings.agent.clone());
    let (told, hears) = channel();
    let client = crawls.settings.client.clone();
    let mut crawl = Crawl::new(store, &crawls.data, crawls.settings, clock, Some(told.clone()))?;
    let deliver =
        |hook| Delivery::new(hook, &crawls.data, &rules, &agent, clock, crawl.ledger(), told.clone());
    let deliveries = crawls.hooks.into_iter().map(deliver).collect::<Result<Vec<_>, _>>()?;
    let log = match &crawls.decisions {
        Some(log) => {
            let (to, log) = decisions::Log::open(log, &crawls.data, told.clone())?;
            crawl.tell_decisions(to);
            Some(log)
        }
        None => None,
    };
    drop(told);
    let frontier = match wanted.urlfrontier {
        Some(listen) => {
            let queues = crawl.queues()?;
            Some(urlfrontier::Opening { listen, queues, levels, counts: Arc::default() })
        }
        None => None,
    };
    let counts = frontier.as_ref().map(|frontier| Arc::clone(&frontier.counts));
    let metrics = Arc::new(Metrics::new(clock.now()).with_frontier(counts));
    let guard = wanted.guard(clock, book, &metrics);
    let pushes = push::Settings {
        public_url: wanted.public.clone(),
        most_subscriptions: wanted.subscriptions,
        indexnow_adds: wanted.indexnow_adds,
        tokens: Arc::clone(&guard) as Arc<dyn push::Tokens>,
        count: Arc::new(Pushes(Arc::clone(&metrics))),
    };
    let push = Arc::new(Push::new(pushes, crawl.handle(), &crawls.data, client)?);
    let (changes, changed) = watch::channel(last);
    let (pulse, pulses) = watch::channel(None);
    let ears = Ears { changes, pulse, feed, metrics: Arc::clone(&metrics), push: Arc::clone(&push) };
    let listening = std::thread::spawn(move || ears.listen(hears));
    let decisions = crawls.decisions.as_ref().map(|log| log.folder.clone());
    let config = again;
    let agent = robot;
    let opening = Opening {
        wanted,
        tls,
        guard,
        clock,
        changed,
        pulses,
        config,
        agent,
        metrics,
        push,
        decisions,
        frontier,
    };
    let delivered = live(crawl, deliveries, opening, &crawls.data)?;
    let logged = log.map_or(Ok(()), decisions::Log::close);
    let heard = listening.join().map_err(|_| Failure::OnTheWay("what was told is lost".to_owned()))?;
    if !delivered.is_empty() {
        // What was delivered after the crawl had closed the store.
        let delivered = delivered.into_iter().map(|delivered| (delivered.name, delivered.last)).collect();
        open_to_write(&crawls.data)?.commit(&Batch { delivered, ..Batch::default() })?;
    }
    logged.and(heard)
}

/// All that it takes to open the doors.
struct Opening {
    wanted: Wanted,
    tls: Option<Arc<Certificate>>,
    guard: Arc<Guard>,
    clock: Clock,
    changed: watch::Receiver<Seq>,
    pulses: watch::Receiver<Option<Arc<Pulse>>>,
    config: Config,
    agent: String,
    metrics: Arc<Metrics>,
    push: Arc<Push>,
    /// Where decisions are logged.
    decisions: Option<PathBuf>,
    /// The door for URLFrontier.
    frontier: Option<urlfrontier::Opening>,
}

/// Crawls and serves until somebody ends it: first the doors, then, when nobody needs it any more, the crawl.
fn live(
    crawl: Crawl,
    deliveries: Vec<Delivery>,
    mut opening: Opening,
    data: &Path,
) -> Result<Vec<Delivered>, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let mut signals = StopSignals::listen(&runtime)?;
    let done = runtime.block_on(async move {
        let (close, closing) = watch::channel(false);
        let (stop, stopped) = watch::channel(false);
        let (listen, handle) = (opening.wanted.listen, crawl.handle());
        let (listener, listen) = bind("--listen", listen).await?;
        let limits = opening.wanted.limits;
        let secure = |protocol| opening.tls.as_ref().map(|own| own.acceptor(protocol)).transpose();
        let (tls, frontier_tls) = (secure(Protocol::Http1)?, secure(Protocol::Http2)?);
        if let Some(certificate) = &opening.tls {
            tokio::spawn(Arc::clone(certificate).keep_fresh());
        }
        let subscribing = Arc::clone(&opening.push).run(closing.clone());
        let (frontier, guard) = (opening.frontier.take(), Arc::clone(&opening.guard));
        let queues = frontier.as_ref().map(|frontier| frontier.queues.clone());
        let router = doors(opening, handle, queues, data, closing.clone())?;
        announce(listen, tls.is_some())?;
        let frontier = match frontier {
            Some(frontier) => {
                let (listener, listen) = bind("--urlfrontier", frontier.listen).await?;
                let router =
                    urlfrontier::router(frontier, listen, Readers::new(data)?, &guard, closing.clone())
                        .await?;
                to_stdout(|out| writeln!(out, "urlfrontier on {listen}"))?;
                tracing::info!(%listen, "listening for URLFrontier");
                let closing = closing.clone();
                Some(server::serve(listener, frontier_tls, router, Protocol::Http2, limits, closing))
            }
            None => None,
        };
        let panicked = Arc::new(OnceLock::new());
        watch_over("the work for subscriptions", subscribing, &close, &panicked);
        let frontier =
            frontier.map(|serving| watch_over("the URLFrontier server", serving, &close, &panicked));
        let serving = server::serve(listener, tls, router, Protocol::Http1, limits, closing);
        let serving = watch_over("the HTTP server", serving, &close, &panicked);
        let by_hand = close.clone();
        tokio::spawn(async move {
            signals.next().await;
            by_hand.send_replace(true);
            // Asked twice: at once. What was committed is safe.
            signals.next().await;
            std::process::exit(failure::STOPPED_AT_ONCE);
        });
        tokio::spawn(async move {
            // It ends when it is asked to, or when the crawl has ended by itself.
            let _ = serving.await;
            if let Some(frontier) = frontier {
                let _ = frontier.await;
            }
            stop.send_replace(true);
        });
        tell_of_the_end(close.subscribe());
        notify::tell(notify::READY);
        let mut closed = stopped.clone();
        let (done, delivered) = crawl_and_deliver(crawl, stopped, deliveries).await;
        close.send_replace(true);
        // If the crawl ended by itself, whoever is being answered gets the end of it.
        let _ = closed.wait_for(|closed| *closed).await;
        let summary = done?;
        if let Some(what) = panicked.get() {
            return Err(CrawlError::Panicked((*what).to_owned()).into());
        }
        tracing::info!(
            looks = summary.looks,
            changed = summary.changed,
            failed = summary.failed,
            requests = summary.requests,
            "it is over"
        );
        Ok::<_, Failure>(delivered)
    })?;
    // Whoever still reads is not waited for.
    runtime.shutdown_background();
    Ok(done)
}

/// Runs a task on which everything depends: if it panics, all ends.
fn watch_over(
    what: &'static str,
    task: impl Future<Output = ()> + Send + 'static,
    close: &watch::Sender<bool>,
    panicked: &Arc<OnceLock<&'static str>>,
) -> JoinHandle<()> {
    let (close, panicked) = (close.clone(), Arc::clone(panicked));
    tokio::spawn(async move {
        if tokio::spawn(task).await.is_err_and(|why| why.is_panic()) {
            panicked.get_or_init(|| what);
            close.send_replace(true);
        }
    })
}

/// Listens there. Where that is, if any port would do.
async fn bind(option: &str, listen: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let failed = |why| Failure::system(format!("{option} {listen}: cannot listen there"), why);
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let listen = listener.local_addr().map_err(failed)?;
    Ok((listener, listen))
}

fn tell_of_the_end(mut closing: watch::Receiver<bool>) {
    tokio::spawn(async move {
        if closing.wait_for(|closing| *closing).await.is_ok() {
            notify::tell(notify::STOPPING);
            tracing::info!("it ends: no new connections, and the crawl after the last answer");
        }
    });
}

/// Says where it listens, on standard output.
fn announce(listen: SocketAddr, secure: bool) -> Result<(), Failure> {
    let scheme = if secure { "https" } else { "http" };
    tracing::info!(%listen, "listening");
    to_stdout(|out| writeln!(out, "Listening on {scheme}://{listen}"))
}

/// All doors, behind the guard.
fn doors(
    opening: Opening,
    handle: Handle,
    queues: Option<refrain_engine::queues::Queues>,
    data: &Path,
    closing: watch::Receiver<bool>,
) -> Result<Router, Failure> {
    let Opening { wanted, guard, clock, changed, pulses, config, agent, metrics, push, decisions, .. } =
        opening;
    let app: App = Arc::new(Shared {
        reads: Reads::counted_by(handle.clone()),
        readers: Readers::new(data)?,
        handle,
        clock,
        changes: changed,
        pulse: pulses,
        closing,
        count: Arc::new(Pushes(Arc::clone(&metrics))),
        streams: Arc::new(Semaphore::new(api::STREAMS)),
        config,
        agent,
        lease: wanted.lease,
        max_body: wanted.max_body,
    });
    let board = dashboard::Board::new(Arc::clone(&app), Arc::clone(&guard), data, decisions, true, queues);
    let all = api::router(&app, &guard)
        .merge(push.router())
        .merge(counted::door(metrics, &guard))
        .merge(dashboard::router(&board));
    Ok(behind(all, &guard))
}

/// What is common to all doors.
fn behind(doors: Router, guard: &Arc<Guard>) -> Router {
    doors
        .fallback(|uri: http::Uri, headers: http::HeaderMap| async move {
            let what = "there is nothing here; /openapi.json says what there is";
            dashboard::missing(uri.path(), &headers)
                .unwrap_or_else(|| Problem::missing("no-such-door", what).into_response())
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(
                http::StatusCode::METHOD_NOT_ALLOWED,
                "no-such-method",
                "this cannot be done here; /openapi.json says what can",
            )
        })
        .layer(from_fn_with_state(Arc::clone(guard), guard::watch))
        .layer(from_fn(dashboard::for_people))
}
