//! Hosts that may not be visited now: their pages wait in a room of their own, where they race each other.
//!
//! A page goes there when it is found to be the best and its host is not ready, so a room holds only pages that matter. When
//! the host is ready a small room is given up, a large one competes as a whole. So a host that is the bottleneck, with a
//! million pages, costs the others nothing.

use std::cmp::Reverse;

use super::field::View;
use super::race::{Place, Race};
use super::record::Status;
use super::{Frontier, GroupId, Model};
use crate::time::Time;

/// Rooms of up to so many pages are given up when the host is ready.
const SMALL_ROOM: usize = 16;

/// So many pages make room at a time. A host with a million pages that is found busy would hold up everybody else for many seconds.
const MOST_MOVED: u32 = 20_000;

/// Something that keeps pages waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Door {
    /// Their host.
    Host(u32),
    /// A group that their host is in.
    Group(GroupId),
}

impl<M: Model> Frontier<M> {
    /// A page takes part in no race.
    pub(super) fn withdraw(&mut self, index: u32) {
        if !self.pages[index as usize].is_in_room() {
            self.race.leave(&mut view!(self), index);
            return;
        }
        let host = self.names[index as usize].host;
        if let Some(room) = self.rooms.get_mut(&host) {
            room.leave(&mut view!(self, Some(host)), index);
        }
        self.pages[index as usize].set_in_room(false);
        self.close_if_empty(host);
    }

    /// A page takes part anew, with the value that it has now. One that is being fetched waits for its answer.
    pub(super) fn reenter(&mut self, index: u32) {
        if self.pages[index as usize].status() == Status::Waiting {
            self.withdraw(index);
            self.race.enter(&mut view!(self), index);
        }
    }

    /// The greatest value among the hosts that may be visited. If very many pages have to make room first, nobody is for now: whoever asks again
    /// goes on where this stopped.
    pub(super) fn best(&mut self) -> Option<(u32, f64)> {
        let mut moved = 0;
        let mut best = loop {
            let Some((index, value)) = self.race.best(&mut view!(self)) else { break None };
            let host = self.names[index as usize].host;
            if self.hosts.ready_at(host) <= self.now {
                break Some((index, value));
            }
            if moved == MOST_MOVED {
                return None;
            }
            moved += 1;
            self.race.leave(&mut view!(self), index);
            self.pages[index as usize].set_in_room(true);
            let room = self.rooms.entry(host).or_insert_with(Race::small);
            let first = room.len() == 0;
            room.enter(&mut view!(self, Some(host)), index);
            if first {
                self.watch_host(host);
            }
        };
        for host in &self.open {
            let Some(room) = self.rooms.get_mut(host) else { continue };
            if let Some((index, value)) = room.best(&mut view!(self, Some(*host)))
                && best.is_none_or(|(id, most)| value > most || (value == most && index < id))
            {
                best = Some((index, value));
            }
        }
        best
    }

    /// When a host may be visited has changed, and with it when its groups may be.
    pub(super) fn watch_host(&mut self, host: u32) {
        for place in 0..self.hosts.groups_of(host).len() {
            let group = self.hosts.groups_of(host)[place];
            self.watch_group(group);
        }
        if !self.finds.waits_for(host) && (self.rooms.is_empty() || !self.rooms.contains_key(&host)) {
            return;
        }
        if self.hosts.ready_at(host) > self.now {
            self.open.retain(|open| *open != host);
            self.wait_for_groups(host);
        }
        self.open_at(self.hosts[host as usize].ready_at(), Door::Host(host));
    }

    /// When a group may be visited has changed.
    pub(super) fn watch_group(&mut self, group: GroupId) {
        let ready = self.hosts.group_ready_at(group);
        if ready > self.now && !self.open.is_empty() {
            let hosts = &mut self.hosts;
            self.open.retain(|host| {
                let stays = !hosts.groups_of(*host).contains(&group);
                if !stays {
                    hosts.wait(*host);
                }
                stays
            });
        }
        if self.hosts.is_awaited(group) {
            self.open_at(ready, Door::Group(group));
        }
    }

    /// Each of a host's groups wakes its pages when it is ready, as the host itself does: the last of them finds that all are.
    fn wait_for_groups(&mut self, host: u32) {
        self.hosts.wait(host);
        for place in 0..self.hosts.groups_of(host).len() {
            let group = self.hosts.groups_of(host)[place];
            if self.hosts.group_ready_at(group) > self.now {
                self.open_at(self.hosts.group_ready_at(group), Door::Group(group));
            }
        }
    }

    /// Looks at a door at this moment; [`Time::MAX`]: something else will happen first, and is told.
    fn open_at(&mut self, ready: Time, door: Door) {
        if ready < Time::MAX {
            self.doors.push(Reverse((ready, door)));
        }
    }

    /// Rooms whose hosts may be visited take part again.
    pub(super) fn open_doors(&mut self) {
        while let Some(Reverse((ready, door))) = self.doors.peek().copied() {
            if ready > self.now {
                return;
            }
            self.doors.pop();
            match door {
                Door::Host(host) => self.open_room(host),
                Door::Group(group) => {
                    for host in self.hosts.take_ready(group, self.now) {
                        self.open_room(host);
                    }
                }
            }
        }
    }

    /// The pages of a host take part again, if it may be visited.
    fn open_room(&mut self, host: u32) {
        // It, or a group of it, may have been asked since; there is a later entry then.
        if self.hosts.ready_at(host) > self.now {
            self.wait_for_groups(host);
            return;
        }
        self.finds.unpark(host);
        let Some(room) = self.rooms.get(&host).filter(|_| !self.open.contains(&host)) else { return };
        if room.len() > SMALL_ROOM {
            self.open.push(host);
            return;
        }
        let Some(room) = self.rooms.remove(&host) else { return };
        for index in room.everyone(&view!(self, Some(host))) {
            let record = &mut self.pages[index as usize];
            record.set_in_room(false);
            record.set_place(Place::Out, Time::MAX);
            self.race.enter(&mut view!(self), index);
        }
    }

    pub(super) fn close_if_empty(&mut self, host: u32) {
        if self.rooms.get(&host).is_some_and(|room| room.len() == 0) {
            self.rooms.remove(&host);
            self.open.retain(|open| *open != host);
        }
    }
}
