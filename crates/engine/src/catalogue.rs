//! Who is who: pages and hosts of the frontier, and of the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use refrain_core::frontier::{HostId, PageId};
use refrain_core::time::Time;
use refrain_store as store;
use xxhash_rust::xxh3::xxh3_64;

use crate::rules::HostRules;

/// Pages by both their numbers, and which addresses are known.
#[derive(Default)]
pub(crate) struct Pages {
    /// By the number in the frontier.
    stored: Vec<Option<store::PageId>>,
    scheduled: HashMap<store::PageId, PageId>,
    /// Pages whose links were read since the start.
    read: HashSet<store::PageId>,
    /// Hashes of all addresses: a page in a sextillion is taken for known by mistake.
    known: HashSet<u64>,
}

impl Pages {
    pub(crate) fn add(&mut self, stored: store::PageId, scheduled: PageId) {
        let index = scheduled.index() as usize;
        if index >= self.stored.len() {
            self.stored.resize(index + 1, None);
        }
        self.stored[index] = Some(stored);
        self.scheduled.insert(stored, scheduled);
    }

    pub(crate) fn remove(&mut self, scheduled: PageId) {
        if let Some(stored) = self.stored.get_mut(scheduled.index() as usize).and_then(Option::take) {
            self.scheduled.remove(&stored);
        }
    }

    pub(crate) fn stored(&self, scheduled: PageId) -> Option<store::PageId> {
        self.stored.get(scheduled.index() as usize).copied().flatten()
    }

    pub(crate) fn scheduled(&self, stored: store::PageId) -> Option<PageId> {
        self.scheduled.get(&stored).copied()
    }

    /// A page was read, with its links.
    pub(crate) fn read_links(&mut self, stored: store::PageId) {
        self.read.insert(stored);
    }

    /// Whether the links of a page were read since the start.
    pub(crate) fn has_links(&self, stored: store::PageId) -> bool {
        self.read.contains(&stored)
    }

    /// How many places of pages there are, empty ones included.
    pub(crate) fn slots(&self) -> usize {
        self.stored.len()
    }

    /// The page at a place, if there is one.
    pub(crate) fn at(&self, slot: usize) -> Option<PageId> {
        self.stored.get(slot).copied().flatten().and_then(|stored| self.scheduled(stored))
    }

    /// Remembers an address. Whether it is new.
    pub(crate) fn know(&mut self, url: &str) -> bool {
        self.known.insert(xxh3_64(url.as_bytes()))
    }

    /// How many addresses are known.
    pub(crate) fn known(&self) -> u64 {
        self.known.len() as u64
    }
}

/// A host, and what is known of it beside what the frontier knows.
pub(crate) struct HostEntry {
    pub(crate) id: HostId,
    pub(crate) rules: Option<Arc<HostRules>>,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// Questions for robots.txt without an answer, in a row.
    pub(crate) unruled: u32,
    pub(crate) back_off: Option<Time>,
}

/// Hosts by name.
#[derive(Default)]
pub(crate) struct Hosts {
    by_name: HashMap<String, HostEntry>,
}

impl Hosts {
    pub(crate) fn get(&self, name: &str) -> Option<&HostEntry> {
        self.by_name.get(name)
    }

    /// A host, which is added if it is new.
    pub(crate) fn entry(&mut self, name: &str, add: impl FnOnce() -> HostId) -> &mut HostEntry {
        self.by_name.entry(name.to_owned()).or_insert_with(|| HostEntry {
            id: add(),
            rules: None,
            failures: 0,
            unruled: 0,
            back_off: None,
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &HostEntry)> {
        self.by_name.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut HostEntry> {
        self.by_name.get_mut(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}
