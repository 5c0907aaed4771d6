//! Who is worth most now? The exact answer among millions, for a few evaluations.
//!
//! Between signals a value is a known, growing function of time, so nobody needs to be looked at before the moment at which
//! they could matter. Contestants are kept in tiers by how far they are from mattering:
//!
//! - tier k sleeps until its value reaches the level of the tier, `level[k]`; levels grow with k
//! - who has reached the highest level has a *seat*: a few dozen contestants, among them the greatest value
//!
//! Invariant: a sleeper of tier k has a value below `level[k]`, and every seat holds at least the highest level. So the best
//! seat is the best of all. Whoever wakes in one tier goes to sleep in the next; when seats get too many, the highest level is
//! raised, when they run out, it is lowered, and the same a tier below when a tier gets too large or runs out. Levels float
//! with the price by themselves, and what moving them costs is paid for by the contestants that pass by.
//!
//! Among the seats not all are evaluated either: a value grows by no more than a known amount per second, so one that was
//! looked at a moment ago has a bound that is usually enough to pass it over.

mod wheel;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::{Span, Time};
use wheel::Wheel;

/// Where a contestant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In no race.
    Out,
    /// Asleep in this tier.
    Tier(u8),
    /// Among those that matter.
    Seat,
}

/// What the race needs to know about its contestants.
pub(super) trait Field {
    /// The moment.
    fn now(&self) -> Time;
    /// The value now, and how fast it may grow.
    fn look(&mut self, id: u32) -> Look;
    /// A moment not after the one at which the value reaches `level`, [`Time::MAX`] if it never does. For the highest tier
    /// (`near`) it should be close, for others it may be a percent early.
    fn reaches(&mut self, id: u32, level: f64, near: bool) -> Time;
    /// Everyone there could be.
    fn everyone(&self) -> std::ops::Range<u32>;
    /// Where the contestant is, and until when it sleeps.
    fn place(&self, id: u32) -> (Place, Time);
    /// Puts it somewhere.
    fn set_place(&mut self, id: u32, place: Place, wake: Time);
}

/// A value, and what it can become if nothing happens to its page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// The value now.
    pub value: f64,
    /// The most that it grows per second,
    pub growth: f64,
    /// until this moment; later, who knows.
    pub until: Time,
    /// Whether it really grows about that fast.
    pub tight: bool,
}

const TIERS: usize = 4;
const TOP: usize = TIERS - 1;
/// So many may have a seat before the level is raised; so many keep theirs then, and so many get one when it is lowered.
/// After a change there is much room for more of the same: prices that move, move on.
const SEATS: usize = 64;
const SEATS_KEPT: usize = 20;
const SEATS_FILLED: usize = 44;
/// Who has reached this share of a level may go on.
const EARLY: f64 = 0.95;
/// The same for the sleepers of a tier and the level under it. The lowest tier has no limit.
const LIMIT: [usize; TIERS] = [usize::MAX, 1 << 19, 1 << 15, 1 << 11];
const KEPT: [usize; TIERS] = [usize::MAX, 1 << 17, 1 << 13, 1 << 9];
const FILLED: [usize; TIERS] = [usize::MAX, 3 << 17, 3 << 13, 3 << 9];

#[derive(Clone, Copy, Debug)]
struct Seat {
    id: u32,
    at: Time,
    look: Look,
}

impl Look {
    /// A moment not after the one at which the value reaches `level`, if the look holds until then.
    fn reaches(&self, now: Time, level: f64) -> Option<Time> {
        let wait = (level - self.value) / self.growth;
        // Shorter by a part in a billion, for rounding.
        let moment = now + Span::from_nanos((wait * (1e9 - 1.0)) as u64);
        (self.tight && wait.is_finite() && moment <= self.until).then_some(moment)
    }
}

impl Seat {
    fn bound(&self, now: Time) -> f64 {
        if self.at == now {
            self.look.value
        } else if now <= self.look.until {
            // Longer by a part in a billion, for rounding.
            self.look.value + self.look.growth * (now.since(self.at).as_nanos() as f64 * (1e-9 + 1e-18))
        } else {
            f64::INFINITY
        }
    }
}

