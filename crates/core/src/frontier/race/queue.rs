//! Sleepers by when they wake.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::calendar::Calendar;
use crate::time::{Span, Time};

/// Entries of sleepers that were moved, or sleep longer now, stay until they come up or are swept out: `until` says of anyone
/// until when it sleeps here, if it does.
#[derive(Clone, Debug)]
pub(super) enum Queue {
    /// Of few: exact.
    Heap(BinaryHeap<Reverse<(Time, u32)>>),
    /// Of millions: by the tick.
    Calendar(Box<Calendar>),
}

impl Queue {
    pub(super) fn small() -> Self {
        Self::Heap(BinaryHeap::new())
    }

    pub(super) fn large(tick: Span, now: Time) -> Self {
        Self::Calendar(Box::new(Calendar::new(tick, now)))
    }

    pub(super) fn is_large(&self) -> bool {
        matches!(self, Self::Calendar(_))
    }

    /// How many entries there are, those that mean nothing any more among them.
    pub(super) fn entries(&self) -> usize {
        match self {
            Self::Heap(heap) => heap.len(),
            Self::Calendar(calendar) => calendar.entries(),
        }
    }

    pub(super) fn push(&mut self, wake: Time, id: u32) {
        match self {
            Self::Heap(heap) => heap.push(Reverse((wake, id))),
            Self::Calendar(calendar) => calendar.push(wake, id),
        }
    }

    /// Takes out who may have to wake by now, and perhaps others.
    pub(super) fn wake(&mut self, now: Time, until: impl Fn(u32) -> Option<Time>, woken: &mut Vec<u32>) {
        match self {
            Self::Calendar(calendar) => calendar.advance(now, until, woken),
            Self::Heap(heap) => {
                while heap.peek().is_some_and(|Reverse((wake, _))| *wake <= now) {
                    woken.extend(heap.pop().map(|Reverse((_, id))| id));
                }
            }
        }
    }

    /// A moment not after the first at which anyone wakes.
    pub(super) fn next_wake(&self) -> Option<Time> {
        match self {
            Self::Heap(heap) => heap.peek().map(|Reverse((wake, _))| *wake),
            Self::Calendar(calendar) => calendar.next_wake(),
        }
    }

    /// Leaves each that sleeps here, once.
    pub(super) fn sweep(&mut self, now: Time, until: impl Fn(u32) -> Option<Time>) {
        match self {
            Self::Heap(heap) => {
                // Moments are kept rounded: an entry is not known by its own.
                let mut ids: Vec<u32> = heap.drain().map(|Reverse((_, id))| id).collect();
                ids.sort_unstable();
                ids.dedup();
                heap.extend(ids.into_iter().filter_map(|id| until(id).map(|wake| Reverse((wake, id)))));
            }
            Self::Calendar(calendar) => calendar.rebuild(calendar.tick(), now, until),
        }
    }

    /// How early sleepers may wake.
    pub(super) fn step(&self) -> Span {
        match self {
            Self::Heap(_) => Span::ZERO,
            Self::Calendar(calendar) => calendar.tick(),
        }
    }

    /// Counts time in steps of about this length from now on, if it counts in steps.
    pub(super) fn set_step(&mut self, tick: Span, now: Time, until: impl Fn(u32) -> Option<Time>) {
        if let Self::Calendar(calendar) = self
            && !calendar.suits(tick)
        {
            calendar.rebuild(tick, now, until);
        }
    }

    /// Whether it is time to wake who sleeps until then.
    pub(super) fn is_over(&self, wake: Time, now: Time) -> bool {
        match self {
            Self::Heap(_) => wake <= now,
            Self::Calendar(calendar) => calendar.is_over(wake),
        }
    }

    /// Whether who sleeps until one moment and who does until the other wake at different times.
    pub(super) fn tells_apart(&self, one: Time, other: Time) -> bool {
        match self {
            Self::Heap(_) => one != other,
            Self::Calendar(calendar) => !calendar.same(one, other),
        }
    }
}
