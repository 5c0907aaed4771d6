//! Hosts that share a gap: several names of one machine, say. A request to one of them is a request to each of their groups.
//!
//! A group is treated as a host is: it has a gap, a limit of parallel requests and a response time. A host may be in several groups (a name with
//! several addresses) and is ready when it is ready itself and all of its groups are. Hosts without a group, which are most, cost nothing.

use std::collections::BTreeSet;
use std::ops::{Index, IndexMut};

use super::hosts::{Host, Manners};
use crate::ids::IdMap;
use crate::time::{Span, Time};

/// A group of hosts that share a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(pub(super) u32);

/// The groups of a frontier as plain data.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// What was asked of each group, in the order of their numbers.
    pub groups: Vec<Host>,
    /// The hosts that are in groups, with their groups.
    pub members: Vec<(u32, Vec<GroupId>)>,
}

#[derive(Clone, Debug)]
struct Group {
    together: Host,
    /// Hosts with pages that wait until the group is ready.
    waiting: BTreeSet<u32>,
}

/// All hosts and their groups.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    all: Vec<Host>,
    groups: Vec<Group>,
    groups_of: IdMap<u32, Vec<GroupId>>,
}

impl Index<usize> for Hosts {
    type Output = Host;

    fn index(&self, host: usize) -> &Host {
        &self.all[host]
    }
}

impl IndexMut<usize> for Hosts {
    fn index_mut(&mut self, host: usize) -> &mut Host {
        &mut self.all[host]
    }
}

impl Hosts {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, host: u32) -> Option<&Host> {
        self.all.get(host as usize)
    }

    pub(super) fn get_mut(&mut self, host: u32) -> Option<&mut Host> {
        self.all.get_mut(host as usize)
    }

    pub(super) fn push(&mut self, host: Host) -> u32 {
        self.all.push(host);
        (self.all.len() - 1) as u32
    }

    pub(super) fn add_group(&mut self, manners: Manners, last_start: Option<Time>) -> GroupId {
        let together = Host { last_start, ..Host::new(manners) };
        self.groups.push(Group { together, waiting: BTreeSet::new() });
        GroupId((self.groups.len() - 1) as u32)
    }

    pub(super) fn has_group(&self, group: GroupId) -> bool {
        (group.0 as usize) < self.groups.len()
    }

    /// The groups of a host.
    pub(super) fn groups_of(&self, host: u32) -> &[GroupId] {
        if self.groups_of.is_empty() {
            return &[];
        }
        self.groups_of.get(&host).map_or(&[], Vec::as_slice)
    }

    /// Puts a host into these groups, and takes it out of all others. What is under way at the host is under way at its groups.
    pub(super) fn set_groups(&mut self, host: u32, groups: Vec<GroupId>) {
        let Host { last_start, in_flight, .. } = self.all[host as usize];
        for old in self.groups_of.remove(&host).unwrap_or_default() {
            let group = &mut self.groups[old.0 as usize];
            group.together.in_flight = group.together.in_flight.saturating_sub(in_flight);
            group.waiting.remove(&host);
        }
        for new in &groups {
            let together = &mut self.groups[new.0 as usize].together;
            together.in_flight = together.in_flight.saturating_add(in_flight);
            together.last_start = together.last_start.max(last_start);
        }
        if !groups.is_empty() {
            self.groups_of.insert(host, groups);
        }
    }

    /// When a host may be asked next; [`Time::MAX`] while as many requests are under way as it and its groups allow.
    pub(super) fn ready_at(&self, host: u32) -> Time {
        let groups =
            self.groups_of(host).iter().map(|group| self.groups[group.0 as usize].together.ready_at());
        groups.fold(self.all[host as usize].ready_at(), Time::max)
    }

    /// When the gap since the last request is over, at the host and its groups.
    pub(super) fn polite_from(&self, host: u32) -> Time {
        let groups =
            self.groups_of(host).iter().map(|group| self.groups[group.0 as usize].together.polite_from());
        groups.fold(self.all[host as usize].polite_from(), Time::max)
    }

    /// When a group may be asked next.
    pub(super) fn group_ready_at(&self, group: GroupId) -> Time {
        self.groups[group.0 as usize].together.ready_at()
    }

    /// A request to a host begins.
    pub(super) fn start(&mut self, host: u32, now: Time) {
        self.each(host, |one| one.start(now));
    }

    /// A request to a host is over.
    pub(super) fn finish(&mut self, host: u32, response: Option<Span>) {
        self.each(host, |one| one.finish(response));
    }

    /// The last request to a host was not before this moment.
    pub(super) fn visited(&mut self, host: u32, at: Time) {
        self.each(host, |one| one.last_start = one.last_start.max(Some(at)));
    }

    /// Does the same to a host and to its groups.
    fn each(&mut self, host: u32, mut what: impl FnMut(&mut Host)) {
        what(&mut self.all[host as usize]);
        if self.groups_of.is_empty() {
            return;
        }
        for group in self.groups_of.get(&host).into_iter().flatten() {
            what(&mut self.groups[group.0 as usize].together);
        }
    }

    /// Pages of a host wait until its groups are ready.
    pub(super) fn wait(&mut self, host: u32) {
        for group in self.groups_of.get(&host).into_iter().flatten() {
            self.groups[group.0 as usize].waiting.insert(host);
        }
    }

    /// Whether pages wait until a group is ready.
    pub(super) fn is_awaited(&self, group: GroupId) -> bool {
        !self.groups[group.0 as usize].waiting.is_empty()
    }

    /// The hosts that wait for a group and are ready now: they wait no longer.
    pub(super) fn take_ready(&mut self, group: GroupId, now: Time) -> Vec<u32> {
        if self.group_ready_at(group) > now {
            return Vec::new();
        }
        let waiting = std::mem::take(&mut self.groups[group.0 as usize].waiting);
        let (ready, left): (Vec<u32>, Vec<u32>) =
            waiting.into_iter().partition(|host| self.ready_at(*host) <= now);
        self.groups[group.0 as usize].waiting = left.into_iter().collect();
        ready
    }

    pub(super) fn snapshot(&self) -> (Vec<Host>, Groups) {
        let groups = self.groups.iter().map(|group| group.together).collect();
        let mut members: Vec<_> =
            self.groups_of.iter().map(|(host, groups)| (*host, groups.clone())).collect();
        members.sort_unstable_by_key(|(host, _)| *host);
        (self.all.clone(), Groups { groups, members })
    }

    pub(super) fn restore(all: Vec<Host>, Groups { groups, members }: Groups) -> Self {
        let group = |together| Group { together, waiting: BTreeSet::new() };
        let groups: Vec<Group> = groups.into_iter().map(group).collect();
        let is_there = |host: u32, of: &[GroupId]| {
            (host as usize) < all.len() && of.iter().all(|group| (group.0 as usize) < groups.len())
        };
        let groups_of = members.into_iter().filter(|(host, of)| is_there(*host, of)).collect();
        Self { all, groups, groups_of }
    }
}
