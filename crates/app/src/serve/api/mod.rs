//! The doors: an HTTP API over a crawl that runs, described by itself in `/openapi.json`.
//!
//! One file per resource. What reads a few rows does so on the spot; what changes something asks the crawl (`Handle`), which answers once it is on
//! the disk.

pub(crate) mod body;
mod budget;
mod changes;
mod crawls;
mod cursor;
mod describe;
mod fetches;
mod forecast;
mod health;
mod hosts;
pub(crate) mod input;
mod key;
pub(crate) mod pages;
mod reads;
mod requests;
mod signals;
mod status;
pub(crate) mod stream;

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use axum::middleware::from_fn_with_state;
use refrain_core::time::Span;
use refrain_engine::{Clock, Handle, Pulse};
use refrain_store::Seq;
use tokio::sync::{Semaphore, watch};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::guard::{self, Guard};
use super::readers::Readers;
use super::tokens::Scope;
use crate::crawl::config::Config;
pub(crate) use crate::data::shapes;
pub(crate) use reads::Reads;

/// What all doors have in common.
pub(crate) struct Shared {
    pub(crate) handle: Handle,
    pub(crate) readers: Readers,
    pub(crate) clock: Clock,
    /// The last change that is on the disk.
    pub(crate) changes: watch::Receiver<Seq>,
    /// How the crawl was doing a second ago.
    pub(crate) pulse: watch::Receiver<Option<Arc<Pulse>>>,
    /// Becomes true when all is to end.
    pub(crate) closing: watch::Receiver<bool>,
    /// Reads that wait to be counted.
    pub(crate) reads: Reads,
    /// What is told of every signal.
    pub(crate) count: Arc<dyn super::push::Count>,
    /// How many streams of changes there may still be.
    pub(crate) streams: Arc<Semaphore>,
    /// What counts as a change on which site.
    pub(crate) config: Config,
    /// The crawler's name in robots.txt.
    pub(crate) agent: String,
    /// How long fetchers have if they do not say.
    pub(crate) lease: Span,
    /// How long bodies may be.
    pub(crate) max_body: usize,
}

/// The same, for everybody.
pub(crate) type App = Arc<Shared>;

/// Streams of changes at the same time.
pub(crate) const STREAMS: usize = 512;

impl Shared {
    /// Waits until all is to end.
    pub(crate) async fn closed(&self) {
        // Who would tell is gone: then it ends, too.
        let _ = self.closing.clone().wait_for(|closing| *closing).await;
    }
}

impl FromRef<App> for Readers {
    fn from_ref(app: &App) -> Self {
        app.readers.clone()
    }
}

/// All doors of the API, and what describes them.
pub(crate) fn router(app: &App, guard: &Arc<Guard>) -> Router {
    let guarded = |router: OpenApiRouter<App>, scope: Scope| {
        let (router, description) = router.split_for_parts();
        let router = router.route_layer(from_fn_with_state((Arc::clone(guard), scope), guard::admit));
        (router, describe::guarded(description, scope))
    };
    let (open, mut description) = open().split_for_parts();
    let mut all = open;
    for (doors, scope) in [(read(), Scope::Read), (write(), Scope::Write), (signal(), Scope::Signal)] {
        let (router, described) = guarded(doors, scope);
        all = all.merge(router);
        description.merge(described);
    }
    let description = describe::whole(description);
    all.merge(describe::door(&description)).with_state(Arc::clone(app))
}

/// Doors for everybody.
fn open() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(describe::beginning())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
}

fn read() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(pages::list::list))
        .routes(routes!(pages::one::by_number))
        .routes(routes!(pages::one::by_address))
        .routes(routes!(pages::history::history))
        .routes(routes!(pages::explanation::explanation))
        .routes(routes!(pages::versions::versions))
        .routes(routes!(pages::copy::version))
        .routes(routes!(pages::copy::copy))
        .routes(routes!(pages::diff::diff))
        .routes(routes!(hosts::list))
        .routes(routes!(hosts::one))
        .routes(routes!(crawls::list))
        .routes(routes!(crawls::urls))
        .routes(routes!(budget::get))
        .routes(routes!(forecast::forecast))
        .routes(routes!(requests::read))
        .routes(routes!(changes::changes))
        .routes(routes!(stream::stream))
        .routes(routes!(status::status))
}

fn write() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(pages::add::add))
        .routes(routes!(pages::edit::edit))
        .routes(routes!(pages::edit::edit_many))
        .routes(routes!(pages::edit::remove))
        .routes(routes!(pages::edit::hurry))
        .routes(routes!(hosts::edit))
        .routes(routes!(budget::put))
        .routes(routes!(requests::requests))
        .routes(routes!(fetches::next::next))
        .routes(routes!(fetches::results::results))
}

fn signal() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(signals::signals))
}

#[cfg(test)]
mod tests;
