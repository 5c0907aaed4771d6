//! What is kept of a page between visits.

use super::Rules;
use super::look::Look;
use super::noise::{Noise, Stripped};
use super::simhash::simhash;
use super::units::{self, COARSEST, MOST, Unit};
use crate::text::Blocks;

/// The most bytes that [`Kept::to_bytes`] gives.
pub const LARGEST: usize = 2048;

const VERSION: u8 = 1;

/// What is kept of a page, to be compared with what the next visit sees: at most [`LARGEST`] bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub(super) digest: [u8; 16],
    /// Zero where nobody asks for it.
    pub(super) simhash: u64,
    /// Under which rules it was seen.
    pub(super) mark: u32,
    pub(super) is_text: bool,
    /// How blocks are grouped into units.
    pub(super) grain: u8,
    /// The hashes of the units, without noise.
    pub(super) units: Vec<u32>,
    pub(super) noise: Noise,
}

/// Bytes that [`Kept::to_bytes`] never wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not what was kept of a page: {0}")]
pub struct BadKept(&'static str);

impl Kept {
    /// After the first look at a page.
    pub fn first(look: &Look) -> Self {
        Self::next(look, 0, Noise::default())
    }

    /// After a look at a page whose noise is known, at the grain that it had.
    pub(super) fn next(look: &Look, grain_before: u8, noise: Noise) -> Self {
        let grain = units::grain(&look.hashes, grain_before);
        // Places lie between units: those of another grain are lost.
        let noise = if grain == grain_before { noise } else { Noise::default() };
        let stripped = noise.strip(&units::units(&look.hashes, grain));
        Self {
            digest: look.digest,
            simhash: if look.sketch { sketch(look, &stripped) } else { 0 },
            mark: look.mark,
            is_text: look.blocks.is_some(),
            grain,
            units: stripped.units.iter().map(|unit| unit.hash).collect(),
            noise,
        }
    }

    /// What is known of the page's noise.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Was it kept under rules that see the same? If not, it can only be compared byte by byte.
    pub fn suits(&self, rules: &Rules) -> bool {
        self.mark == rules.mark()
    }

    /// As bytes, to be stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION, u8::from(self.is_text), self.grain];
        bytes.extend_from_slice(&self.mark.to_le_bytes());
        bytes.extend_from_slice(&self.digest);
        bytes.extend_from_slice(&self.simhash.to_le_bytes());
        bytes.extend_from_slice(&(self.units.len() as u16).to_le_bytes());
        bytes.extend(self.units.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes.extend(self.noise.to_bytes());
        bytes
    }

    /// Reads what [`Kept::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`BadKept`] for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, BadKept> {
        let mut rest = bytes;
        if take::<1>(&mut rest)? != [VERSION] {
            return Err(BadKept("another version"));
        }
        let [is_text, grain] = take(&mut rest)?;
        if is_text > 1 || grain > COARSEST {
            return Err(BadKept("a value out of range"));
        }
        let mark = u32::from_le_bytes(take(&mut rest)?);
        let digest = take(&mut rest)?;
        let simhash = u64::from_le_bytes(take(&mut rest)?);
        let count = usize::from(u16::from_le_bytes(take(&mut rest)?));
        if count > MOST {
            return Err(BadKept("too many units"));
        }
        let units = (0..count).map(|_| take(&mut rest).map(u32::from_le_bytes)).collect::<Result<_, _>>()?;
        let noise = Noise::from_bytes(rest).ok_or(BadKept("no proper noise"))?;
        Ok(Self { digest, simhash, mark, is_text: is_text == 1, grain, units, noise })
    }
}

/// The sketch of what is left of a page without its noise.
fn sketch(look: &Look, stripped: &Stripped) -> u64 {
    let mut units = stripped.units.iter().map(|unit: &Unit| unit.blocks.clone()).peekable();
    let texts = look.blocks.iter().flat_map(Blocks::iter);
    simhash(texts.enumerate().filter_map(|(index, text)| {
        while units.next_if(|blocks| blocks.end <= index).is_some() {}
        units.peek().is_some_and(|blocks| blocks.contains(&index)).then_some(text)
    }))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], BadKept> {
    let (taken, left) = rest.split_first_chunk::<N>().ok_or(BadKept("it ends too early"))?;
    *rest = left;
    Ok(*taken)
}
