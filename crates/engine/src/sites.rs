//! What the crawl has of each site (the registrable domain), so that no site takes what others need: its pages, those of them that wait for their
//! first fetch, and its names.
//!
//! A domain can answer for endless names (wildcard DNS). Of the names that the crawl found by itself, those of unknown address and those at the
//! same address count: when there are too many of them, further names are left out. A name with several addresses counts at each of them, and all IPv6
//! addresses with the same first 48 bits, which one party gets for the asking, count as one. In all there are [`PLACES`] times as many names at most.

use std::collections::HashMap;

use refrain_core::frontier::{HostId, PageId};
use refrain_core::ids::IdMap;
use refrain_fetch::url::PageUrl;
use refrain_store::{Reader, StoreError};

use crate::neighbours::Key;

/// How sites with endless names are called in the store.
pub const ENDLESS: &str = "endless.";

/// As if a site had names at so many addresses.
pub(crate) const PLACES: u64 = 20;

#[derive(Debug, Default)]
struct Site {
    name: String,
    /// Addresses that are known: pages, sitemaps and feeds.
    pages: u64,
    /// Pages that were found and wait for their first fetch.
    waiting: u64,
    /// Pages other than sitemaps and feeds.
    crawled: u64,
    /// Names found by the crawl,
    found: u64,
    /// of these, names whose addresses are not known,
    unplaced: u64,
    /// and names that are known to be there.
    placed: HashMap<Key, u64>,
    /// Names that were left out.
    left_out: u64,
}

/// A host, as it counts among the names of its site.
#[derive(Clone, Debug, Default)]
struct Name {
    site: u32,
    /// Pages of it that were chosen.
    chosen: u64,
    places: Vec<Key>,
    crawled: u64,
}

/// What the crawl has of each site.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    ids: HashMap<String, u32>,
    all: Vec<Site>,
    /// By the numbers of hosts.
    names: Vec<Name>,
    /// Sites with pages.
    with_pages: u64,
    /// Pages that wait for their first fetch, and the sites of those.
    waiting: IdMap<u32, u32>,
    /// So many names of a site may be unknown, or at one address.
    most_names: u64,
}

/// Whether one more page of a site fits, if so many are known, `most` at most. One site alone may have everything. A site among others has its
/// equal part for certain; beyond that up to a half of everything, for as long as a quarter is left for those that have less than their part.
pub(crate) fn has_room(of_site: u64, sites: u64, known: u64, most: u64) -> bool {
    if known >= most {
        return false;
    }
    sites <= 1 || of_site < most / sites || (of_site < most / 2 && known < most - most / 4)
}

impl Sites {
    pub(crate) fn new(most_names: u64) -> Self {
        Self { most_names: most_names.max(1), ..Self::default() }
    }

    /// Site names and how many of their names were left out, as the store has it.
    pub(crate) fn recall(&mut self, reader: &Reader) -> Result<(), StoreError> {
        reader.metas(ENDLESS, |key, value| {
            let count = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
            if let (Some(name), Some(count)) = (key.strip_prefix(ENDLESS), count) {
                let site = self.id(name);
                self.all[site as usize].left_out = count;
            }
            std::ops::ControlFlow::Continue(())
        })
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.all.len() as u32;
        self.ids.insert(name.to_owned(), id);
        self.all.push(Site { name: name.to_owned(), ..Site::default() });
        id
    }

    fn find(&self, url: &PageUrl) -> Option<&Site> {
        self.ids.get(url.site().as_str()).map(|id| &self.all[*id as usize])
    }

    /// A host is new: a name that the crawl found by itself, until a page of it turns out to be chosen.
    pub(crate) fn add_host(&mut self, host: HostId, name: &str) {
        let site =
            PageUrl::parse(name).map_or_else(|_| name.to_owned(), |url| url.site().as_str().to_owned());
        let site = self.id(&site);
        let index = host.index() as usize;
        if index >= self.names.len() {
            self.names.resize(index + 1, Name::default());
        }
        self.names[index] = Name { site, ..Name::default() };
        self.all[site as usize].count(&[]);
    }

    /// An address of a host is known from now on.
    pub(crate) fn add_page(&mut self, host: HostId, is_page: bool, chosen: bool) {
        let Some(name) = self.names.get_mut(host.index() as usize) else { return };
        let site = &mut self.all[name.site as usize];
        self.with_pages += u64::from(site.pages == 0);
        site.pages += 1;
        if is_page {
            name.crawled += 1;
            site.crawled += 1;
        }
        if chosen {
            if name.chosen == 0 {
                site.uncount(&name.places);
            }
            name.chosen += 1;
        }
    }

