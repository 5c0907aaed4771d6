//! At which hours hosts are busy: learned slowly, so kept across restarts.

use std::ops::ControlFlow;

use refrain_core::frontier::{Frontier, HostId};
use refrain_core::time::{Span, Time};
use refrain_store::{Reader, StoreError};

use crate::catalogue::Hosts;
use crate::restore::Learner;

/// What is kept of a host has this before its name.
const KEY: &str = "hours ";
/// How often what was learned is kept.
const EVERY: Span = Span::from_whole_secs(3600);

/// When to keep what was learned.
pub(crate) struct Keeping {
    due: Time,
}

impl Keeping {
    pub(crate) fn new(now: Time) -> Self {
        Self { due: now + EVERY }
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.due
    }

    /// What was learned since the last time, by name, as the store keeps it.
    pub(crate) fn keep(
        &mut self,
        frontier: &mut Frontier<Learner>,
        hosts: &Hosts,
        now: Time,
    ) -> Vec<(String, Vec<u8>)> {
        self.due = now + EVERY;
        let mut learned: std::collections::HashMap<HostId, Vec<u8>> =
            frontier.model_mut().keep().into_iter().collect();
        if learned.is_empty() {
            return Vec::new();
        }
        hosts
            .iter()
            .filter_map(|(name, entry)| Some((format!("{KEY}{name}"), learned.remove(&entry.id)?)))
            .collect()
    }
}

/// Believes of hosts what was kept.
pub(crate) fn recall(reader: &Reader, learner: &mut Learner, hosts: &Hosts) -> Result<(), StoreError> {
    reader.metas(KEY, |key, kept| {
        if let Some(entry) = key.strip_prefix(KEY).and_then(|name| hosts.get(name)) {
            // What cannot be read is learned anew.
            learner.recall(entry.id, kept);
        }
        ControlFlow::Continue(())
    })
}
