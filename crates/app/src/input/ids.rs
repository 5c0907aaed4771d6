//! Millions of names, kept as one piece of text.

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
        let mut hashes: Vec<(u64, u32)> = (0..self.len())
            .into_par_iter()
            .map(|index| (xxh3_64(self.get(index).as_bytes()), index as u32))
            .collect();
        hashes.par_sort_unstable();
        // Equal hashes are neighbours, in the order of their lines; nearly always they are equal names.
        let same_hash = hashes.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1);
        let repeats = same_hash.flat_map(|run| {
            let again = |&(_, later): &(u64, u32)| {
                let first = run.iter().find(|(_, first)| self.get(*first as usize) == self.get(later as usize))?;
                (first.1 < later).then_some((first.1, later))
            };
            run.iter().filter_map(again)
        });
        let (first, later) = repeats.min_by_key(|(_, later)| *later)?;
        Some((self.get(later as usize), self.line(first as usize), self.line(later as usize)))
    }
}
