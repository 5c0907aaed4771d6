//! Contestants that are the same in every respect: only the first of them needs to race.
//!
//! Thousands of pages that were added at once, with the same belief, have the same value at every moment: no level tells them
//! apart. So when there are too many seats, each waits behind one that is the same and goes first among equals. When that one
//! leaves, the next takes its place.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Field, Look, Place, Race};
use crate::ids::IdMap;
use crate::time::Time;

/// Lists of contestants that are all the same, each behind a leader that is worth no less: it was the same, and may have had a
/// signal since. So a leader may have several lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Twins {
    /// By number. Some on a list may have left it: `list_of` knows.
    lists: IdMap<u32, BinaryHeap<Reverse<u32>>>,
    list_of: IdMap<u32, u32>,
    led: IdMap<u32, Vec<u32>>,
    next: u32,
}

impl Twins {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.list_of.len()
    }

    /// Everyone who waits.
    pub(super) fn everyone(&self) -> Vec<u32> {
        let mut all: Vec<u32> = self.list_of.keys().copied().collect();
        all.sort_unstable();
        all
    }

    pub(super) fn clear(&mut self) {
        self.lists.clear();
        self.list_of.clear();
        self.led.clear();
    }

    /// Sends everyone among these, who come by value and number, behind the first that is the same. Gives the others.
    pub(super) fn line_up(&mut self, field: &mut impl Field, all: Vec<(Look, u32)>) -> Vec<(Look, u32)> {
        let mut firsts: Vec<(Look, u32)> = Vec::new();
        let mut list = None;
        for (look, id) in all {
            match firsts.last() {
                Some((before, first)) if before.value == look.value && field.are_twins(*first, id) => {
                    let list = *list.get_or_insert_with(|| self.list_behind(field, *first));
                    field.set_place(id, Place::Behind, Time::MAX);
                    self.lists.entry(list).or_default().push(Reverse(id));
                    self.list_of.insert(id, list);
                }
                _ => {
                    firsts.push((look, id));
                    list = None;
                }
            }
        }
        firsts
    }

    /// The list of those that are still the same as their leader; a new one if there is none.
    fn list_behind(&mut self, field: &impl Field, leader: u32) -> u32 {
        let led = self.led.entry(leader).or_default();
        for list in led.iter().rev().take(4) {
            let member = self.lists.get(list).and_then(|list| list.peek());
            if let Some(Reverse(member)) = member
                && self.list_of.get(member) == Some(list)
                && field.are_twins(leader, *member)
            {
                return *list;
            }
        }
        self.next = self.next.wrapping_add(1);
        led.push(self.next);
        self.next
    }

    /// The first that still waits on a list, which it leaves.
    fn next_of(&mut self, list: u32) -> Option<u32> {
        let waiting = self.lists.get_mut(&list)?;
        while let Some(Reverse(id)) = waiting.pop() {
            if self.list_of.get(&id) == Some(&list) {
                self.list_of.remove(&id);
                return Some(id);
            }
        }
        self.lists.remove(&list);
        None
    }
}

impl Race {
    /// Someone leaves its place: it waits behind nobody, and of each list behind it the next races for itself, before the others.
    pub(super) fn part(&mut self, field: &mut impl Field, id: u32) {
        if self.twins.led.is_empty() && self.twins.list_of.is_empty() {
            return;
        }
        self.twins.list_of.remove(&id);
        for list in self.twins.led.remove(&id).unwrap_or_default() {
            if let Some(next) = self.twins.next_of(list) {
                self.twins.led.entry(next).or_default().push(list);
                field.set_place(next, Place::Out, Time::MAX);
                self.enter(field, next);
            }
        }
    }
}
