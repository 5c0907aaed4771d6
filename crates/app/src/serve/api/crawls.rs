//! Crawls of crawlers that fetch by themselves: what there is of them, and the addresses in their queues.

use axum::Json;
use axum::extract::{FromRequestParts, State};
use http::request::Parts;
use refrain_core::time::{Span, Time};
use refrain_store::{CrawlTally, Placed};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::cursor::Cursor;
use super::input::{Asked, NoQuery, limit, named};
use super::shapes::moment;
use crate::serve::problem::{Answer, Problem};

/// So many addresses are looked at for one answer, however few of them fit.
const MOST_SEEN: usize = 100_000;

/// All crawls.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Crawls {
    crawls: Vec<Crawl>,
}

/// What there is of a crawl.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Crawl {
    name: String,
    /// Who decides when to come back: `client`, whoever fetches; `server`, the value of a fetch.
    #[schema(pattern = "client|server")]
    schedule: &'static str,
    /// How many queues.
    queues: u64,
    /// How many addresses.
    urls: u64,
    /// How many of them are completed: never again.
    completed: u64,
}

impl From<CrawlTally> for Crawl {
    fn from(tally: CrawlTally) -> Self {
        Self {
            schedule: tally.crawl.schedule.as_str(),
            name: tally.crawl.name,
            queues: tally.queues,
            urls: tally.items,
            completed: tally.completed,
        }
    }
}

/// Crawls that speak URLFrontier, by their names
#[utoipa::path(get, path = "/v1/crawls", tag = "crawls", responses((status = 200, body = Crawls)))]
pub(crate) async fn list(State(app): State<App>, _: NoQuery) -> Answer<Json<Crawls>> {
    let tallies = app.readers.scan(refrain_store::Reader::crawl_tallies).await?;
    Ok(Json(Crawls { crawls: tallies.into_iter().map(Crawl::from).collect() }))
}

/// Which addresses.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Portion {
    /// At most so many; there may be fewer, and more after them.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u32>,
    /// Go on here: `next` of the answer before.
    cursor: Option<String>,
    /// Of this queue only.
    key: Option<String>,
    /// Only those with this text in them.
    contains: Option<String>,
}

/// Some of the addresses.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Urls {
    urls: Vec<Url>,
    /// Where to go on; none at the end.
    next: Option<String>,
}

/// An address in a queue.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Url {
    url: String,
    /// The key of its queue.
    key: String,
    /// When it came.
    #[schema(format = DateTime)]
    created: Option<String>,
    /// From when on it is due; none if it is completed, or if its value decides.
    #[schema(format = DateTime)]
    due: Option<String>,
    /// Whether it is completed: never again.
    completed: bool,
    /// The page whose value decides when it is due.
    page: Option<i64>,
}

impl From<Placed> for Url {
    fn from(Placed { queue, item }: Placed) -> Self {
        let second = |seconds: u32| Some(Time::ZERO + Span::from_whole_secs(seconds.into()));
        Self {
            url: item.url,
            key: queue.key,
            created: moment(second(item.created)),
            due: moment(second(item.due).filter(|_| item.due != 0 && item.page.is_none())),
            completed: item.due == 0,
            page: item.page.map(|page| page.0),
        }
    }
}

/// The name of a crawl, in the path.
pub(crate) struct Name(String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        named(parts, state, "crawl").await.map(Self)
    }
}

/// Addresses in the queues of a crawl, in the order in which they came
#[utoipa::path(get, path = "/v1/crawls/{crawl}/urls", tag = "crawls", params(
    ("crawl" = String, Path, description = "The name of the crawl, percent-encoded"), Portion),
    responses((status = 200, body = Urls)))]
pub(crate) async fn urls(
    State(app): State<App>,
    Name(crawl): Name,
    Asked(asked): Asked<Portion>,
) -> Answer<Json<Urls>> {
    let limit = limit(asked.limit, 100, 1000)?;
    let after = u32::try_from(Cursor::number(asked.cursor.as_deref())?).unwrap_or(u32::MAX);
    let known = app.readers.look(refrain_store::Reader::crawls)?;
    if !known.iter().any(|known| known.name == crawl) {
        let shown: String = crawl.chars().take(200).collect();
        return Err(Problem::missing(
            "no-such-crawl",
            format!("`{shown}`: there is no such crawl; /v1/crawls has them all"),
        ));
    }
    let (found, last) = app
        .readers
        .scan(move |reader| {
            let (key, contains) = (asked.key.as_deref(), asked.contains.as_deref());
            reader.items_of(&crawl, key, contains, (after, limit, MOST_SEEN))
        })
        .await?;
    let next = last.map(|last| Cursor::After(last.into()).written());
    Ok(Json(Urls { urls: found.into_iter().map(Url::from).collect(), next }))
}
