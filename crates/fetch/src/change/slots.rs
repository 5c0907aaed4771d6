//! A block of text of which some words are noise: what stands fixed in it, and what comes and goes between.

use super::affix::Affix;
use super::align;
use super::score::Score;
use super::values::Values;
use super::windows::{Run, Windows};
use super::words::{self, Words};

/// A block in more parts than this is not taken apart: it counts as a whole.
pub(super) const MOST: usize = 255;
/// No slot has more words.
pub(super) const LONGEST: usize = 2 * words::MOST;

/// A stretch of words. It is noise, or it is content whose hash is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// Of the words that were there last; means nothing for noise.
    pub(super) hash: u32,
    /// So many words were there last,
    pub(super) len: u16,
    /// and at most, as quick pairs have shown.
    pub(super) most: u16,
    pub(super) score: Score,
    /// What noise, or what may be noise, showed so far.
    pub(super) values: Values,
}

/// What a later look at a block says.
#[derive(Debug, Default)]
pub(super) struct Followed {
    pub(super) slots: Vec<Slot>,
    /// So many stretches of content are other than they were.
    pub(super) changed: usize,
    /// So many are what they were.
    pub(super) stayed: usize,
}

impl Slot {
    /// Content of which nothing is known but what it is.
    pub(super) fn fixed(hash: u32, len: usize) -> Self {
        Self { hash, len: len as u16, most: 0, score: Score::default(), values: Values::default() }
    }

    pub(super) fn is_noise(&self) -> bool {
        self.score.is_noise()
    }

    fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Takes in the words that it shows, of which this is the hash; 0 if there are none.
    fn show(&mut self, hash: u32) {
        self.values.show(hash, &[hash]);
    }

    /// Noise of several words varies in length, so a quarter more than was seen is no news.
    fn room(&self) -> usize {
        let most = usize::from(self.most);
        most + most / 4
    }

    fn with_len(&self, len: usize) -> Self {
        Self { len: len as u16, ..self.clone() }
    }
}

/// Compares a block with what is known of it. Nothing is learned of noise: any time may have passed.
pub(super) fn follow(slots: &[Slot], words: &Words<'_>) -> Followed {
    let windows = Windows::new(&words.hashes);
    let content = |slot: &Slot| !slot.is_noise() && slot.len > 0;
    let runs: Vec<Option<Run>> =
        slots.iter().map(|slot| content(slot).then(|| Run { hash: slot.hash, len: slot.len() })).collect();
    let mut followed = Followed::default();
    let (mut next, mut at) = (0, 0);
    for (place, start) in windows.locate(&runs).into_iter().chain([(slots.len(), words.len())]) {
        fill(&slots[next..place], &windows, at, start, &mut followed);
        at = start;
        if let Some(slot) = slots.get(place) {
            followed.stayed += 1;
            followed.slots.push(slot.clone());
            at += slot.len();
        }
        next = place + 1;
    }
    followed.slots = joined(followed.slots, &windows);
    let mut at = 0;
    for slot in &mut followed.slots {
        let word = (slot.is_noise() && slot.len == 1).then(|| words.text(at));
        followed.changed += usize::from(word.is_some_and(|word| slot.values.affix.follow(word)));
        at += slot.len();
    }
    followed
}

