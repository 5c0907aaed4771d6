//! Who is worth most now? The exact answer among millions, for a few evaluations.
//!
//! Between signals a value is a known, growing function of time, so nobody needs to be looked at before the moment at which
//! they could matter. Contestants are kept in tiers by how far they are from mattering:
//!
//! - tier k sleeps until its value reaches the level of the tier, `level[k]`; levels grow with k
//! - who has reached the highest level has a *seat*: about a hundred contestants, among them the greatest value
//!
//! Invariant: a sleeper of tier k has a value below `level[k]`. So if the best seat holds at least the highest level, it is the
//! best of all. Whoever wakes in one tier goes to sleep in the next; when seats get too many, the highest level is raised,
//! when the best seat is below it, it is lowered, and the same a tier below when a tier gets too large or runs out. Levels
//! float with the price by themselves, and what moving them costs is paid for by the contestants that pass by.
//!
//! To wake early is always right and only costs a look, so each tier counts time in steps of its own: the lowest, where nearly
//! all sleep, in the longest. Its sleepers wake by the hundreds, one memory access beside the other.

mod calendar;
mod seats;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::{Span, Time};
use calendar::Calendar;
use seats::Seats;

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
    /// The age of the page in seconds, if the logarithm of its value is a concave function of that of its age; else 0.
    pub concave_from: f64,
}

impl Look {
    /// Worth nothing, and nobody knows for how long.
    pub(super) const NOTHING: Self =
        Self { value: 0.0, growth: 0.0, until: Time::MIN, tight: false, concave_from: 0.0 };

    /// A moment not after the one at which the value reaches `level`, which falls by so much per second, if the look tells.
    fn reaches(&self, now: Time, level: f64, fall: f64) -> Option<Time> {
        let wait = (level - self.value) / (self.growth + fall);
        // Shorter by a part in a billion, for rounding.
        let moment = now + Span::from_nanos((wait * (1e9 - 1.0)) as u64);
        if self.tight && wait.is_finite() && moment <= self.until {
            return Some(moment);
        }
        self.tangent(level, fall).map(|wait| now + Span::from_nanos((wait * (1e9 - 10.0)) as u64))
    }

    /// A concave curve is below its tangents: where the tangent reaches a level, the value does not yet. Not for levels that
    /// are far away, where that is far too early.
    fn tangent(&self, level: f64, fall: f64) -> Option<f64> {
        let gap = level / self.value - 1.0;
        if !(self.concave_from > 0.0 && gap < FAR_AWAY) || fall > 0.0 {
            return None;
        }
        let steps = self.value / (self.concave_from * self.growth);
        // (1 + gap)^steps, from below where that is cheaper.
        let factor =
            if gap < 0.02 { steps * gap * (1.0 - 0.5 * gap) } else { (steps * gap.ln_1p()).exp_m1() };
        let wait = self.concave_from * factor;
        (wait < 9e9).then_some(wait)
    }
}

/// How far above a value a level may be to be reached along a tangent.
const FAR_AWAY: f64 = 0.25;

const TIERS: usize = 3;
const TOP: usize = TIERS - 1;
/// So many have a seat at most before the level is raised; fewer in a small race.
const MOST_SEATS: usize = 256;
const FEWEST_SEATS: usize = 32;
/// Who has reached this share of a level may go on.
const EARLY: f64 = 0.95;
/// The shortest steps, those of the highest tier, in periods.
const TOP_STEP: f64 = 2.0;
/// The steps of the others: this share of the time in which the tier above is emptied.
const STEP: f64 = 1.0 / 16.0;

/// Tiers are made for so many contestants at least.
const LEAST: usize = 256;
/// Fewer entries are never swept.
const SWEEP: usize = 1024;

/// Sleepers by when they wake. Who was moved or sleeps longer now is passed over.
#[derive(Clone, Debug)]
enum Queue {
    Heap(BinaryHeap<Reverse<(Time, u32)>>),
    Calendar(Box<Calendar>),
}

/// A level that may fall with time, by a known share per second: when prices fall, sleepers that know it wake in time.
#[derive(Clone, Copy, Debug)]
struct Level {
    height: f64,
    set: Time,
    fall: f64,
}

impl Level {
    const ZERO: Self = Self { height: 0.0, set: Time::MIN, fall: 0.0 };

    fn at(&self, now: Time) -> f64 {
        if self.fall == 0.0 {
            return self.height;
        }
        self.height * (-self.fall * now.since(self.set).as_secs()).exp()
    }
}