/// Sleepers of all tiers, by when they wake. Who was moved or sleeps longer now is passed over.
#[derive(Clone, Debug)]
enum Queue {
    Heap(BinaryHeap<Reverse<(Time, u32)>>),
    Wheel(Box<Wheel>),
}

#[derive(Clone, Debug)]
struct Tier {
    level: f64,
    /// Everyone who came to sleep here; some have left since.
    came: Vec<u32>,
    count: usize,
    /// The level under it is raised when there are more than this.
    most: usize,
}

/// A race.
#[derive(Clone, Debug)]
pub(super) struct Race {
    seats: Vec<Seat>,
    /// Seats are cut down when there are more than this.
    most_seats: usize,
    tiers: [Tier; TIERS],
    queue: Queue,
    /// Room to work in.
    woken: Vec<u32>,
    bounds: Vec<f64>,
}

impl Race {
    /// A race of millions, in which someone wins about every `period`.
    pub(super) fn large(period: Span, now: Time) -> Self {
        Self::new(Queue::Wheel(Box::new(Wheel::new(fine(period), now))))
    }

    /// Someone wins about every `period` from now on. Sleepers wake early by a part of that; if it has changed much, they are
    /// queued anew.
    pub(super) fn set_period(&mut self, field: &impl Field, period: Span) {
        let Queue::Wheel(wheel) = &mut self.queue else { return };
        let ratio = fine(period).as_secs() / wheel.tick().as_secs();
        if (1.0 / 16.0..=16.0).contains(&ratio) {
            return;
        }
        **wheel = Wheel::new(fine(period), field.now());
        for id in field.everyone() {
            if let (Place::Tier(_), wake) = field.place(id)
                && wake < Time::MAX
            {
                wheel.push(wake, id);
            }
        }
    }

    /// A race of a few, or a few thousands.
    pub(super) fn small() -> Self {
        Self::new(Queue::Heap(BinaryHeap::new()))
    }

    fn new(queue: Queue) -> Self {
        let tier = |k: usize| Tier { level: 0.0, came: Vec::new(), count: 0, most: LIMIT[k] };
        Self {
            seats: Vec::new(),
            most_seats: SEATS,
            tiers: std::array::from_fn(tier),
            queue,
            woken: Vec::new(),
            bounds: Vec::new(),
        }
    }

    /// How many take part.
    pub(super) fn len(&self) -> usize {
        self.seats.len() + self.tiers.iter().map(|tier| tier.count).sum::<usize>()
    }

    /// Everyone who takes part.
    pub(super) fn everyone(&self, field: &impl Field) -> Vec<u32> {
        let mut all: Vec<u32> = self.seats.iter().map(|seat| seat.id).collect();
        for tier in 0..TIERS {
            all.extend(self.sleepers(field, tier));
        }
        all
    }

    /// Takes part from now on.
    pub(super) fn enter(&mut self, field: &mut impl Field, id: u32) {
        let look = field.look(id);
        self.settle(field, id, look);
    }

    /// Takes part from now on, with a value of 0: it was fetched just now.
    pub(super) fn enter_fresh(&mut self, field: &mut impl Field, id: u32) {
        self.settle(field, id, Look { value: 0.0, growth: 0.0, until: field.now(), tight: false });
    }

    /// Takes part no more.
    pub(super) fn leave(&mut self, field: &mut impl Field, id: u32) {
        match field.place(id).0 {
            Place::Out => return,
            Place::Tier(tier) => self.tiers[usize::from(tier)].count -= 1,
            Place::Seat => {
                if let Some(index) = self.seats.iter().position(|seat| seat.id == id) {
                    self.seats.swap_remove(index);
                }
            }
        }
        field.set_place(id, Place::Out, Time::MAX);
    }

