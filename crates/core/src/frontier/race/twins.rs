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

/// Who waits behind whom. Some have left since, and may wait behind others.
#[derive(Clone, Debug, Default)]
pub(super) struct Twins {
    behind: IdMap<u32, BinaryHeap<Reverse<u32>>>,
    count: usize,
}

impl Twins {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Everyone who waits.
    pub(super) fn everyone(&self, field: &impl Field) -> Vec<u32> {
        let waiting = self.behind.values().flatten().map(|Reverse(id)| *id);
        let mut all: Vec<u32> = waiting.filter(|id| field.place(*id).0 == Place::Behind).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn clear(&mut self) {
        self.behind.clear();
        self.count = 0;
    }

    /// One that waited does so no more.
    pub(super) fn remove_one(&mut self) {
        self.count -= 1;
    }

    /// Sends everyone among these, who come by value and number, behind the first that is the same. Gives the others.
    pub(super) fn line_up(&mut self, field: &mut impl Field, all: Vec<(Look, u32)>) -> Vec<(Look, u32)> {
        let mut firsts: Vec<(Look, u32)> = Vec::new();
        for (look, id) in all {
            match firsts.last() {
                Some((before, first)) if before.value == look.value && field.are_twins(*first, id) => {
                    field.set_place(id, Place::Behind, Time::MAX);
                    self.behind.entry(*first).or_default().push(Reverse(id));
                    self.count += 1;
                }
                _ => firsts.push((look, id)),
            }
        }
        firsts
    }
}

impl Race {
    /// Someone is not what it was: who waited behind it races for itself, with the others behind it.
    pub(super) fn replace(&mut self, field: &mut impl Field, id: u32) {
        if self.twins.behind.is_empty() {
            return;
        }
        let Some(mut waiting) = self.twins.behind.remove(&id) else { return };
        while let Some(Reverse(next)) = waiting.pop() {
            if field.place(next).0 == Place::Behind {
                self.twins.count -= 1;
                if !waiting.is_empty() {
                    self.twins.behind.entry(next).or_default().append(&mut waiting);
                }
                field.set_place(next, Place::Out, Time::MAX);
                self.enter(field, next);
                return;
            }
        }
    }
}
