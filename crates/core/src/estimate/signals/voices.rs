//! Who speaks about a host's pages, and who of them is listened to.
//!
//! A sitemap, a feed and a ping are kinds of announcements. Each is learned by itself, everywhere and on every host, also while nobody
//! listens to it. A page counts the signals of all kinds together, so a kind that cries wolf drowns one that does not.
//!
//! How much a kind says is the share of what is uncertain (has the page changed?) that it settles: with P(unchanged | n signals) =
//! e^{-(ax + nb)} and n of Poisson's law, the variance of that belief over p(1 - p) is, for short intervals, recall × precision; for longer
//! ones it grows with that. Kinds together have the recall of any of them and the precision of all their signals. The kinds of a host
//! are taken in the order of how much they say, each if it does not make those before it say much less.

use std::collections::BTreeSet;

use super::pool::SignalPool;
use super::trust::Trust;
use crate::ids::IdMap;

/// Of a kind of which fewer signals were seen nothing is known; those of other hosts count an eighth.
const ENOUGH: f64 = 16.0;
const ELSEWHERE: f64 = 1.0 / 8.0;
/// If fewer signals than one in so many are true, a kind says next to nothing.
const NEXT_TO_NOTHING: f64 = 4096.0;
/// A kind drowns others if they say less than this share of what they say without it. (What two kinds say of the same change is worth
/// more than it looks here.)
const DROWNED: f64 = 0.8;
/// Who is not heard must be so many times better than who is to be heard again.
const RELUCTANCE: f64 = 1.125;
/// Decided anew after this share of the intervals is new.
const DECIDE_SHARE: f64 = 1.0 / 16.0;
/// Of so many kinds each host remembers something; of more, what is known of them everywhere has to do.
const MOST_KINDS: usize = 16;

/// A kind on a host.
#[derive(Clone, Debug)]
struct Voice {
    kind: u16,
    pool: SignalPool,
    heard: bool,
}

/// The kinds of a host.
#[derive(Clone, Debug, Default)]
struct Choir {
    voices: Vec<Voice>,
    /// Intervals, and those since it was decided who is heard.
    intervals: f64,
    news: f64,
    /// Something was learned since it was kept.
    unkept: bool,
}

/// How a kind on a host is judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// How far it can be believed.
    pub trust: Trust,
    /// Whether its signals count.
    pub heard: bool,
    /// By how many intervals it was judged.
    pub intervals: f64,
    /// For [`Voices::recall`].
    pub bytes: Vec<u8>,
}

/// A kind as it is judged.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    trust: Trust,
    known: bool,
    /// Whether it ever said anything on this host.
    speaks: bool,
    heard: bool,
}

/// What is known of all kinds of announcements.
#[derive(Clone, Debug, Default)]
pub struct Voices {
    everywhere: IdMap<u16, SignalPool>,
    hosts: IdMap<u32, Choir>,
    /// Where others are heard than before, and nobody knows it yet.
    reconsidered: BTreeSet<u32>,
}

impl Voices {
    /// An interval of a page of which this kind speaks: so many changes were expected in it, so many signals of the kind came, and the page
    /// changed or did not.
    pub fn observe(&mut self, host: u32, kind: u16, expected: f64, signals: u32, changed: bool) {
        self.everywhere.entry(kind).or_default().observe(expected, signals, changed);
        self.hosts.entry(host).or_default().observe(kind, expected, signals, changed);
    }

    /// How far a kind can be believed on a host: a host leans on what the kind is everywhere.
    pub fn trust(&mut self, host: u32, kind: u16) -> Trust {
        let everywhere = self.everywhere(kind);
        let voices = self.hosts.get_mut(&host).map(|choir| &mut choir.voices);
        let voice = voices.and_then(|voices| voices.iter_mut().find(|voice| voice.kind == kind));
        voice.map_or(everywhere, |voice| voice.pool.trust(everywhere))
    }

    /// Whether signals of this kind should count on this host: of a kind of which nothing is known yet they should.
    pub fn is_heard(&mut self, host: u32, kind: u16) -> bool {
        self.decide(host);
        let voices = self.hosts.get(&host).map_or(&[][..], |choir| &choir.voices);
        if let Some(voice) = voices.iter().find(|voice| voice.kind == kind) {
            return voice.heard;
        }
        // New here, perhaps known elsewhere.
        let mut all = self.candidates(host);
        all.push(self.candidate(host, kind, true));
        choose(&mut all);
        all.last().is_none_or(|asked| asked.heard)
    }

    /// What was learned since this was asked last, to be kept: by host and kind.
    pub fn keep(&mut self) -> Vec<(u32, u16, Judged)> {
        let changed: Vec<u32> =
            self.hosts.iter().filter(|(_, choir)| choir.unkept).map(|(host, _)| *host).collect();
        let mut kept = Vec::new();
        for host in changed {
            self.decide(host);
            let Some(choir) = self.hosts.get_mut(&host) else { continue };
            choir.unkept = false;
            for (kind, heard, pool) in choir
                .voices
                .iter()
                .map(|voice| (voice.kind, voice.heard, voice.pool.clone()))
                .collect::<Vec<_>>()
            {
                let trust = self.trust(host, kind);
                kept.push((
                    host,
                    kind,
                    Judged { trust, heard, intervals: pool.intervals(), bytes: pool.to_bytes() },
                ));
            }
        }
        kept
    }

