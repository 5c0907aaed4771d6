//! Which hosts share a gap: several names of one machine, or of one registrable domain.
//!
//! Hosts with the same key are neighbours. By address, a host has a key for each address that a connection would try, so that no answer of a name
//! server hides that two names lead to one machine. Neighbours get a group in the frontier as soon as there are enough of them; a group stays.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};

use refrain_core::frontier::{Frontier, FrontierError, GroupId, HostId, Manners, Model};
use refrain_core::ids::IdMap;
use refrain_core::time::Time;
use refrain_fetch::url::PageUrl;
use refrain_store::{Reader, StoreError};

/// What keeps requests apart by the gap, beside the host itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Politeness {
    /// An IP address, once more than a few hosts of the crawl are there.
    #[default]
    Auto,
    /// Nothing: each host by itself.
    Host,
    /// The registrable domain: `www.example.org` and `news.example.org` share a gap.
    Domain,
    /// An IP address.
    Ip,
}

/// So many hosts on one address have a gap each, unless something else is set.
const FEW: usize = 4;
/// So many crowded addresses are known again after a restart.
const MOST_KEPT: usize = 10_000;
/// How they are called in the store.
const KEPT: &str = "crowded.";

/// What neighbours have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    V4(Ipv4Addr),
    /// The first 64 bits: what follows is one machine, or belongs to one party.
    V6(u64),
    Site(String),
}

impl Key {
    fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => match address.to_ipv4_mapped() {
                Some(address) => Self::V4(address),
                None => Self::V6((address.to_bits() >> 64) as u64),
            },
        }
    }

    /// The network that one party has: of IPv6 the first 48 bits.
    pub(crate) fn network(&self) -> Self {
        match self {
            Self::V6(prefix) => Self::V6(prefix & !0xffff),
            other => other.clone(),
        }
    }

    /// The keys of a host at these addresses, each once.
    pub(crate) fn all_of(addresses: &[IpAddr]) -> Vec<Self> {
        let mut keys = Vec::with_capacity(addresses.len());
        for address in addresses {
            let key = Self::of(*address);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::V4(address) => write!(f, "{address}"),
            Self::V6(prefix) => write!(f, "{}/64", std::net::Ipv6Addr::from_bits(u128::from(*prefix) << 64)),
            Self::Site(name) => f.write_str(name),
        }
    }
}

/// The hosts with a key.
#[derive(Debug, Default)]
struct Place {
    hosts: BTreeSet<HostId>,
    group: Option<GroupId>,
}

/// Which hosts share a gap.
pub(crate) struct Neighbours {
    politeness: Politeness,
    manners: Manners,
    start: Time,
    places: HashMap<Key, Place>,
    keys_of: IdMap<u32, Vec<Key>>,
    /// Keys that were crowded before the start, as they are written.
    crowded: BTreeSet<String>,
}

impl Neighbours {
    /// As the store has it: where many hosts were neighbours before, the first of them is in a group already.
    pub(crate) fn recall(
        reader: &Reader,
        politeness: Politeness,
        manners: Manners,
        start: Time,
    ) -> Result<Self, StoreError> {
        let mut crowded = BTreeSet::new();
        if politeness == Politeness::Auto {
            reader.metas(KEPT, |key, _| {
                crowded.extend(key.strip_prefix(KEPT).map(str::to_owned));
                std::ops::ControlFlow::Continue(())
            })?;
        }
        let (places, keys_of) = (HashMap::new(), IdMap::default());
        Ok(Self { politeness, manners, start, places, keys_of, crowded })
    }

    /// The key of a host whose address does not matter.
    pub(crate) fn by_name(&self, name: &str) -> Vec<Key> {
        match (self.politeness, PageUrl::parse(name)) {
            (Politeness::Domain, Ok(url)) => vec![Key::Site(url.site().as_str().to_owned())],
            _ => Vec::new(),
        }
    }

    /// A host is at these addresses from now on. What is to be kept of it.
    pub(crate) fn locate<M: Model>(
        &mut self,
        frontier: &mut Frontier<M>,
        now: Time,
        host: HostId,
        addresses: &[Key],
    ) -> Result<Vec<(String, Vec<u8>)>, FrontierError> {
        match self.politeness {
            Politeness::Host | Politeness::Domain => Ok(Vec::new()),
            Politeness::Auto | Politeness::Ip => self.settle(frontier, now, host, addresses),
        }
    }

