//! How it is all doing.

use axum::Json;
use axum::extract::State;
use refrain_core::time::Time;
use refrain_engine::Pulse;
use refrain_store::Reader;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::input::NoQuery;
use super::shapes::moment;
use crate::data::written;
use crate::serve::problem::{Answer, Problem};

/// How the crawl is doing, and what it has come to since it was started.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    version: &'static str,
    #[schema(format = DateTime)]
    time: String,
    /// The last change that is on the disk.
    last_change: i64,
    /// The budget: requests per second.
    rate_per_second: f64,
    /// What a fetch is worth.
    price: Option<f64>,
    /// The share of copies that are expected to be fresh, weighted by importance.
    freshness: Option<f64>,
    pages: u64,
    hosts: u64,
    hubs: u64,
    /// Pages that wait for their first visit.
    waiting: usize,
    /// Fetches under way, and those whose outcome is not on the disk yet, at this moment. While there are none and no page is due, no change is on its way.
    under_way: usize,
    /// Requests that were paid for.
    requests: u64,
    looks: u64,
    first: u64,
    changed: u64,
    unchanged: u64,
    gone: u64,
    failed: u64,
    /// New pages found.
    found: u64,
    signals: u64,
    /// Signals after which the next look found a change.
    came_true: u64,
    bytes: u64,
    /// Visits under way, the longest first; not all if there are many.
    visits: Vec<Visit>,
    /// Hosts that are left alone, then the slowest; a few.
    slowest: Vec<Slow>,
}

/// A visit under way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Visit {
    url: String,
    #[schema(format = DateTime)]
    since: String,
}

/// A slow host.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Slow {
    name: String,
    response_seconds: f64,
    #[schema(format = DateTime)]
    back_off_until: Option<String>,
}

/// How the crawl is doing, as of a second ago; what is under way, and the last change, as of now
#[utoipa::path(get, path = "/v1/status", tag = "status", responses((status = 200, body = Status)))]
pub(crate) async fn status(State(app): State<App>, _: NoQuery) -> Answer<Json<Status>> {
    let pulse = app.pulse.borrow().clone();
    let pulse = pulse.ok_or_else(|| {
        let status = http::StatusCode::SERVICE_UNAVAILABLE;
        Problem::later(status, "not-ready", "the crawl has not begun yet", 1)
    })?;
    // In this order: with nothing under way, no change comes after the last.
    let under_way = app.handle.under_way().await?;
    let last_change = app.readers.look(Reader::last_seq)?.0;
    Ok(Json(Status::new(&pulse, under_way, last_change)))
}

impl Status {
    fn new(pulse: &Pulse, under_way: usize, last_change: i64) -> Self {
        let sum = &pulse.summary;
        Self {
            version: env!("CARGO_PKG_VERSION"),
            time: written(pulse.time),
            last_change,
            rate_per_second: pulse.rate,
            price: sum.price,
            freshness: pulse.freshness,
            pages: sum.pages,
            hosts: sum.hosts,
            hubs: sum.hubs,
            waiting: pulse.waiting,
            under_way,
            requests: sum.requests,
            looks: sum.looks,
            first: sum.first,
            changed: sum.changed,
            unchanged: sum.unchanged,
            gone: sum.gone,
            failed: sum.failed,
            found: sum.found,
            signals: sum.signals,
            came_true: sum.came_true,
            bytes: sum.bytes,
            visits: pulse
                .under_way
                .iter()
                .map(|visit| Visit { url: visit.url.clone(), since: written(visit.since) })
                .collect(),
            slowest: pulse
                .hosts
                .iter()
                .map(|host| Slow {
                    name: host.name.clone(),
                    response_seconds: host.response.as_secs(),
                    back_off_until: moment(host.back_off.filter(|until| *until < Time::LAST)),
                })
                .collect(),
        }
    }
}
