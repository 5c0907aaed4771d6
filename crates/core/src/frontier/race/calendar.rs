//! A calendar: thousands or millions of sleepers, each woken in time, in a few memory accesses.
//!
//! Time is cut into ticks, and the next few thousand ticks have a slot each; who sleeps longer is on a list that is looked
//! through twice in a turn of the slots. Nothing is ever removed: who does not sleep here any more is passed over when woken.

use crate::time::{Span, Time};

const SLOTS: usize = 4096;
const WORDS: usize = SLOTS / 64;

/// The calendar.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// A tick is 2 to the power of this in nanoseconds: sleepers wake early by no more than that.
    tick_bits: u32,
    slots: Vec<Vec<u32>>,
    /// Which slots are not empty.
    occupied: [u64; WORDS],
    /// Everything up to this tick is over.
    now: u64,
    /// Sleepers whose tick is over already.
    due: Vec<u32>,
    /// Sleepers beyond the slots, and when they are looked through next.
    far: Vec<u32>,
    look_far: u64,
    entries: usize,
}

impl Calendar {
    /// A calendar with ticks of about this length, a power of two.
    pub(super) fn new(tick: Span, now: Time) -> Self {
        let mut calendar = Self {
            tick_bits: bits(tick),
            slots: vec![Vec::new(); SLOTS],
            occupied: [0; WORDS],
            now: 0,
            due: Vec::new(),
            far: Vec::new(),
            look_far: 0,
            entries: 0,
        };
        calendar.now = calendar.tick_of(now);
        calendar.look_far = calendar.now + SLOTS as u64 / 2;
        calendar
    }

    /// Whether its ticks are about that long.
    pub(super) fn suits(&self, tick: Span) -> bool {
        self.tick_bits.abs_diff(bits(tick)) <= 1
    }

    /// The length of a tick.
    pub(super) fn tick(&self) -> Span {
        Span::from_nanos(1 << self.tick_bits)
    }

    /// How many sleepers there are, those that were moved counted for each move.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Ticks since the earliest moment there is.
    fn tick_of(&self, time: Time) -> u64 {
        (time.as_nanos() as u64 ^ (1 << 63)) >> self.tick_bits
    }

    /// Whether two moments are the same to this calendar.
    pub(super) fn same(&self, one: Time, other: Time) -> bool {
        self.tick_of(one) == self.tick_of(other)
    }

    /// Whether it is time to wake who sleeps until then.
    pub(super) fn is_over(&self, wake: Time) -> bool {
        self.tick_of(wake) <= self.now
    }

    /// Sleeps until this moment.
    pub(super) fn push(&mut self, wake: Time, id: u32) {
        self.entries += 1;
        self.put(self.tick_of(wake), id);
    }

    fn put(&mut self, tick: u64, id: u32) {
        if tick <= self.now {
            self.due.push(id);
        } else if tick - self.now < SLOTS as u64 {
            let slot = tick as usize % SLOTS;
            self.slots[slot].push(id);
            self.occupied[slot / 64] |= 1 << (slot % 64);
        } else {
            self.far.push(id);
        }
    }

    /// Turns to `now` and gives everyone whose tick has come. `wake` says until when someone sleeps, if at all.
    pub(super) fn advance(&mut self, now: Time, wake: impl Fn(u32) -> Option<Time>, woken: &mut Vec<u32>) {
        let target = self.tick_of(now);
        if target > self.now {
            let last = target.min(self.now + SLOTS as u64);
            while let Some(tick) = self.next_slot(last) {
                self.now = tick;
                let slot = tick as usize % SLOTS;
                self.occupied[slot / 64] &= !(1 << (slot % 64));
                // A long list gives its memory back, a short one keeps it for the next turn.
                if self.slots[slot].len() > 64 {
                    self.due.append(&mut std::mem::take(&mut self.slots[slot]));
                } else {
                    self.due.append(&mut self.slots[slot]);
                }
            }
            self.now = target;
            if target >= self.look_far {
                self.look_far = target + SLOTS as u64 / 2;
                for id in std::mem::take(&mut self.far) {
                    match wake(id) {
                        Some(wake) => self.put(self.tick_of(wake), id),
                        None => self.entries -= 1,
                    }
                }
            }
        }
        self.entries -= self.due.len();
        woken.append(&mut self.due);
    }