    /// A contestant's value has grown at once, so that it reaches every level sooner by this much.
    pub(super) fn hurry(&mut self, field: &mut impl Field, id: u32, by: Span) {
        let (place, wake) = field.place(id);
        match place {
            Place::Out => {}
            Place::Seat => {
                let (look, at) = (field.look(id), field.now());
                if let Some(seat) = self.seats.iter_mut().find(|seat| seat.id == id) {
                    (seat.look, seat.at) = (look, at);
                }
            }
            Place::Tier(tier) => {
                // Who never reaches the level does not reach it sooner.
                if wake == Time::MAX {
                    return;
                }
                let wake = wake - by;
                if wake > field.now() {
                    self.queue(field, id, usize::from(tier), wake);
                } else {
                    self.tiers[usize::from(tier)].count -= 1;
                    self.promote(field, id, usize::from(tier));
                }
            }
        }
    }

    /// The contestant of the greatest value now; of equal ones the lowest.
    pub(super) fn best(&mut self, field: &mut impl Field) -> Option<(u32, f64)> {
        self.wake(field);
        loop {
            if let Some(best) = self.best_seat(field) {
                return Some(best);
            }
            if !self.lower(field) {
                return None;
            }
        }
    }

    /// A moment not after the first at which anyone is worth `price`; [`Time::MAX`] if nobody ever is.
    pub(super) fn next_worth(&self, field: &mut impl Field, price: f64) -> Time {
        if self.len() == 0 {
            return Time::MAX;
        }
        if price <= 0.0 {
            return Time::MIN;
        }
        let seats = self.seats.iter().map(|seat| field.reaches(seat.id, price, true));
        let first = seats.min().unwrap_or(Time::MAX);
        // Sleepers wake at a level that may be above the price, if that has fallen: those may be worth it any moment.
        if self.tiers.iter().any(|tier| tier.count > 0 && tier.level > price) {
            return Time::MIN;
        }
        let next = match &self.queue {
            Queue::Heap(heap) => heap.peek().map(|Reverse((wake, _))| *wake),
            Queue::Wheel(wheel) => wheel.next_wake(),
        };
        first.min(next.unwrap_or(Time::MAX))
    }

    fn best_seat(&mut self, field: &mut impl Field) -> Option<(u32, f64)> {
        let now = field.now();
        let mut best: Option<(u32, f64)> = None;
        let mut offer = |id: u32, value: f64| {
            if best.is_none_or(|(lowest, most)| value > most || (value == most && id < lowest)) {
                best = Some((id, value));
            }
            best.map_or(f64::NEG_INFINITY, |(_, most)| most)
        };
        let mut most = f64::NEG_INFINITY;
        self.bounds.clear();
        for seat in &self.seats {
            if seat.at == now {
                most = offer(seat.id, seat.look.value);
                self.bounds.push(f64::NEG_INFINITY);
            } else {
                self.bounds.push(seat.bound(now));
            }
        }
        loop {
            let mut next = (f64::NEG_INFINITY, 0);
            for (index, bound) in self.bounds.iter().enumerate() {
                if *bound > next.0 {
                    next = (*bound, index);
                }
            }
            let (bound, index) = next;
            if bound == f64::NEG_INFINITY || bound < most {
                return best;
            }
            let seat = &mut self.seats[index];
            (seat.look, seat.at) = (field.look(seat.id), now);
            most = offer(seat.id, seat.look.value);
            self.bounds[index] = f64::NEG_INFINITY;
        }
    }

    /// Finds the place for a contestant of this value.
    fn settle(&mut self, field: &mut impl Field, id: u32, look: Look) {
        match self.tiers.iter().position(|tier| look.value < tier.level) {
            Some(tier) => self.sleep(field, id, tier, look),
            None => self.sit(field, id, look),
        }
    }

    fn sit(&mut self, field: &mut impl Field, id: u32, look: Look) {
        field.set_place(id, Place::Seat, Time::MAX);
        self.seats.push(Seat { id, at: field.now(), look });
        if self.seats.len() > self.most_seats {
            self.raise_top(field);
        }
    }

