//! Change rates of any distribution: a few rates that stand for all, and how many pages are like each of them.
//!
//! One Gamma distribution fits badly where some pages of a host change every hour and the others never. Shares of the points
//! are learned by incremental EM: each page counts with what is believed of it last.

use std::sync::Arc;

use crate::estimate::History;
use crate::ids::IdMap;
use crate::page::Belief;
use crate::value::{Greedy, Mixture};

/// How many rates stand for all.
const POINTS: usize = 16;
/// The slowest, per second (once in three years), and how much faster each next one is; the fastest is every few minutes.
const SLOWEST: f64 = 1e-8;
const STEP: f64 = 2.4;
/// What is known of all pages counts as so many of a host.
const LEANS: f64 = 8.0;

/// How likely each rate is.
pub(super) type Weights = [f32; POINTS];

/// A value averaged over the points.
pub(super) type PointsValue = Mixture<Greedy, POINTS>;

fn rate(point: usize) -> f64 {
    SLOWEST * STEP.powi(point as i32)
}

/// How many pages are like each point, everywhere and by host.
#[derive(Clone, Debug, Default)]
pub(super) struct Points {
    everywhere: [f64; POINTS],
    hosts: IdMap<u32, [f64; POINTS]>,
}

impl Points {
    fn prior(&self, host: u32) -> [f64; POINTS] {
        let all: f64 = self.everywhere.iter().sum();
        let of_host = self.hosts.get(&host);
        let pages: f64 = of_host.map_or(0.0, |counts| counts.iter().sum());
        std::array::from_fn(|k| {
            // Nothing is impossible.
            let everywhere = (self.everywhere[k] + 0.5) / (all + 0.5 * POINTS as f64);
            (of_host.map_or(0.0, |counts| counts[k]) + LEANS * everywhere) / (pages + LEANS)
        })
    }

    /// What is believed of a page with this history.
    pub(super) fn believe(&self, host: u32, history: &History) -> Weights {
        let changed = history.changed_lengths();
        let unchanged = history.unchanged_span();
        let mut likely = self.prior(host);
        let mut logs = [0.0f64; POINTS];
        for (k, log) in logs.iter_mut().enumerate() {
            let rate = rate(k);
            *log = likely[k].ln() - rate * unchanged;
            for interval in changed.iter().filter(|interval| interval.weight > 0.0) {
                *log += interval.weight * (-(-rate * interval.length).exp_m1()).max(1e-300).ln();
            }
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for (share, log) in likely.iter_mut().zip(logs) {
            *share = (log - most).exp();
            sum += *share;
        }
        likely.map(|share| (share / sum) as f32)
    }

    /// A page counts by what is believed of it now, no more by what was believed before; by neither if it is gone.
    pub(super) fn replace(&mut self, host: u32, before: Option<&Weights>, after: Option<&Weights>) {
        let counts = self.hosts.entry(host).or_insert([0.0; POINTS]);
        for (sums, sign) in [(before, -1.0), (after, 1.0)] {
            for (k, weight) in sums.into_iter().flatten().enumerate() {
                self.everywhere[k] = (self.everywhere[k] + sign * f64::from(*weight)).max(0.0);
                counts[k] = (counts[k] + sign * f64::from(*weight)).max(0.0);
            }
        }
    }
}

/// The value of a page of which this is believed.
pub(super) fn value(weights: &Weights, importance: f64) -> Option<Arc<PointsValue>> {
    let mut parts = [(0.0, Greedy::new(&Belief::default())); POINTS];
    for (k, part) in parts.iter_mut().enumerate() {
        *part = (f64::from(weights[k]), Greedy::new(&Belief::new(rate(k), importance).ok()?));
    }
    Mixture::new(parts).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Answer, Observation};

    /// Half of the pages change every hour, the others never: after a few looks at others a new page is believed to be one or the
    /// other, and one look tells which.
    #[test]
    fn two_kinds_of_pages_are_told_apart() {
        let look = |changed| {
            let answer = if changed { Answer::Changed } else { Answer::Unchanged };
            Observation::new(6.0 * 3600.0, 0, answer).unwrap()
        };
        let mut points = Points::default();
        for page in 0..40 {
            let mut history = History::default();
            let mut before = None;
            for _ in 0..20 {
                history.observe(&look(page % 2 == 0));
                let after = points.believe(0, &history);
                points.replace(0, before.as_ref(), Some(&after));
                before = Some(after);
            }
        }
        let slow =
            |weights: Weights| (0..POINTS).filter(|k| rate(*k) < 1e-5).map(|k| weights[k]).sum::<f32>();
        let mut new = History::default();
        assert!((slow(points.believe(0, &new)) - 0.5).abs() < 0.1);
        new.observe(&look(false));
        assert!(slow(points.believe(0, &new)) > 0.9);
        let mut new = History::default();
        new.observe(&look(true));
        assert!(slow(points.believe(0, &new)) < 0.2);
        // Who is gone does not count.
        let weights = points.believe(0, &new);
        let sum: f64 = points.everywhere.iter().sum();
        points.replace(0, None, Some(&weights));
        points.replace(0, Some(&weights), None);
        assert!((points.everywhere.iter().sum::<f64>() - sum).abs() < 1e-6);
    }
}
