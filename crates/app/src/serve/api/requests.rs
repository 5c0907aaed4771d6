//! What people asked for: told by others, or counted when they read here.

use std::borrow::Cow;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use http::HeaderMap;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::body::{self, Lines};
use super::input::{Asked, Form, NoQuery, at_most, form, json};
use super::pages::copy::{at_time, send};
use super::pages::one::Address;
use crate::serve::problem::{Answer, Details, Problem};

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
#[utoipa::path(post, path = "/v1/requests", tag = "requests",
    request_body(content((Vec<Asks<'_>> = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, body = Counted)))]
pub(crate) async fn requests(State(app): State<App>, _: NoQuery, request: Request) -> Answer<Json<Counted>> {
    let mut done = Counted::default();
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
            count(&app, reads, &mut done).await?;
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
                if reads.len() >= MOST {
                    count(&app, std::mem::take(&mut reads), &mut done).await?;
                }
            }
            count(&app, reads, &mut done).await?;
            done.refused += refused;
        }
        None => return Err(Problem::form("application/json or application/x-ndjson")),
    }
    Ok(Json(done))
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

async fn count(app: &App, reads: Vec<Read>, done: &mut Counted) -> Answer<()> {
    if reads.is_empty() {
        return Ok(());
    }
    let all = reads.len() as u64;
    let reads: Vec<(PageId, f64)> = app
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
    let missing: std::collections::HashSet<PageId> =
        app.handle.reads(reads.clone()).await?.into_iter().collect();
    let counted = reads.iter().filter(|(page, _)| !missing.contains(page)).count() as u64;
    done.counted += counted;
    done.unknown += all - counted;
    Ok(())
}

/// Read the copy of a page, and count that as a request
#[utoipa::path(get, path = "/v1/read", tag = "requests",
    params(Address, ("If-None-Match" = Option<String>, Header, description = "Nothing is sent if it is still this one.")),
    responses((status = 200, description = "The body, as it came.", body = Vec<u8>, content_type = "*/*"),
              (status = 304, description = "It is still that one."),
              (status = 404, description = "There is no such page, or no copy.", body = Details,
               content_type = "application/problem+json")))]
pub(crate) async fn read(
    State(app): State<App>,
    Asked(address): Asked<Address>,
    headers: HeaderMap,
) -> Answer<Response> {
    let page = app.readers.look(|reader| super::pages::at(reader, &address.url))?;
    // Whether there is a copy or not, somebody wanted it.
    app.reads.read(page.id);
    send(&app, headers, move |reader| at_time(reader, page.id.0, Time::MAX)).await
}
