//! Who is listened to in a replay, by policies that learn that.

use refrain_core::estimate::signals::voices::Voices;
use refrain_core::frontier::HostId;

/// What was said of each page since its last fetch, and how far each kind of announcement is believed.
pub(super) struct Ears {
    voices: Voices,
    /// By place of the page, then by kind.
    said: Vec<u32>,
    kinds: usize,
}

impl Ears {
    /// For so many pages and kinds.
    pub(super) fn new(pages: usize, kinds: usize) -> Self {
        Self { voices: Voices::default(), said: vec![0; pages * kinds], kinds }
    }

    /// A kind announces a change of a page. Whether that should count.
    pub(super) fn hear(&mut self, host: HostId, place: u32, kind: u8) -> bool {
        self.said[place as usize * self.kinds + usize::from(kind)] += 1;
        self.voices.is_heard(host.index(), u16::from(kind))
    }

    /// The hosts on which others are heard than when this was asked last, by number.
    pub(super) fn reconsidered(&mut self) -> impl Iterator<Item = u32> {
        self.voices.reconsidered().into_iter()
    }

    /// A page was fetched, so many changes after the last time as far as was expected; it had changed, or not. Of the kinds, these might
    /// have said something of it.
    pub(super) fn learn(
        &mut self,
        host: HostId,
        place: u32,
        expected: Option<f64>,
        changed: bool,
        speaks: impl Fn(u8) -> bool,
    ) {
        let from = place as usize * self.kinds;
        for (kind, said) in self.said[from..from + self.kinds].iter_mut().enumerate() {
            let signals = std::mem::take(said);
            if let Some(expected) = expected.filter(|_| speaks(kind as u8)) {
                self.voices.observe(host.index(), kind as u16, expected, signals, changed);
            }
        }
    }
}
