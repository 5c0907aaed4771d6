//! What was seen of a page, and what others said of it.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::App;
use super::super::input::{Asked, Number, limit};
use super::super::shapes::{Heard, Look};
use super::known;
use crate::serve::problem::{Answer, Problem};

/// How much of it.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Latest {
    /// At most so many looks, and so many signals.
    #[param(minimum = 1, maximum = 10_000, default = 100)]
    limit: Option<u32>,
}

/// What was seen of a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct History {
    /// The latest first.
    looks: Vec<Look>,
    /// The latest first.
    signals: Vec<Heard>,
}

/// The last looks at a page, and the last signals
#[utoipa::path(get, path = "/v1/pages/{id}/history", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"), Latest),
    responses((status = 200, body = History)))]
pub(crate) async fn history(
    State(app): State<App>,
    Number(id): Number,
    Asked(latest): Asked<Latest>,
) -> Answer<Json<History>> {
    let limit = limit(latest.limit, 100, 10_000)?;
    let history = app.readers.scan(move |reader| {
        let page = known(reader, id)?;
        let looks = reader.observations_of(page.id, limit)?.into_iter().map(Look::from).collect();
        let signals = reader.signals_of(page.id, limit)?.into_iter().map(Heard::from).collect();
        Ok::<_, Problem>(History { looks, signals })
    });
    history.await.map(Json)
}
