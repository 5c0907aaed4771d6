//! Levels that move: how seats and tiers keep their sizes while values and prices change.

use super::level::{LEAST_WORTH, Level, Motion};
use super::tier::Tier;
use super::{FIRST_PATIENCE, Field, LEAST, Look, Race, TIERS, TOP};
use crate::time::{Span, Time};

impl Race {
    /// Too many seats: the highest level goes up, and who is below it goes to sleep.
    pub(super) fn raise_top(&mut self, field: &mut impl Field) {
        let ids = self.seats.ids().to_vec();
        let ranked = ranked(field, ids);
        let seats = self.twins.line_up(field, ranked);
        let kept = self.seats_kept().min(seats.len());
        let level = at(&seats[kept - 1].0).max(self.level(TOP, field.now()));
        self.raise(TOP, level, field.now());
        self.seats.clear();
        for (look, id) in seats {
            let wake = if look.value < level { self.wake_at(field, id, TOP, &look) } else { Time::MIN };
            if self.tiers[TOP].queue.is_over(wake, field.now()) {
                self.seats.add(id, look, field.now());
            } else {
                self.sleep_until(field, id, TOP, wake);
            }
        }
        self.most_seats = self.seat_limit.max(2 * self.seats.len());
    }

    /// Contestants that were all alike may not be so any more: now and then, ever more seldom, they are told apart again.
    pub(super) fn thin_out(&mut self, field: &mut impl Field) {
        if self.seats.len() <= self.seat_limit {
            (self.crowded, self.patience, self.most_seats) = (0, FIRST_PATIENCE, self.seat_limit);
            return;
        }
        self.crowded += 1;
        if self.crowded > self.patience && self.seats.len() > 4 * self.seat_limit {
            (self.crowded, self.patience) = (0, (2 * self.patience).min(self.seats.len()));
            self.raise_top(field);
        }
    }

    /// Too many sleepers in a tier: the level under it goes up, and who is below it sleeps there.
    pub(super) fn raise_under(&mut self, field: &mut impl Field, tier: usize) {
        let mut members = ranked(field, self.sleepers(field, tier));
        let keep = above_cliff(&members, self.tiers[tier].kept().min(members.len() - 1));
        let now = field.now();
        let level = at(&members[keep].0).min(self.level(tier, now));
        if !(level > self.level(tier - 1, now)) {
            self.tiers[tier].are_alike(members.len());
            return;
        }
        self.tiers[tier].differ();
        self.raise(tier - 1, level, now);
        let stay = members.partition_point(|(look, _)| look.value >= level);
        for (look, id) in members.drain(stay..) {
            self.tiers[tier].count -= 1;
            self.sleep(field, id, tier - 1, look);
        }
    }

    /// Seats that may not be the best: the levels go down until one is. False if nobody sleeps.
    pub(super) fn lower(&mut self, field: &mut impl Field) -> bool {
        let Some(tier) = (0..TIERS).rev().find(|tier| self.tiers[*tier].count > 0) else { return false };
        let members = ranked(field, self.sleepers(field, tier));
        self.tiers[tier].count = 0;
        self.tiers[tier].came.clear();
        // Sleepers of the tiers below are all under this.
        let now = field.now();
        let floor = if tier > 0 { self.level(tier - 1, now) } else { LEAST_WORTH };
        let above = members.partition_point(|(look, _)| look.value >= floor);
        let level = |rank: usize| {
            if rank < above { at(&members[above_cliff(&members, rank)].0).max(floor) } else { floor }
        };
        // Everyone here is timed anew, and the tiers above are empty: they may all move as the price does.
        self.trend.was_less(now);
        let motion = self.trend.motion();
        for between in tier..TIERS {
            let height = level(self.rank_of(between));
            self.tiers[between].level = Level { height, set: now, motion };
        }
        for (look, id) in members {
            if tier > 0 && look.value < floor {
                self.sleep(field, id, tier - 1, look);
            } else {
                self.settle(field, id, look);
            }
        }
        true
    }

    /// Everyone is looked at, and placed by rank.
    pub(super) fn rank_all(&mut self, field: &mut impl Field) {
        let all = self.everyone(field);
        let now = field.now();
        self.ranked = now;
        if all.len() > 2 * self.made_for || 8 * all.len() < self.made_for {
            self.set_sizes(all.len().max(LEAST));
        }
        let members = ranked(field, all);
        if let Some((best, _)) = members.first() {
            self.trend.all_woke(now, best.value, self.lap, best.concave_from > 0.0);
            // Until the trend is known: as fast as the best does, if that is known.
            let scale = 2.0 * best.value / best.growth;
            self.scale = if scale > 0.0 { Span::from_secs(scale) } else { Span::MAX };
        }
        self.seats.clear();
        self.twins.clear();
        for tier in 0..TIERS {
            let rank = self.rank_of(tier);
            let height = if rank < members.len() { at(&members[above_cliff(&members, rank)].0) } else { 0.0 };
            let height = height.max(LEAST_WORTH);
            let level = Level { height, set: now, motion: self.trend.motion() };
            self.tiers[tier].clear(level);
        }
        for (look, id) in members {
            self.settle(field, id, look);
        }
        self.set_steps(field);
    }

