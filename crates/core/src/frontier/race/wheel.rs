//! A timing wheel: millions of sleepers, each woken in time, in a few memory accesses.
//!
//! Time is cut into ticks. Slots of the lower level are one tick each, those of the upper as long as the whole lower level. A
//! sleeper goes into the slot that its tick differs in from now's; when the wheel turns into a slot of the upper level, its
//! sleepers move down; those beyond both levels are looked through when the upper level has turned around. Nothing is ever
//! removed: who does not sleep here any more is passed over when woken.

use crate::time::{Span, Time};

const SLOT_BITS: u32 = 13;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: u32 = 2;
const WORDS: usize = SLOTS / 64;

/// A sleeper, and the lower bits of its tick: enough, within the two levels.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: u32,
    tick: u32,
}

#[derive(Clone, Debug)]
struct Level {
    slots: Vec<Vec<Entry>>,
    /// Which slots are not empty.
    occupied: [u64; WORDS],
}

impl Level {
    fn new() -> Self {
        Self { slots: vec![Vec::new(); SLOTS], occupied: [0; WORDS] }
    }

    fn push(&mut self, slot: usize, entry: Entry) {
        self.slots[slot].push(entry);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    fn is_empty(&self, slot: usize) -> bool {
        self.occupied[slot / 64] >> (slot % 64) & 1 == 0
    }

    fn vacate(&mut self, slot: usize) {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
    }

    /// The first slot from here on that is not empty.
    fn next_from(&self, slot: usize) -> Option<usize> {
        let first = slot / 64;
        if first >= WORDS {
            return None;
        }
        let here = self.occupied[first] & (u64::MAX << (slot % 64));
        let rest = self.occupied[first + 1..].iter().copied();
        let (word, bits) = (first..).zip(std::iter::once(here).chain(rest)).find(|(_, bits)| *bits != 0)?;
        Some(word * 64 + bits.trailing_zeros() as usize)
    }
}

/// The wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// A tick is 2 to the power of this in nanoseconds: sleepers wake early by no more than that.
    tick_bits: u32,
    lower: Level,
    upper: Level,
    /// Everything before this tick is over.
    now: u64,
    /// Sleepers that are due already, or beyond both levels.
    due: Vec<u32>,
    far: Vec<u32>,
    /// The first tick of those.
    far_first: u64,
    entries: usize,
}

impl Wheel {
    /// A wheel with ticks of about this length, a power of two.
    pub(super) fn new(tick: Span, now: Time) -> Self {
        let mut wheel = Self {
            // At least 2^10 ns; at most 2^40, 18 minutes.
            tick_bits: tick.as_nanos().clamp(1 << 10, 1 << 40).ilog2(),
            lower: Level::new(),
            upper: Level::new(),
            now: 0,
            due: Vec::new(),
            far: Vec::new(),
            far_first: u64::MAX,
            entries: 0,
        };
        wheel.now = wheel.tick_of(now);
        wheel
    }

    /// The length of a tick.
    pub(super) fn tick(&self) -> Span {
        Span::from_nanos(1 << self.tick_bits)
    }

    /// Ticks since the earliest moment there is.
    fn tick_of(&self, time: Time) -> u64 {
        (time.as_nanos() as u64 ^ (1 << 63)) >> self.tick_bits
    }

    /// Sleeps until this moment.
    pub(super) fn push(&mut self, wake: Time, id: u32) {
        self.entries += 1;
        self.put(self.tick_of(wake), id);
    }

    fn put(&mut self, tick: u64, id: u32) {
        if tick <= self.now {
            self.due.push(id);
            return;
        }
        let entry = Entry { id, tick: tick as u32 };
        match (tick ^ self.now).ilog2() / SLOT_BITS {
            0 => self.lower.push(tick as usize % SLOTS, entry),
            1 => self.upper.push((tick >> SLOT_BITS) as usize % SLOTS, entry),
            _ => {
                self.far.push(id);
                self.far_first = self.far_first.min(tick);
            }
        }
    }

    /// Turns to `now` and gives everyone whose tick has come. `wake` says until when someone sleeps, if at all.
    pub(super) fn advance(&mut self, now: Time, wake: impl Fn(u32) -> Option<Time>, woken: &mut Vec<u32>) {
        let target = self.tick_of(now);
        while self.now < target {
            let next = self.next_stop(target);
            self.turn_to(next, &wake);
        }
        self.entries -= self.due.len();
        woken.append(&mut self.due);
    }

