//! Whether it lives, and whether it works.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use refrain_core::time::Span;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::input::NoQuery;
use crate::serve::problem::{Answer, Details, Problem};

/// The crawl tells how it is doing once a second; who is silent for so long has stopped.
const SILENT: Span = Span::from_whole_secs(30);

/// How it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct Well {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the process lives
#[utoipa::path(get, path = "/health", tag = "health", responses((status = 200, body = Well)))]
pub(crate) async fn health(_: NoQuery) -> Json<Well> {
    Json(Well { status: "ok" })
}

/// Whether it works: the crawl runs, and is not about to end
#[utoipa::path(get, path = "/ready", tag = "health",
    responses((status = 200, body = Well), (status = 503, description = "Not yet, or no longer.",
               body = Details, content_type = "application/problem+json")))]
pub(crate) async fn ready(State(app): State<App>, _: NoQuery) -> Answer<Json<Well>> {
    let not = |why: &str| Problem::later(StatusCode::SERVICE_UNAVAILABLE, "not-ready", why, 1);
    if *app.closing.borrow() {
        return Err(not("it is about to end"));
    }
    let last = app.pulse.borrow().as_ref().map(|pulse| pulse.time);
    match last {
        None => Err(not("the crawl has not begun yet")),
        Some(time) if app.clock.now().since(time) > SILENT => {
            Err(not("the crawl has not been heard of for half a minute"))
        }
        Some(_) => Ok(Json(Well { status: "ok" })),
    }
}