    /// A kind on a host is believed to be what was kept of it. Whether that can be.
    pub fn recall(&mut self, host: u32, kind: u16, heard: bool, kept: &[u8]) -> bool {
        let Some(pool) = SignalPool::from_bytes(kept) else { return false };
        let choir = self.hosts.entry(host).or_default();
        if choir.voices.len() >= MOST_KINDS || choir.voices.iter().any(|voice| voice.kind == kind) {
            return false;
        }
        choir.intervals += pool.intervals();
        self.everywhere.entry(kind).or_default().absorb(&pool);
        choir.voices.push(Voice { kind, pool, heard });
        true
    }

    /// The hosts on which others are heard than when this was asked last: what was learned there of all kinds together does not hold any
    /// more.
    pub fn reconsidered(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.reconsidered)
    }

    fn everywhere(&mut self, kind: u16) -> Trust {
        self.everywhere.get_mut(&kind).map_or(Trust::START, |pool| pool.trust(Trust::START))
    }

    fn candidate(&mut self, host: u32, kind: u16, heard: bool) -> Candidate {
        let voices = self.hosts.get(&host).map_or(&[][..], |choir| &choir.voices);
        let here = voices.iter().find(|voice| voice.kind == kind).map_or(0.0, |voice| voice.pool.signals());
        let everywhere = self.everywhere.get(&kind).map_or(0.0, SignalPool::signals);
        let known = here + ELSEWHERE * (everywhere - here).max(0.0) >= ENOUGH;
        Candidate { trust: self.trust(host, kind), known, speaks: here > 0.0, heard }
    }

    /// The kinds of a host, in their order.
    fn candidates(&mut self, host: u32) -> Vec<Candidate> {
        let voices = self.hosts.get(&host).map_or(&[][..], |choir| &choir.voices);
        let kinds: Vec<(u16, bool)> = voices.iter().map(|voice| (voice.kind, voice.heard)).collect();
        kinds.into_iter().map(|(kind, heard)| self.candidate(host, kind, heard)).collect()
    }

    /// Who is heard on a host, if enough is new.
    fn decide(&mut self, host: u32) {
        let Some(choir) = self.hosts.get_mut(&host) else { return };
        if choir.news < 1.0 + DECIDE_SHARE * choir.intervals {
            return;
        }
        choir.news = 0.0;
        let mut all = self.candidates(host);
        choose(&mut all);
        let Some(choir) = self.hosts.get_mut(&host) else { return };
        for (voice, judged) in choir.voices.iter_mut().zip(&all) {
            if voice.heard != judged.heard {
                voice.heard = judged.heard;
                self.reconsidered.insert(host);
            }
        }
    }
}

impl Choir {
    fn observe(&mut self, kind: u16, expected: f64, signals: u32, changed: bool) {
        self.intervals += 1.0;
        self.news += 1.0;
        self.unkept = true;
        if let Some(voice) = self.voices.iter_mut().find(|voice| voice.kind == kind) {
            voice.pool.observe(expected, signals, changed);
        } else if self.voices.len() < MOST_KINDS {
            let mut pool = SignalPool::default();
            pool.observe(expected, signals, changed);
            self.voices.push(Voice { kind, pool, heard: true });
        }
    }
}

/// Signals of several kinds, counted together.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// The share of changes that none of them announces.
    missed: f64,
    announced: f64,
    signals: f64,
}

impl Together {
    const NOBODY: Self = Self { missed: 1.0, announced: 0.0, signals: 0.0 };

    fn with(self, one: &Trust) -> Self {
        let recall = one.recall();
        let false_signals = (1.0 - one.precision) * one.signals;
        Self {
            missed: self.missed * (1.0 - recall),
            announced: self.announced + recall,
            signals: self.signals
                + recall
                + false_signals / (one.silent + one.precision * one.signals).max(1e-9),
        }
    }

    /// Recall × precision.
    fn settles(&self) -> f64 {
        if self.signals > 0.0 { (1.0 - self.missed) * self.announced / self.signals } else { 0.0 }
    }
}