    /// The first tick after now and not after `last` that has sleepers.
    fn next_slot(&self, last: u64) -> Option<u64> {
        let mut tick = self.now + 1;
        while tick <= last {
            let slot = tick as usize % SLOTS;
            let word = self.occupied[slot / 64] >> (slot % 64);
            if word != 0 {
                let found = tick + u64::from(word.trailing_zeros());
                return (found <= last).then_some(found);
            }
            tick += 64 - slot as u64 % 64;
        }
        None
    }

    /// A moment not after the next one at which someone wakes.
    pub(super) fn next_wake(&self) -> Option<Time> {
        if !self.due.is_empty() {
            return Some(Time::MIN);
        }
        if self.entries == 0 {
            return None;
        }
        let slot = self.next_slot(self.now + SLOTS as u64 - 1).unwrap_or(u64::MAX);
        let next = if self.far.is_empty() { slot } else { slot.min(self.look_far) };
        let latest = u64::MAX >> self.tick_bits;
        Some(Time::from_nanos(((next.min(latest) << self.tick_bits) ^ (1 << 63)) as i64))
    }

    /// The same sleepers, those that still sleep and once each, in ticks of another length.
    pub(super) fn rebuild(&mut self, tick: Span, now: Time, wake: impl Fn(u32) -> Option<Time>) {
        let mut all: Vec<u32> = std::mem::take(&mut self.due);
        all.append(&mut self.far);
        for slot in &mut self.slots {
            all.append(slot);
        }
        all.sort_unstable();
        all.dedup();
        *self = Self::new(tick, now);
        for id in all {
            if let Some(wake) = wake(id) {
                self.push(wake, id);
            }
        }
    }
}

/// At least 2^10 ns; at most 2^48, 3 days.
fn bits(tick: Span) -> u32 {
    tick.as_nanos().clamp(1 << 10, 1 << 48).ilog2()
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
            jumps in proptest::collection::vec((0u32..62, any::<bool>()), 1..60),
        ) {
            let start = Time::from_nanos(start);
            let wakes: Vec<Time> = spans
                .iter()
                .map(|(bits, more)| start + Span::from_nanos((1u64 << (bits % 60)) + u64::from(*more)))
                .collect();
            let mut calendar = Calendar::new(Span::from_nanos(1 << 14), Time::MIN);
            let mut woken = Vec::new();
            calendar.advance(start, |_| None, &mut woken);
            for (id, wake) in wakes.iter().enumerate() {
                calendar.push(*wake, id as u32);
            }
            let mut now = start;
            let mut all = Vec::new();
            for (bits, sweep) in jumps {
                let next = calendar.next_wake();
                now = now + Span::from_nanos(1 << bits);
                let mut woken = Vec::new();
                calendar.advance(now, |id| Some(wakes[id as usize]), &mut woken);
                for id in &woken {
                    prop_assert!(calendar.is_over(wakes[*id as usize]));
                    prop_assert!(next.is_some_and(|next| calendar.is_over(next)));
                }
                all.extend(woken);
                for (id, wake) in wakes.iter().enumerate() {
                    prop_assert_eq!(all.contains(&(id as u32)), calendar.is_over(*wake));
                }
                prop_assert_eq!(calendar.entries(), wakes.len() - all.len());
                if sweep {
                    calendar.rebuild(calendar.tick(), now, |id| Some(wakes[id as usize]));
                }
            }
            all.sort_unstable();
            all.dedup();
            let due = wakes.iter().filter(|wake| calendar.is_over(**wake)).count();
            prop_assert_eq!(all.len(), due);
        }
    }
}
