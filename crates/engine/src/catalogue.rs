//! Who is who: pages and hosts of the frontier, and of the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use refrain_core::frontier::{HostId, PageId};
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_store as store;

use crate::index::Index;
use crate::rules::HostRules;

/// Pages by both their numbers, and which addresses are known.
#[derive(Default)]
pub(crate) struct Pages {
    /// By the number in the frontier.
    stored: Vec<Option<store::PageId>>,
    scheduled: IdMap<store::PageId, PageId>,
    /// Pages whose links were read since the start.
    read: HashSet<store::PageId>,
    /// All addresses.
    pub(crate) index: Index,
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
    /// Where it announces what is new.
    pub(crate) outlets: Outlets,
    /// The gap that somebody wants, beside what its robots.txt asks for.
    pub(crate) wanted_gap: Option<Span>,
    /// Left alone until somebody says otherwise.
    pub(crate) paused: bool,
}

/// Who is paused is left alone until the next century.
const PAUSED: Time = Time::from_nanos(i64::MAX / 2);

impl HostEntry {
    fn new(id: HostId) -> Self {
        Self {
            id,
            rules: None,
            failures: 0,
            unruled: 0,
            back_off: None,
            outlets: Outlets::default(),
            wanted_gap: None,
            paused: false,
        }
    }

    /// The least time between two requests, if the usual one is this.
    pub(crate) fn gap(&self, usual: Span) -> Span {
        let asked = self.rules.as_ref().and_then(|rules| rules.gap()).unwrap_or(Span::ZERO);
        asked.max(self.wanted_gap.unwrap_or(usual))
    }

    /// Until when it is left alone, for whatever reason.
    pub(crate) fn left_alone(&self) -> Time {
        if self.paused { PAUSED } else { self.back_off.unwrap_or(Time::MIN) }
    }
}

/// Where a host announces what is new.
#[derive(Default)]
pub(crate) struct Outlets {
    /// Sitemaps and feeds that are known, those included that turned out to be none.
    pub(crate) known: u32,
    /// Whether one of each kind was read.
    pub(crate) has_sitemap: bool,
    pub(crate) has_feed: bool,
    /// How many of the well-known places were tried, and looks at the host since the last one.
    pub(crate) tried: u8,
    pub(crate) looks: u32,
}

/// Hosts by name.
#[derive(Default)]
pub(crate) struct Hosts {
    by_name: HashMap<Arc<str>, HostEntry>,
    /// By the number in the frontier, which counts them as they come.
    names: Vec<Arc<str>>,
}

impl Hosts {
    pub(crate) fn get(&self, name: &str) -> Option<&HostEntry> {
        self.by_name.get(name)
    }

    /// The number of a host, which is added if it is new.
    pub(crate) fn id(&mut self, name: &str, add: impl FnOnce() -> HostId) -> HostId {
        match self.by_name.get(name) {
            Some(known) => known.id,
            None => self.add(name, add()).id,
        }
    }

    /// A host that is new.
    pub(crate) fn add(&mut self, name: &str, id: HostId) -> &mut HostEntry {
        let (name, index) = (Arc::<str>::from(name), id.index() as usize);
        if index >= self.names.len() {
            self.names.resize(index + 1, Arc::from(""));
        }
        self.names[index] = Arc::clone(&name);
        self.by_name.entry(name).or_insert_with(|| HostEntry::new(id))
    }

    /// The host with this number, and its name.
    pub(crate) fn with_id(&self, id: HostId) -> Option<(&Arc<str>, &HostEntry)> {
        self.by_name.get_key_value(self.names.get(id.index() as usize)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &HostEntry)> {
        self.by_name.iter().map(|(name, entry)| (&**name, entry))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut HostEntry> {
        self.by_name.get_mut(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}
