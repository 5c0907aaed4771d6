//! How it is doing, every second, to whoever looks: server-sent events. Each says all of it, so nothing is lost to who misses one.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use refrain_core::time::Span;
use tokio::sync::mpsc;

use super::{Board, Shared};
use crate::chart::{grouped, short};
use crate::serve::api::stream::{events, put};
use crate::serve::problem::{Answer, Problem};

/// Pulses come every second; if none does, something is sent all the same, so that both ends know that there is another.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// So many may wait for a reader; one that is slower is cut off, and comes again.
const WAITING: usize = 4;
/// What is spent "now" is what was spent in this time.
const LATELY: Span = Span::from_whole_secs(10);
/// What happens an hour is what happened in the last one.
const HOUR: Span = Span::from_whole_secs(3600);

/// When the latest numbers are from.
pub(super) fn when(board: &Board) -> &'static str {
    if board.is_over() { "when the crawl ended" } else { "now" }
}

/// What changes every second, by the names that pages use, as it is shown.
pub(super) fn numbers(board: &Board) -> Vec<(&'static str, String)> {
    let Some(pulse) = board.app.pulse.borrow().clone() else { return Vec::new() };
    let sum = &pulse.summary;
    let is_over = board.is_over();
    let spent = board.recent.lately(pulse.time, LATELY).filter(|lately| lately.span > Span::ZERO);
    let spending =
        if is_over { Some(0.0) } else { spent.map(|lately| lately.requests as f64 / lately.span.as_secs()) };
    let hour = board.recent.lately(pulse.time, HOUR);
    let per_hour = hour.filter(|hour| hour.span > Span::ZERO).map(|hour| {
        super::words::number((36_000.0 * hour.changed as f64 / hour.span.as_secs()).round() / 10.0)
    });
    let failed = hour.filter(|hour| hour.looks > 0).map(|hour| hour.failed as f64 / hour.looks as f64);
    let mut numbers = vec![
        ("over", (if is_over { "The crawl is over" } else { "" }).to_owned()),
        ("when", when(board).to_owned()),
        ("fresh", super::words::share(pulse.freshness)),
        ("found", super::words::share(board.recent.found(&pulse))),
        ("changed-an-hour", per_hour.unwrap_or_else(|| "–".to_owned())),
        ("failed-share", super::words::share(failed)),
        ("rate", short(pulse.rate)),
        ("price", sum.price.map_or_else(|| "–".to_owned(), super::words::number)),
        ("pages", grouped(sum.pages as usize)),
        ("hosts", grouped(sum.hosts as usize)),
        ("waiting", grouped(pulse.waiting)),
        ("under-way", grouped(sum.under_way)),
        ("requests", grouped(sum.requests as usize)),
        ("changed", grouped(sum.changed as usize)),
        ("failed", grouped(sum.failed as usize)),
        ("left-alone", grouped(pulse.backed_off)),
    ];
    if let Some(spending) = spending {
        numbers.push(("spending", short(spending)));
        let share = if pulse.rate > 0.0 { (100.0 * spending / pulse.rate).min(100.0) } else { 0.0 };
        numbers.push(("spent-width", format!("{share:.1}")));
    }
    numbers
}

/// Pulses, until who reads them leaves, or all ends.
pub(super) async fn stream(State(board): State<Shared>, headers: HeaderMap) -> Answer<Response> {
    let permit = Arc::clone(&board.watchers).try_acquire_owned().map_err(|_| {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Problem::later(status, "too-many-streams", "as many people look as may", 10)
    })?;
    let (to, received) = mpsc::channel(WAITING);
    tokio::spawn(async move {
        let _permit = permit;
        // However it ends: who reads comes again.
        let _ = send(&board, &headers, &to).await;
    });
    Ok(events(received))
}

async fn send(board: &Board, headers: &HeaderMap, to: &mpsc::Sender<Bytes>) -> Answer<()> {
    let (mut pulses, mut is_over) = (board.app.pulse.clone(), false);
    put(to, Bytes::from_static(b"retry: 5000\n\n")).await?;
    // For as long as they may look: a token may end meanwhile.
    while board.admits(headers) {
        pulses.mark_unchanged();
        let numbers: serde_json::Map<String, serde_json::Value> =
            numbers(board).into_iter().map(|(name, text)| (name.to_owned(), text.into())).collect();
        if !numbers.is_empty() {
            let text = format!("event: pulse\ndata: {}\n\n", serde_json::Value::Object(numbers));
            tokio::select! {
                put = put(to, text.into()) => put?,
                () = board.app.closed() => return Ok(()),
            }
        }
        tokio::select! {
            // A crawl that is over has no more pulses; who looks at what is left of it stays.
            pulse = pulses.changed(), if !is_over => is_over = pulse.is_err(),
            () = board.app.closed() => return Ok(()),
            () = to.closed() => return Ok(()),
            () = tokio::time::sleep(HEARTBEAT) => put(to, Bytes::from_static(b": \n\n")).await?,
        }
    }
    Ok(())
}