    /// How many are above the level of a tier when it has been lowered.
    pub(super) fn rank_of(&self, tier: usize) -> usize {
        self.tiers.get(tier + 1).map_or(self.seats_filled() - 1, Tier::filled)
    }

    /// A level that was too low.
    pub(super) fn raise(&mut self, tier: usize, height: f64, now: Time) {
        self.tiers[tier].level = self.tiers[tier].level.lifted(height, now, self.trend.motion());
    }

    /// Watches what winners are worth: levels move as that does.
    pub(super) fn watch_trend(&mut self, field: &mut impl Field, (id, won): (u32, f64)) {
        let now = field.now();
        if !self.trend.won(now, won, self.lap, || field.look(id).concave_from > 0.0) {
            return;
        }
        for tier in 0..TIERS {
            self.raise(tier, self.tiers[tier].level.at(now), now);
        }
        self.scale = match self.trend.motion() {
            Motion::Rises(rise, _) => now.since(rise.origin),
            _ => Span::MAX,
        };
        self.set_steps(field);
    }

    /// When someone of this value, below the level of the tier, reaches it; [`Time::MAX`] only if it never does, whatever signals come.
    pub(super) fn wake_at(&self, field: &mut impl Field, id: u32, tier: usize, look: &Look) -> Time {
        let now = field.now();
        // Who is below any level up to that of the tier is below the highest.
        let levels = self.tiers[..=tier].iter().map(|tier| (tier.level.at(now), &tier.level));
        let Some((height, level)) = levels.max_by(|a, b| a.0.total_cmp(&b.0)) else { return now };
        let wake = match level.rises_until(now) {
            Some(until) => {
                let met = level.met_by(look, now);
                // Close by, and after the rise, the look tells enough. Before any moment the level is not above what it is then.
                let enough = met >= until || (look.tight && met <= look.until);
                if enough { met } else { met.max(field.reaches(id, at_least(level, met), tier == TOP)) }
            }
            None => reaches_falling(field, id, (level, height), tier == TOP, look),
        };
        // Not in the past: it has not reached the level yet.
        wake.max(now.later(Span::from_nanos(1)))
    }
}

/// A level, or a little less: for rounding.
fn at_least(level: &Level, now: Time) -> f64 {
    level.at(now) * (1.0 - 1e-9)
}

/// When someone reaches a level that falls or is still, and is so high now.
fn reaches_falling(
    field: &mut impl Field,
    id: u32,
    (level, height): (&Level, f64),
    near: bool,
    look: &Look,
) -> Time {
    let now = field.now();
    let fall = level.fall();
    // Close by, the steepest growth is a good guess and needs no inverse.
    if let Some(wake) = look.reaches(now, height, fall * height) {
        return wake;
    }
    let wake = field.reaches(id, height, near);
    if fall == 0.0 {
        return wake;
    }
    // Until any moment the level is not below what it is then: who is below that until then sleeps so long. When it would have
    // reached the level as it is now is a good moment, unless the level falls much by then; then it is when they would meet if
    // both went on as they do now.
    let mut moment = wake;
    if wake == Time::MAX || level.at(wake) < 0.5 * (look.value + height) {
        let meet = (height - look.value) / (look.growth.max(0.0) + fall * height);
        moment = wake.min(now + Span::from_secs(meet.clamp(0.0, 9e9)));
    }
    moment.min(field.reaches(id, level.at(moment), near))
}

/// The level for those that are worth this, and more. A little lower: values that only come ever closer to a limit are at it
/// when they are rounded, and then as good as those that were there before.
fn at(look: &Look) -> f64 {
    look.value * (1.0 - 1e-9)
}

/// The rank at which to put a level instead of this one: the last before a cliff, where values fall to a small part within as many ranks
/// as there are above it. When the copies of all pages are young, the few that had a signal are worth thousands of times as much as all
/// others, whose values grow many times over while the price hardly moves: a level among those would be passed by all, again and again.
fn above_cliff(ranked: &[(Look, u32)], rank: usize) -> usize {
    let mut upper = rank / 2;
    while upper > 0 {
        if ranked[upper].0.value > CLIFF * ranked[2 * upper].0.value {
            return upper;
        }
        upper /= 2;
    }
    rank
}

/// How many times more those above a cliff are worth.
const CLIFF: f64 = 8.0;

/// Contestants and how they look, the greatest value first.
fn ranked(field: &mut impl Field, ids: Vec<u32>) -> Vec<(Look, u32)> {
    let mut ranked: Vec<(Look, u32)> = ids.into_iter().map(|id| (field.look(id), id)).collect();
    ranked.sort_unstable_by(|a, b| b.0.value.total_cmp(&a.0.value).then(a.1.cmp(&b.1)));
    ranked
}