    /// An address is forgotten.
    pub(crate) fn remove_page(&mut self, host: HostId, is_page: bool) {
        let Some(name) = self.names.get_mut(host.index() as usize) else { return };
        let site = &mut self.all[name.site as usize];
        if site.pages == 1 {
            self.with_pages = self.with_pages.saturating_sub(1);
        }
        site.pages = site.pages.saturating_sub(1);
        if is_page {
            name.crawled = name.crawled.saturating_sub(1);
            site.crawled = site.crawled.saturating_sub(1);
        }
    }

    /// A host is at these addresses.
    pub(crate) fn locate(&mut self, host: HostId, keys: &[Key]) {
        let Some(name) = self.names.get_mut(host.index() as usize) else { return };
        let mut places = Vec::with_capacity(keys.len());
        for key in keys.iter().map(Key::network) {
            if !places.contains(&key) {
                places.push(key);
            }
        }
        if name.chosen == 0 {
            let site = &mut self.all[name.site as usize];
            site.uncount(&name.places);
            site.count(&places);
        }
        name.places = places;
    }

    /// How many pages of a host are crawled; sitemaps and feeds are none.
    pub(crate) fn crawled_of(&self, host: HostId) -> u64 {
        self.names.get(host.index() as usize).map_or(0, |name| name.crawled)
    }

    /// How many pages of a host were chosen.
    pub(crate) fn chosen_of(&self, host: HostId) -> u64 {
        self.names.get(host.index() as usize).map_or(0, |name| name.chosen)
    }

    /// Whether pages of a site are crawled.
    pub(crate) fn is_crawled(&self, url: &PageUrl) -> bool {
        self.find(url).is_some_and(|site| site.crawled > 0)
    }

    /// Whether one more address of this site fits.
    pub(crate) fn has_room(&self, url: &PageUrl, known: u64, most: u64) -> bool {
        if known < most / 4 {
            return true;
        }
        let site = self.find(url);
        let sites = self.with_pages + u64::from(site.is_none_or(|site| site.pages == 0));
        has_room(site.map_or(0, |site| site.pages), sites, known, most)
    }

    /// Whether one more name of this site is taken up, found by the crawl itself.
    pub(crate) fn has_room_for_name(&self, url: &PageUrl) -> bool {
        let Some(site) = self.find(url) else { return true };
        let crowd = site.placed.values().max().copied().unwrap_or(0);
        site.unplaced + crowd < self.most_names && site.found < PLACES.saturating_mul(self.most_names)
    }

    /// A name of this site was left out: the site, how many of its names were, and whether that is to be written down and told.
    pub(crate) fn leave_out(&mut self, url: &PageUrl) -> Option<(&str, u64, bool)> {
        let id = *self.ids.get(url.site().as_str())?;
        let site = &mut self.all[id as usize];
        site.left_out += 1;
        // Written when it has doubled: the figure is for people.
        Some((&site.name, site.left_out, site.left_out.is_power_of_two()))
    }

    /// A page of a host was found and waits for its first fetch: how many of its site do, itself included.
    pub(crate) fn wait(&mut self, host: HostId, page: PageId) -> u64 {
        let Some(name) = self.names.get(host.index() as usize) else { return 1 };
        let site = &mut self.all[name.site as usize];
        if self.waiting.insert(page.index(), name.site).is_none() {
            site.waiting += 1;
        }
        site.waiting
    }

    /// How many pages of a host's site wait for their first fetch.
    pub(crate) fn waiting_of(&self, host: HostId) -> u64 {
        self.names.get(host.index() as usize).map_or(0, |name| self.all[name.site as usize].waiting)
    }

    /// A page was fetched, or is gone: it does not wait any more.
    pub(crate) fn wait_no_more(&mut self, page: PageId) {
        if let Some(site) = self.waiting.remove(&page.index()) {
            let site = &mut self.all[site as usize];
            site.waiting = site.waiting.saturating_sub(1);
        }
    }
}

impl Site {
    /// A name counts among those that the crawl found.
    fn count(&mut self, places: &[Key]) {
        self.found += 1;
        self.unplaced += u64::from(places.is_empty());
        for key in places {
            *self.placed.entry(key.clone()).or_default() += 1;
        }
    }

