//! How the crawl stands, for those who look into its data directory: kept with every batch, as plain text.

use refrain_core::time::Span;
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
    /// The price: what the last few dozen fetches of pages were worth that had been fetched before. `None`: there were none yet.
    pub price: Option<f64>,
}

const RATE: &str = "crawl.rate";
const GAP: &str = "crawl.gap";
const AGENT: &str = "crawl.agent";
const FOLLOW: &str = "crawl.follow";
const PRICE: &str = "crawl.price";

/// What the last fetch counts in the price.
const SHARE: f64 = 1.0 / 64.0;
/// Whatever is worth more is not fetched for what it is worth, but because it must be: it is as old as it may get.
const MUST: f64 = 1e99;

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
        Ok(Some(Self { rate, gap: Span::from_secs(gap), agent, follow, price: number(PRICE)? }))
    }

    /// A crawl begins; what fetches are worth is what they were worth to the one before, until it knows better.
    pub(crate) fn begin(reader: &Reader, settings: &Settings) -> Result<Self, StoreError> {
        let price = Self::read(reader)?.and_then(|before| before.price);
        let follow = settings.follow.as_ref().map(ToString::to_string).unwrap_or_default();
        Ok(Self { rate: settings.rate, gap: settings.gap, agent: settings.agent.clone(), follow, price })
    }

    /// A page that had been fetched before was fetched again, for this value.
    pub(crate) fn paid(&mut self, value: f64) {
        if value < MUST {
            let price = self.price.unwrap_or(value);
            self.price = Some(price + SHARE * (value - price));
        }
    }

    /// As the store keeps it.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, Vec<u8>)> + use<> {
        let price = self.price.map(|price| (PRICE, price.to_string()));
        let rest = [
            (RATE, self.rate.to_string()),
            (GAP, self.gap.as_secs().to_string()),
            (AGENT, self.agent.clone()),
            (FOLLOW, self.follow.clone()),
        ];
        rest.into_iter().chain(price).map(|(key, value)| (key.to_owned(), value.into_bytes()))
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
        let mut standing = Standing::begin(store.read(), &Settings::default()).unwrap();
        assert_eq!(standing.price, None);
        standing.paid(640.0);
        standing.paid(0.0);
        standing.paid(1e200);
        assert_eq!(standing.price, Some(630.0));
        store.commit(&Batch { meta: standing.facts().collect(), ..Batch::default() }).unwrap();
        assert_eq!(Standing::read(store.read()).unwrap(), Some(standing.clone()));
        // Another crawl goes on with the price.
        assert_eq!(Standing::begin(store.read(), &Settings::default()).unwrap(), standing);
    }
}