/// Shares out the words from `at` to `end` among slots of which no content was found.
fn fill(slots: &[Slot], windows: &Windows<'_>, mut at: usize, end: usize, followed: &mut Followed) {
    let lost = slots.iter().filter(|slot| !slot.is_noise() && slot.len > 0).count();
    let words = end - at;
    let was: usize = slots.iter().map(Slot::len).sum();
    let noise: usize = slots.iter().filter(|slot| slot.is_noise()).map(Slot::len).sum();
    // What content has room for, if noise is as long as it was.
    let mut spare = words.saturating_sub(noise);
    let mut left = lost;
    for slot in slots {
        let len = if slot.is_noise() {
            if lost == 0 { slot.room().min(end - at) } else { slot.len().min(end - at) }
        } else if slot.len == 0 {
            0
        } else if words == was {
            slot.len()
        } else {
            left -= 1;
            if left == 0 { spare } else { slot.len().min(spare) }
        }
        .min(end - at);
        let hash = if len > 0 { windows.hash(at, len) } else { 0 };
        if !slot.is_noise() && slot.len > 0 {
            spare -= len.min(spare);
            // Where words repeat themselves, content may be where it was though it was not found.
            followed.changed += usize::from(hash != slot.hash || len != slot.len());
        }
        followed.slots.push(Slot { hash, ..slot.with_len(len) });
        at += len;
    }
    if at < end {
        // More than there is room for.
        followed.changed += 1;
        followed.slots.push(Slot::fixed(windows.hash(at, end - at), end - at));
    }
}

/// Words of the later look of a quick pair that belong together.
struct Piece {
    /// The slot they had in the earlier look.
    owner: usize,
    differs: bool,
    before: usize,
    now: usize,
}

/// Learns from a quick pair of looks at a block: `slots` are of the words `before`, `now` came seconds later.
pub(super) fn learn(slots: &[Slot], before: &Words<'_>, now: &Words<'_>, is_quick: bool) -> Vec<Slot> {
    let windows = Windows::new(&now.hashes);
    if slots.is_empty() || slots.iter().map(Slot::len).sum::<usize>() != before.len() {
        return joined(vec![Slot::fixed(0, now.len())], &windows);
    }
    let known = Windows::new(&before.hashes);
    let mut at = (0, 0);
    let mut learned: Vec<Slot> = Vec::new();
    let mut emitted = 0;
    let mut pieces = pieces(slots, &before.hashes, &now.hashes).into_iter().peekable();
    while let Some(mut piece) = pieces.next() {
        let slot = &slots[piece.owner];
        let is_content = slot.score.is_clear();
        // Of content, what differs is taken out; what is suspect already is judged as a whole.
        while let Some(more) =
            pieces.next_if(|more| more.owner == piece.owner && (!is_content || more.differs == piece.differs))
        {
            piece.before += more.before;
            piece.now += more.now;
            piece.differs |= more.differs;
        }
        for empty in slots.get(emitted..piece.owner).unwrap_or_default() {
            absent(empty, &mut learned);
        }
        emitted = piece.owner + 1;
        // Between two looks that are not in quick succession content may change, but it does not become a token.
        let is_token = |words: &Words<'_>, at: usize, len: usize| len == 1 && words.is_token(at);
        let is_proof = is_quick || is_token(before, at.0, piece.before) && is_token(now, at.1, piece.now);
        let was = if piece.before > 0 { known.hash(at.0, piece.before) } else { 0 };
        let is_word = piece.before == 1 && piece.now == 1;
        let pair = is_word.then(|| (before.text(at.0), now.text(at.1)));
        take(slot, &piece, Shown { is_proof, was, pair }, &mut learned);
        at = (at.0 + piece.before, at.1 + piece.now);
    }
    for empty in &slots[emitted..] {
        absent(empty, &mut learned);
    }
    let mut learned = joined(learned, &windows);
    show(&mut learned, now);
    learned
}

/// Takes in what noise, and what may be noise, shows in a look at the words.
pub(super) fn show(slots: &mut [Slot], words: &Words<'_>) {
    let windows = Windows::new(&words.hashes);
    let mut at = 0;
    for slot in slots {
        let len = slot.len();
        if !slot.score.is_clear() {
            slot.show(if len > 0 { windows.hash(at, len) } else { 0 });
        }
        at += len;
    }
}

/// A slot that had no words in either look.
fn absent(slot: &Slot, learned: &mut Vec<Slot>) {
    if slot.len == 0 {
        let mut slot = slot.clone();
        slot.score.agree_on(&slot.values);
        learned.push(slot);
    }
}

