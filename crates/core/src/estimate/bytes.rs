//! Histories as bytes, to be kept by somebody else: little endian, as long as they are in memory.
//!
//! What comes back may be anything: numbers that no history can have are refused.

/// Takes numbers out of bytes, one after the other.
pub(crate) struct Reading<'a>(&'a [u8]);

impl<'a> Reading<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]: [u8; 1]| byte)
    }

    pub(crate) fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    pub(crate) fn int(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    /// A count, a length, a weight: finite and not negative.
    pub(crate) fn amount(&mut self) -> Option<f32> {
        self.number().filter(|number| *number >= 0.0)
    }

    /// Any finite number.
    pub(crate) fn number(&mut self) -> Option<f32> {
        self.take().map(f32::from_le_bytes).filter(|number| number.is_finite())
    }

    /// Whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// Numbers as bytes.
pub(crate) fn write(to: &mut Vec<u8>, numbers: &[f32]) {
    to.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}
