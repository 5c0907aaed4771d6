//! What changed: after a number, or as soon as something does.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use refrain_store::Seq;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::input::{Asked, limit};
use super::shapes::Changed;
use crate::serve::problem::{Answer, Problem};

/// Nobody waits for longer.
const LONGEST_WAIT: f64 = 60.0;

/// Which changes.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// Those after this one; 0, or nothing: from the first on.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// At most so many.
    #[param(minimum = 1, maximum = 10_000, default = 1000)]
    limit: Option<u32>,
    /// If there are none, wait for some, so long.
    #[param(minimum = 0, maximum = 60)]
    wait_seconds: Option<f64>,
}

/// Some of the changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changes {
    /// In the order of their numbers.
    changes: Vec<Changed>,
    /// Go on after this one.
    next: i64,
}

/// What changed, in order, each change once
///
/// With `wait_seconds` it answers as soon as something changes (long polling); `/v1/changes/stream` sends changes as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(After), responses((status = 200, body = Changes)))]
pub(crate) async fn changes(State(app): State<App>, Asked(asked): Asked<After>) -> Answer<Json<Changes>> {
    let limit = limit(asked.limit, 1000, 10_000)?;
    let after = Seq(asked.after.unwrap_or(0));
    if after.0 < 0 {
        return Err(Problem::bad(format!("after is {}; expected a number that is not negative", after.0)));
    }
    let wait = asked.wait_seconds.unwrap_or(0.0);
    if !(0.0..=LONGEST_WAIT).contains(&wait) {
        return Err(Problem::bad(format!("wait_seconds is {wait}; expected 0 to {LONGEST_WAIT}")));
    }
    let mut news = app.changes.clone();
    let end = tokio::time::sleep(Duration::from_secs_f64(wait));
    tokio::pin!(end);
    loop {
        news.mark_unchanged();
        let found = app.readers.scan(move |reader| reader.changes_since(after, limit)).await?;
        let next = found.last().map_or(after.0, |change| change.seq.0);
        if !found.is_empty() || wait == 0.0 {
            return Ok(Json(Changes { changes: found.into_iter().map(Changed::from).collect(), next }));
        }
        let none = Changes { changes: Vec::new(), next };
        tokio::select! {
            news = news.changed() => if news.is_err() { return Ok(Json(none)) },
            () = app.closed() => return Ok(Json(none)),
            () = &mut end => return Ok(Json(none)),
        }
    }
}
