//! Visits under way.

use std::collections::BTreeMap;

use refrain_core::time::Time;

use crate::told::UnderWay;

/// Visits under way, the longest first.
#[derive(Default)]
pub(super) struct Visits {
    next: u64,
    under_way: BTreeMap<u64, UnderWay>,
}

impl Visits {
    /// A visit begins: its number.
    pub(super) fn begin(&mut self, url: &str, now: Time) -> u64 {
        self.next += 1;
        self.under_way.insert(self.next, UnderWay { url: url.to_owned(), since: now });
        self.next
    }

    pub(super) fn end(&mut self, number: u64) {
        self.under_way.remove(&number);
    }

    pub(super) fn len(&self) -> usize {
        self.under_way.len()
    }

    /// Some of them, the longest first.
    pub(super) fn longest(&self, most: usize) -> Vec<UnderWay> {
        self.under_way.values().take(most).cloned().collect()
    }
}
