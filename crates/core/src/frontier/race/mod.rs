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
//! Levels move with the price, and sleepers are timed by that: a level is a promise that may be exceeded, never broken (`level`, `trend`).
//!
//! To wake early is always right and only costs a look, so each tier counts time in steps of its own: the lowest, where nearly
//! all sleep, in the longest. Its sleepers wake by the hundreds, one memory access beside the other.

mod calendar;
mod level;
mod levels;
mod look;
mod queue;
mod seats;
mod tier;
mod trend;
mod twins;

use crate::time::{Span, Time};
use level::LEAST_WORTH;
pub use look::Look;
use queue::Queue;
use seats::Seats;
use tier::Tier;
use trend::Trend;
use twins::Twins;

/// Where a contestant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In no race.
    Out,
    /// Asleep in this tier.
    Tier(u8),
    /// Among those that matter.
    Seat,
    /// Behind another that is the same in every respect.
    Behind,
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
    /// Whether it sleeps in this tier, of this race or another: one access to memory, and no branch.
    fn sleeps_in(&self, id: u32, tier: usize) -> bool;
    /// Whether two will always have the same value if nothing happens to either.
    fn are_twins(&self, one: u32, other: u32) -> bool;
    /// Puts it somewhere.
    fn set_place(&mut self, id: u32, place: Place, wake: Time);
}

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
/// None is longer than this share of the time in which all values have grown together.
const FINE: f64 = 1.0 / 64.0;

/// For so many decisions seats may be too many, at first.
const FIRST_PATIENCE: usize = 64;
/// Tiers are made for so many contestants at least.
const LEAST: usize = 256;
/// A race.
#[derive(Clone, Debug)]
pub(super) struct Race {
    seats: Seats,
    /// How many there may be,
    seat_limit: usize,
    /// or more, if all are alike: seats are cut down when there are more than this.
    most_seats: usize,
    /// For how many decisions there have been more seats than there should be, and for how many that is borne.
    crowded: usize,
    patience: usize,
    tiers: [Tier; TIERS],
    twins: Twins,
    period: Span,
    /// For how many contestants the tiers are made.
    made_for: usize,
    /// The time in which so many win.
    lap: Span,
    /// Where the values of winners go.
    trend: Trend,
    /// The time in which values grow that all rise together.
    scale: Span,
    /// When everyone was last placed by rank.
    ranked: Time,
    /// Room to work in.
    woken: Vec<u32>,
}

impl Race {
    /// A race of millions, in which someone wins about every `period`.
    pub(super) fn large(period: Span, now: Time) -> Self {
        Self::new(period, || Queue::large(period, now))
    }

    /// A race of a few, or a few thousands.
    pub(super) fn small() -> Self {
        Self::new(Span::ZERO, Queue::small)
    }

    fn new(period: Span, queue: impl Fn() -> Queue) -> Self {
        let mut race = Self {
            seats: Seats::new(),
            seat_limit: MOST_SEATS,
            most_seats: MOST_SEATS,
            crowded: 0,
            patience: FIRST_PATIENCE,
            tiers: std::array::from_fn(|_| Tier::new(queue())),
            twins: Twins::default(),
            period,
            made_for: 0,
            lap: Span::MAX,
            trend: Trend::new(),
            scale: Span::MAX,
            ranked: Time::MIN,
            woken: Vec::new(),
        };
        race.set_sizes(LEAST);
        race
    }

