//! A clock that runs fast while a host is busy and slow while it sleeps.
//!
//! Pages of a host change by chance at rates that all follow the same profile, hour of the day times day of the week (in
//! UTC). By the host's own clock their rates are constant again, so everything that holds for pages without a profile holds
//! by that clock.

use crate::time::{Span, Time};

pub(super) const HOUR: u64 = 3_600_000_000_000;
pub(super) const HOURS: usize = 168;
pub(super) const WEEK: i64 = HOUR as i64 * HOURS as i64;
/// The epoch was a Thursday; weeks begin on Mondays.
const MONDAY: i64 = 4 * 24 * HOUR as i64;

/// How fast time passes for a host, by hour of the week: on average as fast as for others.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Week {
    /// Nanoseconds of the host's clock at the start of each hour, and at the end.
    hands: Box<[u64; HOURS + 1]>,
    slowest: f64,
}

/// No hour is this much slower than the mean, or faster.
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 10.0;

impl Week {
    /// From the paces of hours of the day and days of the week, from Monday.
    pub(super) fn new(days: &[f64; 7], hours: &[f64; 24]) -> Self {
        let mut paces: [f64; HOURS] = std::array::from_fn(|k| days[k / 24] * hours[k % 24]);
        let mean = paces.iter().sum::<f64>() / HOURS as f64;
        for pace in &mut paces {
            *pace = (*pace / mean).clamp(SLOWEST, FASTEST);
        }
        let total: f64 = paces.iter().sum();
        let mut hands = Box::new([0; HOURS + 1]);
        let mut sum = 0.0;
        for (hour, pace) in paces.iter().enumerate() {
            sum += pace;
            hands[hour + 1] = (sum / total * WEEK as f64) as u64;
        }
        hands[HOURS] = WEEK as u64;
        let hour = |pair: &[u64]| (pair[1] - pair[0]) as f64 / HOUR as f64;
        let slowest = hands.windows(2).map(hour).fold(f64::INFINITY, f64::min);
        Self { hands, slowest }
    }

    /// The start of a moment's week, and how far into it the moment is.
    pub(super) fn split(moment: Time) -> (i64, u64) {
        let within = (moment.as_nanos().saturating_sub(MONDAY)).rem_euclid(WEEK);
        (moment.as_nanos().saturating_sub(within), within as u64)
    }

    /// Whether another clock never differs by more than so many hours.
    pub(super) fn is_near(&self, other: &Self, hours: f64) -> bool {
        let far = |(one, other): (&u64, &u64)| one.abs_diff(*other) as f64 > hours * HOUR as f64;
        !self.hands.iter().zip(other.hands.iter()).any(far)
    }

    /// How fast time passes at a moment, and until when.
    pub(super) fn pace(&self, moment: Time) -> (f64, Time) {
        let (week, within) = Self::split(moment);
        let hour = (within / HOUR) as usize;
        let pace = (self.hands[hour + 1] - self.hands[hour]) as f64 / HOUR as f64;
        (pace, Time::from_nanos(week) + Span::from_nanos((hour as u64 + 1) * HOUR))
    }

    /// The slowest that time passes.
    pub(super) fn slowest(&self) -> f64 {
        self.slowest
    }

    /// A moment by the host's clock.
    pub(super) fn by_own_clock(&self, moment: Time) -> Time {
        let (week, within) = Self::split(moment);
        let hour = (within / HOUR) as usize;
        let into = u128::from(within - hour as u64 * HOUR);
        let length = u128::from(self.hands[hour + 1] - self.hands[hour]);
        let hand = self.hands[hour] + (into * length / u128::from(HOUR)) as u64;
        Time::from_nanos(week) + Span::from_nanos(hand)
    }

    /// The last moment at which the host's clock does not show more than this, or a few nanoseconds before it.
    pub(super) fn when(&self, own: Time) -> Time {
        if own == Time::MAX {
            return own;
        }
        let (week, within) = Self::split(own);
        let hour = self.hands.partition_point(|hand| *hand <= within).clamp(1, HOURS) - 1;
        let into = u128::from(within - self.hands[hour]);
        let length = u128::from(self.hands[hour + 1] - self.hands[hour]).max(1);
        let moment = hour as u64 * HOUR + (into * u128::from(HOUR) / length) as u64;
        Time::from_nanos(week) + Span::from_nanos(moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn working_week() -> Week {
        let days = [1.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.3];
        let hours: [f64; 24] = std::array::from_fn(|hour| if (8..18).contains(&hour) { 3.0 } else { 0.2 });
        Week::new(&days, &hours)
    }

    proptest! {
        /// The clock never stands or jumps, a week is a week, and the way back is never late.
        #[test]
        fn clocks_go_forward(nanos in -(1i64 << 60)..(1i64 << 60), later in 1u64..(WEEK as u64 * 2)) {
            let week = working_week();
            let (one, other) = (Time::from_nanos(nanos), Time::from_nanos(nanos) + Span::from_nanos(later));
            prop_assert!(week.by_own_clock(one) <= week.by_own_clock(other));
            let next = one + Span::from_nanos(WEEK as u64);
            prop_assert_eq!(week.by_own_clock(next).since(week.by_own_clock(one)).as_nanos(), WEEK as u64);
            let back = week.when(week.by_own_clock(one));
            prop_assert!(back <= one && one.since(back).as_nanos() < 100, "{:?}", one.since(back));
            let (pace, until) = week.pace(one);
            prop_assert!(until > one && pace >= week.slowest() && pace <= FASTEST * 1.01);
            let passed = week.by_own_clock(until).since(week.by_own_clock(one)).as_secs();
            prop_assert!((passed - pace * until.since(one).as_secs()).abs() < 1e-6);
        }
    }
}
