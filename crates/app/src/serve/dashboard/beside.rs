//! The dashboard beside a crawl that serves nobody else: on threads of its own, for as long as the crawl goes on, or somebody wants to look.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use refrain_core::time::Span;
use refrain_engine::{Clock, Handle, Missed, Pulse, Told, ToldReceiver};
use refrain_store::Seq;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::{Board, router};
use crate::crawl::config::Config;
use crate::failure::Failure;
use crate::serve::allowance::Allowance;
use crate::serve::api::{self, App, Reads};
use crate::serve::counted::Pushes;
use crate::serve::guard::Guard;
use crate::serve::metrics::Metrics;
use crate::serve::readers::Readers;
use crate::serve::server::{self, Limits, Protocol};
use crate::serve::tokens::Book;
use crate::serve::{behind, wanted};

/// So many connections there may be: a few people look.
const CONNECTIONS: usize = 256;
/// One request of an address in this time.
const EACH: Span = Span::from_millis(1);

/// What the dashboard shows.
pub(crate) struct Shown<'a> {
    pub(crate) handle: Handle,
    pub(crate) clock: Clock,
    pub(crate) data: &'a Path,
    /// What counts as a change on which site.
    pub(crate) config: Config,
    /// The crawler's name in robots.txt.
    pub(crate) agent: String,
    /// Where decisions are logged, if they are.
    pub(crate) decisions: Option<PathBuf>,
    /// Whether people may come when the crawl is over.
    pub(crate) stays: bool,
}

/// A dashboard that can be looked at.
pub(crate) struct Beside {
    address: SocketAddr,
    close: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// Opens a dashboard, and passes on what the crawl tells.
pub(crate) fn open(
    listen: &str,
    shown: Shown<'_>,
    hears: ToldReceiver,
) -> Result<(Beside, ToldReceiver), Failure> {
    let address = wanted::address("--dashboard", listen)?;
    let book = Book::open(shown.data, shown.clock.now())?;
    if !address.ip().is_loopback() && book.is_empty(shown.clock.now()) {
        return Err(Failure::input(format!(
            "--dashboard={address}: others could come in, and there is no token; expected `refrain token create` first, or a loopback address"
        )));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("dashboard")
        .enable_all()
        .build()
        .map_err(|why| Failure::system("cannot start threads", why))?;
    let listener = runtime
        .block_on(TcpListener::bind(address))
        .map_err(|why| Failure::system(format!("--dashboard={address}: cannot listen there"), why))?;
    let address = listener.local_addr().map_err(|why| Failure::system("cannot listen", why))?;
    let (close, closing) = watch::channel(false);
    let readers = Readers::new(shown.data)?;
    let last = readers
        .look(refrain_store::Reader::last_seq)
        .map_err(|_| Failure::OnTheWay("the store cannot be read".to_owned()))?;
    let (hears, changes, pulse) = overhear(hears, last)?;
    let metrics = Arc::new(Metrics::new(shown.clock.now()));
    let guard = Guard::new(shown.clock, book, Allowance::new(EACH), address, None, Arc::new(|_| {}));
    let reads = {
        let _inside = runtime.enter();
        Reads::counted_by(shown.handle.clone())
    };
    let app: App = Arc::new(api::Shared {
        reads,
        readers,
        handle: shown.handle,
        clock: shown.clock,
        changes,
        pulse,
        closing: closing.clone(),
        count: Arc::new(Pushes(metrics)),
        streams: Arc::new(Semaphore::new(api::STREAMS)),
        config: shown.config,
        agent: shown.agent,
        lease: wanted::LEASE,
        max_body: super::door::LONGEST_FORM,
    });
    let (guard, data, decisions, stays) =
        (Arc::new(guard), shown.data.to_owned(), shown.decisions, shown.stays);
    let serve = move || {
        runtime.block_on(async move {
            let board = Board::new(app, Arc::clone(&guard), &data, decisions, false, None);
            if stays {
                tokio::spawn(Arc::clone(&board).plan_ahead());
            }
            let limits = Limits { connections: CONNECTIONS, per_address: CONNECTIONS };
            server::serve(listener, None, behind(router(&board), &guard), Protocol::Http1, limits, closing)
                .await;
        });
        runtime.shutdown_background();
    };
    let thread = std::thread::Builder::new()
        .name("dashboard".to_owned())
        .spawn(serve)
        .map_err(|why| Failure::system("cannot start a thread", why))?;
    Ok((Beside { address, close, thread: Some(thread) }, hears))
}

impl Beside {
    /// Where it is, for browsers.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.close.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // If it panicked, that was said.
            let _ = thread.join();
        }
    }
}

type Heard = (ToldReceiver, watch::Receiver<Seq>, watch::Receiver<Option<Arc<Pulse>>>);

/// Everything is passed on; the last change and the last pulse are remembered.
fn overhear(mut hears: ToldReceiver, last: Seq) -> Result<Heard, Failure> {
    let (pass_on, passed_on) = refrain_engine::channel();
    let (change, changes) = watch::channel(last);
    let (beat, pulses) = watch::channel(None);
    let listen = move || {
        while let Some(told) = hears.blocking_recv() {
            match &told {
                Told::Changes(seq) | Told::Missed(Missed { change: Some(seq), .. }) => {
                    change.send_replace(*seq);
                }
                Told::Pulse(pulse) => {
                    beat.send_replace(Some(Arc::new((**pulse).clone())));
                }
                _ => {}
            }
            // What finds no room there is counted there.
            pass_on.send(told);
        }
    };
    std::thread::Builder::new()
        .name("overhear".to_owned())
        .spawn(listen)
        .map_err(|why| Failure::system("cannot start a thread", why))?;
    Ok((passed_on, changes, pulses))
}
