//! The dashboard: pages for people, made here, complete without JavaScript; a small module makes them live.
//!
//! - `door`: who comes in (`sessions`), `desk`: who looks, and what every page does for them; `frame`: what all pages have in common, `words` and `chart`: how things are shown
//! - a file per page: `overview`, `pages` (and `ranking`: all of them in memory, in order), `page` (and `copies`), `hosts`, `signals`, `hubs`, `queues`, `plan`
//! - `forms`: what people decide; `live`: what they see change; `history`: how it went lately
//! - `beside`: the same for a crawl that serves nobody else

mod assets;
pub(crate) mod beside;
mod chart;
mod copies;
mod desk;
mod door;
mod forms;
mod frame;
mod history;
mod hosts;
mod hubs;
mod live;
mod overview;
mod page;
mod pages;
mod plan;
mod queues;
mod ranking;
mod sessions;
mod signals;
mod words;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use refrain_core::time::Span;
use refrain_engine::queues::Queues;
use refrain_store::Reader;
use tokio::sync::Semaphore;

use super::allowance::Allowance;
use super::api::App;
use super::guard::Guard;
use history::Recent;
use plan::Plans;
use ranking::Keeper;
use sessions::Sessions;

pub(crate) use frame::{for_people, missing};

/// So many people watch at the same time.
const WATCHERS: usize = 64;
/// A wrong token costs an address this long.
const WRONG: Span = Span::from_whole_secs(1);

/// What all pages of the dashboard have in common.
pub(crate) struct Board {
    app: App,
    guard: Arc<Guard>,
    sessions: Sessions,
    /// How often addresses may be wrong about their token.
    wrong: Allowance,
    recent: Arc<Recent>,
    ranking: Arc<Keeper>,
    plans: Arc<Plans>,
    watchers: Arc<Semaphore>,
    /// Whether programs have doors beside it.
    has_api: bool,
    /// Queues of crawlers that fetch by themselves, if their door is open.
    queues: Option<Queues>,
    /// Whether it is, or was: whether people want to know of them.
    has_queues: bool,
}

type Shared = Arc<Board>;

impl Board {
    /// `decisions` is where decisions are logged, if they are. It needs a runtime: some of it goes on by itself.
    pub(crate) fn new(
        app: App,
        guard: Arc<Guard>,
        data: &Path,
        decisions: Option<PathBuf>,
        has_api: bool,
        queues: Option<Queues>,
    ) -> Arc<Self> {
        let had_queues = || app.readers.look(Reader::has_crawls).unwrap_or(false);
        let has_queues = queues.is_some() || had_queues();
        let board = Arc::new(Self {
            sessions: Sessions::default(),
            wrong: Allowance::new(WRONG),
            recent: Arc::new(Recent::default()),
            ranking: Arc::new(Keeper::new(data)),
            plans: Arc::new(Plans::new(decisions)),
            watchers: Arc::new(Semaphore::new(WATCHERS)),
            app,
            guard,
            has_api,
            queues,
            has_queues,
        });
        tokio::spawn(Arc::clone(&board.recent).listen(board.app.pulse.clone()));
        tokio::spawn(Arc::clone(&board.ranking).forget_in_time(board.app.clock, board.app.closing.clone()));
        board
    }

    /// Whether the crawl has ended: what is shown is how it was then.
    fn is_over(&self) -> bool {
        self.app.pulse.has_changed().is_err()
    }

    /// For somebody who comes only when the crawl is over: what budgets buy is computed while it can be.
    pub(crate) async fn plan_ahead(self: Arc<Self>) {
        let mut pulses = self.app.pulse.clone();
        while pulses.changed().await.is_ok() {
            self.plans.known(&self.app).await;
        }
    }
}

/// All pages, and what belongs to them.
pub(crate) fn router(board: &Arc<Board>) -> Router {
    let inside = Router::new()
        .route("/", get(overview::page))
        .route("/pages", get(pages::page))
        .route("/pages/{id}", get(page::page).post(forms::page))
        .route("/pages/{id}/changes", get(copies::changes))
        .route("/pages/{id}/copy/{version}", get(copies::page))
        .route("/pages/{id}/copy/{version}/body", get(copies::body))
        .route("/pages/{id}/copy/{version}/download", get(copies::download))
        .route("/hosts", get(hosts::list))
        .route("/hosts/{name}", get(hosts::one).post(forms::host))
        .route("/signals", get(signals::page))
        .route("/hubs", get(hubs::page))
        .route("/queues", get(queues::page))
        .route("/plan", get(plan::page).post(forms::plan))
        .route("/live", get(live::stream))
        .route_layer(from_fn_with_state(Arc::clone(board), door::admit));
    let outside = Router::new()
        .route("/sign-in", get(door::ask).post(door::sign_in))
        .route("/sign-out", post(door::sign_out))
        .route("/assets/{hash}/{name}", get(assets::send));
    inside.merge(outside).route_layer(from_fn(frame::dress)).with_state(Arc::clone(board))
}