#[derive(Clone, Debug)]
struct Tier {
    /// Its sleepers wake before their values reach this.
    level: Level,
    /// Everyone who came to sleep here; some have left since.
    came: Vec<u32>,
    count: usize,
    /// How many there should be.
    size: usize,
    /// The level under it is raised when there are more than this.
    most: usize,
    queue: Queue,
    /// When its entries are more than this, those of sleepers that were moved are swept out.
    sweep_at: usize,
}

impl Tier {
    /// So many stay when there are too many,
    fn kept(&self) -> usize {
        self.size / 2
    }

    /// so many come when there are none.
    fn filled(&self) -> usize {
        self.size + self.size / 2
    }

    /// Whether it is time to wake who sleeps until then.
    fn is_over(&self, wake: Time, now: Time) -> bool {
        match &self.queue {
            Queue::Heap(_) => wake <= now,
            Queue::Calendar(calendar) => calendar.is_over(wake),
        }
    }

    /// Whether who sleeps until one moment and who does until the other wake at different times.
    fn tells_apart(&self, one: Time, other: Time) -> bool {
        match &self.queue {
            Queue::Heap(_) => one != other,
            Queue::Calendar(calendar) => !calendar.same(one, other),
        }
    }
}

/// A race.
#[derive(Clone, Debug)]
pub(super) struct Race {
    seats: Seats,
    /// How many there may be,
    seat_limit: usize,
    /// or more, if all are alike: seats are cut down when there are more than this.
    most_seats: usize,
    tiers: [Tier; TIERS],
    period: Span,
    /// For how many contestants the tiers are made.
    made_for: usize,
    /// The time in which so many win.
    lap: Span,
    /// By what share of itself the value of the winner falls, per second; 0 if it does not.
    trend: f64,
    /// When that was last looked at, and the value then.
    watched: (Time, f64),
    /// Room to work in.
    woken: Vec<u32>,
}

impl Race {
    /// A race of millions, in which someone wins about every `period`.
    pub(super) fn large(period: Span, now: Time) -> Self {
        Self::new(period, || Queue::Calendar(Box::new(Calendar::new(period, now))))
    }

    /// A race of a few, or a few thousands.
    pub(super) fn small() -> Self {
        Self::new(Span::ZERO, || Queue::Heap(BinaryHeap::new()))
    }

    fn new(period: Span, queue: impl Fn() -> Queue) -> Self {
        let tier = |_| Tier {
            level: Level::ZERO,
            came: Vec::new(),
            count: 0,
            size: 0,
            most: usize::MAX,
            queue: queue(),
            sweep_at: SWEEP,
        };
        let mut race = Self {
            seats: Seats::new(),
            seat_limit: MOST_SEATS,
            most_seats: MOST_SEATS,
            tiers: std::array::from_fn(tier),
            period,
            made_for: 0,
            lap: Span::MAX,
            trend: 0.0,
            watched: (Time::MIN, 0.0),
            woken: Vec::new(),
        };
        race.set_sizes(LEAST);
        race
    }

    fn is_large(&self) -> bool {
        matches!(self.tiers[0].queue, Queue::Calendar(_))
    }

    /// Someone wins about every `period` from now on.
    pub(super) fn set_period(&mut self, field: &impl Field, period: Span) {
        self.period = period;
        self.set_lap();
        self.set_steps(field);
    }

    fn set_lap(&mut self) {
        self.lap = Span::from_secs((self.period.as_secs() * self.made_for as f64).min(9e9));
        // A small race has no period and knows no trend.
        if self.period == Span::ZERO {
            self.lap = Span::MAX;
        }
    }

    /// Tiers grow with the race, each by the same factor larger than the one above.
    fn set_sizes(&mut self, contestants: usize) {
        self.made_for = contestants;
        self.set_lap();
        self.seat_limit = (contestants / 8).clamp(FEWEST_SEATS, MOST_SEATS);
        self.most_seats = self.seat_limit;
        let seats = self.seats_filled() as f64;
        let factor = (contestants as f64 / seats).cbrt().max(4.0);
        let mut size = seats;
        for tier in (1..TIERS).rev() {
            size *= factor;
            self.tiers[tier].size = size as usize;
            self.tiers[tier].most = 2 * size as usize;
        }
    }

    /// So many keep their seats when there are too many, and so many get one when the level is lowered: after a change there is
    /// room for more of the same. Prices that move, move on.
    fn seats_kept(&self) -> usize {
        self.seat_limit * 3 / 8
    }

