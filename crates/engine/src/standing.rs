//! How the crawl stands, and the price of a fetch: kept with every batch, as plain text, so that whatever reads the data directory says the same as
//! the crawl does.

use std::collections::VecDeque;

use refrain_core::time::{Span, Time};
use refrain_store::{Reader, StoreError};

use crate::settings::Settings;

/// How the last crawl into a store went about it, and what a fetch was worth to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Requests per second.
    pub rate: f64,
    /// The least time between two requests to a host that asks for nothing else.
    pub gap: Span,
    /// The crawler's name in robots.txt.
    pub agent: String,
    /// Which links became pages, as it is typed; empty if none did.
    pub follow: String,
    /// What a fetch must be worth; `None` before the first fetch of a page that had a copy.
    pub price: Option<Price>,
    /// When this was written: the last commit. `None` in stores of earlier versions.
    pub time: Option<Time>,
    /// Whether that was the last commit of a crawl that ended properly.
    pub ended: bool,
}

/// What a fetch must be worth: seconds of fresh copy, times importance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// The price of the budget if it has one. Otherwise the median of what the last fetches of pages that had a copy were worth: a first fetch
    /// is worth more than any other, and says nothing of what others must be worth; and a few fetches of pages of which next to nothing
    /// was known, worth thousands of times as much as others, do not move it.
    pub value: f64,
    /// How many fetches that is learned from; `None`: the price is given.
    pub fetches: Option<u64>,
}

const RATE: &str = "crawl.rate";
const GAP: &str = "crawl.gap";
const AGENT: &str = "crawl.agent";
const FOLLOW: &str = "crawl.follow";
const PRICE: &str = "crawl.price";
const PAID: &str = "crawl.paid";
const TIME: &str = "crawl.time";
const ENDED: &str = "crawl.ended";

/// The price is the median of so many fetches, the last ones.
const WINDOW: usize = 64;
/// The price of the crawl before counts as so many fetches: the pages and the budget may be others now.
const CARRIED: usize = 8;
/// A value beyond this is no value: the page is as old as it may get, and must be fetched.
const MUST: f64 = 1e99;

impl Price {
    /// A price that the budget has.
    pub(crate) fn given(value: f64) -> Self {
        Self { value, fetches: None }
    }

    /// Whether enough fetches were made to say when a page is worth one.
    pub fn is_settled(&self) -> bool {
        self.fetches.is_none_or(|fetches| fetches >= WINDOW as u64)
    }
}

/// What the last fetches of pages that had a copy were worth.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paid {
    /// The latest last; at most [`WINDOW`].
    values: VecDeque<f64>,
    /// All that were ever made.
    fetches: u64,
}

impl Paid {
    /// A crawl begins; what fetches are worth is what they were worth to the one before, until it knows better.
    pub(crate) fn begin(reader: &Reader) -> Result<Self, StoreError> {
        let Some(price) = Standing::read(reader)?.and_then(|before| before.price) else {
            return Ok(Self::default());
        };
        let fetches = price.fetches.map_or(CARRIED, |fetches| CARRIED.min(fetches as usize)).max(1);
        Ok(Self { values: std::iter::repeat_n(price.value, fetches).collect(), fetches: fetches as u64 })
    }

    /// A page that had a copy was fetched, for this value.
    pub(crate) fn add(&mut self, value: f64) {
        if value < MUST {
            if self.values.len() == WINDOW {
                self.values.pop_front();
            }
            self.values.push_back(value);
            self.fetches += 1;
        }
    }

