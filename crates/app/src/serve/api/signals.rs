//! Somebody says that pages changed.

use axum::extract::State;
use axum::{Extension, Json};
use refrain_engine::{Heard, Kind, Said, Source};
use refrain_fetch::url::PageUrl;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::input::{Content, Moment, NoQuery, at_most};
use super::key::Key;
use crate::serve::guard::{Caller, NAMELESS};
use crate::serve::problem::{Answer, Problem};
use crate::serve::tokens::speaks_for;

/// So many at a time.
const MOST: usize = 10_000;
/// Pages that changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Signals {
    #[schema(max_items = 10_000)]
    signals: Vec<OneSignal>,
}

/// A page that changed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OneSignal {
    #[schema(format = "uri", max_length = 8192)]
    url: String,
    /// When; just now, if nothing is said. Who says when may say it twice: it counts once.
    #[schema(value_type = Option<String>, format = DateTime)]
    changed: Option<Moment>,
    /// Whether it becomes a page if it is not one yet.
    add: Option<bool>,
}

/// What became of them.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Outcomes {
    /// How many were news,
    news: u64,
    /// were known already,
    known: u64,
    /// added a page,
    added: u64,
    /// are of pages that are not there,
    unknown: u64,
    /// or are refused.
    refused: u64,
    /// Each, in order.
    results: Vec<Outcome>,
}

/// What became of a signal.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Outcome {
    /// `news`, `known`, `added`, `unknown` or `refused`.
    result: &'static str,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

/// Say that pages changed
///
/// Signals count as far as those of the same source have come true before. The source is the token's; without one it is `api`.
#[utoipa::path(post, path = "/v1/signals", tag = "signals",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$",
            description = "Any text that is another one for every new request: what is sent again counts once.")),
    request_body(content = Signals, content_type = "application/json"),
    responses((status = 200, body = Outcomes),
              (status = 409, description = "The key was used for another request.", body = crate::serve::problem::Details,
               content_type = "application/problem+json")))]
pub(crate) async fn signals(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    key: Key,
    _: NoQuery,
    Content(signals): Content<Signals>,
) -> Answer<Json<Outcomes>> {
    at_most(signals.signals.len(), MOST)?;
    tell(&app, &caller, &key, signals.signals).await.map(Json)
}

async fn tell(app: &App, caller: &Caller, key: &Key, signals: Vec<OneSignal>) -> Answer<Outcomes> {
    let name = caller.0.as_ref().and_then(|token| token.source.as_deref()).unwrap_or(NAMELESS);
    let source = Source::new(name).ok_or_else(|| {
        tracing::error!(name, "there are too many sources of signals");
        Problem::ours()
    })?;
    let mut results = Vec::with_capacity(signals.len());
    let (mut said, mut places) = (Vec::new(), Vec::new());
    for (place, signal) in signals.into_iter().enumerate() {
        let fate = match PageUrl::parse(&signal.url) {
            Err(why) => refused(why.to_string()),
            Ok(url) if !may_speak(caller, &url) => {
                refused("the token is not for pages of this host".to_owned())
            }
            Ok(url) => {
                let changed = signal.changed.map(|moment| moment.0);
                said.push(Said { url, changed, adds: signal.add.unwrap_or(false) });
                places.push(place);
                refused(String::new())
            }
        };
        results.push(fate);
    }
    if !said.is_empty() {
        let once = key.once(caller, "signals", || as_bytes(&said));
        let heard = app.handle.signal(Kind::Source(source), said, once).await??;
        app.count.heard(Kind::Source(source), &heard);
        for (place, heard) in places.into_iter().zip(heard) {
            let result = match heard {
                Heard::News => "news",
                Heard::Known => "known",
                Heard::Added => "added",
                Heard::Stranger => "unknown",
            };
            results[place] = Outcome { result, detail: None };
        }
    }
    let count = |name: &str| results.iter().filter(|one| one.result == name).count() as u64;
    Ok(Outcomes {
        news: count("news"),
        known: count("known"),
        added: count("added"),
        unknown: count("unknown"),
        refused: count("refused"),
        results,
    })
}

/// What is said, to be known again.
fn as_bytes(said: &[Said]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for Said { url, changed, adds } in said {
        let changed = changed.map(refrain_core::time::Time::as_nanos);
        bytes.extend(format!("{url} {changed:?} {adds}\n").into_bytes());
    }
    bytes
}

fn refused(why: String) -> Outcome {
    Outcome { result: "refused", detail: Some(why) }
}

fn may_speak(caller: &Caller, url: &PageUrl) -> bool {
    caller.0.as_ref().is_none_or(|token| speaks_for(&token.hosts, url))
}
