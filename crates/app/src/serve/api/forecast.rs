//! What a budget would buy, at best, as pages are believed to be.

use axum::Json;
use axum::extract::State;
use refrain_core::optimum::{LearnedPage, allocate, rates_for_freshness};
use refrain_engine::SampledPage;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::input::Asked;
use crate::serve::problem::{Answer, Problem};

/// So many pages stand for all.
const SAMPLE: usize = 100_000;

/// For which budget.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct For {
    /// Fetches per second; without it, as many as there are now.
    #[param(minimum = 1e-10, maximum = 1e9)]
    rate_per_second: Option<f64>,
    /// Also: how many fetches per second does this freshness take?
    #[param(minimum = 0.001, maximum = 0.999)]
    freshness: Option<f64>,
}

/// What budgets buy.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Forecast {
    /// How many pages there are,
    pages: usize,
    /// and how many of them this was computed from.
    sample: usize,
    /// For the budget that was asked for,
    budget: Bought,
    /// for half of it,
    half: Bought,
    /// and for twice as much.
    double: Bought,
    /// What the freshness takes that was asked for; none if none was, or no budget buys it.
    wanted: Option<Bought>,
}

/// What a budget buys.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Bought {
    rate_per_second: f64,
    /// The share of requests that find a fresh copy.
    freshness: f64,
}

/// What a budget would buy
#[utoipa::path(get, path = "/v1/forecast", tag = "budget", params(For),
    responses((status = 200, body = Forecast),
              (status = 409, description = "There are no pages yet.", body = crate::serve::problem::Details,
               content_type = "application/problem+json")))]
pub(crate) async fn forecast(State(app): State<App>, Asked(asked): Asked<For>) -> Answer<Json<Forecast>> {
    if let Some(freshness) = asked.freshness.filter(|freshness| !(0.001..=0.999).contains(freshness)) {
        return Err(Problem::bad(format!("freshness is {freshness}; expected 0.001 to 0.999")));
    }
    let rate = match asked.rate_per_second {
        Some(rate) if (1e-10..=1e9).contains(&rate) => rate,
        Some(rate) => {
            return Err(Problem::bad(format!("rate_per_second is {rate}; expected 1e-10 to 1e9")));
        }
        None => app.handle.budget().await?.budget.rate(),
    };
    let sample = app.handle.sample(SAMPLE).await?;
    let pages: Vec<LearnedPage> = sample.pages.iter().filter_map(SampledPage::candidate).collect();
    if pages.is_empty() {
        return Err(Problem::new(
            http::StatusCode::CONFLICT,
            "no-pages",
            "there are no pages yet; expected some before a forecast",
        ));
    }
    let of = sample.of.max(pages.len());
    tokio::task::spawn_blocking(move || compute(&pages, of, rate, asked.freshness)).await?.map(Json)
}

fn compute(pages: &[LearnedPage], of: usize, rate: f64, wanted: Option<f64>) -> Answer<Forecast> {
    // The sample gets its share of the budget.
    let share = pages.len() as f64 / of as f64;
    let buys = |rate: f64| match allocate(pages, rate * share) {
        Ok(best) => Ok(Bought { rate_per_second: rate, freshness: best.freshness }),
        Err(why) => Err(Problem::impossible(why.to_string())),
    };
    let wanted = wanted.and_then(|freshness| {
        let point = rates_for_freshness(pages, &[freshness], || {}).pop().flatten()?;
        Some(Bought { rate_per_second: point.rate / share, freshness: point.freshness })
    });
    Ok(Forecast {
        pages: of,
        sample: pages.len(),
        budget: buys(rate)?,
        half: buys(0.5 * rate)?,
        double: buys(2.0 * rate)?,
        wanted,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_stands_for_all() {
        let page = |n| LearnedPage::new(f64::from(n) * 1e-5, 3.0, 1.0).unwrap();
        let pages: Vec<LearnedPage> = (1..=100).map(page).collect();
        let all = compute(&pages, 100, 0.05, Some(0.5)).unwrap();
        let part = compute(&pages, 1000, 0.5, Some(0.5)).unwrap();
        assert!((all.budget.freshness - part.budget.freshness).abs() < 1e-9);
        assert!(all.half.freshness < all.budget.freshness && all.budget.freshness < all.double.freshness);
        let (all, part) = (all.wanted.unwrap(), part.wanted.unwrap());
        assert!((10.0 * all.rate_per_second / part.rate_per_second - 1.0).abs() < 1e-9);
        assert!((all.freshness - 0.5).abs() < 1e-6);
    }
}
