//! Posts that were taken, as they are kept: in a ring, so that a restart does not make old ones new, and the ring does not grow.

use refrain_core::time::Time;
use refrain_engine::Source;
use serde::{Deserialize, Serialize};

/// How the places of the ring are called.
pub(super) const START: &str = "webhook.seen.";
/// So many are known after a restart: the last ones.
const PLACES: u64 = 4096;

/// A post, by what its sender calls it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taken {
    /// The how manyth it is.
    pub(super) number: u64,
    pub(super) source: String,
    pub(super) id: String,
    /// Nanoseconds.
    taken: i64,
}

impl Taken {
    pub(super) fn new(number: u64, source: &str, id: &str, now: Time) -> Self {
        Self { number, source: source.to_owned(), id: id.to_owned(), taken: now.as_nanos() }
    }

    /// Its place in the ring, and what stands there.
    pub(super) fn written(&self) -> (String, Vec<u8>) {
        // Texts and numbers can always be written.
        (format!("{START}{}", self.number % PLACES), serde_json::to_vec(self).unwrap_or_default())
    }

    /// Those that can be read, in order.
    pub(super) fn read(kept: &[(String, Vec<u8>)]) -> Vec<Self> {
        let mut all: Vec<Self> =
            kept.iter().filter_map(|(_, value)| serde_json::from_slice(value).ok()).collect();
        all.sort_by_key(|one| one.number);
        all
    }

    pub(super) fn time(&self) -> Time {
        Time::from_nanos(self.taken)
    }

    /// What it is known by.
    pub(super) fn mark(&self) -> Option<(Source, String)> {
        Some((Source::new(&self.source)?, self.id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_read_in_order_and_does_not_grow() {
        let time = Time::from_nanos(7);
        let (first, later) = (Taken::new(1, "cdn", "a", time), Taken::new(PLACES + 1, "cdn", "b", time));
        assert_eq!(first.written().0, later.written().0);
        let kept =
            [later.written(), Taken::new(2, "cdn", "c", time).written(), (START.to_owned(), b"{".to_vec())];
        let numbers: Vec<u64> = Taken::read(&kept).iter().map(|one| one.number).collect();
        assert_eq!(numbers, [2, PLACES + 1]);
    }
}
