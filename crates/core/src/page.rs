//! What is believed about a page, and what happened since it was last fetched.

use crate::time::{Span, Time};

/// What is believed about a page: how often it changes, how much it matters, how good its change signals are.
///
/// All rates are per one time unit, the same for all pages (seconds, unless a caller says otherwise). Every value of
/// this type is usable: rates are finite and not negative, the recall lies in \[0, 1\]. By default a page never changes, and
/// nobody asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Belief {
    change_rate: f64,
    importance: f64,
    recall: f64,
    false_rate: f64,
}

/// A number that cannot be part of a [`Belief`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BeliefError {
    /// A rate or weight that is negative, infinite or not a number.
    #[error("{name} is {value}; expected a finite number that is not negative")]
    NotARate {
        /// Which one.
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// A share outside \[0, 1\].
    #[error("{name} is {value}; expected a number from 0 to 1")]
    NotAShare {
        /// Which one.
        name: &'static str,
        /// What it was.
        value: f64,
    },
}

fn rate(name: &'static str, value: f64) -> Result<f64, BeliefError> {
    // Adding 0.0 turns -0.0 into 0.0, so that 1/x is never -inf.
    if value.is_finite() && value >= 0.0 {
        Ok(value + 0.0)
    } else {
        Err(BeliefError::NotARate { name, value })
    }
}

fn share(name: &'static str, value: f64) -> Result<f64, BeliefError> {
    if (0.0..=1.0).contains(&value) { Ok(value + 0.0) } else { Err(BeliefError::NotAShare { name, value }) }
}

impl Belief {
    /// A page that changes at `change_rate`, is asked for at `importance` (a request rate, or any weight) and has no
    /// change signals.
    ///
    /// # Errors
    /// If a number is negative, infinite or not a number.
    pub fn new(change_rate: f64, importance: f64) -> Result<Self, BeliefError> {
        Ok(Self {
            change_rate: rate("change_rate", change_rate)?,
            importance: rate("importance", importance)?,
            recall: 0.0,
            false_rate: 0.0,
        })
    }

    /// The same page with change signals: a change is signalled with probability `recall`, and false signals come at
    /// `false_rate`.
    ///
    /// # Errors
    /// If the recall is outside \[0, 1\], or the rate is negative, infinite or not a number.
    pub fn with_signals(self, recall: f64, false_rate: f64) -> Result<Self, BeliefError> {
        Ok(Self { recall: share("recall", recall)?, false_rate: rate("false_rate", false_rate)?, ..self })
    }

    /// The same page with signals of this precision (share of signals that announce a change) and recall.
    ///
    /// Recall > 0 with precision 0 would need infinitely many false signals, so it is an error, as is either number
    /// outside \[0, 1\].
    ///
    /// # Errors
    /// See above.
    pub fn with_precision_recall(self, precision: f64, recall: f64) -> Result<Self, BeliefError> {
        let precision = share("precision", precision)?;
        let signalled = share("recall", recall)? * self.change_rate;
        let false_rate = if signalled == 0.0 { 0.0 } else { signalled * (1.0 - precision) / precision };
        self.with_signals(recall, false_rate)
            .map_err(|_| BeliefError::NotAShare { name: "precision", value: precision })
    }

    /// Δ: changes per unit of time.
    pub fn change_rate(&self) -> f64 {
        self.change_rate
    }

    /// μ: requests per unit of time, or any weight that says how much a fresh copy matters.
    pub fn importance(&self) -> f64 {
        self.importance
    }

    /// λ: the probability that a change is signalled.
    pub fn recall(&self) -> f64 {
        self.recall
    }

    /// ν: false signals per unit of time.
    pub fn false_rate(&self) -> f64 {
        self.false_rate
    }

    /// The share of signals that announce a change; 1 where there are no signals to be wrong.
    pub fn precision(&self) -> f64 {
        let signalled = self.recall * self.change_rate;
        if self.false_rate == 0.0 { 1.0 } else { signalled / (signalled + self.false_rate) }
    }
}

/// What happened to a page since its last fetch: enough to know its value at any moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinceFetch {
    fetched: Time,
    signals: u32,
}

impl SinceFetch {
    /// A page that was fetched at this moment.
    pub fn fetched_at(fetched: Time) -> Self {
        Self { fetched, signals: 0 }
    }

    /// A page that was fetched at this moment, with so many signals since.
    pub fn with_signals(fetched: Time, signals: u32) -> Self {
        Self { fetched, signals }
    }

    /// A change signal arrived at `now`. One that comes within `ignore_within` of the fetch announces a change that
    /// the fetch saw, and is not counted (GREEDY-NCIS-D; [`Span::ZERO`] counts all but those at the very moment of
    /// the fetch or before it). Returns whether it was counted.
    pub fn signal(&mut self, now: Time, ignore_within: Span) -> bool {
        let counted = now > self.fetched + ignore_within;
        self.signals = self.signals.saturating_add(u32::from(counted));
        counted
    }

    /// The same, with the fetch at the nearest time from `first` to `last`.
    #[must_use]
    pub fn within(self, first: Time, last: Time) -> Self {
        Self { fetched: self.fetched.min(last).max(first), ..self }
    }

    /// When the page was last fetched.
    pub fn fetched(&self) -> Time {
        self.fetched
    }

    /// How many signals have counted since.
    pub fn signals(&self) -> u32 {
        self.signals
    }

    /// How long ago the fetch was.
    pub fn elapsed(&self, now: Time) -> Span {
        now.since(self.fetched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_usable_beliefs_exist() {
        assert!(Belief::new(0.0, 0.0).is_ok());
        for bad in [-1.0, f64::NAN, f64::INFINITY, -f64::INFINITY] {
            assert!(Belief::new(bad, 1.0).is_err());
            assert!(Belief::new(1.0, bad).is_err());
            let page = Belief::new(1.0, 1.0).unwrap();
            assert!(page.with_signals(bad, 1.0).is_err());
            assert!(page.with_signals(0.5, bad).is_err());
        }
        let message = Belief::new(-1.0, 1.0).unwrap_err().to_string();
        assert_eq!(message, "change_rate is -1; expected a finite number that is not negative");
    }

    #[test]
    fn precision_and_recall_give_the_false_rate() {
        let page = Belief::new(2.0, 1.0).unwrap().with_precision_recall(0.25, 0.5).unwrap();
        assert_eq!(page.false_rate(), 3.0);
        assert_eq!(page.precision(), 0.25);
        assert!(Belief::new(2.0, 1.0).unwrap().with_precision_recall(0.0, 0.5).is_err());
    }

    #[test]
    fn signals_soon_after_a_fetch_are_ignored() {
        let mut page = SinceFetch::fetched_at(Time::from_nanos(100));
        let delay = Span::from_nanos(10);
        assert!(!page.signal(Time::from_nanos(110), delay));
        assert!(page.signal(Time::from_nanos(111), delay));
        assert_eq!(page.signals(), 1);
        assert!(!page.signal(Time::from_nanos(90), Span::ZERO));
        assert_eq!(page.elapsed(Time::from_nanos(150)), Span::from_nanos(50));
    }
}
