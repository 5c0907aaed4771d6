//! What people asked for: told by others, or counted when they read here.

use std::borrow::Cow;

use axum::extract::{Request, State};
use axum::response::Response;
use axum::{Extension, Json};
use http::HeaderMap;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::body::{self, Lines};
use super::input::{Asked, Form, NoQuery, at_most, form, json};
use super::key::Key;
use super::pages::copy::{at_time, send};
use super::pages::one::Address;
use crate::serve::guard::Caller;
use crate::serve::problem::{Answer, Details, Problem};
use crate::serve::tokens::Scope;

/// So many are in a list; lines may be any number.
const MOST: usize = 10_000;

/// Somebody asked for a page.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asks<'a> {
    /// Its number,
    #[schema(minimum = 1)]
    page: Option<i64>,
    /// or its address.
    #[serde(borrow)]
    #[schema(value_type = Option<String>, max_length = 8192)]
    url: Option<Cow<'a, str>>,
    /// How often; once, if nothing is said.
    #[schema(minimum = 0, maximum = 1e9)]
    count: Option<f64>,
}

/// What became of them.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct Counted {
    /// How many were counted.
    counted: u64,
    /// How many were of pages that are not there.
    unknown: u64,
    /// How many say nothing of use.
    refused: u64,
}

/// Tell which pages were asked for
///
/// Pages matter as much as they are asked for. A list, or one request per line.
///
/// What is sent again under the same `Idempotency-Key` within an hour is not counted again.
#[utoipa::path(post, path = "/v1/requests", tag = "requests",
    params(("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$",
            description = "Any text that is another one for every new request.")),
    request_body(content((Vec<Asks<'_>> = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, body = Counted),
              (status = 409, description = "The key was used for another request.", body = Details,
               content_type = "application/problem+json")))]
pub(crate) async fn requests(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    key: Key,
    _: NoQuery,
    request: Request,
) -> Answer<Json<Counted>> {
    let mut desk = Desk { app: &app, caller, key, parts: 0, done: Counted::default() };
    match form(request.headers()) {
        Some(Form::Json) => {
            let bytes = body::whole(request.into_body(), app.max_body).await?;
            let asks: Vec<Asks<'_>> = json(&bytes)?;
            at_most(asks.len(), MOST)?;
            let mut reads = Vec::with_capacity(asks.len());
            for (place, one) in asks.iter().enumerate() {
                let one = understood(one)
                    .map_err(|why| Problem::impossible(format!("at place {}: {why}", place + 1)))?;
                reads.push(one);
            }
            desk.count(reads).await?;
        }
        Some(Form::Lines) => {
            let (mut lines, mut reads) = (Lines::new(request.into_body()), Vec::new());
            let mut refused = 0;
            while lines
                .some(|line| {
                    if !line.trim_ascii().is_empty() {
                        let one = serde_json::from_slice(line).map_err(|why| why.to_string());
                        match one.and_then(|one| understood(&one)) {
                            Ok(one) => reads.push(one),
                            Err(_) => refused += 1,
                        }
                    }
                    Ok(())
                })
                .await?
            {
                // In parts of one size, however the body came: what is sent again has the same parts.
                while reads.len() >= MOST {
                    let rest = reads.split_off(MOST);
                    desk.count(std::mem::replace(&mut reads, rest)).await?;
                }
            }
            desk.count(reads).await?;
            desk.done.refused += refused;
        }
        None => return Err(Problem::form("application/json or application/x-ndjson")),
    }
    Ok(Json(desk.done))
}

/// A page by its number or its address, and how often it was asked for.
type Read = (Result<PageId, PageUrl>, f64);

fn understood(one: &Asks<'_>) -> Result<Read, String> {
    let count = one.count.unwrap_or(1.0);
    if !(0.0..=1e9).contains(&count) {
        return Err(format!("the count is {count}; expected 0 to 1e9"));
    }
    match (one.page, &one.url) {
        (Some(number), None) if number >= 1 => Ok((Ok(PageId(number)), count)),
        (None, Some(url)) => PageUrl::parse(url).map(|url| (Err(url), count)).map_err(|why| why.to_string()),
        _ => Err("expected one of `page` and `url`".to_owned()),
    }
}

/// Who counts, part by part.
struct Desk<'a> {
    app: &'a App,
    caller: Caller,
    key: Key,
    parts: u64,
    done: Counted,
}

impl Desk<'_> {
    async fn count(&mut self, reads: Vec<Read>) -> Answer<()> {
        if reads.is_empty() {
            return Ok(());
        }
        let all = reads.len() as u64;
        let once = self.key.once(&self.caller, &format!("requests.{}", self.parts), || as_bytes(&reads));
        self.parts += 1;
        let reads: Vec<(PageId, f64)> = self
            .app
            .readers
            .scan(move |reader| {
                let urls = reads.iter().filter_map(|(page, _)| page.as_ref().err()).map(PageUrl::as_str);
                let mut found = reader.ids_of(urls)?.into_iter();
                let known = reads.iter().filter_map(|(page, count)| match page {
                    Ok(page) => Some((*page, *count)),
                    Err(_) => Some((found.next().flatten()?, *count)),
                });
                Ok::<_, Problem>(known.collect())
            })
            .await?;
        let missing = self.app.handle.requests(reads.clone(), once).await??;
        let missing: std::collections::HashSet<PageId> = missing.into_iter().collect();
        let counted = reads.iter().filter(|(page, _)| !missing.contains(page)).count() as u64;
        self.done.counted += counted;
        self.done.unknown += all - counted;
        Ok(())
    }
}

/// What is said, to be known again.
fn as_bytes(reads: &[Read]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (page, count) in reads {
        let page = page.as_ref().map_or_else(|url| url.as_str().to_owned(), |page| page.0.to_string());
        bytes.extend(format!("{page} {count}\n").into_bytes());
    }
    bytes
}

/// Read the copy of a page, and count that as a request
///
/// What is counted changes how much pages matter: the token needs the scope `write` as well. `/v1/pages/{id}/copy` only reads.
#[utoipa::path(get, path = "/v1/read", tag = "requests",
    params(Address, ("If-None-Match" = Option<String>, Header, description = "Nothing is sent if it is still this one.")),
    responses((status = 200, description = "The body, as it came.", body = Vec<u8>, content_type = "*/*"),
              (status = 304, description = "It is still that one."),
              (status = 404, description = "There is no such page, or no copy.", body = Details,
               content_type = "application/problem+json")))]
pub(crate) async fn read(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Asked(address): Asked<Address>,
    headers: HeaderMap,
) -> Answer<Response> {
    if caller.0.is_some_and(|token| !token.allows(Scope::Write)) {
        return Err(Problem::forbidden(
            "the token may read but not count what is read; expected one with the scopes read and write, or /v1/pages/{id}/copy, which does not count",
        ));
    }
    let page = app.readers.look(|reader| super::pages::at(reader, &address.url))?;
    // Whether there is a copy or not, somebody wanted it.
    app.reads.read(page.id);
    send(&app, headers, move |reader| at_time(reader, page.id.0, Time::MAX)).await
}
