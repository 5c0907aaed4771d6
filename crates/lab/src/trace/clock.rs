//! A clock that stands still while nobody looks.

use refrain_core::time::{Span, Time};

/// The usable time of a source: all but its outages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clock {
    /// Start and end of each outage, in order, apart from each other.
    outages: Vec<(Time, Time)>,
    /// How much time was lost before each.
    lost: Vec<Span>,
}

impl Clock {
    /// With these outages, in any order.
    pub fn new(mut outages: Vec<(Time, Time)>) -> Self {
        outages.retain(|(start, end)| start < end);
        outages.sort_unstable();
        let mut apart: Vec<(Time, Time)> = Vec::with_capacity(outages.len());
        for (start, end) in outages {
            match apart.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => apart.push((start, end)),
            }
        }
        let lost = apart.iter().scan(Span::ZERO, |sum, (start, end)| {
            let before = *sum;
            *sum = before + end.since(*start);
            Some(before)
        });
        Self { lost: lost.collect(), outages: apart }
    }

    /// Its outages, in order, apart from each other.
    pub fn outages(&self) -> &[(Time, Time)] {
        &self.outages
    }

    /// The time lost before a moment.
    fn lost_before(&self, time: Time) -> Span {
        let after = self.outages.partition_point(|(start, _)| *start < time);
        let Some(last) = after.checked_sub(1) else { return Span::ZERO };
        let (start, end) = self.outages[last];
        self.lost[last] + time.min(end).since(start)
    }

    /// The moment so many usable seconds after another.
    pub fn after(&self, from: Time, seconds: f64) -> Time {
        let mut time = from + Span::from_secs(seconds);
        let mut at = from;
        let first = self.outages.partition_point(|(_, end)| *end <= from);
        for (start, end) in &self.outages[first..] {
            if *start >= time {
                break;
            }
            time = time + end.since(at.max(*start));
            at = *end;
        }
        time
    }

    /// The usable seconds between two moments.
    pub fn between(&self, from: Time, to: Time) -> f64 {
        if self.outages.is_empty() {
            return to.since(from).as_secs();
        }
        let lost = self.lost_before(to).as_secs() - self.lost_before(from).as_secs();
        (to.since(from).as_secs() - lost).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    #[test]
    fn outages_do_not_count() {
        let clock = Clock::new(vec![(at(50), at(60)), (at(10), at(20)), (at(15), at(25)), (at(70), at(70))]);
        assert_eq!(clock.outages(), [(at(10), at(25)), (at(50), at(60))]);
        for (from, to, expected) in [
            (0, 10, 10.0),
            (0, 12, 10.0),
            (0, 25, 10.0),
            (0, 26, 11.0),
            (11, 24, 0.0),
            (12, 100, 65.0),
            (55, 58, 0.0),
            (60, 61, 1.0),
        ] {
            assert!((clock.between(at(from), at(to)) - expected).abs() < 1e-9, "{from} {to}");
        }
        for (from, seconds, expected) in
            [(0, 5.0, 5), (0, 11.0, 26), (12, 1.0, 26), (30, 20.0, 50), (30, 21.0, 61), (0, 36.0, 61)]
        {
            assert_eq!(clock.after(at(from), seconds), at(expected), "{from} {seconds}");
        }
        assert_eq!(Clock::default().between(at(3), at(5)), 2.0);
    }
}
