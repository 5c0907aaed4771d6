//! Why a page is fetched, or not: what `refrain explain --json` says, as the crawl that runs has it.

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
use super::super::shapes::moment;
use super::diff::rules;
use super::known;
use crate::data::explain::explained::{Explained, HostFacts, Rate, SHOWN, SURE};
use crate::data::ignored;
use crate::serve::problem::{Answer, Problem};

/// All that decides about a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explanation {
    #[serde(flatten)]
    explained: Explained,
    /// Whether it is crawled at the moment; if not, most of the rest is not known.
    crawled: bool,
    /// How often it changes, if that is known; a page that is new is believed to be like others.
    changes: Option<Rate>,
    /// How much it matters now: news matter less with every hour.
    importance_now: Option<f64>,
    /// Signals since the last look.
    signals_since: Option<u32>,
    /// What it waits for: `nothing`, `value`, `host`, `budget`, `answer` or `age`,
    waits_for: Option<&'static str>,
    /// and until when, if that is known.
    #[schema(format = DateTime)]
    waits_until: Option<String>,
    /// Whether it shows what is new, and is visited for that.
    is_hub: Option<bool>,
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
    let (own, agent) = (app.clone(), app.agent.clone());
    let mut explained = app
        .readers
        .scan(move |reader| {
            let page = known(reader, id)?;
            let row = reader.host_by_id(page.host)?.ok_or_else(Problem::ours)?;
            let url = PageUrl::parse(&page.url).ok();
            let robots = row.robots.as_ref().zip(url).map(|(robots, url)| robots_say(robots, &url, &agent));
            let host = HostFacts::new(row, robots, now);
            let (looks, signals) =
                (reader.observations_of(page.id, SHOWN)?, reader.signals_of(page.id, SHOWN)?);
            let under_way = reader.is_under_way(page.id)?;
            let noise = ignored::noise(reader, &page, &rules(&own, &page)?)?;
            let mut explained = Explained::new(page, under_way, host, looks, signals);
            explained.noise = noise;
            Ok::<_, Problem>(explained)
        })
        .await?;
    let is = app.handle.explain(vec![PageId(id)]).await?.pop().flatten();
    if let Some(treated) = app.handle.hosts(vec![explained.host.name.clone()]).await?.pop().flatten() {
        explained.host.gap_seconds = Some(treated.gap.as_secs());
        explained.host.paused = treated.paused;
    }
    explained.stale_probability = is.and_then(|is| is.stale);
    explained.value = is.map(|is| is.value);
    explained.set_price(is.and_then(|is| is.price));
    explained.due = moment(is.and_then(|is| is.due));
    let wait = is.map(|is| waits(is.waits_for));
    Ok(Json(Explanation {
        explained,
        crawled: is.is_some(),
        changes: is.and_then(rate),
        importance_now: is.map(|is| is.importance),
        signals_since: is.map(|is| is.signals),
        waits_for: wait.map(|(what, _)| what),
        waits_until: moment(wait.and_then(|(_, until)| until)),
        is_hub: is.map(|is| is.is_hub),
    }))
}

fn rate(is: PageNow) -> Option<Rate> {
    Some(is.changes?.estimate(Confidence::new(SURE)?).into())
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