    /// A host has these keys from now on.
    pub(crate) fn settle<M: Model>(
        &mut self,
        frontier: &mut Frontier<M>,
        now: Time,
        host: HostId,
        keys: &[Key],
    ) -> Result<Vec<(String, Vec<u8>)>, FrontierError> {
        if keys.is_empty() && !self.keys_of.contains_key(&host.index()) {
            return Ok(Vec::new());
        }
        for old in self.keys_of.remove(&host.index()).unwrap_or_default() {
            if let Some(place) = self.places.get_mut(&old).filter(|_| !keys.contains(&old)) {
                place.hosts.remove(&host);
                if place.hosts.is_empty() && place.group.is_none() {
                    self.places.remove(&old);
                }
            }
        }
        self.keys_of.insert(host.index(), keys.to_vec());
        let few = if self.politeness == Politeness::Auto { FEW } else { 1 };
        let (mut changed, mut kept) = (BTreeSet::from([host]), Vec::new());
        for key in keys {
            let place = self.places.entry(key.clone()).or_default();
            place.hosts.insert(host);
            if place.group.is_some() {
                continue;
            }
            let was_crowded = !self.crowded.is_empty() && self.crowded.contains(&key.to_string());
            if was_crowded || place.hosts.len() > few {
                // A process that was killed a moment ago may have asked one of them just then.
                place.group = Some(frontier.add_group(self.manners, Some(self.start)));
                changed.extend(&place.hosts);
                if self.politeness == Politeness::Auto && !was_crowded && self.crowded.len() < MOST_KEPT {
                    self.crowded.insert(key.to_string());
                    kept.push((format!("{KEPT}{key}"), b"1".to_vec()));
                }
            }
        }
        for host in changed {
            let keys = self.keys_of.get(&host.index()).into_iter().flatten();
            let groups = keys.filter_map(|key| self.places.get(key)?.group).collect();
            frontier.set_groups(now, host, groups)?;
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::frontier::{Budget, Known, Settings};
    use refrain_core::time::Span;
    use refrain_core::value::ValueFunction;
    use refrain_store::{Batch, Options, Store};

    use super::*;

    fn keys(addresses: &[&str]) -> Vec<Key> {
        Key::all_of(&addresses.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>())
    }

    fn frontier() -> Frontier<Known> {
        let model = Known::new(ValueFunction::Greedy);
        Frontier::new(model, Budget::Rate(1.0), Settings::default(), Time::ZERO).unwrap()
    }

    #[test]
    fn more_than_a_few_names_of_one_address_share_a_gap_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let manners = Manners { gap: Span::from_whole_secs(1), ..Manners::default() };
        for round in 0..2 {
            let mut frontier = frontier();
            let mut neighbours =
                Neighbours::recall(store.read(), Politeness::Auto, manners, Time::ZERO).unwrap();
            let mut grouped = Vec::new();
            for number in 0..7u32 {
                let host = frontier.add_host(manners);
                let own = format!("203.0.113.{number}");
                let at = keys(&[&own, "198.51.100.7"]);
                let kept = neighbours.locate(&mut frontier, Time::ZERO, host, &at).unwrap();
                store.commit(&Batch { meta: kept, ..Batch::default() }).unwrap();
                let in_groups = (0..=number).filter(|host| {
                    let host = neighbours.places[&at[1]].hosts.iter().nth(*host as usize).unwrap();
                    !frontier.groups_of(*host).is_empty()
                });
                grouped.push(in_groups.count());
            }
            let expected = if round == 0 { [0, 0, 0, 0, 5, 6, 7] } else { [1, 2, 3, 4, 5, 6, 7] };
            assert_eq!(grouped, expected, "round {round}");
        }
    }

    #[test]
    fn what_makes_neighbours() {
        let manners = Manners::default();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Options::default()).unwrap();
        let grouped = |politeness, hosts: [(&str, &str); 3]| {
            let mut frontier = frontier();
            let mut neighbours = Neighbours::recall(store.read(), politeness, manners, Time::ZERO).unwrap();
            let ids = hosts.map(|(name, address)| {
                let host = frontier.add_host(manners);
                let by_name = neighbours.by_name(name);
                neighbours.settle(&mut frontier, Time::ZERO, host, &by_name).unwrap();
                neighbours.locate(&mut frontier, Time::ZERO, host, &keys(&[address])).unwrap();
                host
            });
            ids.map(|host| frontier.groups_of(host).to_vec())
        };
        let hosts = [
            ("http://a.example.org", "2a00:1::1"),
            ("http://b.example.org", "2a00:1::2:0:0:1"),
            ("http://example.net", "2a00:1:0:1::1"),
        ];
        let [a, b, c] = grouped(Politeness::Domain, hosts);
        assert!(!a.is_empty() && a == b && c.is_empty(), "the domain");
        let [a, b, c] = grouped(Politeness::Ip, hosts);
        assert!(!a.is_empty() && a == b && c.is_empty(), "the network of an address of IPv6");
        for politeness in [Politeness::Host, Politeness::Auto] {
            assert!(grouped(politeness, hosts).iter().all(Vec::is_empty), "{politeness:?}");
        }
    }
}
