//! All that decides about a page, as programs read it: from `refrain explain --json` and from `GET /v1/pages/{id}/explanation`.

use refrain_core::estimate::Estimate;
use refrain_core::time::Time;
use refrain_engine::{Price, RobotsSay};
use refrain_store::{HostRow, Observation, PageRecord, Signal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::data::ignored::Noise;
use crate::data::shapes::{Heard, Look, Page, Ruling, moment, seconds};

/// So many looks are shown, and so many signals.
pub(crate) const SHOWN: usize = 10;
/// How sure the interval of the change rate is.
pub(crate) const SURE: f64 = 0.9;
const DAY: f64 = 86_400.0;

/// What both say.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Explained {
    #[serde(flatten)]
    page: Page,
    /// Whether it is being fetched.
    under_way: bool,
    /// How likely the copy is stale; none if there is no copy.
    pub(crate) stale_probability: Option<f64>,
    /// What a fetch now is worth: seconds for which the copy will be fresh that otherwise would not, times the importance.
    pub(crate) value: Option<f64>,
    /// What a fetch must be worth; none if that is not known yet.
    price: Option<f64>,
    /// How many fetches the price is learned from; none if it was set. With few of them it is not settled.
    price_fetches: Option<u64>,
    /// If no crawl runs: when the last one ended. Probability, value and price are as of then.
    #[schema(format = DateTime)]
    pub(crate) as_of: Option<String>,
    /// When its turn is expected; none: never, if nothing happens.
    #[schema(format = DateTime)]
    pub(crate) due: Option<String>,
    pub(crate) host: HostFacts,
    /// What of it does not count as a change; none: all of it counts.
    pub(crate) noise: Option<Noise>,
    /// The latest first.
    looks: Vec<Look>,
    /// The latest first.
    signals: Vec<Heard>,
}

impl Explained {
    /// What the data directory says; what a crawl makes of it is not known yet.
    pub(crate) fn new(
        page: PageRecord,
        under_way: bool,
        host: HostFacts,
        looks: Vec<Observation>,
        signals: Vec<Signal>,
    ) -> Self {
        Self {
            page: page.into(),
            under_way,
            stale_probability: None,
            value: None,
            price: None,
            price_fetches: None,
            as_of: None,
            due: None,
            noise: None,
            host,
            looks: looks.into_iter().map(Look::from).collect(),
            signals: signals.into_iter().map(Heard::from).collect(),
        }
    }

    /// What a fetch must be worth, if that is known.
    pub(crate) fn set_price(&mut self, price: Option<Price>) {
        self.price = price.map(|price| price.value);
        self.price_fetches = price.and_then(|price| price.fetches);
    }
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

impl From<Estimate> for Rate {
    fn from(per_second: Estimate) -> Self {
        let Estimate { rate, low, high } = per_second;
        Self { per_day: rate * DAY, low: low * DAY, high: high.map(|high| high * DAY) }
    }
}

/// Its host, as far as it matters here.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HostFacts {
    pub(crate) name: String,
    pub(crate) gap_seconds: Option<f64>,
    #[schema(format = DateTime)]
    back_off_until: Option<String>,
    pub(crate) paused: bool,
    failures: u32,
    #[schema(format = DateTime)]
    robots_fetched: Option<String>,
    robots_status: Option<u16>,
    robots: Option<Ruling>,
}

impl HostFacts {
    pub(crate) fn new(row: HostRow, robots: Option<RobotsSay>, now: Time) -> Self {
        Self {
            gap_seconds: seconds(row.gap),
            back_off_until: moment(row.back_off_until.filter(|until| *until > now)),
            paused: row.paused,
            failures: row.failures,
            robots_fetched: moment(row.robots.as_ref().map(|robots| robots.fetched)),
            robots_status: row.robots.as_ref().and_then(|robots| robots.status),
            robots: robots.map(Ruling::from),
            name: row.name,
        }
    }
}
