//! What to fetch next.

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use refrain_core::time::Span;
use refrain_engine::{LONGEST_LEASE, MOST_AT_A_TIME, WorkWanted};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::App;
use super::super::input::{Content, NoQuery};
use super::super::key::Key;
use crate::serve::problem::{Answer, Problem};

/// Nobody waits for longer.
const LONGEST_WAIT: f64 = 60.0;

/// What a fetcher wants.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkWanted)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// At most so many fetches; 100, if nothing is said.
    #[schema(minimum = 1, maximum = 1000)]
    most: Option<usize>,
    /// If there is nothing to fetch, wait so long.
    #[schema(minimum = 0, maximum = 60)]
    wait_seconds: Option<f64>,
    /// What is not answered by then is somebody else's.
    #[schema(minimum = 1, maximum = 1500)]
    lease_seconds: Option<f64>,
    /// The fetcher obeys robots.txt by itself. If it does not say so, it is asked to fetch robots.txt where that is not known.
    knows_robots: Option<bool>,
}

/// What to fetch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Grant {
    /// The number of this answer.
    grant: u64,
    /// Until when it is this fetcher's.
    #[schema(format = DateTime)]
    until: String,
    /// In the order of their worth; each may be fetched at once.
    fetches: Vec<Fetch>,
}

/// One fetch.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Fetch {
    /// To be brought back with the result.
    lease: String,
    /// `page`; `sitemap` or `feed`: of these the body is needed, whatever else is known; or `robots`: the robots.txt of its host.
    kind: &'static str,
    /// The number of the page.
    page: i64,
    /// What to fetch.
    url: String,
    /// To be sent as `If-None-Match`.
    #[serde(skip_serializing_if = "Option::is_none")]
    etag: Option<String>,
    /// To be sent as `If-Modified-Since`.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
    /// What the fetch is worth.
    value: f64,
}

/// Take work: pages that are worth fetching now
///
/// Who sends the same `Idempotency-Key` again, because no answer came, gets the same fetches again.
#[utoipa::path(post, path = "/v1/fetches/next", tag = "fetches",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$",
            description = "Any text that is another one for every new request.")),
    request_body(content = Wanted, content_type = "application/json"),
    responses((status = 200, body = Grant)))]
pub(crate) async fn next(
    State(app): State<App>,
    headers: HeaderMap,
    _: NoQuery,
    Content(wanted): Content<Wanted>,
) -> Answer<Json<Grant>> {
    let wanted = understood(&app, &headers, &wanted)?;
    let grant = tokio::select! {
        grant = app.handle.next(wanted) => grant?,
        // Nobody is given work that nobody will take back.
        () = app.closed() => return Err(refrain_engine::Over.into()),
    };
    let (id, until) = (grant.id, crate::data::written(grant.until));
    let (work, answered) = app.handle.resolve(grant);
    if !answered.is_empty() {
        // What robots.txt forbids is not given out, and need not be asked for again.
        let answered = app.readers.look(|reader| app.handle.prepare(reader, answered))?;
        app.handle.hand_in(answered).await?;
    }
    let fetches = work.into_iter().map(|work| Fetch {
        lease: work.lease.to_string(),
        kind: if work.lease.is_robots { "robots" } else { work.role.as_str() },
        page: work.lease.page.0,
        url: work.url,
        etag: work.etag,
        last_modified: work.last_modified,
        value: work.value,
    });
    Ok(Json(Grant { grant: id, until, fetches: fetches.collect() }))
}

fn understood(app: &App, headers: &HeaderMap, wanted: &Wanted) -> Answer<WorkWanted> {
    let wrong = |name: &str, is: f64, expected: &str| {
        Problem::impossible(format!("{name} is {is}; expected {expected}"))
    };
    let most = wanted.most.unwrap_or(100);
    if !(1..=MOST_AT_A_TIME).contains(&most) {
        return Err(wrong("most", most as f64, "1 to 1000"));
    }
    let wait = wanted.wait_seconds.unwrap_or(0.0);
    if !(0.0..=LONGEST_WAIT).contains(&wait) {
        return Err(wrong("wait_seconds", wait, "0 to 60"));
    }
    let lease = match wanted.lease_seconds {
        Some(seconds) if !(1.0..=LONGEST_LEASE.as_secs()).contains(&seconds) => {
            return Err(wrong("lease_seconds", seconds, "1 to 1500"));
        }
        Some(seconds) => Span::from_secs(seconds),
        None => app.lease,
    };
    let Key(key) = Key::of(headers)?;
    let knows_robots = wanted.knows_robots.unwrap_or(false);
    Ok(WorkWanted { most, wait: Span::from_secs(wait), lease, key, knows_robots })
}
