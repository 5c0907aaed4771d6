//! A history of which only somebody's fetches are known: between two of them a page changed, or did not.
//!
//! When in between, and whether more than once, nobody knows. One change is put at a moment by chance: right on average for pages
//! that were fetched more often than they changed, and too few changes for the others.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use refrain_core::time::{Span, Time};

use super::{Clock, Trace, TracePage};

/// A page as somebody's fetches saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct LookedAt {
    /// How much it matters.
    pub importance: f64,
    /// The pages it is alike, by number.
    pub group: u32,
    /// The first fetch.
    pub first: Time,
    /// The fetches after it, in order, and whether they saw a change.
    pub looks: Vec<(Time, bool)>,
}

/// A trace of pages that were looked at twice at least; the others are left out.
pub fn from_looks(pages: &[LookedAt], groups: u32, seed: u64) -> Trace {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut trace = Trace { sources: vec![Clock::default()], groups, ..Trace::default() };
    for (number, page) in pages.iter().enumerate() {
        let Some((last, _)) = page.looks.last().copied() else { continue };
        let mut before = page.first;
        let mut changes = Vec::new();
        for (time, changed) in &page.looks {
            if *changed {
                let nanos = time.since(before).as_nanos();
                // After the look before, and not after this one.
                changes.push(
                    before
                        + Span::from_nanos(1 + (random.random::<f64>() * nanos as f64) as u64)
                            .min(time.since(before)),
                );
            }
            before = *time;
        }
        trace.pages.push(TracePage {
            number: number as u32,
            importance: page.importance,
            source: 0,
            group: page.group,
            directory: None,
            first: page.first,
            last,
            heard_from: None,
            changes,
        });
    }
    trace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_lie_between_the_looks_that_saw_them() {
        let at = |seconds| Time::ZERO + Span::from_whole_secs(seconds);
        let looks = vec![(at(20), false), (at(30), true), (at(31), true), (at(90), false)];
        let seen = LookedAt { importance: 2.0, group: 1, first: at(10), looks };
        let once = LookedAt { looks: Vec::new(), ..seen.clone() };
        for seed in 0..50 {
            let trace = from_looks(&[once.clone(), seen.clone()], 2, seed);
            let [page] = &trace.pages[..] else { panic!("one page") };
            assert_eq!((page.number, page.first, page.last, page.changes.len()), (1, at(10), at(90), 2));
            assert!(page.changes[0] > at(20) && page.changes[0] <= at(30));
            assert!(page.changes[1] > at(30) && page.changes[1] <= at(31));
        }
    }
}
