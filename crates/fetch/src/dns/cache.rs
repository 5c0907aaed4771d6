//! Answers remembered for as long as they hold, refusals for a minute.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{Answer, DnsError, Resolve, Resolved};
use crate::clock::Stopwatch;

/// A crawl asks for the same few names again and again: not more often than this, whatever they say.
const SHORTEST: Duration = Duration::from_secs(30);
const LONGEST: Duration = Duration::from_secs(3600);
const REFUSALS: Duration = Duration::from_secs(60);

/// A resolver with a memory of bounded size.
#[derive(Debug)]
pub struct Cached<R> {
    resolver: R,
    since_start: Stopwatch,
    memory: Mutex<Memory>,
}

/// Two generations: when the young one is full it becomes the old one, and the old one is forgotten. What is used moves to
/// the young one, so names in use stay.
#[derive(Debug)]
struct Memory {
    young: HashMap<String, Remembered>,
    old: HashMap<String, Remembered>,
    half: usize,
}

#[derive(Clone, Debug)]
struct Remembered {
    answer: Result<Resolved, DnsError>,
    until: Duration,
}

impl<R> Cached<R> {
    /// Remembers the answers for at most so many names.
    pub fn new(resolver: R, names: usize) -> Self {
        let memory = Memory { young: HashMap::new(), old: HashMap::new(), half: (names / 2).max(1) };
        Self { resolver, since_start: Stopwatch::start(), memory: Mutex::new(memory) }
    }
}

impl<R: Resolve> Resolve for Cached<R> {
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a> {
        Box::pin(async move {
            let now = self.since_start.elapsed();
            // Every state of the memory is a good one, so a panic elsewhere does not spoil it.
            let known = self.memory.lock().unwrap_or_else(PoisonError::into_inner).recall(name, now);
            if let Some(answer) = known {
                return answer;
            }
            let mut answer = self.resolver.resolve(name).await;
            let holds_for =
                answer.as_ref().map_or(REFUSALS, |found| found.holds_for.clamp(SHORTEST, LONGEST));
            if let Ok(found) = &mut answer {
                found.holds_for = holds_for;
            }
            let remembered = Remembered { answer: answer.clone(), until: now + holds_for };
            self.memory.lock().unwrap_or_else(PoisonError::into_inner).keep(name.to_owned(), remembered);
            answer
        })
    }
}

impl Memory {
    fn recall(&mut self, name: &str, now: Duration) -> Option<Result<Resolved, DnsError>> {
        let is_young = self.young.contains_key(name);
        let entry = if is_young { self.young.get(name) } else { self.old.get(name) }?;
        if entry.until <= now {
            return None;
        }
        let mut entry = entry.clone();
        if let Ok(found) = &mut entry.answer {
            found.holds_for = entry.until.saturating_sub(now);
        }
        if !is_young {
            self.keep(name.to_owned(), entry.clone());
        }
        Some(entry.answer)
    }

    fn keep(&mut self, name: String, entry: Remembered) {
        if self.young.len() >= self.half && !self.young.contains_key(&name) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(name, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Numbers the questions it is asked; knows no name that starts with `no`.
    #[derive(Default)]
    struct Counting(AtomicU32);

    impl Resolve for Counting {
        fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a> {
            Box::pin(async move {
                let number = self.0.fetch_add(1, Ordering::Relaxed);
                if name.starts_with("no") {
                    return Err(DnsError("no such name".into()));
                }
                Ok(Resolved {
                    addresses: vec![IpAddr::from([9, 9, 9, number as u8])],
                    holds_for: Duration::ZERO,
                })
            })
        }
    }

    #[tokio::test]
    async fn names_are_asked_for_once_and_so_are_refusals() {
        let cached = Cached::new(Counting::default(), 100);
        let first = cached.resolve("a.example").await;
        assert!(first.as_ref().is_ok_and(|found| found.holds_for == SHORTEST), "{first:?}");
        let again = cached.resolve("a.example").await.expect("an address");
        assert_eq!(again.addresses, first.expect("an address").addresses);
        assert!(again.holds_for <= SHORTEST, "what is left of it: {again:?}");
        assert!(cached.resolve("no.example").await.is_err());
        assert!(cached.resolve("no.example").await.is_err());
        assert_eq!(cached.resolver.0.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn the_memory_is_bounded_and_keeps_what_is_used() {
        let cached = Cached::new(Counting::default(), 10);
        let first = cached.resolve("used.example").await.expect("an address").addresses;
        for number in 0..1000 {
            assert!(cached.resolve(&format!("{number}.example")).await.is_ok());
            assert_eq!(cached.resolve("used.example").await.expect("an address").addresses, first);
        }
        let memory = cached.memory.lock().expect("not poisoned");
        assert!(memory.young.len() + memory.old.len() <= 10);
    }

    #[test]
    fn what_no_longer_holds_is_forgotten() {
        let mut memory = Memory { young: HashMap::new(), old: HashMap::new(), half: 5 };
        let entry = Remembered { answer: Err(DnsError(String::new())), until: Duration::from_secs(5) };
        memory.keep("a".into(), entry);
        assert!(memory.recall("a", Duration::from_secs(4)).is_some());
        assert!(memory.recall("a", Duration::from_secs(5)).is_none());
    }
}
