//! Runs of elements that are known by their hash and length only, found again in a sequence of elements.

use std::collections::HashMap;

use super::align::longest_rise;

/// An odd number without structure (2^64 over the golden ratio).
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of element hashes, of which the hash of every run is found in constant time.
pub(super) struct Windows<'a> {
    elements: &'a [u32],
    /// Of the first so many elements.
    sums: Vec<u64>,
    powers: Vec<u64>,
}

/// A run of elements as it was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) hash: u32,
    pub(super) len: usize,
}

/// Where a run is on both sides, if it occurs once.
struct Anchor {
    place: Option<usize>,
    start: Option<usize>,
    times: usize,
}

impl<'a> Windows<'a> {
    pub(super) fn new(elements: &'a [u32]) -> Self {
        let mut sums = Vec::with_capacity(elements.len() + 1);
        let mut powers = Vec::with_capacity(elements.len() + 1);
        let (mut sum, mut power) = (0u64, 1u64);
        sums.push(sum);
        powers.push(power);
        for element in elements {
            sum = sum.wrapping_mul(BASE).wrapping_add(u64::from(*element) + 1);
            power = power.wrapping_mul(BASE);
            sums.push(sum);
            powers.push(power);
        }
        Self { elements, sums, powers }
    }

    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    /// The hash of a run; of a single element, its own. The run must be within the sequence.
    pub(super) fn hash(&self, start: usize, len: usize) -> u32 {
        if len == 1 {
            return self.elements[start];
        }
        let sum = self.sums[start + len].wrapping_sub(self.sums[start].wrapping_mul(self.powers[len]));
        ((sum ^ sum >> 29).wrapping_mul(BASE) >> 32) as u32
    }

    pub(super) fn is_at(&self, run: Run, start: usize) -> bool {
        start + run.len <= self.len() && self.hash(start, run.len) == run.hash
    }

    /// Where runs are found again, in their order and without overlaps: first those that occur once on both sides, as many as agree on
    /// an order, and then their neighbours. `None` stands for an element that matches nothing. Gives pairs of a place in `runs` and a start.
    pub(super) fn locate(&self, runs: &[Option<Run>]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let (mut run, mut at) = (0, 0);
        for (anchor, start) in self.anchors(runs).into_iter().chain([(runs.len(), self.len())]) {
            if anchor < run || start < at {
                // A neighbour of the anchor before took this place.
                continue;
            }
            (run, at) = self.extend(runs, (run, at), (anchor, start), &mut found);
            if let Some(Some(anchored)) = runs.get(anchor) {
                found.push((anchor, start));
                (run, at) = (anchor + 1, start + anchored.len);
            }
        }
        found
    }

    /// Matches what directly follows `from` and directly precedes `to`.
    fn extend(
        &self,
        runs: &[Option<Run>],
        (mut run, mut at): (usize, usize),
        (mut to_run, mut to_at): (usize, usize),
        found: &mut Vec<(usize, usize)>,
    ) -> (usize, usize) {
        while run < to_run
            && let Some(next) = runs[run]
            && at + next.len <= to_at
            && self.is_at(next, at)
        {
            found.push((run, at));
            (run, at) = (run + 1, at + next.len);
        }
        let mut before = Vec::new();
        while run < to_run
            && let Some(last) = runs[to_run - 1]
            && at + last.len <= to_at
            && self.is_at(last, to_at - last.len)
        {
            (to_run, to_at) = (to_run - 1, to_at - last.len);
            before.push((to_run, to_at));
        }
        found.extend(before.into_iter().rev());
        (run, at)
    }

    fn anchors(&self, runs: &[Option<Run>]) -> Vec<(usize, usize)> {
        // By length and hash.
        let mut known: HashMap<(usize, u32), Anchor> = HashMap::new();
        let mut lengths = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            let Some(run) = run else { continue };
            if !lengths.contains(&run.len) {
                lengths.push(run.len);
            }
            known.entry((run.len, run.hash)).and_modify(|anchor| anchor.place = None).or_insert(Anchor {
                place: Some(place),
                start: None,
                times: 0,
            });
        }
        for len in lengths {
            for start in 0..(self.len() + 1).saturating_sub(len) {
                if let Some(anchor) = known.get_mut(&(len, self.hash(start, len))) {
                    anchor.times += 1;
                    anchor.start = (anchor.times == 1).then_some(start);
                }
            }
        }
        let mut pairs: Vec<(usize, usize)> =
            known.into_values().filter_map(|anchor| Some((anchor.place?, anchor.start?))).collect();
        pairs.sort_unstable();
        longest_rise(&pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_found_is_there_in_order(
            elements in prop::collection::vec(0u32..9, 0..40),
            pieces in prop::collection::vec((0usize..40, 1usize..4, any::<bool>()), 0..12),
        ) {
            let windows = Windows::new(&elements);
            let runs: Vec<Option<Run>> = pieces
                .into_iter()
                .map(|(start, len, known)| {
                    (known && start + len <= elements.len()).then(|| Run { hash: windows.hash(start, len), len })
                })
                .collect();
            let (mut last, mut free) = (None, 0);
            for (place, start) in windows.locate(&runs) {
                let run = runs[place].unwrap();
                prop_assert!(last.is_none_or(|last| place > last) && start >= free);
                prop_assert!(windows.is_at(run, start));
                (last, free) = (Some(place), start + run.len);
            }
        }
    }

    #[test]
    fn runs_are_found_around_what_changed() {
        let windows_of = |elements: &[u32], runs: &[(usize, usize)]| -> Vec<Option<Run>> {
            let windows = Windows::new(elements);
            runs.iter()
                .map(|(start, len)| Some(Run { hash: windows.hash(*start, *len), len: *len }))
                .collect()
        };
        let runs = windows_of(&[1, 2, 3, 4, 5, 6, 7], &[(0, 2), (2, 1), (3, 3), (6, 1)]);
        let new = [1, 2, 9, 9, 4, 5, 6, 7];
        assert_eq!(Windows::new(&new).locate(&runs), [(0, 0), (2, 4), (3, 7)]);
    }
}