    /// It does not any more.
    fn uncount(&mut self, places: &[Key]) {
        self.found = self.found.saturating_sub(1);
        self.unplaced = self.unplaced.saturating_sub(u64::from(places.is_empty()));
        for key in places {
            let left = self.placed.get(key).map_or(0, |count| count.saturating_sub(1));
            if left == 0 {
                self.placed.remove(key);
            } else {
                self.placed.insert(key.clone(), left);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use refrain_core::frontier::{Budget, Frontier, Known, Manners, Settings};
    use refrain_core::time::Time;
    use refrain_core::value::ValueFunction;

    use super::*;

    #[test]
    fn no_site_takes_what_others_need() {
        // Two sites, one of which has far more to offer than fits.
        let (mut large, mut small) = (0, 0);
        while has_room(large, 2, large + small, 6000) {
            large += 1;
        }
        assert_eq!(large, 3000);
        while has_room(small, 2, large + small, 6000) {
            small += 1;
        }
        assert_eq!((small, has_room(0, 3, 6000, 6000)), (3000, false));
        // Alone it has everything.
        assert!(has_room(5999, 1, 5999, 6000) && !has_room(6000, 1, 6000, 6000));
        // Two greedy sites leave a quarter to the others.
        let mut greedy = [0, 0];
        for site in [0, 1] {
            while has_room(greedy[site], 10, greedy[0] + greedy[1], 1000) {
                greedy[site] += 1;
            }
        }
        assert_eq!(greedy, [500, 250]);
        assert!(has_room(99, 10, 900, 1000) && !has_room(100, 10, 900, 1000));
    }

    #[test]
    fn names_without_end_are_left_out_and_real_ones_are_not() {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap();
        let mut sites = Sites::new(50);
        let mut add = |sites: &mut Sites, name: &str| {
            let host = frontier.add_host(Manners::default());
            sites.add_host(host, name);
            host
        };
        let url = |number: u32| PageUrl::parse(&format!("http://n{number}.trap.example/")).unwrap();
        let at = |address: u32| Key::all_of(&[IpAddr::from(address.to_be_bytes())]);
        let mut hosts = Vec::new();
        for number in 0..50 {
            assert!(sites.has_room_for_name(&url(number)), "{number}");
            hosts.push(add(&mut sites, url(number).origin()));
        }
        assert!(!sites.has_room_for_name(&url(50)), "nobody knows where they are");
        for host in &hosts {
            sites.locate(*host, &at(7));
        }
        assert!(!sites.has_room_for_name(&url(50)), "all are at one address");
        assert_eq!(sites.leave_out(&url(50)), Some(("trap.example", 1, true)));
        // Two of them were chosen: they do not count.
        sites.add_page(hosts[0], true, true);
        sites.add_page(hosts[1], true, true);
        assert!(sites.has_room_for_name(&url(50)));
        // Each at an address of its own: that is what large sites look like.
        for (number, host) in (100..).zip(&hosts) {
            sites.locate(*host, &at(number));
        }
        for number in 50..90 {
            assert!(sites.has_room_for_name(&url(number)));
            let host = add(&mut sites, url(number).origin());
            sites.locate(host, &at(1000 + number));
        }
        assert!(sites.has_room_for_name(&PageUrl::parse("http://other.example/").unwrap()));
    }

    /// How many names of a domain are taken up, if the name with a number is at these addresses.
    fn taken_up(addresses: impl Fn(u32) -> Vec<IpAddr>) -> u32 {
        let model = Known::new(ValueFunction::Greedy);
        let mut frontier = Frontier::new(model, Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap();
        let mut sites = Sites::new(50);
        for number in 0..5000 {
            let url = PageUrl::parse(&format!("http://n{number}.trap.example/")).unwrap();
            if !sites.has_room_for_name(&url) {
                return number;
            }
            let host = frontier.add_host(Manners::default());
            sites.add_host(host, url.origin());
            sites.locate(host, &Key::all_of(&addresses(number)));
        }
        5000
    }

    #[test]
    fn a_trap_at_several_addresses_is_a_trap() {
        let v4 = |number: u32| IpAddr::from(number.to_be_bytes());
        let v6 = |number: u128| IpAddr::from((0x2001_0db8_0007 << 80 | number).to_be_bytes());
        // All names are at the same eight addresses, of which name servers name another one first each time.
        let rotated = taken_up(|number| (0..8).map(|place| v4((number + place) % 8)).collect());
        assert_eq!(rotated, 50);
        // Each is in a network of its own, of those that one party has.
        assert_eq!(taken_up(|number| vec![v6(u128::from(number) << 64)]), 50);
        // Each is at an address of its own, among thousands.
        assert_eq!(taken_up(|number| vec![v4(number)]), 1000);
    }
}
