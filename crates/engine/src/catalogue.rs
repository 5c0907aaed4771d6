//! Who is who: pages and hosts of the frontier, and of the store.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use refrain_core::frontier::{HostId, PageId};
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_fetch::change::HostNoise;
use refrain_store as store;

use crate::back_off::BackOff;
use crate::index::Index;
use crate::rules::HostRules;
use crate::sites::Sites;

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
    /// What there is of each site.
    pub(crate) sites: Sites,
}

impl Pages {
    /// None yet.
    pub(crate) fn with(sites: Sites) -> Self {
        Self { sites, ..Self::default() }
    }

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
        self.sites.wait_no_more(scheduled);
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
    pub(crate) back_off: BackOff,
    /// Questions for robots.txt without an answer, in a row.
    pub(crate) unruled: u32,
    /// Where it announces what is new.
    pub(crate) outlets: Outlets,
    /// The gap that somebody wants, beside what its robots.txt asks for.
    pub(crate) wanted_gap: Option<Span>,
    /// Left alone until somebody says otherwise.
    pub(crate) paused: bool,
    /// Whether its addresses are known.
    pub(crate) located: Located,
    /// Hosts out of scope that it may name.
    guests: Vec<(Guest, Box<str>)>,
    /// Whether its pages have noise.
    pub(crate) noise: HostNoise,
}

/// Whether the addresses of a host are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Located {
    /// Nobody has asked.
    Never,
    /// A name server was asked.
    Asked,
    /// They are, until then.
    Until(Time),
}

/// What a host may name elsewhere, though it is out of scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guest {
    /// A host with sitemaps or feeds of this one.
    Outlet,
    /// A host that pages, which were chosen, lead to.
    Redirect,
    /// A host with a WebSub hub.
    Hub,
}

/// What becomes of a host that another one names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Welcome {
    /// It was named before.
    Known,
    /// It is one of those that may be named, from now on.
    New,
    /// As many were named as may be.
    Full,
}

impl Guest {
    const ALL: [Self; 3] = [Self::Outlet, Self::Redirect, Self::Hub];
    /// How guests are called in the store.
    const START: &str = "guest.";

    fn as_str(self) -> &'static str {
        match self {
            Self::Outlet => "outlet",
            Self::Redirect => "redirect",
            Self::Hub => "hub",
        }
    }

    /// What is kept of a guest: a restart brings no other ones.
    pub(crate) fn kept(self, from: &str, to: &str) -> (String, Vec<u8>) {
        (format!("{}{from} {} {to}", Self::START, self.as_str()), b"1".to_vec())
    }

    /// So many hosts of the kind may be named by a host of which so many pages were chosen: each of those may lead somewhere else.
    fn most(self, chosen: u64) -> usize {
        match self {
            Self::Outlet => 2,
            Self::Redirect => 8 + chosen as usize,
            Self::Hub => 4,
        }
    }
}

/// Who is paused is left alone until the next century.
const PAUSED: Time = Time::from_nanos(i64::MAX / 2);

impl HostEntry {
    fn new(id: HostId) -> Self {
        Self {
            id,
            rules: None,
            back_off: BackOff::default(),
            unruled: 0,
            outlets: Outlets::default(),
            wanted_gap: None,
            paused: false,
            located: Located::Never,
            guests: Vec::new(),
            noise: HostNoise::default(),
        }
    }

    /// Whether the host may name another one, which is out of scope: one that it named before, or one more.
    pub(crate) fn welcomes(&mut self, guest: Guest, origin: &str, chosen: u64) -> Welcome {
        let of_kind = self.guests.iter().filter(|(kind, _)| *kind == guest);
        if of_kind.clone().any(|(_, known)| **known == *origin) {
            return Welcome::Known;
        }
        if of_kind.count() >= guest.most(chosen) {
            return Welcome::Full;
        }
        self.guests.push((guest, origin.into()));
        Welcome::New
    }

    /// The least time between two requests, if the usual one is this.
    pub(crate) fn gap(&self, usual: Span) -> Span {
        let asked = self.rules.as_ref().and_then(|rules| rules.gap()).unwrap_or(Span::ZERO);
        asked.max(self.wanted_gap.unwrap_or(usual))
    }

    /// Until when it is left alone, for whatever reason.
    pub(crate) fn left_alone(&self) -> Time {
        if self.paused { PAUSED } else { self.back_off.until.unwrap_or(Time::MIN) }
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

    pub(crate) fn with_id_mut(&mut self, id: HostId) -> Option<&mut HostEntry> {
        self.by_name.get_mut(self.names.get(id.index() as usize)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &HostEntry)> {
        self.by_name.iter().map(|(name, entry)| (&**name, entry))
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut HostEntry> {
        self.by_name.get_mut(name)
    }

    /// The guests of all hosts, as the store has them.
    pub(crate) fn recall_guests(&mut self, reader: &store::Reader) -> Result<(), store::StoreError> {
        reader.metas(Guest::START, |key, _| {
            let mut words = key[Guest::START.len()..].split(' ');
            let (from, kind, to) = (words.next(), words.next(), words.next());
            let guest = Guest::ALL.into_iter().find(|guest| kind == Some(guest.as_str()));
            if let (Some(entry), Some(guest), Some(to)) =
                (from.and_then(|name| self.get_mut(name)), guest, to)
            {
                entry.guests.push((guest, to.into()));
            }
            std::ops::ControlFlow::Continue(())
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.by_name.len()
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::frontier::{Budget, Frontier, Known, Manners, Settings};
    use refrain_core::value::ValueFunction;

    use super::*;

    /// Hubs, foreign sitemaps and redirects: a host that names ever more others is heard out for the first few.
    #[test]
    fn a_host_may_name_few_others() {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap();
        let mut entry = HostEntry::new(frontier.add_host(Manners::default()));
        for (guest, chosen, most) in
            [(Guest::Outlet, 9, 2), (Guest::Hub, 9, 4), (Guest::Redirect, 0, 8), (Guest::Redirect, 3, 11)]
        {
            for _ in 0..2 {
                let welcome = (0..1000).filter(|number| {
                    entry.welcomes(guest, &format!("http://h{number}.example"), chosen) != Welcome::Full
                });
                assert_eq!(welcome.count(), most, "{guest:?} {chosen}");
            }
        }
    }
}