    fn is_large(&self) -> bool {
        self.tiers[0].queue.is_large()
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
            self.tiers[tier].set_size(size as usize);
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
            let tick = Span::from_secs((self.period.as_secs() * above).min(self.scale.as_secs() * FINE));
            self.tiers[k].queue.set_step(tick, field.now(), |id| sleeps_until(field, id, k));
        }
    }

    /// How many take part.
    pub(super) fn len(&self) -> usize {
        self.seats.len() + self.tiers.iter().map(|tier| tier.count).sum::<usize>() + self.twins.len()
    }

    /// Everyone who takes part.
    pub(super) fn everyone(&self, field: &impl Field) -> Vec<u32> {
        let mut all: Vec<u32> = self.seats.ids().to_vec();
        for tier in 0..TIERS {
            all.extend(self.sleepers(field, tier));
        }
        all.extend(self.twins.everyone());
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
            Place::Behind => {}
        }
        field.set_place(id, Place::Out, Time::MAX);
        self.part(field, id);
    }

    /// A contestant's value has grown at once, so that it reaches every level sooner by this much.
    pub(super) fn hurry(&mut self, field: &mut impl Field, id: u32, by: Span) {
        let (place, wake) = field.place(id);
        match place {
            Place::Out => {}
            // Who waits behind it is worth no more than it.
            Place::Seat => self.seats.renew(id, field.look(id), field.now()),
            Place::Behind => {
                self.leave(field, id);
                self.enter(field, id);
            }
            Place::Tier(tier) => {
                if by == Span::ZERO {
                    return;
                }
                let tier = usize::from(tier);
                // What a value reaches sooner is the level as it is now; one that rises is lower then than later.
                if self.tiers[..=tier].iter().any(|tier| tier.level.rises_until(field.now()).is_some()) {
                    self.leave(field, id);
                    self.enter(field, id);
                    return;
                }
                // Who never reaches the level does not reach it sooner.
                if wake == Time::MAX {
                    return;
                }
                let sooner = wake - by;
                if sooner <= field.now() {
                    self.tiers[tier].count -= 1;
                    self.promote(field, id, tier);
                } else if self.tiers[tier].queue.tells_apart(wake, sooner) {
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
        self.thin_out(field);
        loop {
            let best = self.seats.best(field);
            // Sleepers are worth less than the level, and nothing if there is none lower.
            let level = self.level(TOP, field.now());
            let surely = level <= LEAST_WORTH || best.is_some_and(|(_, value)| value >= level);
            if surely || !self.lower(field) {
                if let Some(best) = best {
                    self.watch_trend(field, best);
                }
                return best;
            }
        }
    }

    /// A moment not after the first at which anyone is worth `price`, and anything at all; [`Time::MAX`] if nobody ever is.
    pub(super) fn next_worth(&self, field: &mut impl Field, price: f64) -> Time {
        if self.seats.any_was_worth(price) {
            return Time::MIN;
        }
        let price = price.max(LEAST_WORTH);
        let seats = self.seats.ids().iter().map(|id| field.reaches(*id, price, true));
        let mut first = seats.min().unwrap_or(Time::MAX);
        // Sleepers wake at the highest level up to that of their tier. Where it is above the price they may be worth that before.
        let mut above = Time::MAX;
        for tier in &self.tiers {
            above = above.min(tier.level.exceeds(price, field.now()));
            if tier.count > 0 {
                first = first.min(above).min(tier.queue.next_wake().unwrap_or(Time::MAX));
            }
        }
        first
    }

    /// What values in this tier are below. Levels fall, each at its own pace, but never below a lower one.
    fn level(&self, tier: usize, now: Time) -> f64 {
        self.tiers[..=tier].iter().map(|tier| tier.level.at(now)).fold(0.0, f64::max)
    }

    /// The same, of all tiers.
    fn all_levels(&self, now: Time) -> [f64; TIERS] {
        let mut most = 0.0;
        std::array::from_fn(|tier| {
            most = self.tiers[tier].level.at(now).max(most);
            most
        })
    }

    /// Finds the place for a contestant of this value.
    fn settle(&mut self, field: &mut impl Field, id: u32, look: Look) {
        let levels = self.all_levels(field.now());
        let Some(mut tier) = (0..TIERS).find(|tier| look.value < levels[*tier]) else {
            self.sit(field, id, look);
            return;
        };
        // To sleep until it is worth anything at all is no use where a higher tier has room.
        while tier < TOP && levels[tier] <= LEAST_WORTH && self.tiers[tier + 1].has_room() {
            tier += 1;
        }
        self.sleep(field, id, tier, look);
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

    /// Sleeps on in its tier, which it has not left.
    fn sleep_on(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        self.queue(field, id, tier, wake);
        self.tiers[tier].count += 1;
    }

    fn sleep_until(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        self.queue(field, id, tier, wake);
        self.join(field, id, tier);
        if tier > 0 && self.tiers[tier].overflows() {
            self.raise_under(field, tier);
        }
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
            self.tiers[tier].queue.wake(field.now(), |id| sleeps_until(field, id, tier), &mut woken);
            // Who has moved since, or sleeps longer now, has another entry. Counted first, without a branch, so that the memory of
            // one comes while that of another is awaited.
            if woken.iter().map(|id| usize::from(field.sleeps_in(*id, tier))).sum::<usize>() == 0 {
                woken.clear();
                continue;
            }
            woken.retain(|id| self.is_awake(field, *id, tier));
            let again = self.ranked + self.tiers[tier].queue.step();
            if woken.len() > MOST_SEATS.max(self.len() / 8) && field.now() > again {
                // It was not asked for long: nearly everyone has a new place. Not so soon after the last time that who was early
                // then by less than a step may still be.
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
        sleeps_until(field, id, tier).is_some_and(|wake| self.tiers[tier].queue.is_over(wake, field.now()))
    }

    fn queue(&mut self, field: &mut impl Field, id: u32, tier: usize, wake: Time) {
        field.set_place(id, Place::Tier(tier as u8), wake);
        if wake == Time::MAX {
            return;
        }
        self.tiers[tier].push(id, wake, field.now(), |id| sleeps_until(field, id, tier));
    }

    /// On to the next tier, or to a seat.
    fn promote(&mut self, field: &mut impl Field, id: u32, from: usize) {
        let look = field.look(id);
        let levels = self.all_levels(field.now());
        let level = levels[from];
        if from == TOP && look.value < level {
            let wake = self.wake_at(field, id, TOP, &look);
            // Who is early by less than a tick may as well have its seat.
            if self.tiers[TOP].queue.is_over(wake, field.now()) {
                self.sit(field, id, look);
            } else {
                self.sleep_on(field, id, TOP, wake);
            }
            return;
        }
        // Who is early by a little sleeps on in the next tier: what counts is to be below its level. Who is early because the
        // level was raised meanwhile sleeps on here.
        if look.value < EARLY * level {
            let wake = self.wake_at(field, id, from, &look);
            // Unless it would wake at once.
            if !self.tiers[from].queue.is_over(wake, field.now()) {
                self.sleep_on(field, id, from, wake);
                return;
            }
        }
        let next = (from + 1..TIERS).find(|tier| levels[*tier] > level.max(look.value));
        match next {
            Some(next) => self.sleep(field, id, next, look),
            None if look.value < level => self.sleep(field, id, TOP, look),
            None => self.sit(field, id, look),
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

/// Leaves each that still sleeps in this tier, once.
fn tidy(field: &impl Field, came: &mut Vec<u32>, tier: usize) {
    came.retain(|id| field.place(*id).0 == Place::Tier(tier as u8));
    came.sort_unstable();
    came.dedup();
}
