//! What two sequences have in common, in order, and what lies between.

use std::collections::HashMap;
use std::ops::Range;

/// A stretch in which two sequences differ; what stands before and after it is the same in both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Gap {
    /// The longer side.
    pub(super) fn len(&self) -> usize {
        self.old.len().max(self.new.len())
    }
}

/// Where `new` differs from `old`.
///
/// What occurs once in each of them is matched first, as far as the order agrees, and then whatever adjoins a match on
/// either side. It takes n log n steps; repeated elements in the middle of a change may count as changed.
pub(super) fn gaps(old: &[u64], new: &[u64]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut from = (0, 0);
    let anchors = anchors(old, new);
    for (old_end, new_end) in anchors.into_iter().chain([(old.len(), new.len())]) {
        if old_end < from.0 || new_end < from.1 {
            // Already matched, as a neighbour of the one before.
            continue;
        }
        let gap = trimmed(old, new, from.0..old_end, from.1..new_end);
        if gap.len() > 0 {
            gaps.push(gap);
        }
        from = (old_end + 1, new_end + 1);
    }
    gaps
}

/// Without what both sides start and end with.
fn trimmed(old: &[u64], new: &[u64], mut left: Range<usize>, mut right: Range<usize>) -> Gap {
    while !left.is_empty() && !right.is_empty() && old[left.start] == new[right.start] {
        left.start += 1;
        right.start += 1;
    }
    while !left.is_empty() && !right.is_empty() && old[left.end - 1] == new[right.end - 1] {
        left.end -= 1;
        right.end -= 1;
    }
    Gap { old: left, new: right }
}

/// Places of elements that occur once in each, in an order that both agree on, as many as possible.
fn anchors(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let (in_old, in_new) = (singles(old), singles(new));
    let pairs: Vec<(usize, usize)> = old
        .iter()
        .enumerate()
        .filter(|(place, hash)| in_old.get(hash) == Some(&Some(*place)))
        .filter_map(|(place, hash)| in_new.get(hash).copied().flatten().map(|other| (place, other)))
        .collect();
    longest_rise(&pairs)
}

/// Where each element is, if it is at one place only.
fn singles(hashes: &[u64]) -> HashMap<u64, Option<usize>> {
    let mut places = HashMap::with_capacity(hashes.len());
    for (place, hash) in hashes.iter().enumerate() {
        places.entry(*hash).and_modify(|known| *known = None).or_insert(Some(place));
    }
    places
}

/// The longest subsequence whose second parts rise; the first parts rise already.
pub(super) fn longest_rise(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `tails[k]` is the pair that ends the best rise of k + 1 pairs: the one with the lowest end.
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![None; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let length = tails.partition_point(|tail| pairs[*tail].1 < pair.1);
        before[index] = length.checked_sub(1).map(|shorter| tails[shorter]);
        if length == tails.len() {
            tails.push(index);
        } else {
            tails[length] = index;
        }
    }
    let mut rise = Vec::with_capacity(tails.len());
    let mut at = tails.last().copied();
    while let Some(index) = at {
        rise.push(pairs[index]);
        at = before[index];
    }
    rise.reverse();
    rise
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(old: &[u64], new: &[u64]) -> Vec<(Range<usize>, Range<usize>)> {
        gaps(old, new).into_iter().map(|gap| (gap.old, gap.new)).collect()
    }

    #[test]
    fn differences_are_where_they_are() {
        assert_eq!(found(&[1, 2, 3], &[1, 2, 3]), []);
        assert_eq!(found(&[1, 2, 3], &[1, 9, 3]), [(1..2, 1..2)]);
        assert_eq!(found(&[1, 2, 3], &[1, 3]), [(1..2, 1..1)]);
        assert_eq!(
            found(&[1, 3, 4, 5], &[0, 1, 3, 9, 8, 4, 5, 7]),
            [(0..0, 0..1), (2..2, 3..5), (4..4, 7..8)]
        );
        assert_eq!(found(&[1, 1, 1], &[1, 1, 1, 1]), [(3..3, 3..4)]);
        assert_eq!(found(&[], &[1]), [(0..0, 0..1)]);
    }

    proptest! {
        #[test]
        fn what_is_outside_of_gaps_is_the_same(
            old in prop::collection::vec(0u64..12, 0..40),
            new in prop::collection::vec(0u64..12, 0..40),
        ) {
            let (mut left, mut right) = (0, 0);
            for gap in gaps(&old, &new) {
                prop_assert!(gap.old.start >= left && gap.new.start >= right);
                prop_assert_eq!(&old[left..gap.old.start], &new[right..gap.new.start]);
                (left, right) = (gap.old.end, gap.new.end);
            }
            prop_assert_eq!(&old[left..], &new[right..]);
        }
    }
}
