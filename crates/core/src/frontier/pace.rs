//! The budget: so many fetches per second, evenly, or whatever is worth its price.

use crate::time::{Span, Time};

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many fetches per second: one every 1/rate, each the most valuable at its moment.
    Rate(f64),
    /// Every fetch that is worth this price, at most `cap` per second.
    Price {
        /// The least value of a fetch worth making.
        price: f64,
        /// Fetches per second.
        cap: f64,
    },
}

/// A budget that is none.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BudgetError {
    /// A rate that is not a positive, finite number.
    #[error("a rate of {0} fetches per second; expected a finite number greater than 0")]
    Rate(f64),
    /// A price that is negative or not a number.
    #[error("a price of {0}; expected a number that is not negative")]
    Price(f64),
}

impl Budget {
    /// The most fetches per second.
    pub fn rate(&self) -> f64 {
        match *self {
            Self::Rate(rate) => rate,
            Self::Price { cap, .. } => cap,
        }
    }

    /// The least value of a fetch worth making.
    pub fn price(&self) -> f64 {
        match *self {
            Self::Rate(_) => 0.0,
            Self::Price { price, .. } => price,
        }
    }

    fn check(self) -> Result<Self, BudgetError> {
        if let Self::Price { price, .. } = self
            && !(price >= 0.0 && price.is_finite())
        {
            return Err(BudgetError::Price(price));
        }
        let rate = self.rate();
        // Slower than once in a century, or faster than a nanosecond, is not a rate.
        if rate.is_finite() && (1e-10..=1e9).contains(&rate) {
            Ok(self)
        } else {
            Err(BudgetError::Rate(rate))
        }
    }
}

/// When the next fetch may be made. Fetch k is due k/rate after the start: rounding does not add up. A fetch that is late
/// by less than 1/rate, or by less than a burst where there is one, does not delay the ones after it; what is later than that is lost, so
/// that no two seconds' worth of fetches are ever made in one: any window of length W has at most rate·(W + burst) + 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// What may be spent.
    pub budget: Budget,
    /// Since when it is counted.
    pub base: Time,
    /// Fetches since then.
    pub spent: u64,
    /// What was not spent for so long may be spent at once.
    pub burst: Span,
}

impl Pace {
    pub(super) fn new(budget: Budget, start: Time) -> Result<Self, BudgetError> {
        Ok(Self { budget: budget.check()?, base: start, spent: 0, burst: Span::ZERO })
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// The time between two fetches.
    pub(super) fn period(&self) -> Span {
        Span::from_secs(1.0 / self.budget.rate())
    }

    /// When the next fetch may be made.
    pub(super) fn next(&self) -> Time {
        self.base + Span::from_nanos(((self.spent + 1) as f64 * 1e9 / self.budget.rate()).round() as u64)
    }

    /// A fetch is made.
    pub(super) fn spend(&mut self, now: Time) {
        if now.since(self.next()) >= self.period().max(self.burst) {
            (self.base, self.spent) = (now - self.burst, 0);
        } else {
            self.spent += 1;
        }
    }

    /// The last fetch is not made after all.
    pub(super) fn take_back(&mut self) {
        match self.spent.checked_sub(1) {
            Some(spent) => self.spent = spent,
            None => self.base = self.base - self.period(),
        }
    }

    /// Another budget from now on. The part of a fetch that was saved up is kept.
    pub(super) fn change(&mut self, budget: Budget, now: Time) -> Result<(), BudgetError> {
        let budget = budget.check()?;
        let left = (self.next().since(now).as_secs() * self.budget.rate()).min(1.0);
        // The next one is due when what is left has been earned at the new rate.
        let next = now + Span::from_secs(left / budget.rate());
        *self =
            Self { budget, base: next - Span::from_secs(1.0 / budget.rate()), spent: 0, burst: self.burst };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn even_and_exact() {
        let mut pace = Pace::new(Budget::Rate(3.0), Time::ZERO).unwrap();
        for k in 1..=3_000_000u64 {
            let due = pace.next();
            if k % 3 == 0 {
                assert_eq!(due.as_nanos() as u64, k / 3 * 1_000_000_000);
            }
            pace.spend(due);
        }
    }

    #[test]
    fn what_is_not_made_costs_nothing() {
        let mut pace = Pace::new(Budget::Rate(2.0), Time::ZERO).unwrap();
        for now in [pace.next(), Time::ZERO + Span::from_whole_secs(100)] {
            let before = pace.next();
            pace.spend(now);
            pace.take_back();
            assert!(pace.next() <= now.max(before), "one may be made at once");
            pace.spend(now);
            assert!(pace.next() > now, "and no more");
        }
    }

    #[test]
    fn what_is_no_budget() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-11, 1e10] {
            assert!(Pace::new(Budget::Rate(wrong), Time::ZERO).is_err());
        }
        assert!(Pace::new(Budget::Price { price: f64::NAN, cap: 1.0 }, Time::ZERO).is_err());
        assert!(Pace::new(Budget::Price { price: -1.0, cap: 1.0 }, Time::ZERO).is_err());
        assert!(Pace::new(Budget::Price { price: 0.0, cap: 1.0 }, Time::ZERO).is_ok());
    }

    #[test]
    fn what_was_saved_up_is_spent_at_once() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let burst = Span::from_whole_secs(1);
        let mut pace = Pace { burst, ..Pace::new(Budget::Rate(10.0), Time::ZERO).unwrap() };
        let mut spend = |now| {
            let mut spent = 0;
            while now >= pace.next() {
                pace.spend(now);
                spent += 1;
            }
            spent
        };
        assert_eq!([at(500), at(1000), at(10_000), at(10_050), at(10_100)].map(&mut spend), [5, 5, 11, 0, 1]);
    }

    proptest! {
        /// However late and irregular the asking, however the rate changes: no window has more than its share, and who
        /// asks in time loses nothing.
        #[test]
        fn no_bursts(
            asks in proptest::collection::vec((0u32..3000, proptest::option::weighted(0.05, 0.2f64..50.0)), 1..400),
            burst in prop_oneof![Just(0u64), 1u64..5000],
        ) {
            let burst = Span::from_millis(burst);
            let mut pace = Pace { burst, ..Pace::new(Budget::Rate(5.0), Time::ZERO).unwrap() };
            let mut now = Time::ZERO;
            let mut made: Vec<(Time, f64)> = Vec::new();
            for (millis, rate) in asks {
                now = now + Span::from_millis(u64::from(millis));
                if let Some(rate) = rate {
                    pace.change(Budget::Rate(rate), now).unwrap();
                    made.clear();
                }
                while now >= pace.next() {
                    pace.spend(now);
                    made.push((now, pace.budget().rate()));
                }
            }
            for (i, (first, rate)) in made.iter().enumerate() {
                for (j, (last, _)) in made.iter().enumerate().skip(i) {
                    let allowed = rate * (last.since(*first) + burst).as_secs() + 2.0 + 1e-6;
                    prop_assert!((j - i + 1) as f64 <= allowed, "{} in {}", j - i + 1, last.since(*first));
                }
            }
        }
    }
}
