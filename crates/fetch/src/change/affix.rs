//! What stays at both ends of a word that differs at every look: `r17x` of `r17xa8f3` and `r17x09bc`. It is content.

use super::words;

/// So many quick pairs make an affix longer again.
const PAIRS: u8 = 3;
/// A beginning and an end that change at so many visits in a row are part of the token: it is made from the time.
pub(super) const MOST_MOVES: u8 = 4;

/// The beginning and the end that all looks at a word have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Affix {
    /// Bytes at the beginning,
    pub(super) head: u8,
    /// and at the end.
    pub(super) tail: u8,
    /// Of both, as they were last.
    pub(super) hash: u16,
    /// So many visits in a row showed others. At [`MOST_MOVES`] the word has no affix for good.
    pub(super) moves: u8,
    /// The bytes at both ends that the last quick pairs have in common, and how many of these there were.
    pub(super) lately: [u8; 3],
}

impl Affix {
    /// Of a word that a quick pair shows. Numbers have none: a count has the same first digits for long.
    pub(super) fn of(before: &str, now: &str) -> Self {
        let is_number = |word: &str| word.bytes().all(|byte| !byte.is_ascii_alphabetic());
        if is_number(before) || is_number(now) {
            return Self::default();
        }
        let same = |(one, other): &(char, char)| one == other;
        let head =
            before.chars().zip(now.chars()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
        let rest = before[head..].chars().rev().zip(now[head..].chars().rev());
        let tail: usize = rest.take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
        let short = |len: usize| u8::try_from(len).unwrap_or(0);
        Self { head: short(head), tail: short(tail), ..Self::default() }.at(now).unwrap_or_default()
    }

    /// After one more quick pair.
    pub(super) fn narrowed(self, before: &str, now: &str) -> Self {
        let pair = Self::of(before, now);
        let both = Self { head: self.head.min(pair.head), tail: self.tail.min(pair.tail), ..self };
        both.at(now).unwrap_or_default()
    }

    /// The same of noise, whose affix is known: it may have changed between the looks, or while it was learned. So only the second pair in a row
    /// makes it shorter, and three make it longer.
    pub(super) fn confirmed(self, before: &str, now: &str) -> Self {
        if self.moves >= MOST_MOVES {
            return self;
        }
        let pair = Self::of(before, now);
        let [head, tail, pairs] = self.lately;
        let lately = if pairs == 0 {
            pair
        } else {
            Self { head: head.min(pair.head), tail: tail.min(pair.tail), ..pair }
        };
        if lately.head >= self.head && lately.tail >= self.tail && pairs + 1 >= PAIRS {
            return lately.at(now).unwrap_or_default();
        }
        let is_shorter = pair.head < self.head || pair.tail < self.tail;
        let affix = if is_shorter && self.moves == 0 {
            self.at(now).map_or_else(Self::default, |affix| Self { moves: 1, ..affix })
        } else {
            self.narrowed(before, now)
        };
        let is_counted = (lately.head, lately.tail) != (0, 0) && pairs + 1 < PAIRS;
        Self { lately: if is_counted { [lately.head, lately.tail, pairs + 1] } else { [0; 3] }, ..affix }
    }

    pub(super) fn is_none(self) -> bool {
        self.head == 0 && self.tail == 0
    }

    /// With the beginning and the end of another word; `None` if it is too short.
    fn at(self, word: &str) -> Option<Self> {
        let end = word.len().checked_sub(self.tail.into()).filter(|end| *end >= self.head.into())?;
        let (head, tail) = (word.get(..self.head.into())?, word.get(end..)?);
        let hash = words::hash(&format!("{head} {tail}"), true) as u16;
        Some(if self.is_none() { Self { hash: 0, ..self } } else { Self { hash, ..self } })
    }

    /// Takes in the word of a later visit; returns true if its beginning or end is another.
    pub(super) fn follow(&mut self, word: &str) -> bool {
        if self.is_none() {
            return false;
        }
        let was = *self;
        *self = was.at(word).unwrap_or_default();
        let moved = self.hash != was.hash || self.is_none();
        self.moves = if moved { self.moves + 1 } else { 0 };
        if self.moves >= MOST_MOVES {
            *self = Self { moves: MOST_MOVES, ..Self::default() };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_looks_have_in_common_is_followed() {
        let mut affix = Affix::of("r17xa8f3", "r17xa91e").narrowed("r17xa91e", "r17x00c2");
        assert_eq!((affix.head, affix.tail), (4, 0));
        assert!(!affix.follow("r17x1234"));
        assert!(affix.follow("r18x1234") && !affix.follow("r18x77"));
        assert!(affix.follow("r1") && affix.is_none());
        assert!(Affix::of("10412", "10415").is_none());
        assert_eq!((Affix::of("äöxb", "äüyb").head, Affix::of("äöxb", "äüyb").tail), (2, 1));
    }

    #[test]
    fn what_changes_within_one_pair_is_kept() {
        let affix = Affix::of("r17xa8f3", "r17x091e").confirmed("r17x091e", "r18x44c2");
        assert_eq!((affix.head, affix.moves), (4, 1));
        assert_eq!(affix.confirmed("r18x44c2", "q18x9").head, 0);
    }

    #[test]
    fn what_changed_while_it_was_learned_is_found_by_later_pairs() {
        let mut affix = Affix::of("r17xa8f3", "r18x091e");
        assert_eq!(affix.head, 2);
        for pair in ["r18xa1", "r18xb1", "r18xc1", "r18xd1"].windows(2) {
            affix = affix.confirmed(pair[0], pair[1]);
        }
        assert_eq!(affix.head, 4);
    }

    #[test]
    fn what_changes_at_every_visit_is_no_more_than_the_token() {
        let mut affix = Affix::of("655f3a1b", "655f3a2c");
        let moved: Vec<bool> = (0..8).map(|hour| affix.follow(&format!("65{hour}03a1b"))).collect();
        assert_eq!(moved, [true, true, true, true, false, false, false, false]);
    }
}
