//! Periodic pages: how long after its last change a page changes again, where a page has shown that it is no matter of chance.

use statrs::distribution::{ContinuousCDF, Gamma};

use crate::estimate::Observation;
use crate::value::{PiecewiseHazard, SurvivalValue};

/// The gaps between the changes of a page, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapHistory {
    /// How long before the last look the last change was, and give or take how much, in seconds.
    age: f32,
    unsure: f32,
    count: f32,
    mean: f32,
    /// Of squares of differences from the mean.
    squares: f32,
}

impl Default for GapHistory {
    fn default() -> Self {
        Self { age: 0.0, unsure: f32::INFINITY, count: 0.0, mean: 0.0, squares: 0.0 }
    }
}

/// So many gaps are remembered.
const MEMORY: f32 = 24.0;
/// A page must have shown so many before it is believed to be periodic,
const ENOUGH: f32 = 6.0;
/// that vary by no more than this share of their mean (by chance it would be 1),
const REGULAR: f64 = 0.4;
/// and when it last changed must be known as well as this share.
const SURE: f32 = 0.25;

impl GapHistory {
    /// A look at the page.
    pub(super) fn observe(&mut self, seen: &Observation) {
        let elapsed = seen.elapsed() as f32;
        if !seen.changed() {
            self.age += elapsed;
            return;
        }
        let before = std::mem::replace(self, Self { age: 0.5 * elapsed, unsure: 0.5 * elapsed, ..*self });
        if let Some(age) = seen.content_age().map(|age| age as f32).filter(|age| *age <= elapsed) {
            (self.age, self.unsure) = (age, 0.0);
        }
        let gap = before.age + elapsed - self.age;
        // Where looks are rare, a gap may be several: such are not counted, unless they are all there are.
        let rare = self.count > 0.0 && elapsed > 1.5 * self.mean;
        if before.unsure + self.unsure < SURE * gap && !rare {
            self.count(gap);
        }
    }

    fn count(&mut self, gap: f32) {
        if self.count >= MEMORY {
            let kept = (MEMORY - 1.0) / self.count;
            (self.count, self.squares) = (MEMORY - 1.0, self.squares * kept);
        }
        self.count += 1.0;
        let off = gap - self.mean;
        self.mean += off / self.count;
        self.squares += off * (gap - self.mean);
    }

    /// What a fetch is worth from the last look on, if the page has shown that it is periodic.
    pub(super) fn value(&self, importance: f64) -> Option<SurvivalValue<PiecewiseHazard>> {
        let (mean, count) = (f64::from(self.mean), f64::from(self.count));
        if self.count < ENOUGH || self.unsure > SURE * self.mean || !(mean > 0.0) {
            return None;
        }
        // A little more than was seen: few gaps look more alike than they are.
        let variance = (f64::from(self.squares) + 0.1 * mean * mean) / (count - 1.0);
        let shape = mean * mean / variance;
        if shape < 1.0 / (REGULAR * REGULAR) {
            return None;
        }
        let law = Gamma::new(shape, shape / mean).ok()?;
        let (start, step) = (f64::from(self.age), mean / STEPS);
        // Over each piece, what the curve falls by. The hazard of a Gamma distribution grows to its rate; a page that is overdue by far
        // has changed its ways.
        let hazard = |age: f64| {
            if age > OVERDUE * mean {
                return 1.0 / mean;
            }
            let (before, after) = (law.sf(age), law.sf(age + step));
            let most = shape / mean;
            if after > 1e-12 { ((before / after).ln() / step).clamp(0.0, most) } else { most }
        };
        let pieces = (0..)
            .map(|piece| f64::from(piece) * step)
            .take_while(|at| *at == 0.0 || start + at < (OVERDUE + 0.2) * mean)
            .map(|at| (at, hazard(start + at)));
        PiecewiseHazard::new(pieces).map(|curve| SurvivalValue::new(curve, importance))
    }
}

/// Pieces of a gap.
const STEPS: f64 = 16.0;
/// After so many mean gaps without a change, all that is known is the mean.
const OVERDUE: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Answer;
    use crate::value::CrawlValue;

    fn look(elapsed: f64, age: Option<f64>) -> Observation {
        let answer = if age.is_some() { Answer::Changed } else { Answer::Unchanged };
        Observation::new(elapsed, 0, answer).unwrap().dated(age)
    }

    /// Every day at noon, looked at every six hours: known to be worth nothing before noon, and much after.
    #[test]
    fn a_daily_page_is_known_by_its_gaps() {
        let mut gaps = GapHistory::default();
        for day in 0..10 {
            // Ten changes, nine gaps.
            assert_eq!(gaps.value(1.0).is_some(), day > 6, "{day}");
            for age in [None, None, None, Some(3600.0)] {
                gaps.observe(&look(21_600.0, age));
            }
        }
        let value = gaps.value(1.0).unwrap();
        let hours = |hours: f64| value.value(hours * 3600.0, 0) / 3600.0;
        assert!(hours(12.0) < 0.5 && hours(30.0) > 15.0, "{} {}", hours(12.0), hours(30.0));
    }

    #[test]
    fn chance_is_no_period() {
        let mut gaps = GapHistory::default();
        for k in 0..200u32 {
            // An exponential distribution, by its quantiles in a shuffled order.
            let share = f64::from(k * 73 % 200) / 200.0 + 0.0025;
            gaps.observe(&look(-(1.0 - share).ln() * 86_400.0 + 1.0, Some(0.5)));
        }
        assert!(gaps.value(1.0).is_none(), "{gaps:?}");
    }

    #[test]
    fn what_is_not_dated_must_be_narrow() {
        let (mut wide, mut narrow) = (GapHistory::default(), GapHistory::default());
        for _ in 0..12 {
            wide.observe(&look(86_400.0, None));
            wide.observe(&Observation::new(86_400.0, 0, Answer::Changed).unwrap());
            for _ in 0..31 {
                narrow.observe(&look(5400.0, None));
            }
            narrow.observe(&Observation::new(5400.0, 0, Answer::Changed).unwrap());
        }
        assert!(wide.value(1.0).is_none() && narrow.value(1.0).is_some(), "{wide:?} {narrow:?}");
    }
}
