//! What differs between two copies only because time passed: a clock, and how long ago something was.
//!
//! A time to the minute is the same at two looks seconds apart, so quick pairs do not show that it is noise. But the moments of both looks are
//! known, and whether the shown times agree with them can be computed. Where they do not agree, the difference is a change.

use std::ops::Range;

use refrain_core::time::Time;
use xxhash_rust::xxh3::xxh3_64;

use super::align::{self, Gap};
use super::judge::Reported;
use super::look::Look;
use super::times::{self, Shown, TimeText};
use super::words;
use crate::text::Blocks;

/// A part of the text of a page: a word or mark, or a whole time expression.
struct Part<'a> {
    block: usize,
    /// Where it begins in the block, in bytes.
    start: usize,
    text: &'a str,
    shown: Option<Shown>,
}

impl Part<'_> {
    /// Times of one kind are equal here.
    fn hash(&self) -> u64 {
        match self.shown {
            None => xxh3_64(self.text.as_bytes()),
            Some(Shown::Clock(_)) => 1,
            Some(Shown::Age(..)) => 2,
        }
    }
}

/// The text of a page, part by part.
fn parts(blocks: &Blocks) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for (block, text) in blocks.iter().enumerate() {
        let mut at = 0;
        let words = |parts: &mut Vec<_>, range: Range<usize>| {
            for word in words::words(&text[range]) {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                parts.push(Part { block, start, text: word, shown: None });
            }
        };
        for TimeText { bytes, shown } in times::find(text) {
            words(&mut parts, at..bytes.start);
            at = bytes.end;
            parts.push(Part { block, start: bytes.start, text: &text[bytes], shown: Some(shown) });
        }
        words(&mut parts, at..text.len());
        // Ends the block.
        parts.push(Part { block, start: text.len(), text: "", shown: None });
    }
    parts
}

/// Parts of two copies that stand in the same place: what both have in common, and in each gap times in their order if both have equally many.
fn pairs<'a>(old: &'a [Part<'a>], new: &'a [Part<'a>]) -> Vec<(&'a Part<'a>, &'a Part<'a>)> {
    let hashes = |parts: &[Part<'_>]| parts.iter().map(Part::hash).collect::<Vec<_>>();
    let mut pairs = Vec::new();
    let mut at = (0, 0);
    let ends = Gap { old: old.len()..old.len(), new: new.len()..new.len() };
    for gap in align::gaps(&hashes(old), &hashes(new)).into_iter().chain([ends]) {
        pairs.extend(old[at.0..gap.old.start].iter().zip(&new[at.1..gap.new.start]));
        at = (gap.old.end, gap.new.end);
        let times =
            |parts: &'a [Part<'a>]| parts.iter().filter(|part| part.shown.is_some()).collect::<Vec<_>>();
        let (left, right) = (times(&old[gap.old]), times(&new[gap.new]));
        if left.len() == right.len() {
            pairs.extend(left.into_iter().zip(right));
        }
    }
    pairs
}

/// The copy that was reported last with its times as they are shown now, wherever they differ only because time passed. `None` if there is no
/// such time.
pub(super) fn brought_forward(reported: &Reported, look: &Look, now: Time) -> Option<Look> {
    if reported.look.mark != look.mark {
        return None;
    }
    let (old, new) = (reported.look.blocks.as_ref()?, look.blocks.as_ref()?);
    let (old, new) = (parts(old), parts(new));
    let is_explained = |(was, is): &(&Part<'_>, &Part<'_>)| match (was.shown, is.shown) {
        (Some(before), Some(after)) if was.text != is.text => {
            times::is_explained((before, reported.time), (after, now))
        }
        _ => false,
    };
    let mut explained = pairs(&old, &new).into_iter().filter(is_explained).peekable();
    explained.peek()?;
    reported.look.rewritten(|block, text| {
        let (mut forward, mut at) = (String::with_capacity(text.len()), 0);
        while let Some((was, is)) = explained.next_if(|(was, _)| was.block == block) {
            forward.push_str(&text[at..was.start]);
            forward.push_str(is.text);
            at = was.start + was.text.len();
        }
        forward.push_str(&text[at..]);
        forward
    })
}

/// Whether a page shows a time.
pub(super) fn shows_time(look: &Look) -> bool {
    look.blocks.iter().flat_map(Blocks::iter).any(|block| !times::find(block).is_empty())
}
