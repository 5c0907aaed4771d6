//! Changes as they happen: server-sent events.
//!
//! Each event has the number of its change, so a browser, or any client, that lost its connection goes on where it was. Who reads too slowly
//! is cut off, and goes on in the same way; nobody makes the server remember anything for them.

use std::fmt::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};
use hyper::body::Frame;
use refrain_store::Seq;
use serde::Deserialize;
use tokio::sync::mpsc;
use utoipa::IntoParams;

use super::App;
use super::changes::which;
use super::input::Asked;
use crate::data::changes::{Lines, RoleChoice, WhichChanges};
use crate::serve::problem::{Answer, Problem};

/// So many changes are sent at a time,
const AT_A_TIME: usize = 500;
/// and so many times may wait for the reader,
const WAITING: usize = 4;
/// for so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// If nothing changes, something is sent all the same, so that both ends know that there is another.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Where to begin.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// After this change; without it (and without `Last-Event-ID`), with what changes from now on.
    #[param(minimum = 0)]
    after: Option<i64>,
    /// Of what: `page` (if nothing is said), `sitemap`, `feed`, or `all`.
    #[param(inline, value_type = RoleChoice, required = false)]
    role: Option<RoleChoice>,
    /// Whether each says what was removed and added.
    #[param(default = true)]
    diff: Option<bool>,
}

/// First copies and changes of pages, as they happen, as server-sent events
///
/// Events are named `change`; their data are as in `/v1/changes`, their ids are the numbers of the changes. An id without an event passes what was not
/// asked for.
#[utoipa::path(get, path = "/v1/changes/stream", tag = "changes",
    params(From, ("Last-Event-ID" = Option<String>, Header, description = "Go on after this change.")),
    responses((status = 200, description = "Events, without end.", body = String, content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(app): State<App>,
    Asked(from): Asked<From>,
    headers: HeaderMap,
) -> Answer<Response> {
    let after = match (headers.get("last-event-id"), from.after) {
        (Some(id), _) => {
            let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
            let wrong = || Problem::bad("Last-Event-ID is not the number of a change");
            Some(id.filter(|id| *id >= 0).ok_or_else(wrong)?)
        }
        (None, Some(after)) if after < 0 => {
            return Err(Problem::bad(format!("after is {after}; expected a number that is not negative")));
        }
        (None, after) => after,
    };
    let after = match after {
        Some(after) => Seq(after),
        None => app.readers.look(refrain_store::Reader::last_seq)?,
    };
    let which = which(&app, from.role, from.diff)?;
    let permit = Arc::clone(&app.streams).try_acquire_owned().map_err(|_| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Problem::later(status, "too-many-streams", "there are as many streams as there may be", 10)
    })?;
    let (to, events) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _permit = permit;
        // However it ends: who reads goes on later.
        let _ = send(&app, &which, after, &to).await;
    });
    Ok(self::events(events))
}

/// What comes, as an answer that goes on until nothing does.
pub(crate) fn events(pieces: mpsc::Receiver<Bytes>) -> Response {
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    (headers, Body::new(Events(pieces))).into_response()
}

/// Sends changes until nobody reads, or all is over.
async fn send(app: &App, which: &WhichChanges, mut after: Seq, to: &mpsc::Sender<Bytes>) -> Answer<()> {
    let mut news = app.changes.clone();
    put(to, Bytes::from_static(b"retry: 1000\n\n")).await?;
    loop {
        news.mark_unchanged();
        let own = which.clone();
        let Lines { lines, end } =
            app.readers.scan(move |reader| own.read(reader, after, own.at_once(AT_A_TIME))).await?;
        if end > after {
            after = end;
            let mut text = String::with_capacity(512 * lines.len());
            for line in &lines {
                let _ = write!(text, "id: {}\nevent: change\ndata: {}\n\n", line.seq, line.json());
            }
            if lines.last().is_none_or(|last| last.seq < end.0) {
                // Without data it is no event, but the place to go on from.
                let _ = write!(text, "id: {}\n\n", end.0);
            }
            tokio::select! {
                put = put(to, text.into()) => put?,
                () = app.closed() => return Ok(()),
            }
            if !lines.is_empty() {
                continue;
            }
        }
        tokio::select! {
            news = news.changed() => if news.is_err() { return Ok(()) },
            () = app.closed() => return Ok(()),
            () = to.closed() => return Ok(()),
            () = tokio::time::sleep(HEARTBEAT) => put(to, Bytes::from_static(b": \n\n")).await?,
        }
    }
}

/// Hands on a piece, if it is taken in time.
pub(crate) async fn put(to: &mpsc::Sender<Bytes>, piece: Bytes) -> Answer<()> {
    match tokio::time::timeout(PATIENCE, to.send(piece)).await {
        Ok(Ok(())) => Ok(()),
        _ => Err(Problem::slow()),
    }
}

/// Pieces, as they come.
struct Events(mpsc::Receiver<Bytes>);

impl HttpBody for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
