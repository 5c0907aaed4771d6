//! How often somebody may make us do something: a bucket each, which fills steadily.

use std::hash::Hash;

use refrain_core::time::{Span, Time};
use refrain_engine::Recent;

/// Buckets by name; those that are full again are forgotten.
pub(super) struct Buckets<K> {
    each: Span,
    most: u32,
    /// When each is full again.
    full: Recent<K, Time>,
}

impl<K: Eq + Hash + Clone> Buckets<K> {
    /// A full bucket holds `most`, and one more comes after `each`. So many names are known at a time.
    pub(super) fn new(most: u32, each: Span, names: usize) -> Self {
        Self { each, most, full: Recent::new(names) }
    }

    /// Takes one; if there is none left, says after which time there is.
    pub(super) fn take(&mut self, name: K, now: Time) -> Result<(), Span> {
        let after = self.full_at(&name, now) + self.each;
        let (lacks, holds) = (after.since(now), self.times(u64::from(self.most)));
        if lacks > holds {
            return Err(Span::from_nanos(lacks.as_nanos() - holds.as_nanos()));
        }
        self.full.put(name, after, now, lacks);
        Ok(())
    }

    /// What was taken was not needed.
    pub(super) fn give_back(&mut self, name: K, now: Time) {
        let lacks = self.full_at(&name, now).since(now);
        let lacks = Span::from_nanos(lacks.as_nanos().saturating_sub(self.each.as_nanos()));
        self.full.put(name, now + lacks, now, lacks);
    }

    fn full_at(&self, name: &K, now: Time) -> Time {
        self.full.get(name, now).copied().unwrap_or(now).max(now)
    }

    fn times(&self, times: u64) -> Span {
        Span::from_nanos(self.each.as_nanos().saturating_mul(times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills() {
        let at = |secs: u64| Time::ZERO + Span::from_whole_secs(secs);
        let mut buckets = Buckets::new(3, Span::from_whole_secs(60), 10);
        let taken = (0..9).filter(|_| buckets.take("a", at(0)).is_ok()).count();
        assert_eq!((taken, buckets.take("a", at(0))), (3, Err(Span::from_whole_secs(60))));
        assert_eq!(buckets.take("a", at(45)), Err(Span::from_whole_secs(15)));
        assert!(buckets.take("b", at(0)).is_ok());
        assert!(buckets.take("a", at(60)).is_ok() && buckets.take("a", at(60)).is_err());
        buckets.give_back("a", at(60));
        assert!(buckets.take("a", at(60)).is_ok() && buckets.take("a", at(60)).is_err());
        let later = (0..9).filter(|_| buckets.take("a", at(10_000)).is_ok()).count();
        assert_eq!(later, 3, "no more than it holds");
        buckets.give_back("c", at(0));
        assert_eq!((0..9).filter(|_| buckets.take("c", at(0)).is_ok()).count(), 3, "nor by giving back");
    }
}
