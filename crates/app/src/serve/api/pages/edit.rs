//! What somebody decides about pages.

use axum::extract::State;
use axum::{Extension, Json};
use http::StatusCode;
use refrain_store::{Edit, PageId, PageState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::super::App;
use super::super::input::{Content, Given, Importance, NoQuery, Number, Seconds, at_most};
use super::super::key::Key;
use super::super::shapes::Page;
use super::{address, known};
use crate::serve::guard::Caller;
use crate::serve::problem::{Answer, Problem};

/// So many pages are changed at a time.
const MOST: usize = 10_000;

/// What is to be another way from now on; what is left out stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageEdit {
    /// How much it matters, relative to others.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1e30)]
    importance: Option<Importance>,
    /// Its copy should never be older; null takes that back.
    #[schema(value_type = Option<f64>, minimum = 0.001, maximum = 9e9)]
    #[serde(default)]
    max_age_seconds: Given<Seconds>,
    /// Whether it is crawled.
    #[schema(inline)]
    state: Option<Wish>,
}

/// What can be wished of a page.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wish {
    /// To be crawled; one that is gone or forbidden is tried again.
    Active,
    /// To be left alone.
    Paused,
}

impl PageEdit {
    fn of(&self, page: PageId) -> Edit {
        Edit {
            importance: self.importance.map(|importance| importance.0),
            max_age: self.max_age_seconds.said(None, |seconds| Some(seconds.0)),
            state: self.state.map(|wish| match wish {
                Wish::Active => PageState::Active,
                Wish::Paused => PageState::Paused,
            }),
            ..Edit::of(page)
        }
    }
}

/// Change what is wanted of a page
#[utoipa::path(patch, path = "/v1/pages/{id}", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page")),
    request_body(content = PageEdit, content_type = "application/json"),
    responses((status = 200, description = "The page as it is now.", body = Page)))]
pub(crate) async fn edit(
    State(app): State<App>,
    Number(id): Number,
    _: NoQuery,
    Content(edit): Content<PageEdit>,
) -> Answer<Json<Page>> {
    let missing = app.handle.edit(vec![edit.of(PageId(id))]).await?;
    if !missing.is_empty() {
        return Err(Problem::no_page(id));
    }
    app.readers.look(|reader| known(reader, id)).map(|record| Json(record.into()))
}

/// Several pages at a time.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PageEdits {
    #[schema(max_items = 10_000)]
    pages: Vec<OnePageEdit>,
}

/// What is wanted of one of them, by number or address.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OnePageEdit {
    /// Its number,
    #[schema(minimum = 1)]
    page: Option<i64>,
    /// or its address.
    #[schema(max_length = 8192)]
    url: Option<String>,
    /// How much it matters, relative to others.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1e30)]
    importance: Option<Importance>,
    /// Its copy should never be older; null takes that back.
    #[schema(value_type = Option<f64>, minimum = 0.001, maximum = 9e9)]
    #[serde(default)]
    max_age_seconds: Given<Seconds>,
    /// Whether it is crawled.
    #[schema(inline)]
    state: Option<Wish>,
}

/// What became of them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Edited {
    /// How many are as they were wanted now.
    changed: usize,
    /// The places in the list, counted from 1, of those that are not there.
    unknown: Vec<usize>,
}

/// Change what is wanted of many pages
#[utoipa::path(patch, path = "/v1/pages", tag = "pages",
    request_body(content = PageEdits, content_type = "application/json"),
    responses((status = 200, body = Edited)))]
pub(crate) async fn edit_many(
    State(app): State<App>,
    _: NoQuery,
    Content(edits): Content<PageEdits>,
) -> Answer<Json<Edited>> {
    at_most(edits.pages.len(), MOST)?;
    let count = edits.pages.len();
    let edits = app
        .readers
        .scan(move |reader| {
            let mut found = Vec::with_capacity(edits.pages.len());
            for (place, one) in edits.pages.into_iter().enumerate() {
                let page = match (one.page, one.url) {
                    (Some(number), None) if number >= 1 => Some(PageId(number)),
                    (None, Some(url)) => reader.ids_of([address(&url)?.as_str()])?.pop().flatten(),
                    _ => {
                        return Err(Problem::impossible(format!(
                            "the page at place {} has a number and an address, or neither; expected one of `page` and `url`",
                            place + 1
                        )));
                    }
                };
                let edit = PageEdit {
                    importance: one.importance,
                    max_age_seconds: one.max_age_seconds,
                    state: one.state,
                };
                found.push((place + 1, page.map(|page| edit.of(page))));
            }
            Ok(found)
        })
        .await?;
    let (there, mut unknown): (Vec<_>, Vec<usize>) = {
        let mut there = Vec::new();
        let mut unknown = Vec::new();
        for (place, edit) in edits {
            match edit {
                Some(edit) => there.push((place, edit)),
                None => unknown.push(place),
            }
        }
        (there, unknown)
    };
    if !there.is_empty() {
        let missing = app.handle.edit(there.iter().map(|(_, edit)| edit.clone()).collect()).await?;
        let missing: std::collections::HashSet<PageId> = missing.into_iter().collect();
        unknown
            .extend(there.iter().filter(|(_, edit)| missing.contains(&edit.page)).map(|(place, _)| *place));
        unknown.sort_unstable();
    }
    Ok(Json(Edited { changed: count - unknown.len(), unknown }))
}

/// Forget a page, with all that is known of it
#[utoipa::path(delete, path = "/v1/pages/{id}", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page")),
    responses((status = 204, description = "It is forgotten; its number is never used again.")))]
pub(crate) async fn remove(State(app): State<App>, Number(id): Number, _: NoQuery) -> Answer<StatusCode> {
    let missing = app.handle.remove(vec![PageId(id)]).await?;
    if missing.is_empty() { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::no_page(id)) }
}

/// Fetch a page next, as soon as its host allows it
#[utoipa::path(post, path = "/v1/pages/{id}/fetch", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"),
           ("Idempotency-Key" = Option<String>, Header, min_length = 1, max_length = 128, pattern = "^[!-~]+$",
            description = "Any text that is another one for every new request: who sends it again asks for one fetch.")),
    responses((status = 202, description = "It is next."),
              (status = 409, description = "It is paused, gone or forbidden.", body = crate::serve::problem::Details,
               content_type = "application/problem+json")))]
pub(crate) async fn hurry(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    Number(id): Number,
    key: Key,
    _: NoQuery,
) -> Answer<StatusCode> {
    let page = app.readers.look(|reader| known(reader, id))?;
    let once = key.once(&caller, &format!("fetch.{id}"), Vec::new);
    let missing = app.handle.hurry(vec![PageId(id)], once).await??;
    if missing.is_empty() {
        return Ok(StatusCode::ACCEPTED);
    }
    Err(Problem::new(
        StatusCode::CONFLICT,
        "not-crawled",
        format!("page {id} is {}, and not crawled; expected an active one", page.state.as_str()),
    ))
}
