//! How well quick pairs of looks have shown that a part of a page is noise.

use super::values::Values;

/// Two quick looks that differ add this.
const DIFFER: u8 = 4;
/// Two quick looks that agree take this away: while noise is suspected, and once it is known.
const AGREE_SUSPECT: u8 = 1;
const AGREE_NOISE: u8 = 2;

/// From here on a part is noise: three pairs that differ, and no more than three that agree.
const NOISE: u8 = 3 * DIFFER - 3;
/// What is found to be noise has this many at least.
const KNOWN: u8 = 12;
/// Down to here it stays noise: a part that varies by chance agrees now and then.
const DOUBTFUL: u8 = 4;
const HIGHEST: u8 = 16;

/// The evidence that a part of a page is noise. Only pairs of quick looks change it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Score {
    points: u8,
    is_noise: bool,
}

impl Score {
    /// Two quick looks showed different content.
    pub(super) fn differ(&mut self) {
        self.points = (self.points + DIFFER).min(HIGHEST);
        if self.points >= NOISE {
            (self.is_noise, self.points) = (true, self.points.max(KNOWN));
        }
    }

    /// Two quick looks showed the same content.
    pub(super) fn agree(&mut self) {
        self.points = self.points.saturating_sub(if self.is_noise { AGREE_NOISE } else { AGREE_SUSPECT });
        self.is_noise &= self.points > DOUBTFUL;
    }

    /// The same where it is known what the place showed before.
    pub(super) fn agree_on(&mut self, values: &Values) {
        match self.is_noise && values.returns() {
            // Values that take turns agree by chance; how long one stays says more.
            true if values.stays.is_over() => *self = Self::default(),
            true => {}
            false => self.agree(),
        }
        // Values that never return do not agree by chance.
        if self.is_noise && values.is_known() && !values.returns() {
            self.agree();
        }
    }

    pub(super) fn is_noise(self) -> bool {
        self.is_noise
    }

    /// Some quick pair differed, and it is not settled yet whether that was noise.
    pub(super) fn is_suspect(self) -> bool {
        self.points > 0 && !self.is_noise
    }

    /// As if what is suspected were known.
    pub(super) fn presumed(self) -> Self {
        if self.is_suspect() { Self { points: KNOWN, is_noise: true } } else { self }
    }

    /// Nothing speaks for noise.
    pub(super) fn is_clear(self) -> bool {
        self.points == 0
    }

    /// Noise that may be none any more: the last quick pairs agreed.
    pub(super) fn is_fading(self) -> bool {
        self.is_noise && self.points < KNOWN
    }

    pub(super) fn to_byte(self) -> u8 {
        self.points << 1 | u8::from(self.is_noise)
    }

    pub(super) fn from_byte(byte: u8) -> Option<Self> {
        let score = Self { points: byte >> 1, is_noise: byte & 1 == 1 };
        let is_possible = score.points <= HIGHEST
            && if score.is_noise { score.points > DOUBTFUL } else { score.points < NOISE };
        is_possible.then_some(score)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_pairs_make_noise_and_agreement_unmakes_it() {
        let mut score = Score::default();
        score.differ();
        score.differ();
        assert!(score.is_suspect() && !score.is_noise());
        score.differ();
        assert!(score.is_noise() && !score.is_suspect());
        for _ in 0..3 {
            score.agree();
            assert!(score.is_noise());
        }
        score.agree();
        assert!(!score.is_noise());
    }

    #[test]
    fn one_difference_is_forgotten_after_four_agreements() {
        let mut score = Score::default();
        score.differ();
        for _ in 0..4 {
            assert!(score.is_suspect());
            score.agree();
        }
        assert!(score.is_clear());
    }

    #[test]
    fn every_byte_is_read_or_refused() {
        for byte in 0..=u8::MAX {
            assert!(Score::from_byte(byte).is_none_or(|score| score.to_byte() == byte));
        }
        let mut score = Score::default();
        for differ in [true, true, true, false, false, true, false, false, false, false, false] {
            if differ {
                score.differ();
            } else {
                score.agree();
            }
            assert_eq!(Score::from_byte(score.to_byte()), Some(score));
        }
    }
}
