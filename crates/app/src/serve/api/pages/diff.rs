//! What changed between two versions of a page.

use axum::Json;
use axum::extract::State;
use refrain_fetch::change::Rules;
use refrain_store::PageRecord;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::super::App;
use super::super::input::{Asked, Number};
use super::super::shapes::Kept;
use super::known;
use crate::cli::Which;
use crate::crawl::wanted::rules_for;
use crate::data::diff::compare::{Between, Compared, NotCompared, Same, compare};
use crate::serve::problem::{Answer, Problem};

/// What to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Ends {
    /// The number of the older version; without it, the last one that is another than `to`.
    #[param(minimum = 1)]
    from: Option<i64>,
    /// The number of the newer version; without it, the latest.
    #[param(minimum = 1)]
    to: Option<i64>,
    /// The bodies as they came, rather than their text.
    raw: Option<bool>,
}

/// Where two versions differ.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Difference {
    url: String,
    from: Option<Kept>,
    to: Option<Kept>,
    hunks: Vec<Place>,
    /// Why there is nothing to show, in a sentence.
    note: Option<String>,
    /// In so many places the page has noise, which is left out: the lines say `[ignored]` there.
    ignored_places: usize,
}

/// A place where they differ, with a few lines around.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Place {
    old_line: usize,
    new_line: usize,
    /// Each with its mark: ` same`, `-gone`, `+new`.
    lines: Vec<String>,
}

/// What changed between two versions of a page
#[utoipa::path(get, path = "/v1/pages/{id}/diff", tag = "copies",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page"), Ends),
    responses((status = 200, body = Difference)))]
pub(crate) async fn diff(
    State(app): State<App>,
    Number(id): Number,
    Asked(ends): Asked<Ends>,
) -> Answer<Json<Difference>> {
    let own = app.clone();
    let difference = app.readers.scan(move |reader| {
        let page = known(reader, id)?;
        let versions = reader.versions_of(page.id)?;
        let rules = rules(&own, &page)?;
        let between = Between {
            from: ends.from.map(Which::Version),
            to: ends.to.map(Which::Version),
            raw: ends.raw.unwrap_or(false),
        };
        let url = page.url.clone();
        match compare(reader, &page, &versions, between, &rules) {
            Ok(Compared::Not(why)) => Ok(Difference {
                url,
                from: None,
                to: None,
                hunks: Vec::new(),
                note: Some(why),
                ignored_places: 0,
            }),
            Ok(Compared::Both { from, to, hunks, note, ignored }) => Ok(Difference {
                url,
                from: Some(from.into()),
                to: Some(to.into()),
                hunks: hunks
                    .iter()
                    .map(|hunk| {
                        let (old_line, new_line) = hunk.place();
                        Place { old_line, new_line, lines: hunk.marked().collect() }
                    })
                    .collect(),
                note: note.map(|note| said(note).to_owned()),
                ignored_places: ignored,
            }),
            Err(NotCompared::Missing(missing)) => {
                Err(Problem::missing("no-such-version", format!("{url}: {missing}")))
            }
            Err(NotCompared::Store(why)) => Err(why.into()),
        }
    });
    difference.await.map(Json)
}

/// What counts as a change of a page.
pub(crate) fn rules(app: &App, page: &PageRecord) -> Answer<Rules> {
    rules_for(&app.config, &page.url).map_err(|why| {
        tracing::error!(%why, "the rules of a site cannot be used");
        Problem::ours()
    })
}

/// Why there is nothing to see, in a sentence.
pub(crate) fn said(same: Same) -> &'static str {
    match same {
        Same::Body => "They are the same",
        Same::Lines => "The lines are the same; only their ends or their encoding differ",
        Same::Noise => "Only noise differs, which does not count",
        Same::ByTheRules => "What counts of it, by the rules for its site, is the same",
        Same::Text => "The text is the same, the markup is not",
    }
}