    fn sleep(&mut self, field: &mut impl Field, id: u32, tier: usize, look: Look) {
        let level = self.tiers[tier].level;
        // Close by, the steepest growth is a good guess and needs no inverse.
        let wake = look.reaches(field.now(), level).unwrap_or_else(|| field.reaches(id, level, tier == TOP));
        // Not in the past: it has not reached the level yet.
        let wake = wake.max(field.now() + Span::from_nanos(1));
        self.queue(field, id, tier, wake);
        self.join(field, id, tier);
        if tier > 0 && self.tiers[tier].count > self.tiers[tier].most {
            self.raise_under(field, tier);
        }
    }

    fn join(&mut self, field: &impl Field, id: u32, tier: usize) {
        let joined = &mut self.tiers[tier];
        joined.count += 1;
        // In a race of millions nearly everyone is in the lowest tier: no list is needed to find them.
        if tier == 0 && matches!(self.queue, Queue::Wheel(_)) {
            return;
        }
        joined.came.push(id);
        if joined.came.len() > 2 * joined.count + 1024 {
            tidy(field, &mut joined.came, tier);
        }
    }

    /// Wakes whoever has reached the level of their tier.
    fn wake(&mut self, field: &mut impl Field) {
        let now = field.now();
        let mut woken = std::mem::take(&mut self.woken);
        let mut early = Span::ZERO;
        match &mut self.queue {
            Queue::Wheel(wheel) => {
                early = wheel.tick();
                let sleeps = |id: u32| match field.place(id) {
                    (Place::Tier(_), wake) if wake < Time::MAX => Some(wake),
                    _ => None,
                };
                wheel.advance(now, sleeps, &mut woken);
            }
            Queue::Heap(heap) => {
                while heap.peek().is_some_and(|Reverse((wake, _))| *wake <= now) {
                    woken.extend(heap.pop().map(|Reverse((_, id))| id));
                }
            }
        }
        for id in woken.drain(..) {
            // Who has moved since, or sleeps longer now, has another entry.
            if let (Place::Tier(tier), wake) = field.place(id)
                && wake.since(now) <= early
            {
                self.tiers[usize::from(tier)].count -= 1;
                self.promote(field, id, usize::from(tier));
            }
        }
        self.woken = woken;
    }

    fn queue(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        field.set_place(id, Place::Tier(tier as u8), wake);
        if wake == Time::MAX {
            return;
        }
        let sleepers: usize = self.tiers.iter().map(|tier| tier.count).sum();
        match &mut self.queue {
            Queue::Wheel(wheel) => wheel.push(wake, id),
            Queue::Heap(heap) => {
                heap.push(Reverse((wake, id)));
                // Most of it are those that were moved: sweep.
                if heap.len() > 4 * sleepers + 1024 {
                    heap.retain(|Reverse((wake, id))| field.place(*id).1 == *wake);
                }
            }
        }
    }

    /// On to the next tier, or to a seat.
    fn promote(&mut self, field: &mut impl Field, id: u32, from: usize) {
        let look = field.look(id);
        let level = self.tiers[from].level;
        // Who is early by a little sleeps on in the next tier: what counts is to be below its level. Who is early because the
        // level was raised meanwhile sleeps on here.
        let early = look.value < if from == TOP { level } else { EARLY * level };
        let next = (from + 1..TIERS).find(|tier| self.tiers[*tier].level > level.max(look.value));
        match next {
            _ if early => self.sleep(field, id, from, look),
            Some(next) => self.sleep(field, id, next, look),
            None if look.value < self.tiers[TOP].level => self.sleep(field, id, TOP, look),
            None => self.sit(field, id, look),
        }
    }

