//! Why a page is fetched, or not: in the words of `refrain explain --json`, as the crawl that runs has it.

use axum::Json;
use axum::extract::State;
use refrain_core::estimate::Confidence;
use refrain_core::frontier::WaitsFor;
use refrain_core::time::Time;
use refrain_engine::{PageNow, robots_say};
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;
use serde::Serialize;
use utoipa::ToSchema;

use super::super::App;
use super::super::input::{NoQuery, Number};
use super::super::shapes::{Heard, Look, Page, Ruling, moment, seconds};
use super::known;
use crate::serve::problem::{Answer, Problem};

/// So many looks are shown, and so many signals.
const SHOWN: usize = 10;
/// How sure the interval of the change rate is.
const SURE: f64 = 0.9;
const DAY: f64 = 86_400.0;

/// All that decides about a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explanation {
    #[serde(flatten)]
    page: Page,
    /// Whether it is crawled at the moment; if not, most of what follows is not known.
    crawled: bool,
    /// Whether it is being fetched.
    under_way: bool,
    /// How often it changes, if that is known; a page that is new is believed to be like others.
    changes: Option<Rate>,
    /// How likely the copy is stale; none if there is no copy.
    stale_probability: Option<f64>,
    /// What a fetch now is worth: seconds for which the copy will be fresh that otherwise would not, times the importance.
    value: Option<f64>,
    /// What a fetch must be worth.
    price: Option<f64>,
    /// How much it matters now: news matter less with every hour.
    importance_now: Option<f64>,
    /// Signals since the last look.
    signals_since: Option<u32>,
    /// When its turn is expected; none: never, if nothing happens.
    #[schema(format = DateTime)]
    due: Option<String>,
    /// What it waits for: `nothing`, `value`, `host`, `budget`, `answer` or `age`,
    waits_for: Option<&'static str>,
    /// and until when, if that is known.
    #[schema(format = DateTime)]
    waits_until: Option<String>,
    /// Whether it shows what is new, and is visited for that.
    is_hub: Option<bool>,
    host: HostFacts,
    /// The latest first.
    looks: Vec<Look>,
    /// The latest first.
    signals: Vec<Heard>,
}

/// How often a page changes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Rate {
    per_day: f64,
    /// With a probability of 90 % between this
    low: f64,
    /// and this; none: as often as you like.
    high: Option<f64>,
}

/// Its host, as far as it matters here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HostFacts {
    name: String,
    gap_seconds: Option<f64>,
    #[schema(format = DateTime)]
    back_off_until: Option<String>,
    paused: bool,
    failures: u32,
    #[schema(format = DateTime)]
    robots_fetched: Option<String>,
    robots_status: Option<u16>,
    robots: Option<Ruling>,
}

/// Why a page is fetched, or not
#[utoipa::path(get, path = "/v1/pages/{id}/explanation", tag = "pages",
    params(("id" = i64, Path, minimum = 1, description = "The number of the page")),
    responses((status = 200, body = Explanation)))]
pub(crate) async fn explanation(
    State(app): State<App>,
    Number(id): Number,
    _: NoQuery,
) -> Answer<Json<Explanation>> {
    let now = app.clock.now();
    let agent = app.agent.clone();
    let (page, mut host, under_way, looks, signals) = app
        .readers
        .scan(move |reader| {
            let page = known(reader, id)?;
            let row = reader.host_by_id(page.host)?.ok_or_else(Problem::ours)?;
            let url = PageUrl::parse(&page.url).ok();
            let robots = row.robots.as_ref().zip(url).map(|(robots, url)| robots_say(robots, &url, &agent));
            let host = HostFacts {
                gap_seconds: seconds(row.gap),
                back_off_until: moment(row.back_off_until.filter(|until| *until > now)),
                paused: false,
                failures: row.failures,
                robots_fetched: moment(row.robots.as_ref().map(|robots| robots.fetched)),
                robots_status: row.robots.as_ref().and_then(|robots| robots.status),
                robots: robots.map(Ruling::from),
                name: row.name,
            };
            let (looks, signals) =
                (reader.observations_of(page.id, SHOWN)?, reader.signals_of(page.id, SHOWN)?);
            Ok::<_, Problem>((page, host, reader.is_under_way(PageId(id))?, looks, signals))
        })
        .await?;
    let is = app.handle.explain(vec![PageId(id)]).await?.pop().flatten();
    if let Some(treated) = app.handle.hosts(vec![host.name.clone()]).await?.pop().flatten() {
        host.gap_seconds = Some(treated.gap.as_secs());
        host.paused = treated.paused;
    }
    let wait = is.map(|is| waits(is.waits_for));
    Ok(Json(Explanation {
        page: page.into(),
        crawled: is.is_some(),
        under_way,
        changes: is.and_then(rate),
        stale_probability: is.and_then(|is| is.stale),
        value: is.map(|is| is.value),
        price: is.map(|is| is.price),
        importance_now: is.map(|is| is.importance),
        signals_since: is.map(|is| is.signals),
        due: moment(is.and_then(|is| is.due)),
        waits_for: wait.map(|(what, _)| what),
        waits_until: moment(wait.and_then(|(_, until)| until)),
        is_hub: is.map(|is| is.is_hub),
        host,
        looks: looks.into_iter().map(Look::from).collect(),
        signals: signals.into_iter().map(Heard::from).collect(),
    }))
}

fn rate(is: PageNow) -> Option<Rate> {
    let estimate = is.changes?.estimate(Confidence::new(SURE)?);
    Some(Rate {
        per_day: estimate.rate * DAY,
        low: estimate.low * DAY,
        high: estimate.high.map(|high| high * DAY),
    })
}

fn waits(waits_for: WaitsFor) -> (&'static str, Option<Time>) {
    match waits_for {
        WaitsFor::Nothing => ("nothing", None),
        WaitsFor::Value => ("value", None),
        WaitsFor::Host(until) => ("host", (until < Time::LAST).then_some(until)),
        WaitsFor::Budget(until) => ("budget", (until < Time::LAST).then_some(until)),
        WaitsFor::Answer => ("answer", None),
        WaitsFor::Age(until) => ("age", (until < Time::LAST).then_some(until)),
    }
}
