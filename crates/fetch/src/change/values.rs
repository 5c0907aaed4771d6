//! What a noisy place showed so far. It tells values that take turns from values that never return, and so a new text from one more value of the
//! noise, and noise that ended from noise that goes on.

use super::affix::Affix;
use super::habit::Habit;

/// So many different values are remembered of a place. A place with as many never runs out of new ones.
pub(super) const MOST: usize = 64;
/// A place that was seen so often, and of which no value returned, has a new one each time.
const RANDOM: u8 = 16;
/// So many looks at least are made at a place before anything is said of what it shows.
const FEW: u8 = 4;

/// The values that a place showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) known: Vec<Value>,
    /// So many looks showed them, at most 255 are counted.
    pub(super) shown: u8,
    /// A hash of all that was shown last.
    pub(super) last: u16,
    /// How often the place shows what it showed before.
    pub(super) stays: Habit,
    /// What all its values have in common, if each is a word.
    pub(super) affix: Affix,
}

/// A value that a place showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) hash: u16,
    /// It returned after the place had shown something else.
    pub(super) returned: bool,
    /// So many looks of this visit showed it, and none before; 0 once the visit is over.
    pub(super) fresh: u8,
    /// A look of this visit showed it.
    pub(super) seen: bool,
}

impl Values {
    /// Takes in what a look shows: `values` are the parts of `whole` that come and go by themselves.
    pub(super) fn show(&mut self, whole: u32, values: &[u32]) {
        let stays = self.shown > 0 && self.last == whole as u16;
        // Of values that return each stays for a time of its own, others are gone at once.
        let is_passing = |known: &Value| known.hash == self.last && !known.returned;
        if self.shown > 0 && !(self.returns() && self.known.iter().any(is_passing)) {
            self.stays.turn(stays);
        }
        self.last = whole as u16;
        if self.is_random() {
            if !stays {
                return;
            }
            self.shown = FEW;
        }
        self.shown = self.shown.saturating_add(1);
        // Nothing is a value, too.
        let whole = [whole];
        let values = if values.is_empty() { &whole[..] } else { values };
        let is_new_rare = self.is_complete(values.len()) && self.shown >= self.spare().saturating_mul(8);
        for (place, value) in values.iter().enumerate() {
            if values[..place].contains(value) {
                continue;
            }
            let hash = *value as u16;
            if let Some(known) = self.known.iter_mut().find(|known| known.hash == hash) {
                known.returned |= !stays;
                known.seen = true;
                known.fresh = if known.fresh > 0 { known.fresh.saturating_add(1) } else { 0 };
            } else {
                let value = Value { hash, returned: false, fresh: u8::from(is_new_rare), seen: true };
                self.known.insert(0, value);
                self.known.truncate(MOST);
            }
        }
        if self.shown >= RANDOM && !self.returns() {
            self.forget();
        }
    }

    /// Returns true if values come back.
    pub(super) fn returns(&self) -> bool {
        self.known.iter().any(|value| value.returned)
    }

    /// Returns true if the place was seen often enough to have shown all its values, `at_once` of them at a time: as often as it takes to collect
    /// all coupons of equal chances.
    fn is_complete(&self, at_once: usize) -> bool {
        let values = self.known.iter().filter(|value| value.fresh == 0).count() as f64;
        let enough = values / at_once as f64 * (values.ln() + 1.25);
        values > 1.0 && self.known.len() < MOST && f64::from(self.shown) >= enough
    }

    /// So many values but one did not return so far.
    fn spare(&self) -> u8 {
        let singles = self.known.iter().filter(|value| !value.returned && value.fresh == 0);
        singles.count().saturating_sub(1) as u8
    }

    /// The first look of a visit shows a value that is unlikely to be one more of the noise.
    pub(super) fn is_fresh(&self) -> bool {
        self.known.iter().any(|value| value.fresh > 0)
    }

    /// The looks of a visit show a value too often to be one more of the noise.
    pub(super) fn is_news(&self) -> bool {
        let least = if self.shown >= self.spare().saturating_mul(16) { 2 } else { 4 };
        self.known.iter().any(|value| value.fresh >= least)
    }

    /// The visit is over.
    pub(super) fn settle(&mut self) {
        if self.is_news() && !self.known.iter().any(|value| value.seen && value.fresh == 0) {
            // The news is in all that takes turns.
            self.known.retain(|value| value.fresh > 0);
            self.known.iter_mut().for_each(|value| value.returned = true);
            self.shown = FEW;
        }
        for value in &mut self.known {
            (value.fresh, value.seen) = (0, false);
        }
    }

    /// Returns true if it is known whether values return.
    pub(super) fn is_known(&self) -> bool {
        self.shown >= FEW
    }

    /// Returns true if the place has shown the same for longer than is likely.
    pub(super) fn stay_long(&self) -> bool {
        self.is_known() && self.stays.is_surprising(if self.returns() { 64.0 } else { 5.0 })
    }

    /// The place has a new value each time.
    fn is_random(&self) -> bool {
        self.shown >= RANDOM && self.known.is_empty()
    }

    /// Forgets values, but not how often they stay.
    pub(super) fn forget(&mut self) {
        self.known = Vec::new();
        self.shown = self.shown.max(RANDOM);
    }
}
