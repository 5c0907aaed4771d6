//! What changed: after a number, or as soon as something does.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use refrain_store::Seq;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::input::{Asked, limit};
use crate::crawl::wanted::SiteRules;
use crate::data::changes::{Changed, Lines, RoleChoice, WhichChanges};
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
    /// Of what: `page` (if nothing is said), `sitemap`, `feed`, or `all`.
    #[param(inline, value_type = RoleChoice, required = false)]
    role: Option<RoleChoice>,
    /// Whether each says what was removed and added. Then there are at most 100 at a time.
    #[param(default = true)]
    diff: Option<bool>,
}

/// Which lines are wanted; `None`: what is usual.
pub(crate) fn which(app: &App, role: Option<RoleChoice>, diff: Option<bool>) -> Answer<WhichChanges> {
    let rules = SiteRules::of(&app.config).map_err(|why| {
        tracing::error!(%why, "the rules of a site cannot be used");
        Problem::ours()
    })?;
    let diffs = diff.unwrap_or(true).then(|| Arc::new(rules));
    Ok(WhichChanges { roles: RoleChoice::roles(role.as_slice()), diffs })
}

/// Some of the changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Changes {
    /// In the order of their numbers.
    changes: Vec<Changed>,
    /// Go on after this one; it passes what was not asked for.
    next: i64,
}

/// First copies and changes of pages, in order, each once
///
/// Sitemaps and feeds are left out unless `role` asks for them. With `wait_seconds` it answers as soon as something changes (long polling); `/v1/changes/stream` sends changes as they happen.
#[utoipa::path(get, path = "/v1/changes", tag = "changes", params(After), responses((status = 200, body = Changes)))]
pub(crate) async fn changes(State(app): State<App>, Asked(asked): Asked<After>) -> Answer<Json<Changes>> {
    let limit = limit(asked.limit, 1000, 10_000)?;
    let which = which(&app, asked.role, asked.diff)?;
    let limit = which.at_once(limit);
    let mut after = Seq(asked.after.unwrap_or(0));
    if after.0 < 0 {
        return Err(Problem::bad(format!("after is {}; expected a number that is not negative", after.0)));
    }
    let wait = asked.wait_seconds.unwrap_or(0.0);
    if !(0.0..=LONGEST_WAIT).contains(&wait) {
        return Err(Problem::bad(format!("wait_seconds is {wait}; expected 0 to {LONGEST_WAIT}")));
    }
    let mut news = app.changes.clone();
    let late = tokio::time::sleep(Duration::from_secs_f64(wait));
    tokio::pin!(late);
    loop {
        news.mark_unchanged();
        let own = which.clone();
        let Lines { lines, end } = app.readers.scan(move |reader| own.read(reader, after, limit)).await?;
        after = end;
        if !lines.is_empty() || wait == 0.0 {
            return Ok(Json(Changes { changes: lines, next: after.0 }));
        }
        let none = Changes { changes: lines, next: after.0 };
        tokio::select! {
            news = news.changed() => if news.is_err() { return Ok(Json(none)) },
            () = app.closed() => return Ok(Json(none)),
            () = &mut late => return Ok(Json(none)),
        }
    }
}