    fn seats_filled(&self) -> usize {
        self.seat_limit * 11 / 16
    }

    /// Ticks that suit the period and the sizes.
    fn set_steps(&mut self, field: &impl Field) {
        for k in 0..TIERS {
            let above =
                self.tiers.get(k + 1).map_or(TOP_STEP, |above| (above.size as f64 * STEP).max(TOP_STEP));
            let tick = Span::from_secs(self.period.as_secs() * above);
            if let Queue::Calendar(calendar) = &mut self.tiers[k].queue
                && !calendar.suits(tick)
            {
                calendar.rebuild(tick, field.now(), |id| sleeps_until(field, id, k));
            }
        }
    }

    /// How many take part.
    pub(super) fn len(&self) -> usize {
        self.seats.len() + self.tiers.iter().map(|tier| tier.count).sum::<usize>()
    }

    /// Everyone who takes part.
    pub(super) fn everyone(&self, field: &impl Field) -> Vec<u32> {
        let mut all: Vec<u32> = self.seats.ids().to_vec();
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
        self.settle(field, id, Look::NOTHING);
    }

    /// Takes part no more.
    pub(super) fn leave(&mut self, field: &mut impl Field, id: u32) {
        match field.place(id).0 {
            Place::Out => return,
            Place::Tier(tier) => self.tiers[usize::from(tier)].count -= 1,
            Place::Seat => self.seats.remove(id),
        }
        field.set_place(id, Place::Out, Time::MAX);
    }

    /// A contestant's value has grown at once, so that it reaches every level sooner by this much.
    pub(super) fn hurry(&mut self, field: &mut impl Field, id: u32, by: Span) {
        let (place, wake) = field.place(id);
        match place {
            Place::Out => {}
            Place::Seat => self.seats.renew(id, field.look(id), field.now()),
            Place::Tier(tier) => {
                // Who never reaches the level does not reach it sooner.
                if wake == Time::MAX || by == Span::ZERO {
                    return;
                }
                let tier = usize::from(tier);
                let sooner = wake - by;
                if sooner <= field.now() {
                    self.tiers[tier].count -= 1;
                    self.promote(field, id, tier);
                } else if self.tiers[tier].tells_apart(wake, sooner) {
                    self.queue(field, id, tier, sooner);
                } else {
                    field.set_place(id, place, sooner);
                }
            }
        }
    }

    /// The contestant of the greatest value now; of equal ones the lowest.
    pub(super) fn best(&mut self, field: &mut impl Field) -> Option<(u32, f64)> {
        self.wake(field);
        if self.most_seats > self.seat_limit && 4 * self.seats.len() < self.most_seats {
            // Those that were all alike are gone.
            self.most_seats = self.seat_limit;
        }
        loop {
            let best = self.seats.best(field);
            let surely = best.is_some_and(|(_, value)| value >= self.level(TOP, field.now()));
            if surely || !self.lower(field) {
                self.watch_trend(field.now(), best.map_or(0.0, |(_, value)| value));
                return best;
            }
        }
    }

    /// A moment not after the first at which anyone is worth `price`, and anything at all; [`Time::MAX`] if nobody ever is.
    pub(super) fn next_worth(&self, field: &mut impl Field, price: f64) -> Time {
        if price <= 0.0 && self.seats.any_was_worth_something() {
            return Time::MIN;
        }
        let price = price.max(f64::MIN_POSITIVE);
        let seats = self.seats.ids().iter().map(|id| field.reaches(*id, price, true));
        let mut first = seats.min().unwrap_or(Time::MAX);
        for tier in self.tiers.iter().filter(|tier| tier.count > 0) {
            // Sleepers wake at a level that may be above the price, if that has fallen: those may be worth it any moment.
            if tier.level.at(field.now()) > price || tier.level.fall > 0.0 {
                return Time::MIN;
            }
            let next = match &tier.queue {
                Queue::Heap(heap) => heap.peek().map(|Reverse((wake, _))| *wake),
                Queue::Calendar(calendar) => calendar.next_wake(),
            };
            first = first.min(next.unwrap_or(Time::MAX));
        }
        first
    }

    /// What values in this tier are below. Levels fall, each at its own pace, but never below a lower one.
    fn level(&self, tier: usize, now: Time) -> f64 {
        self.tiers[..=tier].iter().map(|tier| tier.level.at(now)).fold(0.0, f64::max)
    }

