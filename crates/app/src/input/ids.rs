//! Millions of names, kept as one piece of text.

use std::collections::HashMap;

use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

/// Names in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    text: String,
    ends: Vec<usize>,
    /// (index from which on, how many lines further down than expected): blank lines shift what follows.
    shifts: Vec<(usize, u64)>,
}

impl Ids {
    /// Adds a name that stands on this line of its file.
    pub(crate) fn push(&mut self, id: &str, line: u64) {
        let index = self.ends.len();
        let shift = line - (index as u64 + 1);
        if self.shifts.last().is_none_or(|(_, last)| *last != shift) {
            self.shifts.push((index, shift));
        }
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// The line on which a name stood.
    fn line(&self, index: usize) -> u64 {
        let after = self.shifts.partition_point(|(from, _)| *from <= index);
        index as u64 + 1 + self.shifts[after - 1].1
    }

    /// The first name that came twice, with its two lines.
    pub(super) fn duplicate(&self) -> Option<(&str, u64, u64)> {
        let hash = |index: usize| xxh3_64(self.get(index).as_bytes());
        let mut hashes: Vec<u64> = (0..self.len()).into_par_iter().map(hash).collect();
        hashes.par_sort_unstable();
        if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
            return None;
        }
        drop(hashes);
        // Some hash came twice, so most likely a name did: look again, more slowly, for the first.
        let mut seen = HashMap::new();
        (0..self.len()).find_map(|later| {
            let name = self.get(later);
            seen.insert(name, later).map(|first| (name, self.line(first), self.line(later)))
        })
    }
}