/// Who is heard: by what each says alone, the best first.
fn choose(all: &mut [Candidate]) {
    let alone = |one: &Candidate| Together::NOBODY.with(&one.trust).settles();
    let mut order: Vec<&mut Candidate> = all.iter_mut().collect();
    order.sort_by(|one, other| alone(other).total_cmp(&alone(one)));
    let mut heard = Together::NOBODY;
    for candidate in order {
        let both = heard.with(&candidate.trust);
        let asked = if candidate.heard { 1.0 } else { RELUCTANCE };
        let drowns = both.settles() < asked * DROWNED * heard.settles();
        let says_nothing = candidate.trust.precision * NEXT_TO_NOTHING < asked;
        candidate.heard = !candidate.known || !(drowns || says_nothing);
        if candidate.heard && candidate.known && candidate.speaks {
            heard = both;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, Poisson};

    /// Fetches of a host's pages, and what kinds of these precisions and recalls, numbered from 0, said before each.
    fn listen(voices: &mut Voices, rng: &mut ChaCha8Rng, host: u32, kinds: &[(f64, f64)], fetches: u32) {
        for _ in 0..fetches {
            let expected = 0.2 + rng.random::<f64>();
            let draw = |rng: &mut ChaCha8Rng, mean: f64| Poisson::new(mean).unwrap().sample(rng) as u32;
            let changes = draw(rng, expected);
            for (kind, (precision, recall)) in kinds.iter().enumerate() {
                let wrong = draw(rng, expected * recall * (1.0 - precision) / precision + 1e-9);
                let told = (0..changes).filter(|_| rng.random::<f64>() < *recall).count() as u32;
                voices.observe(host, kind as u16, expected, told + wrong, changes > 0);
            }
        }
    }

    #[test]
    fn who_lies_is_not_heard_beside_who_does_not() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut voices = Voices::default();
        assert!(voices.is_heard(0, 0) && voices.is_heard(0, 1));
        assert!(voices.reconsidered().is_empty());
        listen(&mut voices, &mut rng, 0, &[(0.9, 0.9), (0.05, 0.9)], 40);
        assert!(voices.is_heard(0, 0) && !voices.is_heard(0, 1), "{:?}", [0, 1].map(|k| voices.trust(0, k)));
        assert_eq!(voices.reconsidered().into_iter().collect::<Vec<_>>(), [0]);
        assert!(voices.reconsidered().is_empty());
        // Where nobody else speaks, it is better than nobody.
        voices.observe(1, 1, 1.0, 20, true);
        assert!(voices.is_heard(1, 1));
    }

    #[test]
    fn who_says_next_to_nothing_is_not_heard_at_all() {
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut voices = Voices::default();
        listen(&mut voices, &mut rng, 0, &[(0.0001, 0.9)], 200);
        assert!(!voices.is_heard(0, 0), "{:?}", voices.trust(0, 0));
        // A host of which nothing is known believes what is known everywhere.
        assert!(!voices.is_heard(5, 0));
        assert!(voices.is_heard(5, 1));
        // One that behaves there is heard again.
        listen(&mut voices, &mut rng, 5, &[(0.9, 0.9)], 100);
        assert!(voices.is_heard(5, 0) && !voices.is_heard(0, 0), "{:?}", voices.trust(5, 0));
    }

    #[test]
    fn a_host_leans_on_what_is_known_everywhere() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut voices = Voices::default();
        for host in 0..20 {
            listen(&mut voices, &mut rng, host, &[(0.9, 0.9), (0.05, 0.9)], 20);
        }
        let new = voices.trust(99, 0);
        assert!((new.precision - 0.9).abs() < 0.1, "{new:?}");
        assert!((new.recall() - 0.9).abs() < 0.1, "{new:?}");
        // The first word of the honest kind is enough to not hear the other.
        voices.observe(99, 0, 1.0, 1, true);
        assert!(voices.is_heard(99, 0) && !voices.is_heard(99, 1));
    }

    #[test]
    fn the_good_are_heard_together() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for kinds in [[(0.9, 0.9), (0.8, 0.9)], [(0.9, 0.4), (0.6, 0.5)], [(0.95, 0.95), (0.95, 0.02)]] {
            let mut voices = Voices::default();
            for _ in 0..20 {
                listen(&mut voices, &mut rng, 0, &kinds, 50);
                let trusts = [0, 1].map(|kind| voices.trust(0, kind));
                assert!(voices.is_heard(0, 0) && voices.is_heard(0, 1), "{kinds:?} {trusts:?}");
            }
        }
    }

    /// Where both sides are about as good, a decision holds.
    #[test]
    fn nobody_is_heard_every_other_day() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut voices = Voices::default();
        let (mut before, mut flips) = (true, 0);
        for _ in 0..400 {
            // Together they say four fifths of what the better one says alone.
            listen(&mut voices, &mut rng, 0, &[(0.9, 0.9), (0.45, 0.4)], 10);
            let now = voices.is_heard(0, 1);
            flips += u32::from(now != before);
            before = now;
        }
        assert!(flips <= 4, "{flips}");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut voices = Voices::default();
        for kind in 0..1000 {
            for _ in 0..10 {
                voices.observe(7, kind, 1.0, 1, true);
            }
        }
        assert_eq!(voices.hosts[&7].voices.len(), MOST_KINDS);
        assert!(voices.is_heard(7, 999));
        assert_eq!(voices.trust(7, 999), voices.trust(8, 999));
    }
}
