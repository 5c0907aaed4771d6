//! How many claims hold.

use refrain_lab::figures::Verdict;

use super::super::record::Record;
use crate::chart::counted;

/// The verdicts, from good to bad.
pub(super) const ORDER: [Verdict; 4] =
    [Verdict::Agrees, Verdict::Partly, Verdict::Disagrees, Verdict::Unclear];

/// Claims by verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Scores([usize; ORDER.len()]);

impl Scores {
    pub(in super::super) fn add(&mut self, record: &Record) {
        for claim in &record.claims {
            self.0[claim.verdict as usize] += 1;
        }
    }

    pub(super) fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut scores = Self::default();
        records.into_iter().for_each(|record| scores.add(record));
        scores
    }

    pub(super) fn all(&self) -> usize {
        self.0.iter().sum()
    }

    pub(super) fn get(&self, verdict: Verdict) -> usize {
        self.0[verdict as usize]
    }

    /// `12 claims: 9 agree, 1 in part, 2 disagree, none is unclear`.
    pub(in super::super) fn sentence(&self) -> String {
        let [agree, partly, disagree, unclear] = ORDER.map(|verdict| self.get(verdict));
        let is = if unclear == 1 { "is" } else { "are" };
        let agrees = if agree == 1 { "agrees" } else { "agree" };
        let disagrees = if disagree == 1 { "disagrees" } else { "disagree" };
        format!(
            "{}: {agree} {agrees}, {partly} in part, {disagree} {disagrees}, {unclear} {is} unclear",
            counted(self.all(), "claim")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_where_they_are_looked_for() {
        for (place, verdict) in ORDER.into_iter().enumerate() {
            assert_eq!(verdict as usize, place);
        }
        assert_eq!(
            Scores([1, 0, 2, 1]).sentence(),
            "4 claims: 1 agrees, 0 in part, 2 disagree, 1 is unclear"
        );
    }
}