    /// Finds the place for a contestant of this value.
    fn settle(&mut self, field: &mut impl Field, id: u32, look: Look) {
        match (0..TIERS).find(|tier| look.value < self.level(*tier, field.now())) {
            Some(tier) => self.sleep(field, id, tier, look),
            None => self.sit(field, id, look),
        }
    }

    fn sit(&mut self, field: &mut impl Field, id: u32, look: Look) {
        field.set_place(id, Place::Seat, Time::MAX);
        self.seats.add(id, look, field.now());
        if self.seats.len() > self.most_seats {
            self.raise_top(field);
        }
    }

    fn sleep(&mut self, field: &mut impl Field, id: u32, tier: usize, look: Look) {
        let wake = self.wake_at(field, id, tier, &look);
        self.sleep_until(field, id, tier, wake);
    }

    fn sleep_until(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        self.queue(field, id, tier, wake);
        self.join(field, id, tier);
        if tier > 0 && self.tiers[tier].count > self.tiers[tier].most {
            self.raise_under(field, tier);
        }
    }

    /// When someone of this value, below the level of the tier, reaches it.
    fn wake_at(&self, field: &mut impl Field, id: u32, tier: usize, look: &Look) -> Time {
        let now = field.now();
        let level = self.level(tier, now);
        let fall = self.tiers[..=tier].iter().map(|tier| tier.level.fall).fold(0.0, f64::max);
        // Close by, the steepest growth is a good guess and needs no inverse.
        let wake = look.reaches(now, level, fall * level).unwrap_or_else(|| {
            let wake = field.reaches(id, level, tier == TOP);
            if fall == 0.0 {
                return wake;
            }
            // Until any moment the level is not below what it is then: who is below that until then sleeps so long. When it
            // would have reached the level as it is now is a good moment, unless the level falls much by then; then it is when
            // they would meet if both went on as they do now.
            let mut moment = wake;
            if wake == Time::MAX || self.level(tier, wake) < 0.5 * (look.value + level) {
                let meet = (level - look.value) / (look.growth.max(0.0) + fall * level);
                moment = wake.min(now + Span::from_secs(meet.clamp(0.0, 9e9)));
            }
            moment.min(field.reaches(id, self.level(tier, moment), tier == TOP))
        });
        // Not in the past: it has not reached the level yet.
        wake.max(now + Span::from_nanos(1))
    }

    fn join(&mut self, field: &impl Field, id: u32, tier: usize) {
        let large = self.is_large();
        let joined = &mut self.tiers[tier];
        joined.count += 1;
        // In a race of millions nearly everyone is in the lowest tier: no list is needed to find them.
        if tier == 0 && large {
            let all = self.len();
            if all > 2 * self.made_for || 8 * all < self.made_for {
                self.set_sizes(all.max(LEAST));
                self.set_steps(field);
            }
            return;
        }
        joined.came.push(id);
        if joined.came.len() > 2 * joined.count + 1024 {
            tidy(field, &mut joined.came, tier);
        }
    }

    /// Wakes whoever has reached the level of their tier.
    fn wake(&mut self, field: &mut impl Field) {
        let mut woken = std::mem::take(&mut self.woken);
        for tier in 0..TIERS {
            match &mut self.tiers[tier].queue {
                Queue::Calendar(calendar) => {
                    calendar.advance(field.now(), |id| sleeps_until(field, id, tier), &mut woken);
                }
                Queue::Heap(heap) => {
                    while heap.peek().is_some_and(|Reverse((wake, _))| *wake <= field.now()) {
                        woken.extend(heap.pop().map(|Reverse((_, id))| id));
                    }
                }
            }
            // Who has moved since, or sleeps longer now, has another entry. Asked for all at once, so that the memory of one
            // comes while that of another is awaited.
            woken.retain(|id| self.is_awake(field, *id, tier));
            if woken.len() > MOST_SEATS.max(self.len() / 8) {
                // It was not asked for long: nearly everyone has a new place.
                woken.clear();
                self.rank_all(field);
            }
            for id in woken.drain(..) {
                // It may have been among them twice.
                if self.is_awake(field, id, tier) {
                    self.tiers[tier].count -= 1;
                    self.promote(field, id, tier);
                }
            }
        }
        self.woken = woken;
    }

    fn is_awake(&self, field: &impl Field, id: u32, tier: usize) -> bool {
        sleeps_until(field, id, tier).is_some_and(|wake| self.tiers[tier].is_over(wake, field.now()))
    }

