//! A timing wheel: millions of sleepers, each woken in time, in a few memory accesses.
//!
//! Time is cut into ticks. Slots of the lowest level are one tick each, those of the next as long as the whole lowest level,
//! and so on. A sleeper goes into the slot that its tick differs in from now's; when the wheel turns into a slot of a higher
//! level, its sleepers move down. Nothing is ever removed: who does not sleep here any more is passed over when its slot comes.

use crate::time::{Span, Time};

const SLOT_BITS: u32 = 13;
const SLOTS: usize = 1 << SLOT_BITS;
const LEVELS: usize = 4;
const WORDS: usize = SLOTS / 64;

#[derive(Clone, Debug)]
struct Level {
    slots: Vec<Vec<u32>>,
    /// Which slots are not empty.
    occupied: [u64; WORDS],
}

impl Level {
    fn new() -> Self {
        Self { slots: vec![Vec::new(); SLOTS], occupied: [0; WORDS] }
    }

    fn push(&mut self, slot: usize, id: u32) {
        self.slots[slot].push(id);
        self.occupied[slot / 64] |= 1 << (slot % 64);
    }

    fn take(&mut self, slot: usize) -> Vec<u32> {
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        std::mem::take(&mut self.slots[slot])
    }

    /// The first slot from here on that is not empty.
    fn next_from(&self, slot: usize) -> Option<usize> {
        let mut word = slot / 64;
        if word >= WORDS {
            return None;
        }
        let mut bits = self.occupied[word] & (u64::MAX << (slot % 64));
        loop {
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            word += 1;
            if word == WORDS {
                return None;
            }
            bits = self.occupied[word];
        }
    }
}

/// The wheel.
#[derive(Clone, Debug)]
pub(super) struct Wheel {
    /// A tick is 2 to the power of this in nanoseconds: sleepers wake early by no more than that.
    tick_bits: u32,
    levels: Vec<Level>,
    /// Everything before this tick is over.
    now: u64,
    /// Sleepers that are due already, or so far off that no level has a slot for them.
    due: Vec<u32>,
    far: Vec<u32>,
    entries: usize,
}

impl Wheel {
    /// A wheel with ticks of about this length, a power of two.
    pub(super) fn new(tick: Span) -> Self {
        Self {
            // At least 2^10 ns; at most 2^40, 18 minutes.
            tick_bits: tick.as_nanos().clamp(1 << 10, 1 << 40).ilog2(),
            levels: (0..LEVELS).map(|_| Level::new()).collect(),
            now: 0,
            due: Vec::new(),
            far: Vec::new(),
            entries: 0,
        }
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
        let level = ((tick ^ self.now).ilog2() / SLOT_BITS) as usize;
        if level >= LEVELS {
            self.far.push(id);
            return;
        }
        let slot = (tick >> (level as u32 * SLOT_BITS)) as usize % SLOTS;
        self.levels[level].push(slot, id);
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
        let mut stop = target;
        for (index, level) in self.levels.iter().enumerate() {
            let shift = index as u32 * SLOT_BITS;
            let position = (self.now >> shift) as usize % SLOTS;
            if let Some(slot) = level.next_from(position + 1) {
                let block = self.now >> (shift + SLOT_BITS) << (shift + SLOT_BITS);
                stop = stop.min(block + ((slot as u64) << shift));
            }
        }
        if !self.far.is_empty() {
            let shift = LEVELS as u32 * SLOT_BITS;
            stop = stop.min(((self.now >> shift) + 1) << shift);
        }
        stop
    }

    fn turn_to(&mut self, next: u64, wake: &impl Fn(u32) -> Option<Time>) {
        let before = self.now;
        self.now = next;
        let whole = LEVELS as u32 * SLOT_BITS;
        if before >> whole != next >> whole {
            let far = std::mem::take(&mut self.far);
            self.sort_in(far, wake);
        }
        // From the top: what moves down may move on.
        for index in (0..LEVELS).rev() {
            let shift = index as u32 * SLOT_BITS;
            if before >> shift == next >> shift {
                continue;
            }
            let slot = (next >> shift) as usize % SLOTS;
            let sleepers = self.levels[index].take(slot);
            self.sort_in(sleepers, wake);
        }
    }

    fn sort_in(&mut self, sleepers: Vec<u32>, wake: &impl Fn(u32) -> Option<Time>) {
        for id in sleepers {
            match wake(id) {
                Some(wake) => self.put(self.tick_of(wake), id),
                None => self.entries -= 1,
            }
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
            let mut wheel = Wheel::new(Span::from_nanos(1 << 14));
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
