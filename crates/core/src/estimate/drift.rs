//! Has the rate changed? Two running likelihood ratios (Page's CUSUM): is the page three times as fast as believed, or a
//! third as fast?
//!
//! Each is the sum of ln P(seen | other rate)/P(seen | belief) since it was last at 0, and never below. The belief is a
//! whole posterior, so a page about which little is known does not surprise. It is that of the page's own data alone: a
//! prior that does not fit is no reason to forget them. While the belief is right, a ratio reaches e^h once in e^h
//! observations at the most.

use super::bytes::Reading;
use super::posterior::Posterior;

/// How many times faster, or slower.
const RATIO: f64 = 3.0;
/// h: what counts as proof. A false alarm comes once in 160,000 observations at the most.
const PROOF: f64 = 12.0;
/// Kept in so many parts of a nat.
const PARTS: f64 = 4096.0;

/// Evidence that the rate is not what it was, in 4 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    faster: u16,
    slower: u16,
}

impl Drift {
    pub(super) fn to_bytes(self) -> [u8; 4] {
        let ([a, b], [c, d]) = (self.faster.to_le_bytes(), self.slower.to_le_bytes());
        [a, b, c, d]
    }

    pub(super) fn read(from: &mut Reading<'_>) -> Option<Self> {
        Some(Self { faster: from.short()?, slower: from.short()? })
    }

    /// One more interval of this length, judged by the belief before it. True if the belief is refuted; the evidence is
    /// then spent.
    pub fn refutes(&mut self, belief: &Posterior, elapsed: f64, changed: bool) -> bool {
        let stays = belief.log_survival(elapsed);
        let change = -stays.exp_m1();
        let ratio = |factor: f64| {
            let other = belief.log_survival(factor * elapsed);
            if !changed {
                return other - stays;
            }
            let other = -other.exp_m1();
            if change > 0.0 && other > 0.0 { (other / change).ln() } else { factor.ln() }
        };
        self.weigh(ratio(RATIO), ratio(1.0 / RATIO))
    }

    /// The same of an interval whose last change came so long before its end: the density of that is -S'(age), and that of another rate
    /// as many times as high as it is fast, at as many times the age.
    pub fn refutes_dated(&mut self, belief: &Posterior, age: f64) -> bool {
        let ratio = |factor: f64| {
            let later = (belief.log_survival(factor * age) - belief.log_survival(age)) / belief.shape();
            factor.ln() + (belief.shape() + 1.0) * later
        };
        self.weigh(ratio(RATIO), ratio(1.0 / RATIO))
    }

    fn weigh(&mut self, for_faster: f64, for_slower: f64) -> bool {
        let step = |evidence: u16, ratio: f64| {
            let sum = (f64::from(evidence) / PARTS + ratio).max(0.0);
            ((sum * PARTS).round().min(f64::from(u16::MAX)) as u16, sum >= PROOF)
        };
        let (faster, too_slow) = step(self.faster, for_faster);
        let (slower, too_fast) = step(self.slower, for_slower);
        let refuted = too_slow || too_fast;
        *self = if refuted { Self::default() } else { Self { faster, slower } };
        refuted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_adds_up_and_is_spent() {
        let belief = Posterior::new(50.0, 100.0).unwrap();
        let mut drift = Drift::default();
        let noticed = (1..100).find(|_| drift.refutes(&belief, 1.0, true)).unwrap();
        // ln of (1 - e^{-1.5})/(1 - e^{-.5}) is .68 a time.
        assert!((15..25).contains(&noticed), "{noticed}");
        assert_eq!(drift, Drift::default());
        let noticed = (1..100).find(|_| drift.refutes(&belief, 1.0, false)).unwrap();
        // A third of the rate: .33 a time.
        assert!((30..50).contains(&noticed), "{noticed}");
        // What is expected proves nothing.
        assert!((0..10_000).all(|i| !drift.refutes(&belief, 1.0, i % 5 < 2)));
        // The same with dates: a third of the expected age, three times.
        let noticed = (1..100).find(|_| drift.refutes_dated(&belief, 0.6)).unwrap();
        assert!((15..60).contains(&noticed), "{noticed}");
        let noticed = (1..100).find(|_| drift.refutes_dated(&belief, 6.0)).unwrap();
        assert!((5..15).contains(&noticed), "{noticed}");
        // Ages as they are expected, at the middles of ten equal parts.
        let age = |i: u32| -2.0 * (1.0 - (f64::from(i % 10) + 0.5) / 10.0).ln();
        assert!((0..10_000).all(|i| !drift.refutes_dated(&belief, age(7 * i))));
        // Who knows nothing is not surprised.
        let unsure = Posterior::new(0.1, 0.1).unwrap();
        assert!((0..20).all(|_| !drift.refutes(&unsure, 1.0, true)));
    }
}
