//! Low-discrepancy schedule: rates turned into a sequence of fetches, one at a time.
//!
//! With shares x_i = ξ_i/Σξ, page i should have had k·x_i fetches after k. At step k those behind (k·x_i > N_i) are
//! eligible, and the one whose next fetch is due first, (N_i+1)/x_i, is taken; ties go to the lowest index. No page
//! is ever a whole fetch away from where it should be.
//!
//! ```
//! use refrain_core::optimum::lds::LowDiscrepancy;
//!
//! let sequence: Option<Vec<usize>> = LowDiscrepancy::new(&[2.0, 1.0, 1.0]).map(|lds| lds.take(8).collect());
//! assert_eq!(sequence, Some(vec![0, 1, 0, 2, 0, 1, 0, 2]));
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An endless sequence of indices in which each appears in proportion to its rate. Takes O(log n) per step.
#[derive(Clone, Debug)]
pub struct LowDiscrepancy {
    shares: Vec<f64>,
    taken: Vec<u64>,
    step: u64,
    /// (step at which it is eligible, index)
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    /// (due, index)
    eligible: BinaryHeap<Reverse<(Due, usize)>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Due(f64);

impl Eq for Due {}
impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl LowDiscrepancy {
    /// The sequence for these rates: finite and not negative; those of 0 never appear. Empty if all are 0.
    /// `None` if a rate is negative, infinite or not a number.
    pub fn new(rates: &[f64]) -> Option<Self> {
        if !rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0) {
            return None;
        }
        let total = rates.iter().copied().collect::<crate::math::sum::Sum>().get();
        let shares: Vec<f64> =
            rates.iter().map(|rate| if total > 0.0 { rate / total } else { 0.0 }).collect();
        let waiting =
            shares.iter().enumerate().filter(|(_, share)| **share > 0.0).map(|(i, _)| Reverse((1, i)));
        Some(Self {
            taken: vec![0; shares.len()],
            waiting: waiting.collect(),
            eligible: BinaryHeap::new(),
            shares,
            step: 0,
        })
    }

    fn release(&mut self, index: usize) {
        let due = (self.taken[index] + 1) as f64 / self.shares[index];
        self.eligible.push(Reverse((Due(due), index)));
    }

    /// The first step k at which k·x > taken.
    fn eligible_from(&self, index: usize) -> u64 {
        let (share, taken) = (self.shares[index], self.taken[index] as f64);
        let mut step = (taken / share) as u64;
        while step as f64 * share <= taken {
            step += 1;
        }
        step
    }
}

impl Iterator for LowDiscrepancy {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.step += 1;
        while let Some(&Reverse((from, index))) = self.waiting.peek() {
            // If rounding leaves nobody eligible, whoever is next must do.
            if from > self.step && !self.eligible.is_empty() {
                break;
            }
            self.waiting.pop();
            self.release(index);
        }
        let Reverse((_, index)) = self.eligible.pop()?;
        self.taken[index] += 1;
        self.waiting.push(Reverse((self.eligible_from(index), index)));
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_to_schedule() {
        assert_eq!(LowDiscrepancy::new(&[]).unwrap().next(), None);
        assert_eq!(LowDiscrepancy::new(&[0.0, 0.0]).unwrap().next(), None);
        assert!(LowDiscrepancy::new(&[-1.0]).is_none());
        assert!(LowDiscrepancy::new(&[f64::NAN]).is_none());
        let alone: Vec<usize> = LowDiscrepancy::new(&[0.0, 3.0]).unwrap().take(4).collect();
        assert_eq!(alone, [1, 1, 1, 1]);
    }

    #[test]
    fn equal_rates_take_turns() {
        let turns: Vec<usize> = LowDiscrepancy::new(&[2.0; 3]).unwrap().take(7).collect();
        assert_eq!(turns, [0, 1, 2, 0, 1, 2, 0]);
    }

    proptest! {
        #[test]
        fn nobody_is_a_whole_fetch_off(rates in proptest::collection::vec(0.0f64..1.0, 1..40)) {
            let total: f64 = rates.iter().sum();
            prop_assume!(total > 0.0);
            let mut taken = vec![0u32; rates.len()];
            for (k, index) in LowDiscrepancy::new(&rates).unwrap().take(500).enumerate() {
                taken[index] += 1;
                for (count, rate) in taken.iter().zip(&rates) {
                    let due = (k + 1) as f64 * rate / total;
                    prop_assert!((f64::from(*count) - due).abs() < 1.0 + 1e-9);
                }
            }
        }
    }
}
