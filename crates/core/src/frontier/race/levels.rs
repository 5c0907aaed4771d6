//! Levels that move: how seats and tiers keep their sizes while values and prices change.

use super::tier::{LEAST_WORTH, Level, Tier};
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
        let keep = self.tiers[tier].kept().min(members.len() - 1);
        let now = field.now();
        let level = at(&members[keep].0).min(self.level(tier, now));
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
    pub(super) fn lower(&mut self, field: &mut impl Field) -> bool {
        let Some(tier) = (0..TIERS).rev().find(|tier| self.tiers[*tier].count > 0) else { return false };
        let members = ranked(field, self.sleepers(field, tier));
        self.tiers[tier].count = 0;
        self.tiers[tier].came.clear();
        // Sleepers of the tiers below are all under this.
        let now = field.now();
        let floor = if tier > 0 { self.level(tier - 1, now) } else { LEAST_WORTH };
        let above = members.partition_point(|(look, _)| look.value >= floor);
        let level = |rank: usize| if rank < above { at(&members[rank].0).max(floor) } else { floor };
        // Everyone here is timed anew, and the tiers above are empty: they may all fall as fast as winners do.
        for between in tier..TIERS {
            let height = level(self.rank_of(between));
            self.tiers[between].level = Level { height, set: now, fall: self.trend };
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
        self.seats.clear();
        self.twins.clear();
        for tier in 0..TIERS {
            let height = members.get(self.rank_of(tier)).map_or(0.0, |(look, _)| at(look)).max(LEAST_WORTH);
            let level = Level { height, set: now, fall: self.trend };
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
        let fall = self.tiers[tier].level.fall.min(self.trend);
        self.tiers[tier].level = Level { height, set: now, fall };
    }

    /// Watches what winners are worth: how fast does that fall?
    pub(super) fn watch_trend(&mut self, now: Time, won: f64) {
        let (since, before) = self.watched;
        if now < since + Span::from_nanos(self.lap.as_nanos() / 32) || !(won > 0.0) {
            return;
        }
        let lap = self.lap.as_secs();
        let laps = now.since(since).as_secs() / lap;
        let fall = (before / won).ln() / laps;
        // What is less is noise, what is more is a jump.
        self.trend = if fall > 0.05 && laps < 1.0 && before < 10.0 * won { fall.min(4.0) / lap } else { 0.0 };
        self.watched = (now, won);
        // A level may fall more slowly than its sleepers think, never faster.
        for tier in &mut self.tiers {
            if tier.level.fall > self.trend {
                tier.level = Level { height: tier.level.at(now), set: now, fall: self.trend };
            }
        }
    }
}

/// The level for those that are worth this, and more. A little lower: values that only come ever closer to a limit are at it
/// when they are rounded, and then as good as those that were there before.
fn at(look: &Look) -> f64 {
    look.value * (1.0 - 1e-9)
}

/// Contestants and how they look, the greatest value first.
fn ranked(field: &mut impl Field, ids: Vec<u32>) -> Vec<(Look, u32)> {
    let mut ranked: Vec<(Look, u32)> = ids.into_iter().map(|id| (field.look(id), id)).collect();
    ranked.sort_unstable_by(|a, b| b.0.value.total_cmp(&a.0.value).then(a.1.cmp(&b.1)));
    ranked
}