    /// Too many seats: the highest level goes up, and who is below it goes to sleep.
    fn raise_top(&mut self, field: &mut impl Field) {
        let mut seats = std::mem::take(&mut self.seats);
        for seat in &mut seats {
            (seat.look, seat.at) = (field.look(seat.id), field.now());
        }
        seats.sort_unstable_by(|a, b| b.look.value.total_cmp(&a.look.value).then(a.id.cmp(&b.id)));
        let level = seats[SEATS_KEPT - 1].look.value;
        self.tiers[TOP].level = self.tiers[TOP].level.max(level);
        let stay = seats.partition_point(|seat| seat.look.value >= level);
        self.most_seats = SEATS.max(2 * stay);
        let leave = seats.split_off(stay);
        self.seats = seats;
        for seat in leave {
            self.sleep(field, seat.id, TOP, seat.look);
        }
    }

    /// Too many sleepers in a tier: the level under it goes up, and who is below it sleeps there.
    fn raise_under(&mut self, field: &mut impl Field, tier: usize) {
        let mut members = self.members(field, tier);
        let keep = KEPT[tier].min(members.len() - 1);
        let level = members[keep].0.value.min(self.tiers[tier].level);
        if !(level > self.tiers[tier - 1].level) {
            // All alike: nothing to tell apart.
            self.tiers[tier].most = 2 * members.len();
            return;
        }
        self.tiers[tier].most = LIMIT[tier];
        self.tiers[tier - 1].level = level;
        let stay = members.partition_point(|(look, _)| look.value >= level);
        for (look, id) in members.drain(stay..) {
            self.tiers[tier].count -= 1;
            self.sleep(field, id, tier - 1, look);
        }
    }

    /// No seats: the levels go down until there are. False if nobody takes part.
    fn lower(&mut self, field: &mut impl Field) -> bool {
        loop {
            let Some(tier) = (0..TIERS).rev().find(|tier| self.tiers[*tier].count > 0) else { return false };
            let members = self.members(field, tier);
            self.clear(tier);
            // Sleepers of the tiers below are all under this.
            let floor = if tier > 0 { self.tiers[tier - 1].level } else { 0.0 };
            let above = members.partition_point(|(look, _)| look.value >= floor);
            let level = |rank: usize| if rank < above { members[rank].0.value } else { floor };
            self.tiers[TOP].level = level(SEATS_FILLED - 1);
            for between in tier..TOP {
                self.tiers[between].level = level(FILLED[between + 1]);
            }
            for (look, id) in members {
                if look.value < floor {
                    self.sleep(field, id, tier - 1, look);
                } else {
                    self.settle(field, id, look);
                }
            }
            if !self.seats.is_empty() {
                return true;
            }
        }
    }

    /// The sleepers of a tier, in the order of their numbers.
    fn sleepers(&self, field: &impl Field, tier: usize) -> Vec<u32> {
        if tier == 0 && matches!(self.queue, Queue::Wheel(_)) {
            return field.everyone().filter(|id| field.place(*id).0 == Place::Tier(0)).collect();
        }
        let mut ids = self.tiers[tier].came.clone();
        tidy(field, &mut ids, tier);
        ids
    }

    /// The sleepers of a tier with their looks, the greatest value first.
    fn members(&self, field: &mut impl Field, tier: usize) -> Vec<(Look, u32)> {
        let ids = self.sleepers(field, tier);
        let mut members: Vec<(Look, u32)> = ids.into_iter().map(|id| (field.look(id), id)).collect();
        members.sort_unstable_by(|a, b| b.0.value.total_cmp(&a.0.value).then(a.1.cmp(&b.1)));
        members
    }

    fn clear(&mut self, tier: usize) {
        self.tiers[tier].count = 0;
        self.tiers[tier].came.clear();
    }
}

/// Leaves each that still sleeps in this tier, once.
fn tidy(field: &impl Field, came: &mut Vec<u32>, tier: usize) {
    came.retain(|id| field.place(*id).0 == Place::Tier(tier as u8));
    came.sort_unstable();
    came.dedup();
}

/// A quarter of a period: nobody is early by a whole turn.
fn fine(period: Span) -> Span {
    Span::from_nanos(period.as_nanos() / 4)
}
