//! What is counted of requests and of pushes, for those who monitor.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::get;
use http::header::CONTENT_TYPE;
use refrain_engine::{Heard, Kind};

use super::guard::{self, Answered, Guard};
use super::metrics::{self, Metrics};
use super::push;

/// Counts what is pushed.
pub(crate) struct Pushes(pub(crate) Arc<Metrics>);

impl push::Count for Pushes {
    fn judged(&self, door: &'static str, verdict: push::Verdict) {
        use push::Verdict::{Pending, Replayed, Taken};
        tracing::debug!(door, verdict = verdict.as_str(), "pushed");
        if !matches!(verdict, Taken | Pending | Replayed)
            && let Some(kind) = Kind::from_name(door)
        {
            self.0.pushed(kind, metrics::Verdict::Refused, 1);
        }
    }

    fn heard(&self, kind: Kind, heard: &[Heard]) {
        for fate in [Heard::News, Heard::Known, Heard::Added, Heard::Stranger] {
            let pages = heard.iter().filter(|one| **one == fate).count();
            if pages > 0 {
                self.0.pushed(kind, metrics::Verdict::Heard(fate), pages as u64);
            }
        }
    }
}

/// Counts a request.
pub(crate) fn request(metrics: &Metrics, answered: &Answered<'_>) {
    let Answered { route, method, status, seconds } = *answered;
    tracing::debug!(%method, route, status = status.as_u16(), seconds, "answered");
    metrics.served(Some(route).filter(|route| !route.is_empty()), method.as_str(), status.as_u16(), seconds);
}

/// `/metrics`, for whoever monitors.
pub(crate) fn door(metrics: Arc<Metrics>, guard: &Arc<Guard>) -> Router {
    Router::new()
        .route("/metrics", get(text))
        .route_layer(from_fn_with_state(Arc::clone(guard), guard::admit_near))
        .with_state(metrics)
}

async fn text(State(metrics): State<Arc<Metrics>>) -> impl IntoResponse {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics.text())
}
