//! Where a crawl begins.

use refrain_core::time::{Span, Time};
use refrain_fetch::url::PageUrl;
use refrain_store::{
    Address, Batch, Edit, GREATEST_IMPORTANCE, NewPage, Origin, PageId, Role, Store, StoreError,
};

use crate::queues::FOUND;
use crate::settings::host_name;

/// A page to begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct Seed {
    /// Its address.
    pub url: PageUrl,
    /// How much it matters, if anything is said about that.
    pub importance: Option<f64>,
    /// How old its copy may get, if anything is said about that.
    pub max_age: Option<Span>,
}

/// So many seeds are committed at a time: large batches are quick.
const AT_A_TIME: usize = 200_000;

/// Puts seeds into a store. What is said of those that were there already holds from now on. How many were not there before.
///
/// # Errors
/// If the store refuses.
pub fn add_seeds(store: &mut Store, seeds: &[Seed], now: Time) -> Result<u64, StoreError> {
    let mut new = 0;
    for seeds in seeds.chunks(AT_A_TIME) {
        let pages: Result<Vec<NewPage>, StoreError> = seeds
            .iter()
            .map(|seed| new_page(&seed.url, seed.importance.unwrap_or(1.0), seed.max_age, now, "seed"))
            .collect();
        let done = store.commit(&Batch { pages: pages?, ..Batch::default() })?;
        new += done.pages.iter().flatten().filter(|added| added.new).count() as u64;
        let known = seeds.iter().zip(&done.pages).filter_map(|(seed, added)| Some((seed, (*added)?)));
        let known = known.filter(|(_, added)| !added.new);
        let edits: Vec<Edit> = known.filter_map(|(seed, added)| edit(seed, added.page)).collect();
        if !edits.is_empty() {
            store.commit(&Batch { edits, ..Batch::default() })?;
        }
    }
    Ok(new)
}

/// Adds pages that other crawlers fetch, with what each is there for, to a store on which nothing runs. Their numbers, in order.
///
/// # Errors
/// If the store cannot be written.
pub fn add_queued(
    store: &mut Store,
    pages: &[(PageUrl, Role)],
    now: Time,
) -> Result<Vec<PageId>, StoreError> {
    let new = |(url, role): &(PageUrl, Role)| {
        let origin = Origin { role: *role, ..Origin::default() };
        Ok(NewPage { origin, ..new_page(url, 1.0, None, now, FOUND)? })
    };
    let pages: Result<Vec<NewPage>, StoreError> = pages.iter().map(new).collect();
    let done = store.commit(&Batch { pages: pages?, ..Batch::default() })?;
    Ok(done.pages.iter().flatten().map(|added| added.page).collect())
}

/// What is said of a page that is there already, if anything is.
pub(crate) fn edit(seed: &Seed, page: PageId) -> Option<Edit> {
    let says_something = seed.importance.is_some() || seed.max_age.is_some();
    says_something.then(|| Edit {
        importance: seed.importance,
        max_age: seed.max_age.map(Some),
        ..Edit::of(page)
    })
}

/// A page as the store wants it. An importance that was computed may be greater than any that is kept.
pub(crate) fn new_page(
    url: &PageUrl,
    importance: f64,
    max_age: Option<Span>,
    added: Time,
    found: &'static str,
) -> Result<NewPage, StoreError> {
    let (host, importance) = (host_name(url), importance.min(GREATEST_IMPORTANCE));
    let origin = Origin::default();
    Ok(NewPage { url: Address::new(url.as_str())?, host, importance, max_age, added, found, origin })
}
