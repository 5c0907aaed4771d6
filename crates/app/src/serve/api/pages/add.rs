//! New pages, many at a time: the next ones are read while the last ones go to the disk.

use std::borrow::Cow;

use axum::Json;
use axum::extract::{Request, State};
use refrain_engine::{Handle, Over, Seed};
use refrain_fetch::url::PageUrl;
use refrain_store::Added;
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Schema, Type};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::super::App;
use super::super::body::{self, Lines};
use super::super::input::{Form, Importance, NoQuery, Seconds, form, json};
use crate::serve::problem::{Answer, Problem};

/// So many pages are handed on at a time: what is written together is written many times faster than a few at a time.
const AT_A_TIME: usize = 50_000;
/// So many refusals are told.
const TOLD: usize = 100;
/// How these pages were found.
const FOUND: &str = "api";

/// A page to be crawled.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPage<'a> {
    /// Its address.
    #[serde(borrow)]
    #[schema(value_type = String, format = "uri", max_length = 8192)]
    url: Cow<'a, str>,
    /// How much it matters, relative to others; 1 unless it is known already.
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1e30)]
    importance: Option<Importance>,
    /// Its copy should never be older.
    #[schema(value_type = Option<f64>, minimum = 0.001, maximum = 9e9)]
    max_age_seconds: Option<Seconds>,
}

/// A page to be crawled, or just its address.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum PageOrAddress<'a> {
    /// Its address.
    Address(#[serde(borrow)] Text<'a>),
    /// More than that.
    Page(#[serde(borrow)] NewPage<'a>),
}

impl PartialSchema for PageOrAddress<'_> {
    fn schema() -> RefOr<Schema> {
        let address = ObjectBuilder::new().schema_type(Type::String).max_length(Some(8192)).build();
        let either = OneOfBuilder::new().item(address).item(Ref::from_schema_name(NewPage::name()));
        let either = either.description(Some("A page to be crawled, or just its address.")).build();
        RefOr::T(Schema::OneOf(either))
    }
}

impl ToSchema for PageOrAddress<'_> {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((NewPage::name().into_owned(), NewPage::schema()));
    }
}

/// Text that is not copied unless it must be.
#[derive(Debug, Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// What became of them.
#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct AddedPages {
    /// New pages.
    added: u64,
    /// Pages that were there before; what is said of them holds from now on.
    known: u64,
    /// Lines that are no pages, and pages beyond the limit (`max_pages`).
    refused: u64,
    /// The first of those that were refused, and why.
    refusals: Vec<Refusal>,
}

/// A line that was refused.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Refusal {
    /// The line, or the place in the list, counted from 1.
    line: u64,
    detail: String,
}

/// Add pages, any number: one per line, or a list
///
/// Lines are JSON: an address as a text, or an object. What was added before a failure stays; to send it all again does no harm.
#[utoipa::path(post, path = "/v1/pages", tag = "pages",
    request_body(content((Vec<PageOrAddress<'_>> = "application/json"), (String = "application/x-ndjson"))),
    responses((status = 200, body = AddedPages)))]
pub(crate) async fn add(State(app): State<App>, _: NoQuery, request: Request) -> Answer<Json<AddedPages>> {
    let mut adding = Adding::new(app.handle.clone());
    match form(request.headers()) {
        Some(Form::Lines) => {
            let mut lines = Lines::new(request.into_body());
            while lines
                .some(|line| {
                    adding.line(line);
                    Ok(())
                })
                .await?
            {
                if adding.seeds.len() >= AT_A_TIME {
                    adding.hand_on().await?;
                }
            }
        }
        Some(Form::Json) => {
            let bytes = body::whole(request.into_body(), app.max_body).await?;
            let pages: Vec<PageOrAddress<'_>> = json(&bytes)?;
            for page in pages {
                adding.number += 1;
                let page = match page {
                    PageOrAddress::Address(Text(url)) => {
                        NewPage { url, importance: None, max_age_seconds: None }
                    }
                    PageOrAddress::Page(page) => page,
                };
                adding.put(&page);
                if adding.seeds.len() >= AT_A_TIME {
                    adding.hand_on().await?;
                }
            }
        }
        None => return Err(Problem::form("application/x-ndjson or application/json")),
    }
    adding.finish().await.map(Json)
}

/// Pages that go to the disk, and the lines they were in.
type OnTheWay = (JoinHandle<Result<Vec<Option<Added>>, Over>>, Vec<u64>);

/// Pages that are being added.
struct Adding {
    handle: Handle,
    /// The line that was read last.
    number: u64,
    seeds: Vec<Seed>,
    /// The lines that those were in.
    places: Vec<u64>,
    /// Those that go to the disk.
    on_the_way: Option<OnTheWay>,
    done: AddedPages,
}

impl Adding {
    fn new(handle: Handle) -> Self {
        let (seeds, places) = (Vec::new(), Vec::new());
        Self { handle, number: 0, seeds, places, on_the_way: None, done: AddedPages::default() }
    }

    fn line(&mut self, line: &[u8]) {
        self.number += 1;
        let line = line.trim_ascii();
        let page = match line.first() {
            None => return,
            Some(b'"') => serde_json::from_slice::<Text<'_>>(line).map(|text| NewPage {
                url: text.0,
                importance: None,
                max_age_seconds: None,
            }),
            Some(_) => serde_json::from_slice(line),
        };
        match page {
            Ok(page) => self.put(&page),
            Err(why) => {
                // There is only one line.
                let why = why.to_string().replace(" at line 1 column", " at column");
                self.refuse(|| why);
            }
        }
    }

    fn put(&mut self, page: &NewPage<'_>) {
        match PageUrl::parse(&page.url) {
            Ok(url) => {
                self.places.push(self.number);
                self.seeds.push(Seed {
                    url,
                    importance: page.importance.map(|importance| importance.0),
                    max_age: page.max_age_seconds.map(|seconds| seconds.0),
                });
            }
            Err(why) => self.refuse(|| why.to_string()),
        }
    }

    fn refuse(&mut self, why: impl FnOnce() -> String) {
        self.done.refused += 1;
        if self.done.refusals.len() < TOLD {
            self.done.refusals.push(Refusal { line: self.number, detail: why() });
        }
    }

    /// Hands on what was read, once those before are there.
    async fn hand_on(&mut self) -> Answer<()> {
        self.arrive().await?;
        let (handle, seeds) = (self.handle.clone(), std::mem::take(&mut self.seeds));
        let adding = tokio::spawn(async move { handle.add(seeds, FOUND).await });
        self.on_the_way = Some((adding, std::mem::take(&mut self.places)));
        Ok(())
    }

    async fn arrive(&mut self) -> Answer<()> {
        let Some((adding, places)) = self.on_the_way.take() else { return Ok(()) };
        for (added, line) in adding.await??.into_iter().zip(places) {
            match added {
                Some(Added { new: true, .. }) => self.done.added += 1,
                Some(Added { new: false, .. }) => self.done.known += 1,
                None => {
                    self.done.refused += 1;
                    if self.done.refusals.len() < TOLD {
                        let detail = "there are as many pages as there may be (max_pages)".to_owned();
                        self.done.refusals.push(Refusal { line, detail });
                    }
                }
            }
        }
        Ok(())
    }

    async fn finish(mut self) -> Answer<AddedPages> {
        if !self.seeds.is_empty() {
            self.hand_on().await?;
        }
        self.arrive().await?;
        Ok(self.done)
    }
}
