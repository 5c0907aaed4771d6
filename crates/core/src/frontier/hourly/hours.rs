//! At which hours of the week the pages of a host change, learned from all of them.

use super::week::{HOUR, WEEK, Week};
use crate::estimate::Observation;
use crate::time::Time;

/// What a host's pages have shown: changes by hour and day, beside those that were expected.
#[derive(Clone, Debug, Default)]
pub(super) struct Hours {
    by_day: [Count; 7],
    by_hour: [Count; 24],
    /// Looks since the last week was made.
    looks: u32,
    /// Whether it was kept as it is.
    is_kept: bool,
    week: Option<Week>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    seen: f64,
    expected: f64,
}

/// The first byte of what is kept; another one for another form.
const FORM: u8 = 1;
/// What is kept: two numbers for each day and each hour.
const BYTES: usize = 1 + 31 * 2 * 4;
/// So many changes speak for every hour and every day being like the mean.
const LEANS: f64 = 4.0;
/// Looks of more than so many hours tell nothing.
const LONGEST: usize = 84;
/// A week is made anew after so many looks.
const EVERY: u32 = 64;
/// A clock that shows at most so many hours less or more is as good.
const MOVED: f64 = 0.5;

impl Count {
    fn pace(&self) -> f64 {
        (self.seen + LEANS) / (self.expected + LEANS)
    }
}

impl Hours {
    /// A look, now, at a page that is believed to change at this rate. Returns a new week if there is one.
    pub(super) fn observe(&mut self, now: Time, rate: f64, seen: &Observation) -> Option<&Week> {
        let pieces = pieces(now, seen.elapsed());
        if pieces.is_empty() || !rate.is_finite() {
            return None;
        }
        // As many changes as were expected of each hour, by the profile that is believed so far.
        let pace =
            |hour: usize, hours: &Self| hours.by_day[hour / 24].pace() * hours.by_hour[hour % 24].pace();
        let expected: Vec<f64> =
            pieces.iter().map(|piece| rate * piece.seconds * pace(piece.hour, self)).collect();
        let total: f64 = expected.iter().sum();
        // Given that there was one at least.
        let age = seen.content_age().filter(|age| seen.changed() && *age <= seen.elapsed());
        let times = if seen.changed() { 1.0 / -(-total.max(1e-9)).exp_m1() } else { 0.0 };
        for (piece, expected) in pieces.iter().zip(&expected) {
            let flat = rate * piece.seconds;
            let changes = match age {
                // None after the last one, as many as ever before it.
                Some(age) if piece.until + piece.seconds <= age => 0.0,
                Some(age) if piece.until > age => *expected,
                Some(age) => 1.0 + expected * (piece.until + piece.seconds - age) / piece.seconds,
                None => times * expected,
            };
            let (day, hour) = (piece.hour / 24, piece.hour % 24);
            let (daily, hourly) = (self.by_day[day].pace(), self.by_hour[hour].pace());
            // Each of both is judged beside the other.
            self.by_day[day].expected += flat * hourly;
            self.by_hour[hour].expected += flat * daily;
            self.by_day[day].seen += changes;
            self.by_hour[hour].seen += changes;
        }
        self.looks += 1;
        self.is_kept = false;
        if self.looks < EVERY {
            return None;
        }
        self.looks = 0;
        self.make_anew()
    }

    /// As bytes, to be kept, if there is a week at all and that was not done since the last look.
    pub(super) fn keep(&mut self) -> Option<Vec<u8>> {
        if self.is_kept || self.week.is_none() {
            return None;
        }
        self.is_kept = true;
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(FORM);
        for count in self.by_day.iter().chain(&self.by_hour) {
            bytes.extend_from_slice(&(count.seen as f32).to_le_bytes());
            bytes.extend_from_slice(&(count.expected as f32).to_le_bytes());
        }
        Some(bytes)
    }

    /// What was kept, if it can be that, and the week that follows from it.
    pub(super) fn kept(bytes: &[u8]) -> Option<(Self, Week)> {
        if bytes.len() != BYTES || bytes[0] != FORM {
            return None;
        }
        let mut numbers = Vec::with_capacity(BYTES / 4);
        for four in bytes[1..].chunks_exact(4) {
            let number = f64::from(f32::from_le_bytes(four.try_into().ok()?));
            if !(number.is_finite() && number >= 0.0) {
                return None;
            }
            numbers.push(number);
        }
        let mut hours = Self { is_kept: true, ..Self::default() };
        for (count, pair) in hours.by_day.iter_mut().chain(&mut hours.by_hour).zip(numbers.chunks_exact(2)) {
            *count = Count { seen: pair[0], expected: pair[1] };
        }
        let week = hours.make_anew()?.clone();
        Some((hours, week))
    }