    fn queue(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        field.set_place(id, Place::Tier(tier as u8), wake);
        if wake == Time::MAX {
            return;
        }
        let queued = &mut self.tiers[tier];
        let entries = match &mut queued.queue {
            Queue::Calendar(calendar) => {
                calendar.push(wake, id);
                calendar.entries()
            }
            Queue::Heap(heap) => {
                heap.push(Reverse((wake, id)));
                heap.len()
            }
        };
        if entries > queued.sweep_at {
            // Twice as many as after the last time: some are of those that were moved.
            let left = match &mut queued.queue {
                Queue::Calendar(calendar) => {
                    calendar.rebuild(calendar.tick(), field.now(), |id| sleeps_until(field, id, tier));
                    calendar.entries()
                }
                Queue::Heap(heap) => {
                    heap.retain(|Reverse((wake, id))| sleeps_until(field, *id, tier) == Some(*wake));
                    heap.len()
                }
            };
            queued.sweep_at = 2 * left + SWEEP;
        }
    }

    /// On to the next tier, or to a seat.
    fn promote(&mut self, field: &mut impl Field, id: u32, from: usize) {
        let look = field.look(id);
        let level = self.level(from, field.now());
        if from == TOP && look.value < level {
            let wake = self.wake_at(field, id, TOP, &look);
            // Who is early by less than a tick may as well have its seat.
            if self.tiers[TOP].is_over(wake, field.now()) {
                self.sit(field, id, look);
            } else {
                self.sleep_until(field, id, TOP, wake);
            }
            return;
        }
        // Who is early by a little sleeps on in the next tier: what counts is to be below its level. Who is early because the
        // level was raised meanwhile sleeps on here.
        if look.value < EARLY * level {
            let wake = self.wake_at(field, id, from, &look);
            // Unless it would wake at once.
            if !self.tiers[from].is_over(wake, field.now()) {
                self.sleep_until(field, id, from, wake);
                return;
            }
        }
        let next = (from + 1..TIERS).find(|tier| self.level(*tier, field.now()) > level.max(look.value));
        match next {
            Some(next) => self.sleep(field, id, next, look),
            None if look.value < level => self.sleep(field, id, TOP, look),
            None => self.sit(field, id, look),
        }
    }

    /// Too many seats: the highest level goes up, and who is below it goes to sleep.
    fn raise_top(&mut self, field: &mut impl Field) {
        let ids = self.seats.ids().to_vec();
        let seats = ranked(field, ids);
        let level = seats[self.seats_kept() - 1].0.value.max(self.level(TOP, field.now()));
        self.raise(TOP, level, field.now());
        self.seats.clear();
        for (look, id) in seats {
            let wake = if look.value < level { self.wake_at(field, id, TOP, &look) } else { Time::MIN };
            if self.tiers[TOP].is_over(wake, field.now()) {
                self.seats.add(id, look, field.now());
            } else {
                self.sleep_until(field, id, TOP, wake);
            }
        }
        self.most_seats = self.seat_limit.max(2 * self.seats.len());
    }

    /// Too many sleepers in a tier: the level under it goes up, and who is below it sleeps there.
    fn raise_under(&mut self, field: &mut impl Field, tier: usize) {
        let mut members = ranked(field, self.sleepers(field, tier));
        let keep = self.tiers[tier].kept().min(members.len() - 1);
        let now = field.now();
        let level = members[keep].0.value.min(self.level(tier, now));
        if !(level > self.level(tier - 1, now)) {
            // All alike: nothing to tell apart.
            self.tiers[tier].most = 2 * members.len();
            return;
        }
        self.tiers[tier].most = 2 * self.tiers[tier].size;
        self.raise(tier - 1, level, now);
        let stay = members.partition_point(|(look, _)| look.value >= level);
        for (look, id) in members.drain(stay..) {
            self.tiers[tier].count -= 1;
            self.sleep(field, id, tier - 1, look);
        }
    }

