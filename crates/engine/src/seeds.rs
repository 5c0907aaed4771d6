//! Where a crawl begins.

use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use refrain_store::{Address, Batch, NewPage, Store, StoreError};

use crate::settings::host_name;

/// A page to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Its address.
    pub url: PageUrl,
    /// How much it matters.
    pub importance: f64,
    /// How old its copy may get.
    pub max_age: Option<Span>,
}

/// So many seeds are committed at a time: large batches are quick.
const AT_A_TIME: usize = 200_000;

/// Puts seeds into a store. How many were not there before.
///
/// # Errors
/// If the store refuses.
pub fn add_seeds(store: &mut Store, seeds: &[Seed], now: Time) -> Result<u64, StoreError> {
    let mut new = 0;
    for seeds in seeds.chunks(AT_A_TIME) {
        let pages: Result<Vec<NewPage>, StoreError> = seeds
            .iter()
            .map(|seed| new_page(&seed.url, seed.importance, seed.max_age, now, "seed"))
            .collect();
        let done = store.commit(&Batch { pages: pages?, ..Batch::default() })?;
        new += done.pages.iter().filter(|added| added.new).count() as u64;
    }
    Ok(new)
}

/// A page as the store wants it.
pub(crate) fn new_page(
    url: &PageUrl,
    importance: f64,
    max_age: Option<Span>,
    added: Time,
    found: &'static str,
) -> Result<NewPage, StoreError> {
    let host = host_name(url);
    Ok(NewPage { url: Address::new(url.as_str())?, host, importance, max_age, added, found })
}
