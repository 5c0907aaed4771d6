//! Hosts that may not be visited now: their pages wait in a room of their own, where they race each other.
//!
//! A page goes there when it is found to be the best and its host is not ready, so a room holds only pages that matter. When
//! the host is ready a small room is given up, a large one competes as a whole. So a host that is the bottleneck, with a
//! million pages, costs the others nothing.

use std::cmp::Reverse;

use super::field::View;
use super::race::{Place, Race};
use super::record::Status;
use super::{Frontier, Model};
use crate::time::Time;

/// Rooms of up to so many pages are given up when the host is ready.
const SMALL_ROOM: usize = 16;

/// So many pages make room at a time. A host with a million pages that is found busy would hold up everybody else for many seconds.
const MOST_MOVED: u32 = 20_000;

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
            if self.hosts[host as usize].ready_at() <= self.now {
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
                self.watch_door(host);
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

    /// When the host of a room may be visited has changed.
    pub(super) fn watch_door(&mut self, host: u32) {
        if !self.finds.waits_for(host) && (self.rooms.is_empty() || !self.rooms.contains_key(&host)) {
            return;
        }
        let ready = self.hosts[host as usize].ready_at();
        if ready > self.now {
            self.open.retain(|open| *open != host);
        }
        if ready < Time::MAX {
            self.doors.push(Reverse((ready, host)));
        }
    }

    /// Rooms whose hosts may be visited take part again.
    pub(super) fn open_doors(&mut self) {
        while let Some(Reverse((ready, host))) = self.doors.peek().copied() {
            if ready > self.now {
                return;
            }
            self.doors.pop();
            // It may have been asked since; there is a later entry then.
            if self.hosts[host as usize].ready_at() > self.now {
                continue;
            }
            self.finds.unpark(host);
            let Some(room) = self.rooms.get(&host).filter(|_| !self.open.contains(&host)) else { continue };
            if room.len() > SMALL_ROOM {
                self.open.push(host);
                continue;
            }
            let Some(room) = self.rooms.remove(&host) else { continue };
            for index in room.everyone(&view!(self, Some(host))) {
                let record = &mut self.pages[index as usize];
                record.set_in_room(false);
                record.set_place(Place::Out, Time::MAX);
                self.race.enter(&mut view!(self), index);
            }
        }
    }

    pub(super) fn close_if_empty(&mut self, host: u32) {
        if self.rooms.get(&host).is_some_and(|room| room.len() == 0) {
            self.rooms.remove(&host);
            self.open.retain(|open| *open != host);
        }
    }
}
