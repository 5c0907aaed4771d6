//! A crawl with somebody who watches it, and may stop it.

use refrain_engine::{Crawl, CrawlError, Summary, ToldReceiver};
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

use super::feed::Feed;
use super::lines::Lines;
use super::view::{self, Extras};
use super::webhook::{Delivered, Delivery};
use crate::failure::{self, Failure};

/// What a person sees.
pub(crate) enum Face {
    /// A line for each visit.
    Lines(Lines),
    /// A screen, and lines when it is over.
    View {
        /// What is said in the end.
        lines: Lines,
        /// What is shown beside what every crawl has.
        extras: Option<Extras>,
        /// Where it can be watched in a browser.
        board: Option<String>,
    },
}

/// Who watches.
pub(crate) struct Watch {
    pub(crate) face: Face,
    pub(crate) hears: ToldReceiver,
    pub(crate) feed: Option<Feed>,
    pub(crate) deliveries: Vec<Delivery>,
}

/// Until all is over. What is said in the end, and what went wrong.
fn watch_face(
    face: Face,
    hears: ToldReceiver,
    feed: Option<Feed>,
    stop: &watch::Sender<bool>,
) -> (Lines, Result<(), Failure>) {
    match face {
        Face::Lines(lines) => {
            let result = lines.watch(hears, feed);
            (lines, result)
        }
        Face::View { lines, extras, board } => (lines, view::watch(hears, feed, stop, extras, board)),
    }
}

/// Crawls until it is over, or somebody stops it.
pub(crate) fn run_watched(crawl: Crawl, watch: Watch) -> Result<(Summary, Vec<Delivered>), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let (stop, stopped) = watch::channel(false);
    let by_hand = stop.clone();
    let Watch { face, hears, feed, deliveries } = watch;
    let mut signals = StopSignals::listen(&runtime)?;
    let watching = std::thread::spawn(move || watch_face(face, hears, feed, &by_hand));
    let (done, delivered) = runtime.block_on(async move {
        tokio::spawn(async move {
            signals.next().await;
            stop.send_replace(true);
            // Asked twice: at once. What was committed is safe.
            signals.next().await;
            std::process::exit(failure::STOPPED_AT_ONCE);
        });
        crawl_and_deliver(crawl, stopped, deliveries).await
    });
    let watched = watching.join().map_err(|_| Failure::OnTheWay("what was told is lost".to_owned()));
    // Why the crawl ended goes before what became of the view.
    let summary = done?;
    let (lines, result) = watched?;
    result?;
    lines.end(&summary);
    Ok((summary, delivered))
}

/// Crawls until it is over or `stopped` becomes true, and delivers what changes. What came of it, and how far receivers have come.
pub(crate) async fn crawl_and_deliver(
    crawl: Crawl,
    stopped: watch::Receiver<bool>,
    deliveries: Vec<Delivery>,
) -> (Result<Summary, CrawlError>, Vec<Delivered>) {
    let (over, is_over) = watch::channel(false);
    let deliveries: Vec<_> =
        deliveries.into_iter().map(|delivery| tokio::spawn(delivery.run(is_over.clone()))).collect();
    let mut done = Box::pin(crawl.run(stopped)).await;
    over.send_replace(true);
    let mut delivered = Vec::new();
    for delivery in deliveries {
        match delivery.await {
            Ok(last) => delivered.push(last),
            // The next crawl delivers again what it had.
            Err(_) => done = done.and(Err(CrawlError::Panicked("a webhook".to_owned()))),
        }
    }
    (done, delivered)
}

/// SIGINT (Ctrl-C) and SIGTERM, by which a process is asked to stop. From the moment it listens none is missed, and none ends the process by itself.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// Listens: before anything is said that invites to send one.
    pub(crate) fn listen(runtime: &Runtime) -> Result<Self, Failure> {
        let _inside = runtime.enter();
        let listen = |kind| signal(kind).map_err(|why| Failure::system("cannot listen for signals", why));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
