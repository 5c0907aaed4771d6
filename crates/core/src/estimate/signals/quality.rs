//! Precision and recall, from (α, b, γ), and what several kinds of signals say together.

use super::likelihood::MOST_NATS;
use crate::page::{Belief, BeliefError};

/// How good a kind of signal is on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    alpha: f64,
    nats: f64,
    signal_rate: f64,
}

impl Quality {
    /// From α, b and γ.
    ///
    /// # Errors
    /// Unless all are finite and not negative.
    pub fn new(alpha: f64, nats: f64, signal_rate: f64) -> Result<Self, BeliefError> {
        for (name, value) in [("alpha", alpha), ("nats", nats), ("signal_rate", signal_rate)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(BeliefError::NotARate { name, value });
            }
        }
        Ok(Self { alpha, nats: nats.min(MOST_NATS), signal_rate })
    }

    /// α: changes that this kind does not announce, per unit of time.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// b: what a signal costs in nats.
    pub fn nats(&self) -> f64 {
        self.nats
    }

    /// γ: signals per unit of time, true and false.
    pub fn signal_rate(&self) -> f64 {
        self.signal_rate
    }

    /// The share of signals that are true, 1 - e^{-b}.
    pub fn precision(&self) -> f64 {
        -(-self.nats).exp_m1()
    }

    /// λΔ: announced changes per unit of time.
    pub fn announced_rate(&self) -> f64 {
        self.signal_rate * self.precision()
    }

    /// ν: false signals per unit of time.
    pub fn false_rate(&self) -> f64 {
        self.signal_rate * (-self.nats).exp()
    }

    /// Δ: all changes per unit of time, as this kind of signal has it.
    pub fn change_rate(&self) -> f64 {
        self.alpha + self.announced_rate()
    }

    /// λ: the share of changes that are announced; 0 for a page that does not change.
    pub fn recall(&self) -> f64 {
        let all = self.change_rate();
        if all > 0.0 { self.announced_rate() / all } else { 0.0 }
    }
}

/// Several kinds of signals on one page, taken as independent: each announces its share of the changes, whatever the
/// others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combined<const K: usize> {
    belief: Belief,
    nats: [f64; K],
}

impl<const K: usize> Combined<K> {
    /// A page of this change rate and importance with these signals.
    ///
    /// # Errors
    /// If a number is negative, infinite or not a number.
    pub fn new(change_rate: f64, importance: f64, kinds: &[Quality; K]) -> Result<Self, BeliefError> {
        let missed: f64 = kinds.iter().map(|kind| 1.0 - kind.recall()).product();
        let false_rate = kinds.iter().map(Quality::false_rate).sum();
        let belief =
            Belief::new(change_rate, importance)?.with_signals((1.0 - missed).clamp(0.0, 1.0), false_rate)?;
        Ok(Self { belief, nats: kinds.map(|kind| kind.nats()) })
    }

    /// The page as if all its signals were of one kind.
    pub fn belief(&self) -> &Belief {
        &self.belief
    }

    /// How many signals of that one kind these are worth, so that the chance of a fresh copy is the same:
    /// n with n·b = Σ n_k b_k.
    pub fn worth(&self, signals: &[u32; K]) -> f64 {
        let nats: f64 = signals.iter().zip(self.nats).map(|(count, nats)| f64::from(*count) * nats).sum();
        let one = self.nats_of_one();
        if one > 0.0 { nats / one } else { 0.0 }
    }

    /// The chance that a copy is fresh after this time and these signals: e^{-(ατ + Σ n_k b_k)}.
    pub fn fresh(&self, elapsed: f64, signals: &[u32; K]) -> f64 {
        let alpha = (1.0 - self.belief.recall()) * self.belief.change_rate();
        let nats: f64 = signals.iter().zip(self.nats).map(|(count, nats)| f64::from(*count) * nats).sum();
        (-(alpha * elapsed + nats)).exp()
    }

    fn nats_of_one(&self) -> f64 {
        let announced = self.belief.recall() * self.belief.change_rate();
        if announced == 0.0 {
            return 0.0;
        }
        (announced / self.belief.false_rate()).ln_1p().min(MOST_NATS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_recall_follow() {
        // Δ = 2, recall ½, precision ¼: γ = 4, ν = 3.
        let quality = Quality::new(1.0, (4.0_f64 / 3.0).ln(), 4.0).unwrap();
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        near(quality.precision(), 0.25);
        near(quality.recall(), 0.5);
        near(quality.change_rate(), 2.0);
        near(quality.false_rate(), 3.0);
        assert!(Quality::new(f64::NAN, 1.0, 1.0).is_err());
        assert_eq!(Quality::new(0.0, 0.0, 3.0).unwrap().recall(), 0.0);
    }

    #[test]
    fn kinds_combine_as_independent() {
        let feed = Quality::new(1.0, (4.0_f64 / 3.0).ln(), 4.0).unwrap();
        let ping = Quality::new(1.0, 40.0, 1.0).unwrap();
        let both = Combined::new(2.0, 1.0, &[feed, ping]).unwrap();
        assert!((both.belief().recall() - 0.75).abs() < 1e-12);
        assert!((both.belief().false_rate() - 3.0).abs() < 1e-12);
        // A ping is never wrong, a signal of the feed sometimes is not.
        assert!(both.fresh(0.1, &[0, 1]) < 1e-12);
        let expected = (-0.5 * 0.1_f64).exp() * 0.75_f64.powi(2);
        assert!((both.fresh(0.1, &[2, 0]) - expected).abs() < 1e-12);
        assert!(both.worth(&[1, 0]) < both.worth(&[0, 1]));
        // One kind is itself.
        let one = Combined::new(2.0, 1.0, &[feed]).unwrap();
        assert!((one.worth(&[3]) - 3.0).abs() < 1e-12);
    }
}
