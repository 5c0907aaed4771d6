//! What of a look is noise, and does not count.

use std::ops::Range;

use super::kept::Kept;
use super::look::Look;
use super::page;
use super::units::Body;
use super::words;

/// A part of a look that does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The block it is in.
    pub block: usize,
    /// Where in the block it is, in bytes of its text.
    pub bytes: Range<usize>,
    /// Why it does not count.
    pub kind: Kind,
}

/// Why something does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The words are others at every look.
    Words,
    /// The block comes and goes.
    Presence,
    /// The block changes places with others.
    Order,
}

impl Kept {
    /// Which parts of a look at the page are noise, in the order of the page.
    pub fn ignored(&self, look: &Look) -> Vec<Ignored> {
        let Some(blocks) = look.blocks.as_ref().filter(|_| self.mark == look.mark) else { return Vec::new() };
        let mut ignored = Vec::new();
        let mut at = 0;
        for unit in page::follow(&self.units, look).units {
            let start = at;
            at += unit.blocks();
            let Some(text) = blocks.get(start).filter(|_| at > start) else { continue };
            let whole = |kind| Ignored { block: start, bytes: 0..text.len(), kind };
            if unit.moves.is_noise() {
                ignored.push(whole(Kind::Order));
            }
            if let Body::Stretch(stretch) = &unit.body
                && stretch.score.is_noise()
            {
                let blocks = (start..at).filter_map(|block| Some((block, blocks.get(block)?.len())));
                ignored.extend(blocks.map(|(block, len)| Ignored {
                    block,
                    bytes: 0..len,
                    kind: Kind::Presence,
                }));
            }
            let Body::Open(slots) = unit.body else { continue };
            let words = words::words(text);
            let mut next = 0;
            for slot in slots {
                let of_slot = next..(next + usize::from(slot.len)).min(words.len());
                next = of_slot.end;
                if let (true, Some(found)) = (slot.is_noise(), words.get(of_slot))
                    && let (Some(first), Some(last)) = (found.first(), found.last())
                {
                    let offset = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
                    let bytes = offset(first)..offset(last) + last.len();
                    ignored.push(Ignored { block: start, bytes, kind: Kind::Words });
                }
            }
        }
        ignored
    }
}