/// What a pair of looks shows of a piece.
#[derive(Clone, Copy)]
struct Shown<'a> {
    /// It is noise if it differs.
    is_proof: bool,
    /// The hash of its words in the earlier look.
    was: u32,
    /// Both words, if it is one.
    pair: Option<(&'a str, &'a str)>,
}

/// Takes a piece of a slot.
fn take(slot: &Slot, piece: &Piece, shown: Shown<'_>, learned: &mut Vec<Slot>) {
    let Shown { is_proof, was, pair } = shown;
    let is_content = slot.score.is_clear();
    if is_content && !(piece.differs && is_proof) {
        learned.push(Slot::fixed(0, piece.now));
        return;
    }
    let longer = piece.before.max(piece.now) as u16;
    let mut suspect = Slot { most: longer, ..Slot::fixed(0, piece.now) };
    if is_content {
        suspect.score.differ();
        suspect.show(was);
        suspect.values.affix = pair.map(|(before, now)| Affix::of(before, now)).unwrap_or_default();
        learned.push(suspect);
        return;
    }
    let mut known = slot.with_len(piece.now);
    if piece.differs {
        let affix = slot.values.affix;
        let narrow = if slot.is_noise() { Affix::confirmed } else { Affix::narrowed };
        known.values.affix = pair.map(|(before, now)| narrow(affix, before, now)).unwrap_or_default();
    }
    match (piece.differs, is_proof) {
        (false, _) => {
            known.score.agree_on(&slot.values);
            // A word that differs now and then and never returns is a counter rather than noise.
            if known.score.is_suspect() && !slot.values.returns() {
                known.score.agree();
            }
        }
        (true, true) => known.score.differ(),
        (true, false) => {}
    }
    if !slot.is_noise() {
        known.most = known.most.max(longer);
    } else if piece.now > known.room() {
        // One pair does not make more of it noise than three pairs have shown.
        known.len = known.most;
        suspect.len = (piece.now - usize::from(known.most)) as u16;
        suspect.most = suspect.len;
        suspect.score.differ();
        learned.extend([known, suspect]);
        return;
    }
    learned.push(known);
}

/// Cuts the later look where slots begin and where it differs from the earlier one.
fn pieces(slots: &[Slot], before: &[u32], now: &[u32]) -> Vec<Piece> {
    let owners: Vec<usize> =
        slots.iter().enumerate().flat_map(|(place, slot)| std::iter::repeat_n(place, slot.len())).collect();
    let wide = |words: &[u32]| words.iter().map(|word| u64::from(*word)).collect::<Vec<_>>();
    let mut pieces = Vec::new();
    let mut at = 0;
    let same = |pieces: &mut Vec<Piece>, from: usize, to: usize| {
        pieces.extend((from..to).map(|word| Piece {
            owner: owners[word],
            differs: false,
            before: 1,
            now: 1,
        }));
    };
    for gap in align::gaps(&wide(before), &wide(now)) {
        same(&mut pieces, at, gap.old.start);
        at = gap.old.end;
        if gap.old.len() == gap.new.len() {
            pieces.extend(gap.old.clone().zip(gap.new.clone()).map(|(old, new)| Piece {
                owner: owners[old],
                differs: before[old] != now[new],
                before: 1,
                now: 1,
            }));
            continue;
        }
        let place =
            loose_at(slots, &owners, &gap.old).unwrap_or_else(|| nearest(slots, &owners, gap.old.start));
        // Content beside it that has as many words on both sides keeps its place.
        let start = gap.old.clone().take_while(|word| owners[*word] < place).count();
        let end = gap.old.clone().rev().take_while(|word| owners[*word] > place).count();
        let fits = gap.new.len() >= start + end;
        let (start, end) = if fits { (start, end) } else { (0, 0) };
        let one = |old: usize, new: usize| Piece {
            owner: owners[old],
            differs: before[old] != now[new],
            before: 1,
            now: 1,
        };
        pieces.extend((0..start).map(|word| one(gap.old.start + word, gap.new.start + word)));
        pieces.push(Piece {
            owner: place,
            differs: true,
            before: gap.old.len() - start - end,
            now: gap.new.len() - start - end,
        });
        pieces.extend((0..end).rev().map(|word| one(gap.old.end - 1 - word, gap.new.end - 1 - word)));
    }
    same(&mut pieces, at, before.len());
    pieces
}