    /// `None` before the first fetch.
    pub(crate) fn price(&self) -> Option<Price> {
        let mut values: Vec<f64> = self.values.iter().copied().collect();
        if values.is_empty() {
            return None;
        }
        let middle = values.len() / 2;
        let (_, value, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
        Some(Price { value: *value, fetches: Some(self.fetches) })
    }
}

impl Standing {
    /// As the last commit has it; `None` if there was no crawl yet.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read(reader: &Reader) -> Result<Option<Self>, StoreError> {
        let text = |key| Ok(reader.meta(key)?.map(|value| String::from_utf8_lossy(&value).into_owned()));
        let number = |key| {
            let number = text(key)?.and_then(|text| text.parse::<f64>().ok());
            Ok::<_, StoreError>(number.filter(|number| number.is_finite() && *number >= 0.0))
        };
        let (Some(rate), Some(gap), Some(agent)) = (number(RATE)?, number(GAP)?, text(AGENT)?) else {
            return Ok(None);
        };
        let follow = text(FOLLOW)?.unwrap_or_default();
        let fetches = match text(PAID)?.as_deref() {
            Some("given") => None,
            // Earlier versions did not count.
            said => Some(said.and_then(|number| number.parse().ok()).unwrap_or(CARRIED as u64)),
        };
        let price = number(PRICE)?.map(|value| Price { value, fetches });
        let time = text(TIME)?.and_then(|text| text.parse().ok()).map(Time::from_nanos);
        let ended = text(ENDED)?.is_some();
        Ok(Some(Self { rate, gap: Span::from_secs(gap), agent, follow, price, time, ended }))
    }

    /// A crawl begins.
    pub(crate) fn begin(settings: &Settings) -> Self {
        let follow = settings.follow.as_ref().map(ToString::to_string).unwrap_or_default();
        let (rate, gap, agent) = (settings.rate, settings.gap, settings.agent.clone());
        Self { rate, gap, agent, follow, price: None, time: None, ended: false }
    }

    /// As the store keeps it, at a commit, with the price that holds.
    pub(crate) fn facts(&self, price: Option<Price>, now: Time) -> Vec<(String, Vec<u8>)> {
        let paid = price.map(|price| price.fetches.map_or("given".to_owned(), |fetches| fetches.to_string()));
        let facts = [
            (RATE, Some(self.rate.to_string())),
            (GAP, Some(self.gap.as_secs().to_string())),
            (AGENT, Some(self.agent.clone())),
            (FOLLOW, Some(self.follow.clone())),
            (PRICE, price.map(|price| price.value.to_string())),
            (PAID, paid),
            (TIME, Some(now.as_nanos().to_string())),
            // What is empty is not kept.
            (ENDED, Some(if self.ended { "yes".to_owned() } else { String::new() })),
        ];
        let known = facts.into_iter().filter_map(|(key, value)| value.map(|value| (key, value)));
        known.map(|(key, value)| (key.to_owned(), value.into_bytes())).collect()
    }
}

#[cfg(test)]
mod tests {
    use refrain_store::{Batch, Options, Store};

    use super::*;

    #[test]
    fn what_is_kept_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        assert_eq!(Standing::read(store.read()).unwrap(), None);
        assert_eq!(Paid::begin(store.read()).unwrap().price(), None);
        let mut standing = Standing::begin(&Settings::default());
        let now = Time::from_nanos(1_700_000_000_123_456_789);
        let learned = |fetches| Some(Price { value: 3.0, fetches: Some(fetches) });
        let given = Some(Price::given(2.5));
        for (ended, price) in [(true, None), (false, given), (false, learned(2)), (true, learned(100))] {
            (standing.ended, standing.price, standing.time) = (ended, price, Some(now));
            store.commit(&Batch { meta: standing.facts(price, now), ..Batch::default() }).unwrap();
            assert_eq!(Standing::read(store.read()).unwrap(), Some(standing.clone()));
        }
        // Another crawl goes on with the price, but is not sure of it.
        assert_eq!(Paid::begin(store.read()).unwrap().price(), learned(CARRIED as u64));
    }

    #[test]
    fn the_price_is_the_median_of_the_last_fetches() {
        let mut paid = Paid::default();
        let mut price = |values: &[f64]| {
            for value in values {
                paid.add(*value);
            }
            paid.price().unwrap()
        };
        // A page that must be fetched says nothing.
        assert_eq!(price(&[5000.0, 1e200]), Price { value: 5000.0, fetches: Some(1) });
        // Pages of which nothing was known were worth thousands.
        assert_eq!(price(&[5000.0; 6]).value, 5000.0);
        assert_eq!(price(&[2.0; 8]).value, 2.0);
        assert!(!price(&[2.0; 48]).is_settled());
        assert!(price(&[2.0]).is_settled());
        assert_eq!(price(&[3.0; 31]).value, 2.0);
        assert_eq!(price(&[3.0; 2]).value, 3.0, "it follows");
        assert!(Price::given(7.0).is_settled());
    }
}
