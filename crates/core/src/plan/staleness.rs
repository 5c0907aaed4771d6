//! For how long a copy is stale.

use crate::math::greedy::g_inverse;
use crate::math::small::exp_m1_excess;

/// A page over the horizon.
#[derive(Clone, Copy, Debug)]
pub(super) struct StaleTime {
    pub(super) rate: f64,
    /// Seconds since its last fetch at the start.
    pub(super) age: f64,
    pub(super) horizon: f64,
}

impl StaleTime {
    /// How long a copy is stale, in the mean, in so many seconds after its fetch.
    pub(super) fn after_fetch(&self, seconds: f64) -> f64 {
        if self.rate == 0.0 {
            return 0.0;
        }
        // t - (1 - e^{-λt})/λ
        exp_m1_excess(-self.rate * seconds) / self.rate
    }

    /// The same for so many seconds after the start.
    pub(super) fn after_start(&self, seconds: f64) -> f64 {
        if self.age == 0.0 {
            return self.after_fetch(seconds);
        }
        if self.age == f64::INFINITY {
            return seconds;
        }
        // Fresh at the start with probability e^{-λ·age}.
        let stale = -(-self.rate * self.age).exp_m1();
        seconds * stale + (1.0 - stale) * self.after_fetch(seconds)
    }

    /// How long the copy is stale with so many fetches at the best moments.
    pub(super) fn least(&self, fetches: u64) -> f64 {
        if fetches == 0 {
            return self.after_start(self.horizon);
        }
        let (first, gap) = self.ideal(fetches);
        self.after_start(first) + fetches as f64 * self.after_fetch(gap)
    }

    /// The best moments: the first, and the gap from each to the next and from the last to the end. They divide the time since
    /// the last fetch into equal parts, unless the first of them would have to be before the start.
    pub(super) fn ideal(&self, fetches: u64) -> (f64, f64) {
        let count = fetches as f64;
        let gap = (self.horizon + self.age) / (count + 1.0);
        if self.age < f64::INFINITY && gap >= self.age {
            (gap - self.age, gap)
        } else {
            (0.0, self.horizon / count)
        }
    }

    /// The j-th of the best moments, from 1. Multiplied before it is divided: moments of different pages that are equal are so to
    /// the last bit.
    pub(super) fn moment(&self, fetches: u64, j: u64) -> f64 {
        if self.age == 0.0 {
            return j as f64 * self.horizon / (fetches as f64 + 1.0);
        }
        let (first, gap) = self.ideal(fetches);
        first + (j - 1) as f64 * gap
    }

    /// By how much one more fetch shortens the stale time.
    pub(super) fn gain(&self, fetches: u64) -> f64 {
        self.least(fetches) - self.least(fetches + 1)
    }

    /// How many fetches gain at least this much, each.
    pub(super) fn worth(&self, price: f64, most: u64) -> u64 {
        let mut count = self.about(price).min(most);
        let mut here = self.least(count);
        let guessed = count;
        while count < most {
            let next = self.least(count + 1);
            if here - next < price {
                break;
            }
            (count, here) = (count + 1, next);
        }
        while count > 0 && count <= guessed {
            let before = self.least(count - 1);
            if before - here >= price {
                break;
            }
            (count, here) = (count - 1, before);
        }
        count
    }

    /// Nearly so many: fetches a gap apart gain 1 - e^{-y}(1 + y) of 1/λ each, with y the changes per gap.
    pub(super) fn about(&self, price: f64) -> u64 {
        let share = price * self.rate;
        if !(share < 1.0) || self.rate == 0.0 {
            return 0;
        }
        let gap = g_inverse(share) / self.rate;
        if !(gap > 0.0) {
            return u64::MAX;
        }
        if self.age < f64::INFINITY && gap >= self.age {
            // Between the n-th and the next: in the middle.
            ((self.horizon + self.age) / gap - 0.5).max(0.0) as u64
        } else {
            (self.horizon / gap + 0.5) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments by brute force: no other first moment and even gaps do better, and gains only fall.
    #[test]
    fn ideal_moments_are_best() {
        for rate in [0.0, 1e-9, 1e-4, 1e-3, 0.02] {
            for age in [0.0, 10.0, 500.0, 5000.0, f64::INFINITY] {
                let page = StaleTime { rate, age, horizon: 1000.0 };
                let mut before = f64::INFINITY;
                for fetches in 1..20u64 {
                    let least = page.least(fetches);
                    for step in 0..200 {
                        let first = 5.0 * f64::from(step);
                        let gap = (1000.0 - first) / fetches as f64;
                        let other = page.after_start(first) + fetches as f64 * page.after_fetch(gap);
                        assert!(other >= least - 1e-9, "{page:?} {fetches} {first}");
                    }
                    let gain = page.gain(fetches - 1);
                    assert!(gain <= before + 1e-9 && gain >= -1e-9, "{page:?} {fetches}");
                    before = gain;
                }
            }
        }
    }

    #[test]
    fn what_is_worth_a_price() {
        for rate in [1e-7, 1e-4, 1e-3, 0.02, 5.0] {
            for age in [0.0, 10.0, 500.0, 5000.0, f64::INFINITY] {
                let page = StaleTime { rate, age, horizon: 1000.0 };
                for power in -12..12 {
                    let price = 2f64.powi(power);
                    let one_by_one = (0..300).take_while(|count| page.gain(*count) >= price).count() as u64;
                    assert_eq!(page.worth(price, 300), one_by_one, "{page:?} {price}");
                }
            }
        }
    }
}