/// A slot in a stretch of words, or beside it, that is known to vary; noise before what is only suspect.
fn loose_at(slots: &[Slot], owners: &[usize], stretch: &std::ops::Range<usize>) -> Option<usize> {
    let first = stretch.start.checked_sub(1).map_or(0, |word| owners[word]);
    let last = owners.get(stretch.end).copied().unwrap_or(slots.len().saturating_sub(1));
    let loose = |noise: bool| {
        (first..=last).find(|place| {
            let slot = &slots[*place];
            // A neighbour only counts if nothing but it is there to take what came.
            let within =
                stretch.is_empty() || stretch.clone().any(|word| owners[word] == *place) || slot.len == 0;
            within && !slot.score.is_clear() && slot.is_noise() == noise
        })
    };
    loose(true).or_else(|| loose(false))
}

fn nearest(slots: &[Slot], owners: &[usize], word: usize) -> usize {
    owners.get(word).or(owners.last()).copied().unwrap_or(slots.len().saturating_sub(1))
}

/// Slots in a row that are of the same kind become one; hashes are those of the words.
fn joined(slots: Vec<Slot>, windows: &Windows<'_>) -> Vec<Slot> {
    let mut joined: Vec<Slot> = Vec::with_capacity(slots.len());
    for slot in slots {
        if slot.score.is_clear() && slot.len == 0 {
            continue;
        }
        let both_clear = |last: &Slot| last.score.is_clear() && slot.score.is_clear();
        // What is new in one of them is counted first.
        let is_fresh = |last: &Slot| last.values.is_fresh() || slot.values.is_fresh();
        let both_noise = |last: &Slot| last.is_noise() && slot.is_noise() && !is_fresh(last);
        match joined.last_mut() {
            Some(last) if both_clear(last) || both_noise(last) => {
                last.len += slot.len;
                last.most = last.most.saturating_add(slot.most).min(LONGEST as u16);
                // Of both together no value is known.
                last.values = Values::default();
            }
            _ => joined.push(slot),
        }
    }
    let mut at = 0;
    for slot in &mut joined {
        let len = slot.len();
        slot.hash = if len == 0 || slot.is_noise() { 0 } else { windows.hash(at, len) };
        if slot.score.is_clear() {
            (slot.most, slot.values) = (0, Values::default());
        }
        at += len;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Words<'_> {
        Words::new(text, true)
    }

    fn whole(text: &str) -> Vec<Slot> {
        let words = words(text);
        vec![Slot::fixed(Windows::new(&words.hashes).hash(0, words.len()), words.len())]
    }

    /// Looks in quick succession.
    fn learned(texts: &[&str]) -> Vec<Slot> {
        texts
            .windows(2)
            .fold(whole(texts[0]), |slots, pair| learn(&slots, &words(pair[0]), &words(pair[1]), true))
    }

    fn changed(slots: &[Slot], text: &str) -> usize {
        follow(slots, &words(text)).changed
    }

    const ORDER: [&str; 4] =
        ["Order 17 token a1 now", "Order 17 token b2 now", "Order 17 token c3 now", "Order 17 token d4 now"];

    #[test]
    fn the_smallest_stretch_is_noise_and_the_rest_is_not() {
        let slots = learned(&ORDER);
        assert_eq!(
            slots.iter().map(|slot| (slot.len, slot.is_noise())).collect::<Vec<_>>(),
            [(3, false), (1, true), (1, false)]
        );
        assert_eq!(changed(&slots, "Order 17 token x9 now"), 0);
        assert_eq!(changed(&slots, "Order 18 token x9 now"), 1);
        assert_eq!(changed(&slots, "Order 17 token x9 SOLD now"), 1);
        assert_eq!(changed(&slots, "Order 17 token x9 later"), 1);
    }

    #[test]
    fn noise_stays_known_after_a_change_beside_it() {
        let slots = learned(&["17 a1", "17 b2", "17 c3", "17 d4"]);
        let next = follow(&slots, &words("18 x9"));
        assert_eq!(next.changed, 1);
        assert_eq!(changed(&next.slots, "18 z1"), 0);
        assert_eq!(changed(&next.slots, "19 z1"), 1);
        let longer = follow(&learned(&ORDER), &words("Order 18 of 20 token x9 now"));
        assert_eq!(longer.changed, 1);
        assert_eq!(changed(&longer.slots, "Order 18 of 20 token q5 now"), 0);
    }

    #[test]
    fn two_pairs_are_not_enough() {
        assert_eq!(changed(&learned(&ORDER[..3]), "Order 17 token x9 now"), 1);
    }

    #[test]
    fn what_differed_once_and_stays_is_content_again() {
        let slots = learned(&["Order 17", "Order 18", "Order 18", "Order 18", "Order 18", "Order 18"]);
        assert_eq!(slots, whole("Order 18"));
    }

    #[test]
    fn noise_of_several_lengths() {
        let texts = [
            "say Buy now end",
            "say Fly to Rome today end",
            "say Eat end",
            "say Run far away end",
            "say Sit down here end",
        ];
        let slots = learned(&texts);
        assert_eq!(changed(&slots, "say Go home end"), 0);
        assert_eq!(changed(&slots, "say Go home bye"), 1);
    }

    #[test]
    fn what_comes_beside_noise_within_a_pair_is_not_swallowed() {
        let slots =
            learned(&["t a1", "t b2", "t c3", "t d4", "t e5 SOLD OUT", "t f6 SOLD OUT", "t g7 SOLD OUT"]);
        assert_eq!(changed(&slots, "t h8 SOLD OUT"), 0);
        assert_eq!(changed(&slots, "t h8"), 1);
    }

    fn texts() -> impl Strategy<Value = String> {
        let words = prop::collection::vec(0u32..6, 0..14);
        words.prop_map(|words| words.into_iter().map(|word| format!("w{word}")).collect::<Vec<_>>().join(" "))
    }

    fn fresh(words: &Words<'_>) -> Vec<Slot> {
        joined(vec![Slot::fixed(0, words.len())], &Windows::new(&words.hashes))
    }

    proptest! {
        #[test]
        fn slots_cover_all_words(looks in prop::collection::vec((texts(), any::<bool>()), 1..12)) {
            let mut last = words(&looks[0].0);
            let mut slots = fresh(&last);
            for (now, is_quick) in &looks[1..] {
                let now = words(now);
                slots = if *is_quick { learn(&slots, &last, &now, true) } else { follow(&slots, &now).slots };
                prop_assert_eq!(slots.iter().map(Slot::len).sum::<usize>(), now.len());
                prop_assert_eq!(follow(&slots, &now).changed, 0, "what was just seen is no change: {:?}", slots);
                last = now;
            }
        }

        #[test]
        fn without_quick_pairs_every_change_counts(looks in prop::collection::vec(texts(), 2..8)) {
            let mut slots = fresh(&words(&looks[0]));
            for pair in looks.windows(2) {
                let followed = follow(&slots, &words(&pair[1]));
                prop_assert_eq!(followed.changed == 0, pair[0] == pair[1]);
                slots = followed.slots;
            }
        }
    }
}