    fn make_anew(&mut self) -> Option<&Week> {
        let week = Week::new(&self.by_day.map(|day| day.pace()), &self.by_hour.map(|hour| hour.pace()));
        if self.week.as_ref().is_some_and(|before| before.is_near(&week, MOVED)) {
            return None;
        }
        self.week = Some(week);
        self.week.as_ref()
    }
}

/// A part of an interval within one hour of the week.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    hour: usize,
    seconds: f64,
    /// How long before the end of the interval it ends, in seconds.
    until: f64,
}

/// The hours of an interval that ends now, the last first; none if there are too many.
fn pieces(now: Time, elapsed: f64) -> Vec<Part> {
    let mut parts = Vec::new();
    if !(elapsed <= (LONGEST * 3600) as f64) {
        return parts;
    }
    let (_, mut within) = Week::split(now);
    let (mut left, mut until) = (elapsed, 0.0);
    while left > 0.0 {
        if within == 0 {
            within = WEEK as u64;
        }
        let hour = ((within - 1) / HOUR) as usize;
        let seconds = ((within - hour as u64 * HOUR) as f64 / 1e9).min(left);
        parts.push(Part { hour, seconds, until });
        within = hour as u64 * HOUR;
        left -= seconds;
        until += seconds;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::week::HOURS;
    use super::*;
    use crate::estimate::Answer;
    use crate::time::Span;
    use proptest::prelude::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Span::from_secs(seconds)
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(now in 0.0f64..2e9, elapsed in 1.0f64..3e5) {
            let parts = pieces(at(now), elapsed);
            prop_assert!((parts.iter().map(|part| part.seconds).sum::<f64>() - elapsed).abs() < 1e-3);
            prop_assert!(parts.iter().all(|part| part.hour < HOURS && part.seconds > 0.0));
            prop_assert!((parts[0].hour as f64 - ((now / 3600.0 + 72.0) % 168.0)).abs() < 1.0 + 1e-6);
        }
    }

    /// Monday, 5 January 1970, noon, was in the 13th hour of its week.
    #[test]
    fn weeks_begin_on_mondays() {
        let noon = at(4.0 * 86_400.0 + 12.5 * 3600.0);
        assert_eq!(pieces(noon, 60.0)[0].hour, 12);
        assert_eq!(pieces(noon, 3600.0).iter().map(|part| part.hour).collect::<Vec<_>>(), [12, 11]);
        assert!(pieces(noon, 1e9).is_empty());
    }

    /// Changes that come in working hours are found there, by looks of some hours, dated or not.
    #[test]
    fn working_hours_are_learned() {
        for dated in [false, true] {
            let mut hours = Hours::default();
            let mut changed_at = 0.0f64;
            let mut week = None;
            // A look every 5 hours; one change every working day at 10:30, for four years.
            for look in 1..7000 {
                let now = f64::from(look) * 5.0 * 3600.0;
                let day = (now / 86_400.0).floor();
                let mut last = day * 86_400.0 + 37_800.0;
                while last > now || ((last / 86_400.0).floor() + 3.0) % 7.0 >= 5.0 {
                    last -= 86_400.0;
                }
                let changed = last > changed_at && last > now - 5.0 * 3600.0;
                changed_at = last;
                let answer = if changed { Answer::Changed } else { Answer::Unchanged };
                let seen = Observation::new(5.0 * 3600.0, 0, answer).unwrap();
                let seen = seen.dated(dated.then_some(now - last));
                if let Some(new) = hours.observe(at(now), 5.0 / 7.0 / 86_400.0, &seen) {
                    week = Some(new.clone());
                }
            }
            let week = week.unwrap();
            let kept = hours.keep().unwrap();
            assert!(hours.keep().is_none(), "nothing new");
            let (_, recalled) = Hours::kept(&kept).unwrap();
            let monday = at(4.0 * 86_400.0 + 10.0 * 3600.0 + 60.0);
            assert!((recalled.pace(monday).0 / week.pace(monday).0 - 1.0).abs() < 0.1);
            assert!(Hours::kept(&kept[1..]).is_none() && Hours::kept(&[7; BYTES]).is_none());
            let pace = |day: f64, hour: f64| week.pace(at((day + 4.0) * 86_400.0 + hour * 3600.0 + 60.0)).0;
            assert!(pace(0.0, 10.0) > 3.0, "{dated}: {}", pace(0.0, 10.0));
            assert!(pace(0.0, 20.0) < 0.5 && pace(5.0, 10.0) < 0.7 * pace(2.0, 10.0), "{dated}");
        }
    }
}