    /// The next tick at which something happens, `target` at the latest.
    fn next_stop(&self, target: u64) -> u64 {
        let block = self.now >> SLOT_BITS << SLOT_BITS;
        if let Some(slot) = self.lower.next_from(self.now as usize % SLOTS + 1) {
            return target.min(block + slot as u64);
        }
        let round = self.now >> (LEVELS * SLOT_BITS) << (LEVELS * SLOT_BITS);
        if let Some(slot) = self.upper.next_from((self.now >> SLOT_BITS) as usize % SLOTS + 1) {
            return target.min(round + ((slot as u64) << SLOT_BITS));
        }
        // Rounds in which nobody is due are passed over.
        let first = self.far_first >> (LEVELS * SLOT_BITS) << (LEVELS * SLOT_BITS);
        if self.far.is_empty() { target } else { target.min(first.max(round + (1 << (LEVELS * SLOT_BITS)))) }
    }

    fn turn_to(&mut self, next: u64, wake: &impl Fn(u32) -> Option<Time>) {
        let before = self.now;
        self.now = next;
        let round = next >> (LEVELS * SLOT_BITS);
        if before >> (LEVELS * SLOT_BITS) != round && self.far_first >> (LEVELS * SLOT_BITS) <= round {
            self.far_first = u64::MAX;
            for id in std::mem::take(&mut self.far) {
                match wake(id) {
                    Some(wake) => self.put(self.tick_of(wake), id),
                    None => self.entries -= 1,
                }
            }
        }
        if before >> SLOT_BITS != next >> SLOT_BITS {
            let slot = (next >> SLOT_BITS) as usize % SLOTS;
            if !self.upper.is_empty(slot) {
                self.upper.vacate(slot);
                for entry in std::mem::take(&mut self.upper.slots[slot]) {
                    // The rest of its tick is that of the slot.
                    let tick = (next >> SLOT_BITS << SLOT_BITS) | (u64::from(entry.tick) % SLOTS as u64);
                    self.put(tick, entry.id);
                }
            }
        }
        let slot = next as usize % SLOTS;
        if !self.lower.is_empty(slot) {
            self.lower.vacate(slot);
            self.due.extend(self.lower.slots[slot].drain(..).map(|entry| entry.id));
        }
    }

    /// A moment not after the next one at which someone wakes.
    pub(super) fn next_wake(&self) -> Option<Time> {
        if !self.due.is_empty() {
            return Some(Time::MIN);
        }
        if self.entries == 0 {
            return None;
        }
        let stop = self.next_stop(u64::MAX >> self.tick_bits);
        Some(Time::from_nanos(((stop << self.tick_bits) ^ (1 << 63)) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Everyone wakes once, in the tick of their moment, whatever the jumps.
        #[test]
        fn everyone_wakes_in_time(
            start in -1_000_000_000_000i64..1_000_000_000_000,
            spans in proptest::collection::vec((0u64..64, any::<u16>()), 1..60),
            jumps in proptest::collection::vec(0u32..62, 1..60),
        ) {
            let start = Time::from_nanos(start);
            let wakes: Vec<Time> = spans
                .iter()
                .map(|(bits, more)| start + Span::from_nanos((1u64 << (bits % 60)) + u64::from(*more)))
                .collect();
            let mut wheel = Wheel::new(Span::from_nanos(1 << 14), Time::MIN);
            let mut woken = Vec::new();
            wheel.advance(start, |_| None, &mut woken);
            for (id, wake) in wakes.iter().enumerate() {
                wheel.push(*wake, id as u32);
            }
            let mut now = start;
            let mut all = Vec::new();
            for bits in jumps {
                let next = wheel.next_wake();
                now = now + Span::from_nanos(1 << bits);
                let mut woken = Vec::new();
                wheel.advance(now, |id| Some(wakes[id as usize]), &mut woken);
                for id in &woken {
                    prop_assert!(wheel.tick_of(wakes[*id as usize]) <= wheel.tick_of(now));
                    prop_assert!(next.is_some_and(|next| wheel.tick_of(next) <= wheel.tick_of(now)));
                }
                all.extend(woken);
                for (id, wake) in wakes.iter().enumerate() {
                    prop_assert_eq!(all.contains(&(id as u32)), wheel.tick_of(*wake) <= wheel.tick_of(now));
                }
                prop_assert_eq!(wheel.entries, wakes.len() - all.len());
            }
            all.sort_unstable();
            all.dedup();
            let due = wakes.iter().filter(|wake| wheel.tick_of(**wake) <= wheel.tick_of(now)).count();
            prop_assert_eq!(all.len(), due);
        }
    }
}
