//! What is known of pages that other fetchers have, from the moment they got them: when they bring something back, nobody needs to ask the
//! store again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refrain_core::time::Time;

use super::LeaseId;
use crate::memo::Memo;

/// Cheap to clone; clones share what they know.
#[derive(Clone, Default)]
pub(crate) struct Lent {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    /// By grant, with its beginning and its end.
    grants: HashMap<u64, (Time, Time, HashMap<u32, Memo>)>,
    /// When those that are over are looked for again.
    sweep: usize,
}

/// Those that are over are looked for whenever there are twice as many as were left the last time, and at least so many.
const FEW: usize = 1024;

impl Lent {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        // Whoever panicked left whole entries.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pages of a grant, until it is over.
    pub(crate) fn lend(&self, grant: u64, until: Time, memos: HashMap<u32, Memo>, now: Time) {
        let mut shared = self.lock();
        shared.grants.insert(grant, (now, until, memos));
        if shared.grants.len() > shared.sweep.max(FEW) {
            shared.grants.retain(|_, (_, until, _)| *until > now);
            shared.sweep = 2 * shared.grants.len();
        }
    }

    /// Returns what was known of a page that is brought back, and when its lease was given; nothing for one that was brought back before.
    pub(crate) fn take(&self, lease: LeaseId) -> Option<(Memo, Time)> {
        let mut shared = self.lock();
        let (given, _, memos) = shared.grants.get_mut(&lease.grant)?;
        let (given, memo) = (*given, memos.remove(&lease.place));
        if memos.is_empty() {
            shared.grants.remove(&lease.grant);
        }
        memo.map(|memo| (memo, given))
    }
}
