//! Levels that move by themselves, with the price, so that sleepers wake in time and not long before.
//!
//! A level is a promise to those who sleep below it. It may turn out to be higher than they think, then they wake early; it is never
//! lower, unless they are timed anew.

use super::Look;
use crate::time::{Span, Time};

/// No level is lower: who is worth nothing cannot win, and sleeps until it is worth something.
pub(super) const LEAST_WORTH: f64 = f64::MIN_POSITIVE;

/// Rising with the square of the time since a moment, as values do that all began there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rise {
    pub(super) origin: Time,
    pub(super) until: Time,
}

impl Rise {
    /// For how long it has been rising; the nanosecond keeps it from being nothing.
    fn base(&self, now: Time) -> f64 {
        now.since(self.origin).as_secs() + 1e-9
    }

    /// How many times higher it is at a moment than at another before.
    fn times(&self, from: Time, to: Time) -> f64 {
        let times = 1.0 + to.min(self.until).since(from).as_secs() / self.base(from);
        times * times
    }
}

/// How a level, or a price, moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    /// It does not.
    Still,
    /// By this share of itself per second.
    Falls(f64),
    /// Up to a moment; then, where something else was promised meanwhile, like that. Later it is still.
    Rises(Rise, Option<Rise>),
}

impl Motion {
    /// No lower than this at any moment from now on, and as much like the price as that allows.
    fn or_higher(self, price: Self, now: Time) -> Self {
        let promised = match self {
            Self::Rises(first, then) if now < first.until => Some((first, then)),
            Self::Rises(_, Some(then)) if now < then.until => Some((then, None)),
            _ => None,
        };
        match (promised, price) {
            (Some((first, then)), Self::Rises(new, _)) => {
                if new.origin >= first.origin && then.is_none_or(|then| new.origin >= then.origin) {
                    let until = then.map_or(first.until, |then| then.until).max(new.until);
                    return Self::Rises(Rise { until, ..new }, None);
                }
                let then = match then {
                    Some(then) if new.origin < then.origin => then,
                    Some(then) => Rise { until: then.until.max(new.until), ..new },
                    None => new,
                };
                Self::Rises(first, Some(then).filter(|then| then.until > first.until))
            }
            (Some((first, then)), _) => Self::Rises(first, then),
            (None, Self::Rises(..)) => price,
            (None, Self::Falls(price)) => match self {
                Self::Falls(share) => Self::Falls(share.min(price)),
                _ => Self::Still,
            },
            (None, Self::Still) => Self::Still,
        }
    }
}

/// Where a level was, and how it moves since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) height: f64,
    pub(super) set: Time,
    pub(super) motion: Motion,
}

impl Level {
    pub(super) const LEAST: Self = Self { height: LEAST_WORTH, set: Time::MIN, motion: Motion::Still };

    pub(super) fn at(&self, now: Time) -> f64 {
        match self.motion {
            Motion::Still => self.height,
            Motion::Falls(share) => {
                (self.height * (-share * now.since(self.set).as_secs()).exp()).max(LEAST_WORTH)
            }
            Motion::Rises(first, then) => {
                let height = self.height * first.times(self.set, now);
                then.filter(|_| now > first.until)
                    .map_or(height, |then| height * then.times(first.until, now))
            }
        }
    }

    /// By what share of itself it falls per second.
    pub(super) fn fall(&self) -> f64 {
        if let Motion::Falls(share) = self.motion { share } else { 0.0 }
    }

    /// Until when it rises, if it does.
    pub(super) fn rises_until(&self, now: Time) -> Option<Time> {
        let Motion::Rises(first, then) = self.motion else { return None };
        Some(then.map_or(first.until, |then| then.until)).filter(|until| now < *until)
    }

    /// As high as this now, and moving as the price does if that keeps its promise.
    pub(super) fn lifted(&self, height: f64, now: Time, price: Motion) -> Self {
        Self { height, set: now, motion: self.motion.or_higher(price, now) }
    }

    /// A moment not after the first at which it is above this.
    pub(super) fn exceeds(&self, price: f64, now: Time) -> Time {
        if self.fall() > 0.0 || self.at(now) > price {
            return Time::MIN;
        }
        let Some(end) = self.rises_until(now).filter(|end| self.at(*end) * MARGIN > price) else {
            return Time::MAX;
        };
        let (mut low, mut high) = (now, end);
        for _ in 0..HALVINGS {
            let middle = low + Span::from_nanos(high.since(low).as_nanos() / 2);
            if self.at(middle) * MARGIN > price { high = middle } else { low = middle }
        }
        low
    }

