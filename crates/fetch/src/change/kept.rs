//! What is kept of a page between visits.

mod bytes;

use xxhash_rust::xxh3::xxh3_64;

use super::Rules;
use super::attention::Attention;
use super::look::Look;
use super::page;
use super::simhash::simhash;
use super::units::{Body, COARSEST, MOST, MOST_PLAIN, Unit, grouped};
use super::values::Values;
use super::words;

pub use bytes::BadKept;

/// The most bytes that [`Kept::to_bytes`] gives.
pub const LARGEST: usize = 4096;

/// What is kept of a page, to be compared with what the next visit sees: at most [`LARGEST`] bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// Of the last look.
    pub(super) digest: [u8; 16],
    /// Zero where sketches are not compared.
    pub(super) simhash: u64,
    /// Under which rules it was seen.
    pub(super) mark: u32,
    pub(super) is_text: bool,
    /// Its units are lost: an older version of this program wrote them.
    pub(super) is_blank: bool,
    /// How blocks are grouped into units.
    pub(super) grain: u8,
    pub(super) units: Vec<Unit>,
    pub(super) attention: Attention,
}

impl Kept {
    /// After the first look at a page.
    pub fn first(look: &Look) -> Self {
        Self::of(look, page::first(look), 0, Attention::default())
    }

    /// After a look at a page of which these are the units, at the grain that it had.
    pub(super) fn of(look: &Look, units: Vec<Unit>, grain: u8, attention: Attention) -> Self {
        let is_coarse = grain > 0 && look.hashes.len() <= MOST_PLAIN / 4 * 3;
        let grain = if is_coarse { 0 } else { grain.min(COARSEST) };
        let mut kept = Self {
            digest: look.digest,
            simhash: 0,
            mark: look.mark,
            is_text: look.blocks.is_some(),
            is_blank: false,
            grain,
            units: grouped(units, &look.hashes, grain),
            attention,
        };
        while !kept.fits() && kept.grain < COARSEST {
            kept.grain += 1;
            kept.units = grouped(kept.units, &look.hashes, kept.grain);
        }
        // What noise showed is the first to go: most of all where nothing returned.
        for is_kept in [Values::returns as fn(&Values) -> bool, |_| false] {
            if !kept.fits() {
                let values = kept.units.iter_mut().flat_map(Unit::values_mut);
                values.filter(|values| values.shown > 0 && !is_kept(values)).for_each(Values::forget);
            }
        }
        if !kept.fits() {
            kept.units.iter_mut().flat_map(Unit::values_mut).for_each(|values| *values = Values::default());
        }
        if !kept.fits() {
            // More noise than there is room for is no noise: it is reported rather than hidden.
            let units = page::opened(std::mem::take(&mut kept.units), look);
            kept.units = grouped(units, &look.hashes, kept.grain);
        }
        kept.simhash = if look.sketch { sketch(look, &kept.units) } else { 0 };
        kept
    }

    /// The visit is over.
    pub(super) fn settle(&mut self) {
        self.units.iter_mut().for_each(Unit::settle);
    }

    fn fits(&self) -> bool {
        self.units.len() <= MOST
            && self.units.iter().filter(|unit| unit.is_plain()).count() <= MOST_PLAIN
            && self.size() <= LARGEST
    }

    /// In how many places quick pairs of looks have found noise.
    pub fn noise(&self) -> usize {
        self.units.iter().map(Unit::noise).sum()
    }

    /// How many quick pairs of looks at it were compared.
    pub fn pairs(&self) -> u16 {
        self.attention.pairs()
    }

    /// Returns true if it was kept under rules that see the same. If not, it can only be compared byte by byte.
    pub fn suits(&self, rules: &Rules) -> bool {
        self.mark == rules.mark()
    }

    /// A hash of the content, noise left out.
    pub(super) fn state(&self) -> u32 {
        let mut bytes = Vec::with_capacity(4 * self.units.len());
        for unit in &self.units {
            match &unit.body {
                Body::Closed(run) => bytes.extend(run.hash.to_le_bytes()),
                Body::Open(slots) => {
                    let content = slots.iter().filter(|slot| !slot.is_noise());
                    bytes.extend(content.flat_map(|slot| slot.hash.to_le_bytes()));
                }
                Body::Stretch(stretch) if stretch.score.is_noise() => {}
                Body::Stretch(stretch) => bytes.extend(stretch.run.hash.to_le_bytes()),
            }
        }
        (xxh3_64(&bytes) as u32).max(1)
    }
}

/// The sketch of what is left of a page without its noise.
pub(super) fn sketch(look: &Look, units: &[Unit]) -> u64 {
    let Some(blocks) = &look.blocks else { return 0 };
    let mut texts = Vec::with_capacity(blocks.len());
    let mut at = 0;
    for unit in units {
        for text in (at..at + unit.blocks()).filter_map(|block| blocks.get(block)) {
            match &unit.body {
                Body::Stretch(stretch) if stretch.score.is_noise() => {}
                Body::Closed(_) | Body::Stretch(_) => texts.push(text.to_owned()),
                Body::Open(slots) => {
                    let is_noise =
                        slots.iter().flat_map(|slot| std::iter::repeat_n(slot.is_noise(), slot.len.into()));
                    let words = words::words(text).into_iter().zip(is_noise);
                    let content: Vec<&str> =
                        words.filter(|(_, is_noise)| !is_noise).map(|(word, _)| word).collect();
                    texts.push(content.join(" "));
                }
            }
        }
        at += unit.blocks();
    }
    simhash(texts.iter().filter(|text| !text.is_empty()).map(String::as_str))
}
