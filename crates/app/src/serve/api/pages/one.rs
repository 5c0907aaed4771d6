//! One page.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use super::super::App;
use super::super::input::{Asked, NoQuery, Number};
use super::super::shapes::Page;
use super::{at, known};
use crate::serve::problem::Answer;

/// A page, by its number
#[utoipa::path(get, path = "/v1/pages/{id}", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page")),
    responses((status = 200, body = Page)))]
pub(crate) async fn by_number(State(app): State<App>, Number(id): Number, _: NoQuery) -> Answer<Json<Page>> {
    // A point query: made here and now, as nothing else is this quick.
    app.readers.look(|reader| known(reader, id)).map(|record| Json(record.into()))
}

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Address {
    /// Its address, in whatever spelling.
    pub(crate) url: String,
}

/// A page, by its address
#[utoipa::path(get, path = "/v1/page", tag = "pages", params(Address),
    responses((status = 200, body = Page),
              (status = 404, description = "There is no such page.", body = crate::serve::problem::Details,
               content_type = "application/problem+json")))]
pub(crate) async fn by_address(State(app): State<App>, Asked(address): Asked<Address>) -> Answer<Json<Page>> {
    app.readers.look(|reader| at(reader, &address.url)).map(|record| Json(record.into()))
}
