//! Pages that were found and never fetched: each is worth P e^{-δ·age} for its first fetch, less every moment.
//!
//! Since values only fall, what one was worth when it was last looked at is a bound: the greatest bound is looked at until
//! one holds what it promised. Each host has a queue of its own, and only the first of each takes part: a host that may not be
//! visited, with however many pages, is left out in one step.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::hubs::Discovery;
use crate::estimate::interest::clicks::Interest;
use crate::ids::IdMap;
use crate::time::Time;

/// A page that was never fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Find {
    pub(super) born: Time,
    pub(super) interest: Interest,
    /// The how manieth it was.
    pub(super) number: u64,
    pub(super) host: u32,
    /// Not while it is being fetched,
    pub(super) waits: bool,
    /// and not before this moment.
    pub(super) from: Time,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    at_most: f64,
    index: u32,
}

impl Eq for Bound {}
impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Bound {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_most.total_cmp(&other.at_most).then(other.index.cmp(&self.index))
    }
}

/// Those of a host.
#[derive(Clone, Debug, Default)]
struct Queue {
    bounds: BinaryHeap<Bound>,
    /// The first of them as it takes part among those of other hosts, if it does.
    listed: Option<Bound>,
    /// The host may not be visited now.
    is_parked: bool,
}

/// The first of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct First {
    bound: Bound,
    host: u32,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Finds {
    finds: IdMap<u32, Find>,
    queues: IdMap<u32, Queue>,
    /// The first of each host that may be visited; those that are not listed in their queues any more do not count.
    firsts: BinaryHeap<First>,
    /// Those that failed, and when they may be tried again.
    later: BinaryHeap<std::cmp::Reverse<(Time, u32)>>,
    found: u64,
}

impl Queue {
    /// The first of them now, with a bound that holds.
    fn settle(&mut self, finds: &IdMap<u32, Find>, host: u32, now: Time, policy: Discovery) -> Option<Bound> {
        loop {
            let mut first = self.bounds.peek_mut()?;
            let index = first.index;
            let find = finds.get(&index).filter(|find| find.waits && find.from <= now && find.host == host);
            let Some(find) = find else {
                PeekMut::pop(first);
                continue;
            };
            let bound = Bound { at_most: find.rank(now, policy), index };
            // Written only if it is another one: then the heap is put in order again.
            if *first != bound {
                *first = bound;
            }
            drop(first);
            if self.bounds.peek() == Some(&bound) {
                return Some(bound);
            }
        }
    }
}

impl Finds {
    pub(super) fn is_empty(&self) -> bool {
        self.finds.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.finds.len()
    }

    pub(super) fn contains(&self, index: u32) -> bool {
        self.finds.contains_key(&index)
    }

    /// None, after so many were found.
    pub(super) fn after(found: u64) -> Self {
        Self { found, ..Self::default() }
    }

    pub(super) fn found(&self) -> u64 {
        self.found
    }

    pub(super) fn get(&self, index: u32) -> Option<&Find> {
        self.finds.get(&index)
    }

    /// One that was found before.
    pub(super) fn put(&mut self, index: u32, find: Find) {
        self.finds.insert(index, find);
        self.later.push(std::cmp::Reverse((find.from, index)));
    }

    pub(super) fn add(&mut self, index: u32, host: u32, born: Time, interest: Interest) {
        self.found += 1;
        self.finds
            .insert(index, Find { born, interest, number: self.found, host, waits: true, from: Time::MIN });
        self.queue(index, host);
    }

    /// One that may be worth anything waits in the queue of its host.
    fn queue(&mut self, index: u32, host: u32) {
        let bound = Bound { at_most: f64::INFINITY, index };
        let queue = self.queues.entry(host).or_default();
        queue.bounds.push(bound);
        if !queue.is_parked && queue.listed.is_none_or(|listed| bound > listed) {
            queue.listed = Some(bound);
            self.firsts.push(First { bound, host });
        }
    }

    /// It is worth something else.
    pub(super) fn set_interest(&mut self, index: u32, interest: Interest) {
        if let Some(find) = self.finds.get_mut(&index) {
            let before = std::mem::replace(&mut find.interest, interest);
            if interest.profit > before.profit || interest.decay < before.decay {
                // The bound that is known may not hold any more. If its host is not ready it waits for that, as before.
                let host = find.host;
                self.queue(index, host);
            }
        }
    }

