//! When a page is worth a second look, seconds after the first. Such looks cost requests, so they get rarer wherever they find nothing.

use super::habit::{self, Habit};

/// The most that a count of visits or changes is doubled.
const MOST_DOUBLINGS: u8 = 7;
/// After so many visits at which noise may have hid something, quick looks are to confirm it; doubled each time they do.
const FIRST_CHECK: u32 = 2;
const MOST_CHECK_DOUBLINGS: u8 = 5;
/// Noise that is overdue for a check by more than this many visits is noise no longer.
const GRACE: u32 = 16;
/// So many earlier states of a page are remembered.
const STATES: usize = 3;
/// A verdict is put off to the next visit at most so many times in a row.
const MOST_PUT_OFF: u8 = 1;
pub(super) const BYTES: usize = BYTES_BEFORE + habit::BYTES;
/// In records of version 2.
pub(super) const BYTES_BEFORE: usize = 7 + 4 * STATES;

/// What quick looks have found at a page so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attention {
    /// So many times in a row, quick looks have found that a change was real.
    calm: u8,
    /// Changes since then.
    changes: u8,
    /// Visits since the last quick pair at which noise may have hid something.
    hidden: u8,
    /// So many times in a row, quick looks have confirmed what is noise.
    confirmed: u8,
    /// So many visits in a row could not tell noise from a change.
    put_off: u8,
    /// Quick pairs so far.
    pairs: u16,
    /// Hashes of the content before the last changes.
    before: [u32; STATES],
    /// How often the first look of a visit shows a change.
    changed: Habit,
}

/// What quick looks at pages of a host found lately: whether the first change of a page is likely noise.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostNoise {
    noisy: u32,
    quiet: u32,
}

impl HostNoise {
    /// Remembers what came of quick looks at one of its pages.
    pub fn learn(&mut self, found_noise: bool) {
        let count = if found_noise { &mut self.noisy } else { &mut self.quiet };
        *count = count.saturating_add(1);
    }

    /// Returns true if less than one page in twenty is likely to have noise.
    pub fn is_quiet(self) -> bool {
        // A quarter of a noisy page is assumed beforehand.
        20 * (4 * u64::from(self.noisy) + 1) < 4 * (u64::from(self.noisy) + u64::from(self.quiet) + 1)
    }
}

impl Attention {
    /// How many quick pairs in a row must agree before a change is believed; `None` if it is believed at once. `state` is the content after
    /// the change; a change near noise is likely to be noise as well.
    pub(super) fn doubts(&self, state: u32, is_quiet_host: bool, is_near_noise: bool) -> Option<u8> {
        // Two versions that take turns come back; news does not.
        if self.before.contains(&state) && self.calm < 5 {
            return Some(3);
        }
        // More changes than usual may be noise that has just begun.
        if self.changed.is_surprising(16.0) {
            return Some(1);
        }
        let calm = if is_near_noise { self.calm.min(3) } else { self.calm };
        let wait = match calm {
            0 => u8::from(is_quiet_host && !is_near_noise),
            calm => (1 << (calm - 1)) - 1,
        };
        // What differs at the first visits is noise more often than later.
        (self.changes >= wait).then_some(if calm == 0 { 2 } else { 1 })
    }

    /// Whether a visit before this one could not tell noise from a change.
    pub(super) fn is_put_off(&self) -> bool {
        self.put_off > 0
    }

    /// Puts the verdict off to the next visit; returns false if that was done too often.
    pub(super) fn put_off(&mut self) -> bool {
        let may = self.put_off < MOST_PUT_OFF;
        self.put_off = if may { self.put_off + 1 } else { 0 };
        may
    }

    /// The verdict stands.
    pub(super) fn stand(&mut self) {
        self.put_off = 0;
    }

    /// The first look of a visit shows a change, or none.
    pub(super) fn seem(&mut self, changed: bool) {
        self.changed.turn(changed);
    }

    /// A change was believed without a second look.
    pub(super) fn believe(&mut self) {
        self.changes = self.changes.saturating_add(1);
    }

    /// Remembers the content before a change.
    pub(super) fn remember(&mut self, state: u32) {
        self.before.rotate_right(1);
        self.before[0] = state;
    }

    /// Noise may have hid something.
    pub(super) fn hide(&mut self) {
        self.hidden = self.hidden.saturating_add(1);
    }

