//! What others push: hubs that distribute feeds, sites that speak by IndexNow, programs with a token, pings.
//!
//! Each is a kind of signal whose worth is learned. What cannot be verified, came before, is too large or too slow changes nothing. Everything that
//! is remembered here is bounded; how often one peer may knock is for the server to say.

mod ears;
#[cfg(test)]
mod fake;
mod indexnow;
mod intake;
mod ping;
mod problem;
mod recent;
mod verdict;
mod webhook;
mod websub;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use refrain_engine::Handle;
use refrain_fetch::client::{self, Client};
use refrain_fetch::url::PageUrl;
use tokio::sync::watch;

use crate::failure::Failure;
use ears::{Crawled, Ears};
use problem::Problem;
pub(crate) use verdict::Verdict;
pub(crate) use webhook::{Speaker, Tokens};

/// Hears what became of each push: by whom (`websub`, `indexnow`, `ping`, the name of a source, or `webhook` if nobody knows), and what.
pub(crate) type Count = dyn Fn(&'static str, Verdict) + Send + Sync;

/// What the doors are told.
#[derive(Clone)]
pub(crate) struct Settings {
    /// Where hubs can reach us; without it nothing is subscribed to.
    pub(crate) public_url: Option<PageUrl>,
    /// So many subscriptions at a time.
    pub(crate) most_subscriptions: usize,
    /// Whether pages that a site names by IndexNow are added.
    pub(crate) indexnow_adds: bool,
    /// Who knows the tokens of sources.
    pub(crate) tokens: Arc<dyn Tokens>,
    /// Who counts.
    pub(crate) count: Arc<Count>,
}

/// So many subscriptions, if nothing else is said.
pub(crate) const USUAL_SUBSCRIPTIONS: usize = 10_000;

/// The doors through which others push.
pub(crate) struct Push {
    ears: Arc<dyn Ears>,
    settings: Settings,
    websub: websub::Desk,
    indexnow: indexnow::Desk,
    webhook: webhook::Desk,
    ping: ping::Desk,
}

/// What came of a push: what is counted, and what is answered.
type Answer = Result<(Verdict, Response), Problem>;

impl Push {
    /// Doors to a crawl that runs in this data directory. `client` says how hubs are talked to: as the crawl talks to pages.
    pub(crate) fn new(
        settings: Settings,
        handle: Handle,
        data: &Path,
        client: client::Settings,
    ) -> Result<Self, Failure> {
        let client = Client::new(client).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        Ok(Self::with(settings, Arc::new(Crawled::new(handle, data, client)?)))
    }

    fn with(settings: Settings, ears: Arc<dyn Ears>) -> Self {
        Self {
            ears,
            settings,
            websub: websub::Desk::new(),
            indexnow: indexnow::Desk::new(),
            webhook: webhook::Desk::new(),
            ping: ping::Desk::new(),
        }
    }

    /// The doors.
    pub(crate) fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route("/push/websub/{id}", get(websub::verify).post(websub::distribute))
            .route("/push/webhook", post(webhook::post))
            .route("/indexnow", get(indexnow::one).post(indexnow::many))
            .route("/ping", get(ping::get).post(ping::post))
            .method_not_allowed_fallback(async || {
                Problem::new(
                    StatusCode::METHOD_NOT_ALLOWED,
                    "this door has no such method; expected GET or POST",
                )
            })
            .with_state(self)
    }

    /// What happens by itself, until `stop` becomes true: subscriptions are asked for and renewed.
    pub(crate) async fn run(self: Arc<Self>, stop: watch::Receiver<bool>) {
        self.subscribe(stop).await;
    }

    /// Counts, and answers.
    fn answer(&self, door: &'static str, answer: Answer) -> Response {
        let (verdict, response) = answer
            .unwrap_or_else(|problem| (Verdict::of_status(problem.status.as_u16()), problem.into_response()));
        (self.settings.count)(door, verdict);
        response
    }
}

#[cfg(test)]
mod tests;