    /// Seats that may not be the best: the levels go down until one is. False if nobody sleeps.
    fn lower(&mut self, field: &mut impl Field) -> bool {
        let Some(tier) = (0..TIERS).rev().find(|tier| self.tiers[*tier].count > 0) else { return false };
        let members = ranked(field, self.sleepers(field, tier));
        self.tiers[tier].count = 0;
        self.tiers[tier].came.clear();
        // Sleepers of the tiers below are all under this.
        let now = field.now();
        let floor = if tier > 0 { self.level(tier - 1, now) } else { 0.0 };
        let above = members.partition_point(|(look, _)| look.value >= floor);
        let level = |rank: usize| if rank < above { members[rank].0.value } else { floor };
        // Everyone here is timed anew, and the tiers above are empty: they may all fall as fast as winners do.
        for between in tier..TIERS {
            let height = level(self.rank_of(between));
            self.tiers[between].level = Level { height, set: now, fall: self.trend };
        }
        for (look, id) in members {
            if look.value < floor {
                self.sleep(field, id, tier - 1, look);
            } else {
                self.settle(field, id, look);
            }
        }
        true
    }

    /// Everyone is looked at, and placed by rank.
    fn rank_all(&mut self, field: &mut impl Field) {
        let all = self.everyone(field);
        let now = field.now();
        if all.len() > 2 * self.made_for || 8 * all.len() < self.made_for {
            self.set_sizes(all.len().max(LEAST));
        }
        let members = ranked(field, all);
        self.seats.clear();
        for tier in 0..TIERS {
            let height = members.get(self.rank_of(tier)).map_or(0.0, |(look, _)| look.value);
            let level = Level { height, set: now, fall: self.trend };
            let emptied = &mut self.tiers[tier];
            (emptied.level, emptied.count) = (level, 0);
            emptied.came.clear();
            match &mut emptied.queue {
                Queue::Heap(heap) => heap.clear(),
                Queue::Calendar(calendar) => calendar.rebuild(calendar.tick(), now, |_| None),
            }
        }
        for (look, id) in members {
            self.settle(field, id, look);
        }
        self.set_steps(field);
    }

    /// How many are above the level of a tier when it has been lowered.
    fn rank_of(&self, tier: usize) -> usize {
        self.tiers.get(tier + 1).map_or(self.seats_filled() - 1, Tier::filled)
    }

    /// A level that was too low.
    fn raise(&mut self, tier: usize, height: f64, now: Time) {
        let fall = self.tiers[tier].level.fall.min(self.trend);
        self.tiers[tier].level = Level { height, set: now, fall };
    }

    /// Watches what winners are worth: how fast does that fall?
    fn watch_trend(&mut self, now: Time, won: f64) {
        let (since, before) = self.watched;
        if now < since + Span::from_nanos(self.lap.as_nanos() / 32) || !(won > 0.0) {
            return;
        }
        let lap = self.lap.as_secs();
        let laps = now.since(since).as_secs() / lap;
        let fall = (before / won).ln() / laps;
        // What is less is noise, what is more is a jump.
        self.trend = if fall > 0.05 && laps < 1.0 { fall.min(4.0) / lap } else { 0.0 };
        self.watched = (now, won);
        // A level may fall more slowly than its sleepers think, never faster.
        for tier in &mut self.tiers {
            if tier.level.fall > self.trend {
                tier.level = Level { height: tier.level.at(now), set: now, fall: self.trend };
            }
        }
    }

    /// The sleepers of a tier, in the order of their numbers.
    fn sleepers(&self, field: &impl Field, tier: usize) -> Vec<u32> {
        if tier == 0 && self.is_large() {
            return field.everyone().filter(|id| field.place(*id).0 == Place::Tier(0)).collect();
        }
        let mut ids = self.tiers[tier].came.clone();
        tidy(field, &mut ids, tier);
        ids
    }
}

/// Until when someone sleeps in this tier, if it does and ever wakes.
fn sleeps_until(field: &impl Field, id: u32, tier: usize) -> Option<Time> {
    let (place, wake) = field.place(id);
    (place == Place::Tier(tier as u8) && wake < Time::MAX).then_some(wake)
}

/// Contestants and how they look, the greatest value first.
fn ranked(field: &mut impl Field, ids: Vec<u32>) -> Vec<(Look, u32)> {
    let mut ranked: Vec<(Look, u32)> = ids.into_iter().map(|id| (field.look(id), id)).collect();
    ranked.sort_unstable_by(|a, b| b.0.value.total_cmp(&a.0.value).then(a.1.cmp(&b.1)));
    ranked
}

/// Leaves each that still sleeps in this tier, once.
fn tidy(field: &impl Field, came: &mut Vec<u32>, tier: usize) {
    came.retain(|id| field.place(*id).0 == Place::Tier(tier as u8));
    came.sort_unstable();
    came.dedup();
}
