//! What happened lately, and no more of it than fits: for replays, rates and verdicts.

use std::borrow::Borrow;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use refrain_core::time::{Span, Time};

/// Things by name, each remembered for a while. When there are too many the oldest is forgotten.
pub struct Recent<K, V> {
    most: usize,
    known: HashMap<K, (Time, V)>,
    /// In the order in which they came, with when each is over; a name may stand here more than once, then the last counts.
    order: VecDeque<(Time, K)>,
}

impl<K: Eq + Hash + Clone, V> Recent<K, V> {
    /// At most so many.
    pub fn new(most: usize) -> Self {
        Self { most: most.max(1), known: HashMap::new(), order: VecDeque::new() }
    }

    /// What is known under a name, if that is not over.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, name: &Q, now: Time) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.known.get(name).filter(|(until, _)| now < *until).map(|(_, value)| value)
    }

    /// Remembers it for so long.
    pub fn put(&mut self, name: K, value: V, now: Time, span: Span) {
        let until = now + span;
        self.known.insert(name.clone(), (until, value));
        self.order.push_back((until, name));
        // Twice as many, because names that came again stand there twice.
        while self.known.len() > self.most || self.order.len() > 2 * self.most {
            let Some((until, oldest)) = self.order.pop_front() else { break };
            if self.known.get(&oldest).is_some_and(|(last, _)| *last <= until) {
                self.known.remove(&oldest);
            }
        }
    }

    /// Whether it is the first of its name for so long; then it is remembered.
    pub fn first(&mut self, name: K, value: V, now: Time, span: Span) -> bool {
        let is_first = self.get(&name, now).is_none();
        if is_first {
            self.put(name, value, now, span);
        }
        is_first
    }

    /// As if it had never come.
    pub fn forget<Q: Eq + Hash + ?Sized>(&mut self, name: &Q)
    where
        K: Borrow<Q>,
    {
        self.known.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(secs)
    }

    #[test]
    fn what_came_lately_is_known() {
        let mut seen = Recent::new(2);
        let minute = Span::from_whole_secs(60);
        assert!(seen.first("a", (), at(0), minute));
        assert!(!seen.first("a", (), at(59), minute));
        assert!(seen.first("a", (), at(60), minute), "it is over");
        assert!(seen.first("b", (), at(61), minute));
        assert!(seen.first("c", (), at(62), minute), "and the oldest makes room");
        assert!(seen.get("a", at(63)).is_none() && seen.get("b", at(63)).is_some());
        seen.forget("b");
        assert!(seen.first("b", (), at(64), minute));
    }

    proptest! {
        #[test]
        fn it_stays_small(names in prop::collection::vec(0_u8..20, 0..200), most in 1_usize..8) {
            let mut seen = Recent::new(most);
            for (when, name) in names.into_iter().enumerate() {
                seen.put(name, when, at(when as u64), Span::from_whole_secs(5));
                prop_assert!(seen.known.len() <= most && seen.order.len() <= 2 * most);
                prop_assert_eq!(seen.get(&name, at(when as u64)), Some(&when));
            }
        }
    }
}
