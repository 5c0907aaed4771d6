//! Freshness against budget: how many fetches does another policy need for the same?

use super::Score;
use crate::policy::Policy;

/// What a policy makes of several budgets.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The policy.
    pub policy: Policy,
    /// Budgets, rising, and what came of them.
    pub points: Vec<(f64, Score)>,
}

/// The budget that a policy needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Needed {
    /// Less than the smallest that was tried.
    Below(f64),
    /// About this: between two that were tried, as if freshness grew evenly with the logarithm of the budget.
    About(f64),
    /// More than the greatest that was tried.
    Above(f64),
}

impl Curve {
    /// The budget with which this policy is so fresh; `None` if none was tried.
    pub fn needs(&self, freshness: f64) -> Option<Needed> {
        let (first, last) = (self.points.first()?, self.points.last()?);
        if first.1.freshness > freshness {
            return Some(Needed::Below(first.0));
        }
        // Where more fetches make it less fresh by chance, the first time that it is fresh enough counts.
        let reached = self.points.iter().position(|(_, score)| score.freshness >= freshness);
        let Some(reached) = reached else { return Some(Needed::Above(last.0)) };
        let (rate, score) = self.points[reached];
        let Some((rate_before, before)) = reached.checked_sub(1).map(|before| self.points[before]) else {
            return Some(Needed::About(rate));
        };
        let part = (freshness - before.freshness) / (score.freshness - before.freshness);
        Some(Needed::About(rate_before * (rate / rate_before).powf(part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_found_between_those_that_were_tried() {
        let score = |freshness| Score { freshness, ..Score::default() };
        let points = vec![(1.0, score(0.5)), (2.0, score(0.7)), (8.0, score(0.9)), (16.0, score(0.9))];
        let curve = Curve { policy: Policy::Refrain, points };
        assert_eq!(curve.needs(0.4), Some(Needed::Below(1.0)));
        assert_eq!(curve.needs(0.5), Some(Needed::About(1.0)));
        assert_eq!(curve.needs(0.7), Some(Needed::About(2.0)));
        assert_eq!(curve.needs(0.95), Some(Needed::Above(16.0)));
        let Some(Needed::About(rate)) = curve.needs(0.8) else { panic!("within") };
        assert!((rate - 4.0).abs() < 1e-12);
        assert_eq!(Curve { policy: Policy::Refrain, points: Vec::new() }.needs(0.5), None);
    }
}
