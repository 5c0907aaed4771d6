//! Hosts: how they are treated, and how they are to be.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::request::Parts;
use refrain_core::time::Time;
use refrain_engine::{HostEdit, HostNow};
use refrain_store::{HostId, HostRow};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::cursor::Cursor;
use super::input::{AnySeconds, Asked, Content, Given, Moment, NoQuery, limit, named};
use super::shapes::{moment, seconds};
use crate::serve::problem::{Answer, Problem};

/// Which hosts.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Portion {
    /// At most so many.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// Go on here: `next` of the answer before.
    cursor: Option<String>,
}

/// Some of the hosts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Hosts {
    hosts: Vec<Host>,
    /// Where to go on; none at the end.
    next: Option<String>,
}

/// How a host is treated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Host {
    /// Scheme, name and port.
    name: String,
    /// The least time between two requests, robots.txt and slowness considered.
    gap_seconds: Option<f64>,
    /// What somebody wants it to be.
    gap_wanted_seconds: Option<f64>,
    /// How long it takes to answer; none before its first answer.
    response_seconds: Option<f64>,
    /// Requests under way.
    in_flight: u16,
    /// Until when it is left alone.
    #[schema(format = DateTime)]
    back_off_until: Option<String>,
    /// Whether it is left alone until somebody says otherwise.
    paused: bool,
    /// Failures in a row.
    failures: u32,
    /// Pages that are crawled, sitemaps and feeds included.
    pages: u32,
    /// When its robots.txt was asked for.
    #[schema(format = DateTime)]
    robots_fetched: Option<String>,
    /// What came of that; none: no answer.
    robots_status: Option<u16>,
}

impl Host {
    fn new(row: HostRow, is: Option<&HostNow>, now: Time) -> Self {
        let back_off = is.map_or(row.back_off_until, |is| is.back_off);
        Self {
            gap_seconds: seconds(is.map(|is| is.gap).or(row.gap)),
            gap_wanted_seconds: seconds(is.and_then(|is| is.gap_wanted)),
            response_seconds: seconds(is.and_then(|is| is.response)),
            in_flight: is.map_or(0, |is| is.in_flight),
            back_off_until: moment(back_off.filter(|until| *until > now && *until < Time::LAST)),
            paused: is.is_some_and(|is| is.paused),
            failures: is.map_or(row.failures, |is| is.failures),
            pages: is.map_or(0, |is| is.pages),
            robots_fetched: moment(row.robots.as_ref().map(|robots| robots.fetched)),
            robots_status: row.robots.as_ref().and_then(|robots| robots.status),
            name: row.name,
        }
    }
}

/// Hosts, in the order in which they were met
#[utoipa::path(get, path = "/v1/hosts", tag = "hosts", params(Portion), responses((status = 200, body = Hosts)))]
pub(crate) async fn list(State(app): State<App>, Asked(asked): Asked<Portion>) -> Answer<Json<Hosts>> {
    let limit = limit(asked.limit, 100, 1000)?;
    let after = HostId(Cursor::number(asked.cursor.as_deref())?);
    // One more, to know whether there are more.
    let mut rows = app.readers.scan(move |reader| reader.hosts_after(after, limit + 1)).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next = rows.last().filter(|_| more).map(|row| Cursor::After(row.id.0).written());
    let treated = app.handle.hosts(rows.iter().map(|row| row.name.clone()).collect()).await?;
    let now = app.clock.now();
    let hosts = rows.into_iter().zip(treated).map(|(row, is)| Host::new(row, is.as_ref(), now)).collect();
    Ok(Json(Hosts { hosts, next }))
}

/// The name of a host, in the path.
pub(crate) struct Name(String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "name").await.map(Self)
    }
}

fn no_host(name: &str) -> Problem {
    let shown: String = name.chars().take(200).collect();
    Problem::missing(
        "no-such-host",
        format!(
            "`{shown}`: there is no such host; expected scheme, name and port, like https%3A%2F%2Fexample.org"
        ),
    )
}

/// How a host is treated
#[utoipa::path(get, path = "/v1/hosts/{name}", tag = "hosts",
    params(("name" = String, Path, description = "Scheme, name and port, percent-encoded: https%3A%2F%2Fexample.org")),
    responses((status = 200, body = Host)))]
pub(crate) async fn one(State(app): State<App>, Name(name): Name, _: NoQuery) -> Answer<Json<Host>> {
    let row = app.readers.look(|reader| reader.host(&name))?.ok_or_else(|| no_host(&name))?;
    let is = app.handle.hosts(vec![name]).await?.pop().flatten();
    Ok(Json(Host::new(row, is.as_ref(), app.clock.now())))
}

/// What is wanted of a host; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = HostEdit)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The least time between two requests, whatever its robots.txt says; null takes that back.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 9e9)]
    #[serde(default)]
    gap_seconds: Given<AnySeconds>,
    /// Not to be visited before this moment; null ends that.
    #[schema(value_type = Option<String>, format = DateTime)]
    #[serde(default)]
    back_off_until: Given<Moment>,
    /// Whether it is left alone until somebody says otherwise.
    paused: Option<bool>,
}

/// Change how a host is treated
#[utoipa::path(patch, path = "/v1/hosts/{name}", tag = "hosts",
    params(("name" = String, Path, description = "Scheme, name and port, percent-encoded: https%3A%2F%2Fexample.org")),
    request_body(content = Wanted, content_type = "application/json"),
    responses((status = 200, description = "The host as it is treated now.", body = Host)))]
pub(crate) async fn edit(
    State(app): State<App>,
    Name(name): Name,
    _: NoQuery,
    Content(wanted): Content<Wanted>,
) -> Answer<Json<Host>> {
    let edit = HostEdit {
        gap: wanted.gap_seconds.said(None, |seconds| Some(seconds.0)),
        back_off: wanted.back_off_until.said(Time::MIN, |until| until.0),
        paused: wanted.paused,
    };
    let is = app.handle.set_host(name.clone(), edit).await?.ok_or_else(|| no_host(&name))?;
    let row = app.readers.look(|reader| reader.host(&name))?.ok_or_else(|| no_host(&name))?;
    Ok(Json(Host::new(row, Some(&is), app.clock.now())))
}
