//! Who is listened to: signals that came, what became of them, and how far each kind can be believed on each host.

use std::collections::HashMap;
use std::ops::ControlFlow;

use refrain_core::estimate::signals::voices::Voices;
use refrain_core::frontier::{Attentive, HostId};
use refrain_core::ids::IdMap;
use refrain_core::time::Time;
use refrain_store::{PageId, Reader, StoreError, Voice};

use crate::catalogue::Hosts;
use crate::kinds::Kind;

/// What all heard kinds of a host are worth together, as pages count them: kept beside the kinds.
pub const TOGETHER: &str = "together";

/// So many signals of a page and a kind count between two fetches: more of them say nothing new. As many again count while a fetch is under way,
/// since those before may be judged by it. What does not count is not stored either, so a restart changes nothing.
const MOST: usize = 16;

/// Signals that no fetch has judged yet, in the order in which they came, each with its time.
type Open = Vec<(Kind, Time)>;

/// The time of a signal or a request, as the store keeps it: the millisecond in which it was.
fn millisecond(time: Time) -> i64 {
    time.as_nanos().div_euclid(1_000_000)
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
    /// As a store has it. `number` gives a host by its name.
    pub(crate) fn recall(
        reader: &Reader,
        learner: &mut Attentive,
        number: impl Fn(&str) -> Option<HostId>,
    ) -> Result<Self, StoreError> {
        let mut listening = Self::default();
        for voice in reader.voices()? {
            let Some(host) = number(&voice.host) else { continue };
            // What cannot be read is learned anew.
            if voice.kind == TOGETHER {
                learner.recall_signals(host, &voice.learned);
            } else if let Some(kind) = Kind::from_name(&voice.kind) {
                listening.voices.recall(host.index(), kind.number(), voice.heard, &voice.learned);
            }
        }
        reader.open_signals(|page, kind, came| {
            if let Some(kind) = Kind::from_name(kind) {
                listening.open.entry(page).or_default().push((kind, came));
            }
            ControlFlow::Continue(())
        })?;
        Ok(listening)
    }

    /// A signal came, while a fetch of the page is under way or not. Returns whether it is taken: too many of one kind are not.
    pub(crate) fn signal(&mut self, page: PageId, kind: Kind, now: Time, is_ordered: bool) -> bool {
        let open = self.open.entry(page).or_default();
        let most = if is_ordered { 2 * MOST } else { MOST };
        let is_taken = open.iter().filter(|(own, _)| *own == kind).count() < most;
        if is_taken {
            open.push((kind, now));
        }
        is_taken
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

    /// Returns how many open signals of a page count.
    pub(crate) fn heard_of(&mut self, page: PageId, host: HostId) -> u32 {
        let Some(open) = self.open.get(&page).cloned() else { return 0 };
        open.iter().filter(|(kind, _)| self.is_heard(host, *kind)).count() as u32
    }

    /// Takes the open signals of a page that came before a request or in the same millisecond; later ones stay open.
    pub(crate) fn take_until(&mut self, page: PageId, asked: Time) -> Vec<(Kind, Time)> {
        let Some(open) = self.open.get_mut(&page) else { return Vec::new() };
        let (seen, later): (Open, Open) =
            open.drain(..).partition(|(_, came)| millisecond(*came) <= millisecond(asked));
        if later.is_empty() {
            self.open.remove(&page);
        } else {
            *open = later;
        }
        seen
    }

    /// A page of which these kinds speak was fetched, these signals came before, and so many changes were expected. Returns how many signals came
    /// true.
    pub(crate) fn judge(
        &mut self,
        seen: &[(Kind, Time)],
        host: HostId,
        kinds: &[Kind],
        expected: f64,
        changed: bool,
    ) -> u32 {
        for kind in kinds {
            let signals = seen.iter().filter(|(own, _)| own == kind).count() as u32;
            self.voices.observe(host.index(), kind.number(), expected, signals, changed);
        }
        if changed { seen.len() as u32 } else { 0 }
    }

    /// The page is removed: nothing is open.
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

#[cfg(test)]
mod tests {
    use refrain_core::time::Span;

    use super::*;

    #[test]
    fn what_counts_between_two_fetches_is_what_is_stored() {
        let mut listening = Listening::default();
        let (page, at) = (PageId(1), |seconds| Time::ZERO + Span::from_whole_secs(seconds));
        let taken = |listening: &mut Listening, from: u64, is_ordered| {
            (from..from + 50)
                .filter(|second| listening.signal(page, Kind::Feed, at(*second), is_ordered))
                .count()
        };
        assert_eq!(taken(&mut listening, 0, false), MOST);
        assert!(listening.signal(page, Kind::Sitemap, at(60), false), "another kind");
        // A fetch is under way: what comes after its request is not crowded out by what came before.
        assert_eq!(taken(&mut listening, 100, true), MOST);
        assert_eq!(listening.take_until(page, at(99)).len(), MOST + 1);
        assert_eq!(listening.take_until(page, at(99)), []);
        assert_eq!(taken(&mut listening, 200, false), 0, "those of the time of the fetch are open");
        assert_eq!(listening.take_until(page, at(1000)).len(), MOST);
        assert!(listening.open.is_empty(), "nothing is kept of a page without open signals");
    }
}
