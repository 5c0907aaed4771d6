//! The first few of many, in little memory.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Keeps those with the greatest keys; of equal ones, those that came first.
pub(super) struct Top<T> {
    most: usize,
    came: u64,
    /// The least on top.
    kept: BinaryHeap<Kept<T>>,
}

struct Kept<T> {
    key: f64,
    came: u64,
    what: T,
}

impl<T> Top<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, came: 0, kept: BinaryHeap::new() }
    }

    /// Whether something with this key would be kept.
    pub(super) fn takes(&self, key: f64) -> bool {
        self.kept.len() < self.most || self.kept.peek().is_some_and(|least| key.total_cmp(&least.key).is_gt())
    }

    pub(super) fn put(&mut self, key: f64, what: T) {
        if !self.takes(key) {
            return;
        }
        self.came += 1;
        self.kept.push(Kept { key, came: self.came, what });
        if self.kept.len() > self.most {
            self.kept.pop();
        }
    }

    /// All that was kept, the greatest first.
    pub(super) fn in_order(self) -> Vec<T> {
        self.kept.into_sorted_vec().into_iter().map(|kept| kept.what).collect()
    }
}

/// Greater means: less worth keeping.
impl<T> Ord for Kept<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.total_cmp(&self.key).then(self.came.cmp(&other.came))
    }
}

impl<T> PartialOrd for Kept<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Kept<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_the_start_of_the_sorted_whole(keys in proptest::collection::vec(0..20u8, 0..60), most in 0..20usize) {
            let mut top = Top::new(most);
            for (place, key) in keys.iter().enumerate() {
                top.put(f64::from(*key), (*key, place));
            }
            let mut all: Vec<(u8, usize)> = keys.iter().copied().zip(0..).collect();
            all.sort_by_key(|(key, place)| (std::cmp::Reverse(*key), *place));
            all.truncate(most);
            prop_assert_eq!(top.in_order(), all);
        }
    }
}
