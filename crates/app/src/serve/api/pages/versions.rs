//! The copies of a page that are kept.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::App;
use super::super::cursor::Cursor;
use super::super::input::{Asked, Number, limit};
use super::super::shapes::Kept;
use super::known;
use crate::serve::problem::{Answer, Problem};

/// Which of them.
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

/// Some of the versions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Versions {
    /// The latest first.
    versions: Vec<Kept>,
    /// Where to go on; none at the end.
    next: Option<String>,
}

/// The versions of a page that are kept
#[utoipa::path(get, path = "/v1/pages/{id}/versions", tag = "copies",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"), Portion),
    responses((status = 200, body = Versions)))]
pub(crate) async fn versions(
    State(app): State<App>,
    Number(id): Number,
    Asked(some): Asked<Portion>,
) -> Answer<Json<Versions>> {
    let limit = limit(some.limit, 100, 1000)?;
    let after = some.cursor.as_deref().map(|text| Cursor::number(Some(text))).transpose()?;
    let versions = app.readers.scan(move |reader| {
        let page = known(reader, id)?;
        let all = reader.versions_of(page.id)?;
        let start = match after {
            None => 0,
            Some(last) => {
                all.iter().position(|version| version.id.0 == last).map(|place| place + 1).ok_or_else(
                    || Problem::bad("the cursor is of another list, or its version was dropped"),
                )?
            }
        };
        let rest = &all[start..];
        let shown = &rest[..rest.len().min(limit)];
        let last = shown.last().filter(|_| rest.len() > limit);
        Ok::<_, Problem>(Versions {
            versions: shown.iter().map(Kept::from).collect(),
            next: last.map(|version| Cursor::After(version.id.0).written()),
        })
    });
    versions.await.map(Json)
}
