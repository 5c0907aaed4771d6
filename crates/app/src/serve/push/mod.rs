//! What others push: hubs that distribute feeds, sites that speak by IndexNow, programs with a token, pings.
//!
//! Each is a kind of signal whose worth is learned. What cannot be verified, came before, is too large or too slow changes nothing. Everything that
//! is remembered here is bounded; how often one peer may knock is for the server to say.

mod buckets;
mod ears;
#[cfg(test)]
mod fake;
mod indexnow;
mod intake;
mod ping;
mod problem;
mod verdict;
mod webhook;
mod websub;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use refrain_engine::{Handle, Heard, Kind, Once, Over, Said};
use refrain_fetch::client::{self, Client};
use refrain_fetch::url::PageUrl;
use tokio::sync::watch;

use crate::failure::Failure;
use ears::{Crawled, Ears};
use problem::Problem;
pub(crate) use verdict::Verdict;
pub(crate) use webhook::{Speaker, Tokens};

/// Who counts what is pushed.
pub(crate) trait Count: Send + Sync + 'static {
    /// What became of a push as a whole. By whom: `websub`, `indexnow`, `ping`, the name of a source, or `webhook` if nobody knows.
    fn judged(&self, door: &'static str, verdict: Verdict);
    /// What became of each page of one that was taken. Feeds that hubs distribute are told of by the engine.
    fn heard(&self, kind: Kind, heard: &[Heard]);
}

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
    pub(crate) count: Arc<dyn Count>,
}

/// So many subscriptions, if nothing else is said.
pub(crate) const USUAL_SUBSCRIPTIONS: usize = 10_000;

/// A hub has so long to answer.
const ANSWER: Duration = Duration::from_secs(30);

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
        // What a hub has to say is short.
        let client =
            client::Settings { max_body: 64 * 1024, head_timeout: ANSWER, whole_timeout: ANSWER, ..client };
        let client = Client::new(client).map_err(|why| Failure::OnTheWay(why.to_string()))?;
        Ok(Self::with(settings, Arc::new(Crawled::new(handle, data, client)?)))
    }

    fn with(settings: Settings, ears: Arc<dyn Ears>) -> Self {
        let push = Self {
            ears,
            settings,
            websub: websub::Desk::new(),
            indexnow: indexnow::Desk::new(),
            webhook: webhook::Desk::new(),
            ping: ping::Desk::new(),
        };
        // Before any door opens: a hub may be on its way, or a replay.
        push.restore();
        push.recall_posts();
        push
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
        self.settings.count.judged(door, verdict);
        response
    }

    /// Hands on what is said, and counts what became of it.
    async fn signal(&self, kind: Kind, said: Vec<Said>) -> Result<Vec<Heard>, Over> {
        self.signal_once(kind, said, None).await
    }

    async fn signal_once(&self, kind: Kind, said: Vec<Said>, once: Option<Once>) -> Result<Vec<Heard>, Over> {
        let heard = self.ears.signal(kind, said, once).await?;
        self.settings.count.heard(kind, &heard);
        Ok(heard)
    }
}

#[cfg(test)]
mod tests;
