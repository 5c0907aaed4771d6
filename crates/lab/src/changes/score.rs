//! What was reported, beside what happened.

use std::ops::AddAssign;

use refrain_core::time::Time;

/// A change that is reported by the second visit after it has been found.
const VISITS: usize = 2;
/// A page is deaf if none of its last so many changes was found.
const DEAF: usize = 5;

/// What became of the changes of some pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Pages.
    pub pages: u64,
    /// Changes that at least two visits followed,
    pub changes: u64,
    /// of which so many were reported by the second of them.
    pub found: u64,
    /// Visits, the first of each page not counted,
    pub visits: u64,
    /// of which so many reported a change,
    pub reports: u64,
    /// though in so many there was none to report.
    pub false_reports: u64,
    /// Looks seconds after another.
    pub second_looks: u64,
    /// Pages of which the last changes went all unnoticed.
    pub deaf: u64,
    /// The most bytes that were kept of a page.
    pub largest: u64,
}

impl Outcome {
    /// The share of changes that were found; 1 if there was none.
    pub fn recall(&self) -> f64 {
        share(self.found, self.changes)
    }

    /// The share of reports that were of changes; 1 if there was none.
    pub fn precision(&self) -> f64 {
        share(self.reports - self.false_reports, self.reports)
    }

    /// The share of visits that reported a change that was none.
    pub fn false_visits(&self) -> f64 {
        1.0 - share(self.visits - self.false_reports, self.visits)
    }

    /// Of one page: when it changed, and when it was visited, with what came of that.
    pub(super) fn of_page(changes: &[Time], visits: &[(Time, bool)]) -> Self {
        let mut outcome = Self { pages: 1, visits: visits.len() as u64, ..Self::default() };
        let mut found = Vec::new();
        for change in changes {
            let after = visits.partition_point(|(time, _)| time < change);
            let Some(after) = visits.get(after..after + VISITS) else { break };
            found.push(after.iter().any(|(_, reported)| *reported));
        }
        outcome.changes = found.len() as u64;
        outcome.found = found.iter().filter(|found| **found).count() as u64;
        outcome.deaf =
            u64::from(found.len() >= DEAF && found[found.len() - DEAF..].iter().all(|found| !found));
        let mut next = 0;
        for (time, _) in visits.iter().filter(|(_, reported)| *reported) {
            outcome.reports += 1;
            let known = changes.partition_point(|change| change <= time);
            outcome.false_reports += u64::from(known == next);
            next = known;
        }
        outcome
    }
}

impl AddAssign for Outcome {
    fn add_assign(&mut self, other: Self) {
        self.pages += other.pages;
        self.changes += other.changes;
        self.found += other.found;
        self.visits += other.visits;
        self.reports += other.reports;
        self.false_reports += other.false_reports;
        self.second_looks += other.second_looks;
        self.deaf += other.deaf;
        self.largest = self.largest.max(other.largest);
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use refrain_core::time::Span;

    #[test]
    fn changes_are_found_by_the_second_visit_or_not_at_all() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let visits: Vec<(Time, bool)> =
            [(10, false), (20, true), (30, true), (40, false), (50, false), (60, true)]
                .map(|(time, reported)| (at(time), reported))
                .to_vec();
        let outcome = Outcome::of_page(&[at(5), at(32), at(55)], &visits);
        // The last has only one visit after it; the report at 30 is of nothing.
        assert_eq!((outcome.changes, outcome.found), (2, 1));
        assert_eq!((outcome.reports, outcome.false_reports), (3, 1));
    }
}
