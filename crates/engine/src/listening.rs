//! Who is listened to: signals that came, what became of them, and how far each kind can be believed on each host.

use std::collections::HashMap;
use std::ops::ControlFlow;

use refrain_core::estimate::signals::voices::Voices;
use refrain_core::frontier::{Attentive, HostId};
use refrain_core::ids::IdMap;
use refrain_store::{PageId, Reader, StoreError, Voice};

use crate::catalogue::Hosts;
use crate::kinds::Kind;

/// What all heard kinds of a host are worth together, as pages count them: kept beside the kinds.
pub const TOGETHER: &str = "together";

/// So many open signals of a page and a kind are written down; more of them say nothing new.
const MOST_WRITTEN: u32 = 16;

/// Signals since the last look at a page, by kind: of most pages one kind speaks, or none.
type Open = Vec<(Kind, u32)>;

fn count_of(open: &mut Open, kind: Kind) -> &mut u32 {
    let at = open.iter().position(|(own, _)| *own == kind).unwrap_or_else(|| {
        open.push((kind, 0));
        open.len() - 1
    });
    &mut open[at].1
}

/// What is known of announcements.
#[derive(Default)]
pub(crate) struct Listening {
    voices: Voices,
    open: IdMap<PageId, Open>,
    /// Hosts that somebody speaks about, by their numbers.
    hosts: HashMap<u32, HostId>,
}

impl Listening {
    /// As a store has it, for hosts by name.
    pub(crate) fn recall(
        reader: &Reader,
        learner: &mut Attentive,
        hosts: &Hosts,
    ) -> Result<Self, StoreError> {
        let mut listening = Self::default();
        for voice in reader.voices()? {
            let Some(host) = hosts.get(&voice.host).map(|entry| entry.id) else { continue };
            // What cannot be read is learned anew.
            if voice.kind == TOGETHER {
                learner.recall_signals(host, &voice.learned);
            } else if let Some(kind) = Kind::from_name(&voice.kind) {
                listening.voices.recall(host.index(), kind.number(), voice.heard, &voice.learned);
            }
        }
        reader.open_signals(|page, kind, count| {
            if let Some(kind) = Kind::from_name(kind) {
                *count_of(listening.open.entry(page).or_default(), kind) = count;
            }
            ControlFlow::Continue(())
        })?;
        Ok(listening)
    }

    /// A signal came. Whether it counts, and whether it is worth writing down.
    pub(crate) fn signal(&mut self, page: PageId, host: HostId, kind: Kind) -> (bool, bool) {
        let count = count_of(self.open.entry(page).or_default(), kind);
        *count = count.saturating_add(1);
        let write = *count <= MOST_WRITTEN;
        (self.is_heard(host, kind), write)
    }

    /// Whether signals of a kind count on a host.
    pub(crate) fn is_heard(&mut self, host: HostId, kind: Kind) -> bool {
        self.hosts.insert(host.index(), host);
        self.voices.is_heard(host.index(), kind.number())
    }

    /// The share of signals of a kind on a host that is believed to be true.
    pub(crate) fn precision(&mut self, host: HostId, kind: Kind) -> f64 {
        self.voices.trust(host.index(), kind.number()).precision
    }

    /// Hosts on which other kinds count than when this was asked last: what was learned there of signals does not hold any more.
    pub(crate) fn reconsidered(&mut self) -> Vec<HostId> {
        let hosts = self.voices.reconsidered();
        hosts.iter().filter_map(|host| self.hosts.get(host).copied()).collect()
    }

    /// How many signals since the last look at a page count.
    pub(crate) fn heard_of(&mut self, page: PageId, host: HostId) -> u32 {
        let Some(open) = self.open.get(&page).cloned() else { return 0 };
        open.into_iter().filter(|(kind, _)| self.is_heard(host, *kind)).map(|(_, count)| count).sum()
    }

    /// A page was looked at, of which these kinds speak, and of which so many changes were expected. How many signals came true.
    pub(crate) fn judge(
        &mut self,
        page: PageId,
        host: HostId,
        kinds: &[Kind],
        expected: f64,
        changed: bool,
    ) -> u32 {
        let open = self.open.remove(&page).unwrap_or_default();
        for kind in kinds {
            let signals = open.iter().find(|(own, _)| own == kind).map_or(0, |(_, count)| *count);
            self.voices.observe(host.index(), kind.number(), expected, signals, changed);
        }
        if changed { open.iter().map(|(_, count)| count).sum() } else { 0 }
    }

    /// The page is gone, or seen for the first time: what was announced says nothing.
    pub(crate) fn forget(&mut self, page: PageId) {
        self.open.remove(&page);
    }

    /// What was learned since this was asked last, as the store keeps it.
    pub(crate) fn keep(&mut self, learner: &mut Attentive, hosts: &Hosts) -> Vec<Voice> {
        let learned = self.voices.keep();
        if learned.is_empty() {
            return Vec::new();
        }
        let names: HashMap<u32, &str> = hosts.iter().map(|(name, entry)| (entry.id.index(), name)).collect();
        let mut voices = Vec::new();
        for (host, kind, judged) in learned {
            let (Some(name), Some(kind)) = (names.get(&host), Kind::from_number(kind)) else { continue };
            voices.push(Voice {
                host: (*name).to_owned(),
                kind: kind.as_str().to_owned(),
                intervals: judged.intervals,
                precision: judged.trust.precision,
                recall: judged.trust.recall(),
                heard: judged.heard,
                learned: judged.bytes,
            });
            voices.extend(together(learner, hosts, name));
        }
        voices
    }
}

/// What the signals of a host are worth together.
fn together(learner: &mut Attentive, hosts: &Hosts, name: &str) -> Option<Voice> {
    let host = hosts.get(name)?.id;
    let (learned, trust) = (learner.signals_of(host)?, learner.trust(host));
    Some(Voice {
        host: name.to_owned(),
        kind: TOGETHER.to_owned(),
        intervals: learner.signal_intervals(host),
        precision: trust.precision,
        recall: trust.recall(),
        heard: true,
        learned,
    })
}