    /// It is wanted at once, even if it failed a moment ago.
    pub(super) fn hurry(&mut self, index: u32, interest: Interest) {
        if let Some(find) = self.finds.get_mut(&index) {
            (find.interest, find.from) = (interest, Time::MIN);
            let host = find.host;
            self.queue(index, host);
        }
    }

    /// It is gone, or fetched.
    pub(super) fn remove(&mut self, index: u32) -> bool {
        let was_there = self.finds.remove(&index).is_some();
        // Nobody is woken for who is not there any more.
        while let Some(std::cmp::Reverse((from, index))) = self.later.peek() {
            if self.finds.get(index).is_some_and(|find| find.waits && find.from == *from) {
                break;
            }
            self.later.pop();
        }
        was_there
    }

    /// It is being fetched.
    pub(super) fn order(&mut self, index: u32) {
        if let Some(find) = self.finds.get_mut(&index) {
            find.waits = false;
        }
    }

    /// The fetch came to nothing: it waits again, from some moment on.
    pub(super) fn return_at(&mut self, index: u32, from: Time) {
        if let Some(find) = self.finds.get_mut(&index)
            && !find.waits
        {
            (find.waits, find.from) = (true, from);
            self.later.push(std::cmp::Reverse((from, index)));
        }
    }

    /// What its first fetch is worth.
    pub(super) fn worth(&self, index: u32, now: Time) -> Option<f64> {
        self.finds.get(&index).map(|find| find.worth(now))
    }

    /// Those that may be tried again.
    fn return_due(&mut self, now: Time) {
        while let Some(std::cmp::Reverse((from, index))) = self.later.peek().copied() {
            if from > now {
                return;
            }
            self.later.pop();
            if let Some(host) = self.finds.get(&index).map(|find| find.host) {
                self.queue(index, host);
            }
        }
    }

    /// The one to fetch first among those whose host may be visited, and what it is worth. Hosts that may not are given to
    /// `park`.
    pub(super) fn best(
        &mut self,
        now: Time,
        policy: Discovery,
        ready: impl Fn(u32) -> bool,
        mut park: impl FnMut(u32),
    ) -> Option<(u32, f64)> {
        self.return_due(now);
        while let Some(First { bound, host }) = self.firsts.pop() {
            let Some(queue) = self.queues.get_mut(&host).filter(|queue| queue.listed == Some(bound)) else {
                continue;
            };
            queue.listed = None;
            if !ready(host) {
                queue.is_parked = true;
                park(host);
                continue;
            }
            let Some(bound) = queue.settle(&self.finds, host, now, policy) else {
                self.queues.remove(&host);
                continue;
            };
            queue.listed = Some(bound);
            let first = First { bound, host };
            let holds = self.firsts.peek().is_none_or(|next| first >= *next);
            self.firsts.push(first);
            if holds {
                // Where rank decides, even what is worth nothing any more has its turn, and holds up nobody.
                let least = if policy == Discovery::OneCurrency { 0.0 } else { f64::MIN_POSITIVE };
                return Some((bound.index, self.worth(bound.index, now)?.max(least)));
            }
        }
        None
    }

    /// A host may be visited again.
    pub(super) fn unpark(&mut self, host: u32) {
        let Some(queue) = self.queues.get_mut(&host).filter(|queue| queue.is_parked) else { return };
        queue.is_parked = false;
        match queue.bounds.peek().copied() {
            Some(bound) => {
                queue.listed = Some(bound);
                self.firsts.push(First { bound, host });
            }
            None => drop(self.queues.remove(&host)),
        }
    }

    /// Whether someone waits for this host.
    pub(super) fn waits_for(&self, host: u32) -> bool {
        self.queues.get(&host).is_some_and(|queue| queue.is_parked)
    }

    /// A moment not after the next one at which one may be worth this price.
    pub(super) fn next_worth(&self, price: f64) -> Time {
        let later = self.later.peek().map_or(Time::MAX, |std::cmp::Reverse((from, _))| *from);
        match self.firsts.peek() {
            Some(first) if first.bound.at_most >= price => Time::MIN,
            _ => later,
        }
    }
}

impl Find {
    fn worth(&self, now: Time) -> f64 {
        self.interest.profit * (-self.interest.decay * now.since(self.born).as_secs()).exp()
    }

    /// Who goes first. Must not grow with time.
    fn rank(&self, now: Time, policy: Discovery) -> f64 {
        match policy {
            Discovery::OneCurrency => self.worth(now),
            Discovery::BreadthFirst => -(self.number as f64),
            _ => self.number as f64,
        }
    }
}
