//! The contestants that matter: of a hundred or so, which is worth most, with two or three looks.
//!
//! A value grows by no more than a known amount per second, so one that was looked at some time ago has a bound now. Those with
//! the greatest bounds are looked at until no other can be greater. Bounds are plain arrays: the scan is a few dozen
//! nanoseconds.

use super::{Field, Look};
use crate::time::Time;

/// Rounding: a bound is a little above what it should be.
const MARGIN: f64 = 1.0 + 1e-9;
/// Values are exact to fewer digits than they have: one that hardly grows any more may be a little more than it was.
const ROUNDING: f64 = 1.0 + 1e-12;

/// Who has a seat.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    ids: Vec<u32>,
    /// The value when it was last looked at,
    values: Vec<f64>,
    /// nanoseconds after `epoch`,
    at: Vec<f64>,
    /// the most that it grows per nanosecond from then on,
    growth: Vec<f64>,
    /// and half of what that grows by with every nanosecond,
    bend: Vec<f64>,
    /// until this moment.
    until: Vec<Time>,
    /// None of those is earlier.
    first_until: Time,
    epoch: Time,
    /// Room to work in: the bounds now, and the greatest of each row of them.
    bounds: Vec<f64>,
    rows: Vec<f64>,
}

const ROW: usize = 16;

/// Nanoseconds are whole numbers in an f64 up to 2^53.
const EPOCH: f64 = (1u64 << 52) as f64;

impl Seats {
    pub(super) fn new() -> Self {
        Self {
            ids: Vec::new(),
            values: Vec::new(),
            at: Vec::new(),
            growth: Vec::new(),
            bend: Vec::new(),
            until: Vec::new(),
            first_until: Time::MAX,
            epoch: Time::ZERO,
            bounds: Vec::new(),
            rows: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    pub(super) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Whether anyone was worth this, and more than nothing, when last looked at: they still are.
    pub(super) fn any_was_worth(&self, price: f64) -> bool {
        self.values.iter().any(|value| *value >= price && *value > 0.0 && *value < f64::MAX)
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.values.clear();
        self.at.clear();
        self.growth.clear();
        self.bend.clear();
        self.until.clear();
        self.first_until = Time::MAX;
    }

    fn moment(&mut self, now: Time) -> f64 {
        let moment = now.since(self.epoch).as_nanos() as f64;
        if moment < EPOCH && now >= self.epoch {
            return moment;
        }
        // Every 52 days: what was seen in the last epoch is looked at again.
        self.epoch = now;
        self.at.fill(0.0);
        self.values.fill(f64::MAX);
        self.until.fill(Time::MIN);
        0.0
    }

    pub(super) fn add(&mut self, id: u32, look: Look, now: Time) {
        let at = self.moment(now);
        self.ids.push(id);
        self.values.push(look.value);
        self.at.push(at);
        let Bound { growth, bend, until } = Bound::of(&look);
        self.growth.push(growth);
        self.bend.push(bend);
        self.until.push(until);
        self.first_until = self.first_until.min(until);
    }

    pub(super) fn remove(&mut self, id: u32) {
        if let Some(seat) = self.ids.iter().position(|other| *other == id) {
            self.ids.swap_remove(seat);
            self.values.swap_remove(seat);
            self.at.swap_remove(seat);
            self.growth.swap_remove(seat);
            self.bend.swap_remove(seat);
            self.until.swap_remove(seat);
        }
    }

    /// The value of someone has jumped.
    pub(super) fn renew(&mut self, id: u32, look: Look, now: Time) {
        let at = self.moment(now);
        if let Some(seat) = self.ids.iter().position(|other| *other == id) {
            self.set(seat, look, at);
        }
    }

    fn set(&mut self, seat: usize, look: Look, at: f64) {
        (self.values[seat], self.at[seat]) = (look.value, at);
        let Bound { growth, bend, until } = Bound::of(&look);
        (self.growth[seat], self.bend[seat], self.until[seat]) = (growth, bend, until);
        self.first_until = self.first_until.min(until);
    }

    /// The contestant of the greatest value now; of equal ones the lowest.
    pub(super) fn best(&mut self, field: &mut impl Field) -> Option<(u32, f64)> {
        let now = field.now();
        let moment = self.moment(now);
        if now > self.first_until {
            self.forget_outdated(now, moment);
        }
        let seen = self.values.iter().zip(&self.at).zip(&self.growth).zip(&self.bend);
        self.bounds.clear();
        self.bounds.extend(seen.map(|(((value, at), growth), bend)| {
            let wait = moment - at;
            value * ROUNDING + (growth + bend * wait) * wait
        }));
        self.rows.clear();
        self.rows.extend(self.bounds.chunks(ROW).map(greatest));
        let mut best: Option<(u32, f64)> = None;
        loop {
            let bound = greatest(&self.rows);
            if bound == f64::NEG_INFINITY || best.is_some_and(|(_, most)| bound < most) {
                return best;
            }
            let row = self.rows.iter().position(|row| *row == bound)?;
            let inside = &mut self.bounds[row * ROW..];
            let column = inside.iter().position(|seat| *seat == bound)?;
            inside[column] = f64::NEG_INFINITY;
            self.rows[row] = greatest(&inside[..ROW.min(inside.len())]);
            let seat = row * ROW + column;
            let id = self.ids[seat];
            let value = if self.at[seat] == moment && self.until[seat] >= now {
                self.values[seat]
            } else {
                let look = field.look(id);
                self.set(seat, look, moment);
                look.value
            };
            if best.is_none_or(|(lowest, most)| value > most || (value == most && id < lowest)) {
                best = Some((id, value));
            }
        }
    }

    /// Looks that hold no longer say nothing.
    fn forget_outdated(&mut self, now: Time, moment: f64) {
        self.first_until = Time::MAX;
        for seat in 0..self.ids.len() {
            if self.until[seat] < now && self.at[seat] < moment {
                self.growth[seat] = f64::MAX;
                self.values[seat] = f64::MAX;
                self.bend[seat] = 0.0;
            } else {
                self.first_until = self.first_until.min(self.until[seat]);
            }
        }
    }
}

/// How far a value may get.
struct Bound {
    growth: f64,
    bend: f64,
    until: Time,
}

impl Bound {
    fn of(look: &Look) -> Self {
        // The most that an infinite growth gives at once is 0, not NaN.
        let growth = (look.growth * (1e-9 * MARGIN)).min(f64::MAX);
        let bend = look.bend * (0.5e-18 * MARGIN);
        // Where the bend is known, growth is bounded for ever.
        if bend < f64::INFINITY {
            return Self { growth, bend, until: Time::MAX };
        }
        Self { growth, bend: 0.0, until: look.until }
    }
}

/// In four lanes, for machines that have them.
fn greatest(bounds: &[f64]) -> f64 {
    let more = |a: f64, b: f64| if a > b { a } else { b };
    let mut lanes = [f64::NEG_INFINITY; 4];
    let fours = bounds.chunks_exact(4);
    let rest = fours.remainder();
    for four in fours {
        for (lane, bound) in lanes.iter_mut().zip(four) {
            *lane = more(*lane, *bound);
        }
    }
    lanes.into_iter().chain(rest.iter().copied()).fold(f64::NEG_INFINITY, more)
}
