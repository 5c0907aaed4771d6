//! What may be spent.

use axum::Json;
use axum::extract::State;
use refrain_core::frontier::Budget;
use refrain_engine::BudgetNow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::input::{Content, NoQuery};
use crate::serve::problem::{Answer, Problem};

/// What may be spent, and what it buys at the moment.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Spent {
    /// Fetches per second; none if there is a price.
    rate_per_second: Option<f64>,
    /// What a fetch must be worth, in seconds of fresh copy times importance; none if there is a rate.
    price_seconds: Option<f64>,
    /// With a price, at most so many fetches per second.
    cap_per_second: Option<f64>,
    /// What the last few dozen fetches were worth, in the same unit.
    price_now_seconds: Option<f64>,
    /// The share of copies that are expected to be fresh, weighted by importance.
    freshness: Option<f64>,
}

impl From<BudgetNow> for Spent {
    fn from(is: BudgetNow) -> Self {
        let (rate, price, cap) = match is.budget {
            Budget::Rate(rate) => (Some(rate), None, None),
            Budget::Price { price, cap } => (None, Some(price), Some(cap)),
        };
        Self {
            rate_per_second: rate,
            price_seconds: price,
            cap_per_second: cap,
            price_now_seconds: is.price.map(|price| price.value),
            freshness: is.freshness,
        }
    }
}

/// What may be spent, and what it buys
#[utoipa::path(get, path = "/v1/budget", tag = "budget", responses((status = 200, body = Spent)))]
pub(crate) async fn get(State(app): State<App>, _: NoQuery) -> Answer<Json<Spent>> {
    Ok(Json(app.handle.budget().await?.into()))
}

/// A rate, or a price with a cap.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToSpend {
    /// Fetches per second: the most valuable ones.
    #[schema(minimum = 1e-10, maximum = 1e9)]
    rate_per_second: Option<f64>,
    /// Every fetch that is worth this, in seconds of fresh copy times importance,
    #[schema(minimum = 0)]
    #[serde(alias = "price")]
    price_seconds: Option<f64>,
    /// but at most so many per second.
    #[schema(minimum = 1e-10, maximum = 1e9)]
    cap_per_second: Option<f64>,
}

/// Change what may be spent, from now on
#[utoipa::path(put, path = "/v1/budget", tag = "budget",
    request_body(content = ToSpend, content_type = "application/json"),
    responses((status = 200, body = Spent)))]
pub(crate) async fn put(
    State(app): State<App>,
    _: NoQuery,
    Content(wanted): Content<ToSpend>,
) -> Answer<Json<Spent>> {
    let budget = match (wanted.rate_per_second, wanted.price_seconds, wanted.cap_per_second) {
        (Some(rate), None, None) => Budget::Rate(rate),
        (None, Some(price), Some(cap)) => Budget::Price { price, cap },
        _ => {
            return Err(Problem::impossible(
                "this is no budget; expected `rate_per_second`, or `price_seconds` with `cap_per_second`",
            ));
        }
    };
    let is = app.handle.set_budget(budget).await?;
    is.map(|is| Json(is.into())).map_err(|why| Problem::impossible(why.to_string()))
}
