//! What repetitions gave: one number each, of worlds by chance, or of something recorded and of halves of it.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::super::Measured;

/// One number of each repetition.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Repeated {
    numbers: Vec<f64>,
    kind: Kind,
}

/// What the repetitions are to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Each is as good as any other.
    Alike,
    /// The first is the whole, and the others are halves of it.
    Halves,
}

impl Repeated {
    pub(super) fn new(numbers: Vec<f64>, kind: Kind) -> Self {
        Self { numbers, kind }
    }

    /// Mean and standard error. The number of a whole is its own, and its error comes from how halves deviate from their mean. (What half of
    /// a sample, drawn without putting back, deviates from the whole is what the whole deviates from what it was drawn from.)
    pub(super) fn measured(&self) -> Measured {
        match (self.kind, self.numbers.split_first()) {
            (_, None) => Measured { mean: f64::NAN, error: f64::NAN },
            (Kind::Alike, _) => Measured::of(self.numbers.iter().copied()),
            (Kind::Halves, Some((whole, halves))) => {
                let error = Measured::of(halves.iter().copied()).error * (halves.len() as f64).sqrt();
                Measured { mean: *whole, error }
            }
        }
    }

    pub(super) fn mean(&self) -> f64 {
        self.measured().mean
    }

    /// By how much it is more than another in the same worlds: repetition by repetition, so that what worlds have in common cancels.
    pub(super) fn minus(&self, other: &Self) -> Measured {
        let numbers = self.numbers.iter().zip(&other.numbers).map(|(one, other)| one - other);
        Self { numbers: numbers.collect(), kind: self.kind }.measured()
    }

    /// Less than another in the same worlds, and not by chance.
    pub(super) fn is_below(&self, other: &Self) -> bool {
        self.minus(other).is_below(0.0)
    }

    pub(super) fn percent(&self) -> String {
        self.measured().percent()
    }
}

/// What a repetition has of something recorded: all of it at first, a half by chance from then on.
pub(super) fn half<T: Clone>(all: &[T], seed: u64, repetition: u64) -> Vec<T> {
    let mut all = all.to_vec();
    if repetition > 0 {
        all.shuffle(&mut ChaCha8Rng::seed_from_u64(seed.wrapping_add(repetition)));
        all.truncate(all.len().div_ceil(2));
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The same number again and again.
    pub(in super::super) fn always(number: f64) -> Repeated {
        Repeated::new(vec![number; 3], Kind::Alike)
    }

    #[test]
    fn halves_tell_the_error_of_the_whole() {
        // The whole is 5; the halves, 4 and 6, deviate by the root of 2.
        let found = Repeated::new(vec![5.0, 4.0, 6.0], Kind::Halves).measured();
        assert!(found.mean == 5.0 && (found.error - 2f64.sqrt()).abs() < 1e-12, "{found}");
        let found = Repeated::new(vec![4.0, 6.0], Kind::Alike).measured();
        assert_eq!((found.mean, found.error), (5.0, 1.0));
        assert!(Repeated::new(Vec::new(), Kind::Halves).mean().is_nan());
    }

    #[test]
    fn what_worlds_have_in_common_cancels() {
        let poor = Repeated::new(vec![0.2, 0.5, 0.8], Kind::Alike);
        let rich = Repeated::new(vec![0.22, 0.51, 0.83], Kind::Alike);
        assert!(poor.is_below(&rich) && !rich.is_below(&poor) && !poor.is_below(&poor));
        assert!((rich.minus(&poor).mean - 0.02).abs() < 1e-12);
        // By chance as often more as less.
        let other = Repeated::new(vec![0.3, 0.4, 0.82], Kind::Alike);
        assert!(!poor.is_below(&other) && !other.is_below(&poor));
    }

    #[test]
    fn halves_are_halves() {
        let all: Vec<u32> = (0..9).collect();
        assert_eq!(half(&all, 1, 0), all);
        let (one, other) = (half(&all, 1, 1), half(&all, 1, 2));
        assert!(one.len() == 5 && other.len() == 5 && one != other && one == half(&all, 1, 1));
    }
}
