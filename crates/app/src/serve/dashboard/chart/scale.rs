//! Scales whose ticks are evenly spread and easily read.

use jiff::Timestamp;
use refrain_core::time::{Span, Time};

/// From numbers to heights: 0 at the bottom, 1 at the top.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Scale {
    low: f64,
    high: f64,
    steps: usize,
    logarithmic: bool,
}

impl Scale {
    /// From nothing to something that is at least `most`, in a few even steps.
    pub(in super::super) fn up_to(most: f64) -> Self {
        let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
        let magnitude = 10_f64.powf(most.log10().floor());
        // In how many steps, and how high they are.
        let choices = [
            (4, 0.25),
            (5, 0.3),
            (4, 0.5),
            (3, 1.0),
            (4, 1.0),
            (5, 1.0),
            (4, 1.5),
            (4, 2.0),
            (5, 2.0),
            (4, 2.5),
        ];
        let (steps, height) = choices
            .into_iter()
            .find(|(steps, height)| *steps as f64 * height * magnitude >= most * (1.0 - 1e-9))
            .unwrap_or((4, 2.5));
        Self { low: 0.0, high: steps as f64 * height * magnitude, steps, logarithmic: false }
    }

    /// Shares: from a whole tenth that is not above `least`, to all.
    pub(in super::super) fn shares(least: f64) -> Self {
        let least = if least.is_finite() { least.clamp(0.0, 0.9) } else { 0.0 };
        let low = (least * 10.0).floor() / 10.0;
        // Steps of a tenth, if they are few; otherwise of a fifth, or a quarter.
        let (low, steps) = match ((1.0 - low) * 10.0).round() as usize {
            1 => (0.9, 2),
            steps @ 2..=5 => (low, steps),
            6 => (0.4, 3),
            7 | 8 => (0.2, 4),
            _ => (0.0, 4),
        };
        Self { low, high: 1.0, steps, logarithmic: false }
    }

    /// Powers of ten around these.
    pub(in super::super) fn decades(least: f64, most: f64) -> Self {
        let usable = |value: f64| if value.is_finite() && value > 0.0 { value } else { 1.0 };
        let (least, most) = (usable(least), usable(most));
        let low = least.log10().floor();
        let high = most.log10().ceil().max(low + 1.0);
        let decades = (high - low) as usize;
        // Not more than five labels.
        let each = decades.div_ceil(5);
        let high = low + (decades.div_ceil(each) * each) as f64;
        Self {
            low: 10_f64.powf(low),
            high: 10_f64.powf(high),
            steps: decades.div_ceil(each),
            logarithmic: true,
        }
    }

    /// How high a number is.
    pub(in super::super) fn at(&self, value: f64) -> f64 {
        if self.logarithmic {
            return (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln();
        }
        (value - self.low) / (self.high - self.low)
    }

    /// Labels from the top to the bottom.
    pub(in super::super) fn labels(&self, say: impl Fn(f64) -> String) -> Vec<String> {
        let tick = |step: usize| {
            let share = step as f64 / self.steps as f64;
            if self.logarithmic {
                self.low * (self.high / self.low).powf(share)
            } else {
                self.low + share * (self.high - self.low)
            }
        };
        (0..=self.steps).rev().map(tick).map(say).collect()
    }
}

/// Moments evenly spread from one to another, as a clock or a calendar has them.
pub(in super::super) fn moments(from: Time, to: Time, count: usize) -> Vec<String> {
    let span = to.since(from);
    let form = match span.as_secs() {
        seconds if seconds < 600.0 => "%H:%M:%S",
        seconds if seconds < 1.5 * 86_400.0 => "%H:%M",
        seconds if seconds < 6.0 * 86_400.0 => "%a %H:%M",
        seconds if seconds < 300.0 * 86_400.0 => "%b %-d",
        _ => "%b %Y",
    };
    let parts = count.max(2) - 1;
    let label = |part: usize| {
        let moment = from + Span::from_nanos((span.as_nanos() as f64 * part as f64 / parts as f64) as u64);
        Timestamp::from_second(moment.as_nanos().div_euclid(1_000_000_000))
            .map_or_else(|_| String::new(), |moment| moment.strftime(form).to_string())
    };
    (0..=parts).map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::short;

    #[test]
    fn ticks_are_easily_read() {
        for (most, labels) in [
            (0.9, "1 0.8 0.6 0.4 0.2 0"),
            (1.0, "1 0.75 0.5 0.25 0"),
            (3.2, "4 3 2 1 0"),
            (17.0, "20 15 10 5 0"),
            (730.0, "800 600 400 200 0"),
            (0.0, "1 0.75 0.5 0.25 0"),
        ] {
            let scale = Scale::up_to(most);
            assert_eq!(scale.labels(short).join(" "), labels, "{most}");
            assert!(scale.at(most) <= 1.0 && scale.at(0.0) == 0.0);
        }
        let shares = |least| Scale::shares(least).labels(|share| format!("{:.0}", 100.0 * share)).join(" ");
        assert_eq!(shares(0.97), "100 95 90");
        assert_eq!(shares(0.61), "100 90 80 70 60");
        assert_eq!(shares(0.45), "100 80 60 40");
        assert_eq!(shares(f64::NAN), "100 75 50 25 0");
        let decades = Scale::decades(0.03, 50.0);
        assert_eq!(decades.labels(short).join(" "), "100 10 1 0.1 0.01");
        assert!((decades.at(1.0) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::decades(1e-9, 1e3).labels(short).len(), 5);
    }

    #[test]
    fn moments_are_said_as_precisely_as_it_takes() {
        let at = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
        assert_eq!(moments(at(0), at(120), 3), ["00:00:00", "00:01:00", "00:02:00"]);
        assert_eq!(moments(at(0), at(86_400), 2), ["00:00", "00:00"]);
        assert_eq!(moments(at(0), at(30 * 86_400), 2), ["Jan 1", "Jan 31"]);
    }
}
