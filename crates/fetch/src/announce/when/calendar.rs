//! From the Gregorian calendar to moments.

use refrain_core::time::{Span, Time};

use super::{Precision, When};

const DAY_S: i64 = 86_400;

/// What was read of a date, before it is known to exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) clock: Clock,
    /// Seconds east of UTC; `None` if nobody said.
    pub(super) offset: Option<i64>,
    pub(super) precision: Precision,
}

/// A time of day. 24:00:00 and the leap second 23:59:60 are moments of the next day.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) nanos: u32,
}

impl Parts {
    pub(super) fn day(year: i64, month: u32, day: u32) -> Self {
        Self { year, month, day, clock: Clock::default(), offset: None, precision: Precision::Day }
    }

    /// The day with this number in its year, from 1 on; one that the year has not is no date of December.
    pub(super) fn day_of_year(year: i64, mut day: u32) -> Self {
        let mut month = 1;
        while month < 12 && day > days_in(year, month) {
            day -= days_in(year, month);
            month += 1;
        }
        Self::day(year, month, day)
    }

    /// The date, if there is such a day and such a time.
    pub(super) fn when(self) -> Option<When> {
        let Clock { hour, minute, second, nanos } = self.clock;
        let exists = (1..=9999).contains(&self.year)
            && (1..=12).contains(&self.month)
            && (1..=days_in(self.year, self.month)).contains(&self.day)
            && (hour < 24 || (hour, minute, second) == (24, 0, 0))
            && minute < 60
            && second <= 60;
        if !exists {
            return None;
        }
        let seconds = days(self.year, self.month, self.day) * DAY_S
            + i64::from(hour) * 3600
            + i64::from(minute) * 60
            + i64::from(second)
            - self.offset.unwrap_or(0);
        let start = moment(seconds, nanos);
        Some(When { start, precision: self.precision, zoned: self.offset.is_some() })
    }
}

/// The moment of a date and time in UTC, where there is such a one.
pub fn utc(year: i64, month: u32, day: u32, hour: u32, minute: u32, second: u32) -> Option<Time> {
    let clock = Clock { hour, minute, second, nanos: 0 };
    let parts =
        Parts { clock, offset: Some(0), precision: Precision::Second, ..Parts::day(year, month, day) };
    parts.when().map(When::earliest)
}

/// A moment; those that nanoseconds do not reach are the first and the last.
pub(super) fn moment(seconds: i64, nanos: u32) -> Time {
    let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let nanos = nanos.clamp(i128::from(i64::MIN), i128::from(Time::LAST.as_nanos()));
    i64::try_from(nanos).map_or(Time::LAST, Time::from_nanos)
}

/// How long the year or the month that begins then is.
pub(super) fn length(start: Time, precision: Precision) -> Span {
    // The middle of it, in any zone.
    let (year, month) = year_and_month(start.as_nanos().div_euclid(1_000_000_000) + 15 * DAY_S);
    let days =
        if precision == Precision::Month { days_in(year, month) } else { 365 + u32::from(is_leap(year)) };
    Span::from_whole_secs(u64::from(days) * DAY_S.unsigned_abs())
}

pub(super) fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

pub(super) fn days_in(year: i64, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years begin in March, so that the leap day is the last one; 400 of them have 146,097 days.
fn days(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * i64::from((month + 9) % 12) + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days`], as far as it is needed.
fn year_and_month(seconds: i64) -> (i64, u32) {
    let shifted = seconds.div_euclid(DAY_S) + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_days() {
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
        assert_eq!(days(1969, 12, 31), -1);
        assert_eq!(utc(2026, 11, 15, 12, 0, 0), Some(Time::from_nanos(1_794_744_000_000_000_000)));
        assert_eq!(utc(2026, 2, 29, 0, 0, 0), None);
        assert_eq!(utc(9999, 12, 31, 23, 59, 59), Some(Time::LAST));
    }

    proptest! {
        #[test]
        fn months_are_found_again(year in 1700i64..2260, month in 1u32..=12, day in 1u32..=28) {
            prop_assert_eq!(year_and_month(days(year, month, day) * DAY_S + 77), (year, month));
        }
    }
}
