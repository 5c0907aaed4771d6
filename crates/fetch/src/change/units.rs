//! Blocks grouped into few enough units to keep.
//!
//! A page of a few hundred blocks keeps each of them. Of a longer page, runs of blocks are kept as one; a run ends at a block
//! whose own hash says so, so a change within a run moves no other run's ends.

use std::ops::Range;

use xxhash_rust::xxh3::xxh3_64;

/// So many units are kept of a page.
pub(super) const MOST: usize = 384;

/// The coarsest grain: runs of some four thousand blocks. No page has blocks enough to need more.
pub(super) const COARSEST: u8 = 12;

/// A run of blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) hash: u32,
    pub(super) blocks: Range<usize>,
}

/// The units of a page, at most [`MOST`]; runs are of 2^grain blocks on average, and the last takes what does not fit.
pub(super) fn units(hashes: &[u32], grain: u8) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut start = 0;
    for (index, hash) in hashes.iter().enumerate() {
        let end = index + 1;
        let ends = ends_run(*hash, grain) && units.len() < MOST - 1;
        if ends || end == hashes.len() {
            units.push(Unit { hash: of_run(&hashes[start..end]), blocks: start..end });
            start = end;
        }
    }
    units
}

/// The grain to keep a page at: the one it had, while it fits and is not needlessly coarse; else the finest that fits.
pub(super) fn grain(hashes: &[u32], before: u8) -> u8 {
    let fits = |grain: u8| hashes.iter().filter(|hash| ends_run(**hash, grain)).count() < MOST;
    let needlessly_coarse = before > 0 && hashes.len() <= MOST / 4 * 3;
    if before <= COARSEST && fits(before) && !needlessly_coarse {
        return before;
    }
    (0..COARSEST).find(|grain| fits(*grain)).unwrap_or(COARSEST)
}

/// The hash of several hashes in a row; of one, itself.
pub(super) fn of_run(hashes: &[u32]) -> u32 {
    if let [one] = hashes {
        return *one;
    }
    let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
    xxh3_64(&bytes) as u32
}

fn ends_run(hash: u32, grain: u8) -> bool {
    grain == 0 || hash & ((1 << grain) - 1) == 0
}