    /// A moment until which a value stays below this rising level, going by its look alone: the level consists of parabolas, and the
    /// value is below one by [`Look::bend`].
    pub(super) fn met_by(&self, look: &Look, now: Time) -> Time {
        let Motion::Rises(first, then) = self.motion else { return now };
        if !(look.bend.is_finite() && look.growth.is_finite()) {
            return now;
        }
        let [mut value, mut growth, bend] =
            [look.value, look.growth, 0.5 * look.bend].map(|part| part * MARGIN);
        let mut from = now;
        for rise in [Some(first), then].into_iter().flatten().filter(|rise| now < rise.until) {
            let (base, height) = (rise.base(from), self.at(from));
            let meet =
                first_root(bend - height / (base * base), growth - 2.0 * height / base, value - height);
            let met = from.later(span_before(meet));
            if met < rise.until {
                return met;
            }
            let span = rise.until.since(from).as_secs();
            value += (growth + bend * span) * span;
            growth += 2.0 * bend * span;
            from = rise.until;
        }
        // From there on the level is still.
        from.later(span_before(first_root(bend, growth, value - self.at(from))))
    }
}

/// Halvings of a span in search of a moment.
const HALVINGS: u32 = 30;

/// Values are exact to fewer digits than they have, and so is what is computed from them.
const MARGIN: f64 = 1.0 + 1e-9;

/// A span that is not longer than so many seconds; decades at most.
fn span_before(secs: f64) -> Span {
    Span::from_nanos((secs * (1e9 - 1.0)).clamp(0.0, 1e18) as u64)
}

/// The first x > 0 at which a x² + b x + c = 0, for c < 0; infinite if there is none. 0 if c is not below 0.
pub(super) fn first_root(a: f64, b: f64, c: f64) -> f64 {
    if !(c < 0.0) {
        return 0.0;
    }
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 || (a <= 0.0 && b <= 0.0) {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    // Without a difference of numbers that are nearly the same.
    if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / (2.0 * a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: f64) -> Time {
        Time::ZERO + Span::from_secs(secs)
    }

    fn rise(origin: f64, until: f64) -> Rise {
        Rise { origin: at(-origin), until: at(until) }
    }

    fn motion() -> impl Strategy<Value = Motion> {
        let span = || (-3f64..3.0).prop_map(|digits| 10f64.powf(digits));
        prop_oneof![
            Just(Motion::Still),
            (0.001f64..1.0).prop_map(Motion::Falls),
            (span(), span()).prop_map(|(origin, until)| Motion::Rises(rise(origin, until), None)),
            (span(), span(), span(), span()).prop_map(|(origin, until, before, longer)| {
                Motion::Rises(rise(origin, until), Some(rise(before, until + longer)))
            }),
        ]
    }

    proptest! {
        /// Whoever is below a parabola stays below the level until the moment it is told.
        #[test]
        fn nobody_oversleeps(
            motion in motion(),
            value in 0f64..1.0,
            growth in 0f64..10.0,
            bend in 0f64..10.0,
            later in 0f64..10.0,
        ) {
            let level = Level { height: 1.0, set: Time::ZERO, motion };
            let now = at(later);
            let value = value * level.at(now);
            let look = Look { value, growth, bend, ..Look::NOTHING };
            let met = level.met_by(&look, now);
            prop_assert!(met >= now);
            for step in 0..200 {
                let moment = now + Span::from_secs(met.since(now).as_secs().min(1e5) * f64::from(step) / 200.0);
                let wait = moment.since(now).as_secs();
                let most = value + (growth + 0.5 * bend * wait) * wait;
                prop_assert!(most <= level.at(moment), "{most} at {moment:?} of {met:?}, {}", level.at(moment));
            }
        }

        /// A promise is kept whatever the price does later.
        #[test]
        fn promises_are_kept(promise in motion(), prices in proptest::collection::vec(motion(), 1..5), each in 0.01f64..20.0) {
            let promised = Level { height: 1.0, set: Time::ZERO, motion: promise };
            let mut level = promised;
            let mut now = 0.0;
            for price in prices {
                now += each;
                level = level.lifted(level.at(at(now)), at(now), price);
                for step in 0..100 {
                    let moment = at(now + 0.01 * f64::from(step * step));
                    prop_assert!(level.at(moment) >= promised.at(moment) * (1.0 - 1e-12), "{moment:?} {level:?}");
                }
            }
        }

        /// Until it exceeds a price it does not.
        #[test]
        fn it_exceeds_no_price_before(motion in motion(), price in 0.1f64..100.0) {
            let level = Level { height: 1.0, set: Time::ZERO, motion };
            let exceeds = level.exceeds(price, Time::ZERO);
            for step in 0..100 {
                let moment = at(1e-4 * f64::from(step).powi(4));
                prop_assert!(moment >= exceeds || level.at(moment) <= price);
            }
        }
    }

    #[test]
    fn roots() {
        assert_eq!(first_root(1.0, 0.0, -4.0), 2.0);
        assert_eq!(first_root(1.0, -3.0, -4.0), 4.0);
        assert_eq!(first_root(-1.0, 5.0, -4.0), 1.0);
        assert_eq!(first_root(0.0, 2.0, -4.0), 2.0);
        assert_eq!(first_root(-1.0, 1.0, -4.0), f64::INFINITY);
        assert_eq!(first_root(0.0, 0.0, -4.0), f64::INFINITY);
        assert_eq!(first_root(1.0, 1.0, 0.0), 0.0);
    }
}