    fn interval(&self) -> u32 {
        FIRST_CHECK << self.confirmed.min(MOST_CHECK_DOUBLINGS)
    }

    /// Whether noise is to be confirmed.
    pub(super) fn wants_check(&self) -> bool {
        u32::from(self.hidden) >= self.interval()
    }

    /// Whether noise was not confirmed for too long.
    pub(super) fn is_overdue(&self) -> bool {
        u32::from(self.hidden) >= self.interval() + GRACE
    }

    /// A quick pair of looks was made.
    pub(super) fn pair(&mut self) {
        self.pairs = self.pairs.saturating_add(1);
    }

    /// Quick pairs so far.
    pub(super) fn pairs(&self) -> u16 {
        self.pairs
    }

    /// Quick looks are over. They found more noise, or not; they were made because of a change, or only to confirm noise, which fades or not.
    pub(super) fn learn(&mut self, found_noise: bool, was_change: bool, fades: bool) {
        self.hidden = 0;
        self.changed.accept();
        self.confirmed =
            if found_noise || fades { 0 } else { (self.confirmed + 1).min(MOST_CHECK_DOUBLINGS) };
        if found_noise {
            (self.calm, self.changes) = (0, 0);
        } else if was_change {
            (self.calm, self.changes) = ((self.calm + 1).min(MOST_DOUBLINGS), 0);
        }
    }

    /// All noise was given up.
    pub(super) fn reset(&mut self) {
        (self.calm, self.hidden, self.confirmed) = (0, 0, 0);
    }

    pub(super) fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let [pairs, more] = self.pairs.to_le_bytes();
        bytes[..7].copy_from_slice(&[
            self.calm,
            self.changes,
            self.hidden,
            self.confirmed,
            self.put_off,
            pairs,
            more,
        ]);
        for (chunk, state) in bytes[7..BYTES_BEFORE].chunks_exact_mut(4).zip(self.before) {
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        bytes[BYTES_BEFORE..].copy_from_slice(&self.changed.to_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; BYTES]) -> Option<Self> {
        let [calm, changes, hidden, confirmed, put_off, pairs, more, .., turns, events, run] = bytes;
        let changed = Habit::from_bytes([turns, events, run])?;
        let mut before = [0; STATES];
        for (state, chunk) in before.iter_mut().zip(bytes[7..BYTES_BEFORE].chunks_exact(4)) {
            *state = u32::from_le_bytes(chunk.try_into().ok()?);
        }
        let is_possible =
            calm <= MOST_DOUBLINGS && confirmed <= MOST_CHECK_DOUBLINGS && put_off <= MOST_PUT_OFF;
        let pairs = u16::from_le_bytes([pairs, more]);
        is_possible.then_some(Self { calm, changes, hidden, confirmed, put_off, pairs, before, changed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_quiet_after_a_few_pages_without_noise() {
        let mut host = HostNoise::default();
        assert!(!host.is_quiet());
        (0..5).for_each(|_| host.learn(false));
        assert!(host.is_quiet());
        host.learn(true);
        assert!(!host.is_quiet());
        (0..30).for_each(|_| host.learn(false));
        assert!(host.is_quiet());
    }

    #[test]
    fn real_changes_are_doubted_less_and_less_often() {
        let mut page = Attention::default();
        let mut doubted = Vec::new();
        for change in 1..=130 {
            if page.doubts(change, false, false).is_some() {
                page.learn(false, true, false);
                doubted.push(change);
            } else {
                page.believe();
            }
        }
        assert_eq!(doubted, [1, 2, 4, 8, 16, 32, 64, 128]);
    }

    #[test]
    fn noise_is_confirmed_less_and_less_often_and_never_taken_on_trust_for_ever() {
        let mut page = Attention::default();
        let mut checked = Vec::new();
        for visit in 1..=200 {
            page.hide();
            if page.wants_check() {
                page.learn(false, false, false);
                checked.push(visit);
            }
        }
        assert_eq!(checked, [2, 6, 14, 30, 62, 126, 190]);
        (0..255).for_each(|_| page.hide());
        assert!(page.is_overdue());
    }

    #[test]
    fn bytes_are_read_again() {
        let mut page = Attention::default();
        page.remember(7);
        page.pair();
        page.believe();
        page.hide();
        assert_eq!(Attention::from_bytes(page.to_bytes()), Some(page));
        assert_eq!(Attention::from_bytes([255; BYTES]), None);
    }
}
