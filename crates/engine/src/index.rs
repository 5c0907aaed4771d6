//! Which addresses are known, and what was announced of their pages: shared with those who read announcements, so that of a sitemap with
//! fifty thousand entries only the news are handed on.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::kinds::Kind;
use refrain_core::ids::IdMap;
use refrain_core::time::Time;
use refrain_store::PageId;

/// Cheap to clone; clones share what they know.
#[derive(Clone, Default)]
pub(crate) struct Index {
    shared: Arc<RwLock<Known>>,
    /// Hashes addresses with a key of this process: strangers choose addresses, and cannot choose two that are taken for one.
    hasher: RandomState,
}

#[derive(Default)]
struct Known {
    /// Pages by the hashes of their addresses (one in a sextillion is taken for another by mistake); [`NOT_YET`] while the store has no
    /// number for them.
    pages: IdMap<u64, PageId>,
    /// When a kind of announcement last said that a page changed.
    said: HashMap<PageId, Vec<(Kind, Time)>>,
}

const NOT_YET: PageId = PageId(0);

/// What is known of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nothing.
    Unknown,
    /// There is a page, and it is on its way into the store.
    OnItsWay,
    /// There is this page.
    Page(PageId),
}

impl Index {
    fn read(&self) -> RwLockReadGuard<'_, Known> {
        // Whoever panicked while writing left whole entries.
        self.shared.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn hash(&self, url: &str) -> u64 {
        self.hasher.hash_one(url)
    }

    /// Whether anything is known of an address.
    pub(crate) fn is_known(&self, url: &str) -> bool {
        self.read().pages.contains_key(&self.hash(url))
    }

    /// Remembers an address. Whether it is new.
    pub(crate) fn know(&self, url: &str) -> bool {
        match self.write().pages.entry(self.hash(url)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(new) => {
                new.insert(NOT_YET);
                true
            }
        }
    }

    /// The page at an address has a number.
    pub(crate) fn number(&self, url: &str, page: PageId) {
        self.write().pages.insert(self.hash(url), page);
    }

    /// A page is not at an address any more. Another page that was added there since stays.
    pub(crate) fn forget(&self, url: &str, page: PageId) {
        let mut known = self.write();
        known.said.remove(&page);
        if let Entry::Occupied(found) = known.pages.entry(self.hash(url))
            && *found.get() == page
        {
            found.remove();
        }
    }

    /// The page that was on its way into the store does not get there.
    pub(crate) fn forget_unwritten(&self, url: &str) {
        self.forget(url, NOT_YET);
    }

    /// What is known of an address.
    pub(crate) fn page(&self, url: &str) -> Place {
        match self.read().pages.get(&self.hash(url)) {
            None => Place::Unknown,
            Some(&NOT_YET) => Place::OnItsWay,
            Some(page) => Place::Page(*page),
        }
    }

    /// How many addresses are known.
    pub(crate) fn len(&self) -> u64 {
        self.read().pages.len() as u64
    }

    /// When a kind of announcement last said that a page changed.
    pub(crate) fn said(&self, page: PageId, kind: Kind) -> Option<Time> {
        let known = self.read();
        known.said.get(&page)?.iter().find(|(own, _)| *own == kind).map(|(_, time)| *time)
    }

    /// The kinds that speak about a page.
    pub(crate) fn kinds_of(&self, page: PageId) -> Vec<Kind> {
        let known = self.read();
        known.said.get(&page).map_or_else(Vec::new, |said| said.iter().map(|(kind, _)| *kind).collect())
    }

    /// A kind of announcement says that a page changed then.
    pub(crate) fn say(&self, page: PageId, kind: Kind, time: Time) {
        let mut known = self.write();
        let said = known.said.entry(page).or_default();
        match said.iter_mut().find(|(own, _)| *own == kind) {
            Some((_, last)) => *last = time,
            None => said.push((kind, time)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_what_is_said_of_them() {
        let index = Index::default();
        assert!(index.know("http://a/") && !index.know("http://a/"));
        assert_eq!((index.page("http://a/"), index.page("http://b/")), (Place::OnItsWay, Place::Unknown));
        let page = PageId(7);
        index.number("http://a/", page);
        assert_eq!((index.page("http://a/"), index.len()), (Place::Page(page), 1));
        assert_eq!((index.said(page, Kind::Feed), index.kinds_of(page).len()), (None, 0));
        index.clone().say(page, Kind::Feed, Time::ZERO);
        assert_eq!(index.said(page, Kind::Feed), Some(Time::ZERO));
        assert_eq!(index.kinds_of(page), [Kind::Feed]);
        index.forget("http://a/", PageId(6));
        index.forget_unwritten("http://a/");
        assert_eq!(index.page("http://a/"), Place::Page(page), "another page is not forgotten");
        index.forget("http://a/", page);
        assert!(index.know("http://a/") && index.said(page, Kind::Feed).is_none());
        index.forget("http://a/", page);
        assert_eq!(index.page("http://a/"), Place::OnItsWay, "it was added anew");
    }

    /// Whoever knows the program does not know the key: hashes differ from one process, and one index, to the next.
    #[test]
    fn hashes_have_a_key() {
        let (one, other) = (Index::default(), Index::default());
        let urls = ["http://a/", "http://b/", "http://c/", "http://d/"];
        assert!(urls.iter().any(|url| one.hash(url) != other.hash(url)));
        assert!(urls.iter().all(|url| one.hash(url) == one.clone().hash(url)), "clones share it");
    }
}
