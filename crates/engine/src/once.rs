//! Requests that must count once, however often they come: those who got no answer send them again, under the same name.
//!
//! Names are kept in a ring beside what the requests changed, in the same commit: a process that was killed knows them, too, and the ring does
//! not grow.

use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use refrain_store::{Digest, Reader, StoreError};

use crate::recent::Recent;

/// A request is known again if no more than so many came after it.
const PLACES: u64 = 65_536;
/// How the places of the ring are called.
const START: &str = "once.";

/// A request, by what its sender calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Once {
    /// Of the name, and of whatever it is a name within: who sends it, and where to.
    pub name: Digest,
    /// Of what it says.
    pub says: Digest,
    /// For how long it is known again.
    pub lasts: Span,
}

impl Once {
    /// A name, whatever is said under it, and for how long.
    pub fn new(name: &[u8], says: &[u8], lasts: Span) -> Self {
        Self { name: Digest::of(name), says: Digest::of(says), lasts }
    }
}

/// The name was used for a request that said something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name was used for another request")]
pub struct Reused;

/// What came lately.
pub(crate) struct Ring {
    known: Recent<Digest, Digest>,
    /// How many were kept, over all restarts.
    count: u64,
}

impl Ring {
    /// As a store has it.
    pub(crate) fn recall(reader: &Reader, now: Time) -> Result<Self, StoreError> {
        let mut all = Vec::new();
        reader.metas(START, |_, value| {
            all.extend(read(value));
            ControlFlow::Continue(())
        })?;
        all.sort_unstable_by_key(|(number, ..)| *number);
        let mut ring = Self { known: Recent::new(PLACES as usize), count: 0 };
        for (number, until, once) in all {
            ring.count = number + 1;
            // A clock that was set back makes nothing last longer.
            let rest = until.since(now).min(once.lasts);
            if rest > Span::ZERO {
                ring.known.put(once.name, once.says, now, rest);
            }
        }
        Ok(ring)
    }

    /// Whether this came before.
    pub(crate) fn came(&self, once: Once, now: Time) -> Result<bool, Reused> {
        match self.known.get(&once.name, now) {
            None => Ok(false),
            Some(says) if *says == once.says => Ok(true),
            Some(_) => Err(Reused),
        }
    }

    /// It comes now, and is known as long as this process lives.
    pub(crate) fn remember(&mut self, once: Once, now: Time) {
        self.known.put(once.name, once.says, now, once.lasts);
    }

    /// It comes now: what to keep with what it changes.
    #[must_use]
    pub(crate) fn keep(&mut self, once: Once, now: Time) -> (String, Vec<u8>) {
        self.remember(once, now);
        let number = self.count;
        self.count += 1;
        (format!("{START}{}", number % PLACES), written(number, now + once.lasts, once))
    }
}

fn written(number: u64, until: Time, once: Once) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(88);
    bytes.extend(number.to_le_bytes());
    bytes.extend(until.as_nanos().to_le_bytes());
    bytes.extend(once.lasts.as_nanos().to_le_bytes());
    bytes.extend(once.name.as_bytes());
    bytes.extend(once.says.as_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Option<(u64, Time, Once)> {
    let (number, rest) = bytes.split_first_chunk()?;
    let (until, rest) = rest.split_first_chunk()?;
    let (lasts, rest) = rest.split_first_chunk()?;
    let (name, says) = rest.split_at_checked(32)?;
    let lasts = Span::from_nanos(u64::from_le_bytes(*lasts));
    let once = Once { name: Digest::from_bytes(name)?, says: Digest::from_bytes(says)?, lasts };
    Some((u64::from_le_bytes(*number), Time::from_nanos(i64::from_le_bytes(*until)), once))
}

#[cfg(test)]
mod tests {
    use refrain_store::{Batch, Options, Store};

    use super::*;

    fn once(name: &str, says: &str) -> Once {
        Once::new(name.as_bytes(), says.as_bytes(), Span::from_whole_secs(3600))
    }

    #[test]
    fn what_came_is_known_for_a_while_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Options::default()).unwrap();
        let at = |secs: u64| Time::ZERO + Span::from_whole_secs(secs);
        let mut ring = Ring::recall(store.read(), at(0)).unwrap();
        assert_eq!(ring.came(once("a", "x"), at(0)), Ok(false));
        let mut meta = vec![ring.keep(once("a", "x"), at(0)), ring.keep(once("b", "x"), at(1800))];
        ring.remember(once("c", "x"), at(1800));
        // What others wrote there is passed over.
        meta.push((format!("{START}x"), b"?".to_vec()));
        store.commit(&Batch { meta, ..Batch::default() }).unwrap();
        let again = Ring::recall(store.read(), at(1801)).unwrap();
        for ring in [&ring, &again] {
            assert_eq!(ring.came(once("a", "x"), at(3599)), Ok(true));
            assert_eq!(ring.came(once("a", "y"), at(3599)), Err(Reused));
            assert_eq!(ring.came(once("a", "y"), at(3600)), Ok(false), "it is over");
            assert_eq!(ring.came(once("b", "x"), at(5399)), Ok(true));
        }
        assert_eq!(again.came(once("c", "x"), at(1802)), Ok(false), "that one was not kept");
        assert_eq!(again.count, 2);
    }

    #[test]
    fn the_ring_does_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Options::default()).unwrap();
        let mut ring = Ring::recall(store.read(), Time::ZERO).unwrap();
        let (first, _) = ring.keep(once("0", ""), Time::ZERO);
        for number in 1..PLACES {
            assert_ne!(ring.keep(once(&number.to_string(), ""), Time::ZERO).0, first);
        }
        assert_eq!(ring.came(once("0", ""), Time::ZERO), Ok(true));
        assert_eq!(ring.keep(once("last", ""), Time::ZERO).0, first);
        assert_eq!(ring.came(once("0", ""), Time::ZERO), Ok(false));
    }
}
