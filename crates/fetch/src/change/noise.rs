//! Places on a page whose content means nothing, and places that may turn out to be such.
//!
//! A place is the stretch between two units of text that stay (or an end of the page). It holds so many units at most as
//! were seen there: more are news. Only two looks in quick succession that differ make noise of a place; two such pairs
//! confirm it. What stays the same for some looks is noise no longer.

use super::align::Gap;
use super::units::{Unit, of_run};

/// So many places are remembered: those of a page that can be told from its noise.
const MOST_PLACES: usize = 24;
/// A longer stretch than this, in units, is a part of the page, not noise in it.
const LONGEST_PLACE: usize = 40;

/// From this score on, a place is noise; each pair of quick looks that differ adds as much.
const NOISE: u8 = 4;
/// From this score on, it is certain.
const CERTAIN: u8 = 8;
const HIGHEST: u8 = 12;
/// Two quick looks that agree weigh more than two that differ: news could have come in between.
const QUICK_AGREEMENT: u8 = 6;

const PLACE_BYTES: usize = 16;

/// Neighbours of what stands at the start and the end of a page.
const START: u32 = 0x5354_4152;
const END: u32 = 0x454e_4445;

/// What is known of a page's noise: a few hundred bytes at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    places: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// What stands before and after it.
    before: u32,
    after: u32,
    /// What was there last.
    content: u32,
    /// So many units were there at most.
    longest: u8,
    score: u8,
    /// It differed at each of so many looks, up to the last one.
    streak: u8,
    /// So often, a second look has found it no noise after a streak.
    cleared: u8,
}

/// A page without its noise.
pub(super) struct Stripped {
    pub(super) units: Vec<Unit>,
    /// Noise that was found: its place, and its content now.
    found: Vec<(usize, u32)>,
}

/// What a comparison taught.
#[derive(Debug, Default)]
pub(super) struct Lesson {
    /// Places that differed and mean nothing.
    pub(super) ignored: usize,
    /// Which of the gaps turned out to be noise just now.
    pub(super) learned: Vec<bool>,
    /// A second look, soon, would tell more.
    pub(super) look_again: bool,
}

impl Noise {
    /// How many places are noise.
    pub fn places(&self) -> usize {
        self.places.iter().filter(|place| place.is_noise()).count()
    }

    /// The page without what is known to be noise.
    pub(super) fn strip(&self, units: &[Unit]) -> Stripped {
        let mut stripped = Stripped { units: Vec::with_capacity(units.len()), found: Vec::new() };
        let hash = |at: usize| units.get(at).map_or(END, |unit| unit.hash);
        let mut before = START;
        let mut at = 0;
        while at <= units.len() {
            let mut known = self
                .places
                .iter()
                .enumerate()
                .filter(|(_, place)| place.is_noise() && place.before == before);
            let found = known.find_map(|(index, place)| {
                let furthest = units.len().min(at + usize::from(place.longest));
                let end = (at..=furthest).find(|end| hash(*end) == place.after)?;
                Some((index, end))
            });
            if let Some((index, end)) = found {
                let content: Vec<u32> = units[at..end].iter().map(|unit| unit.hash).collect();
                stripped.found.push((index, of_run(&content)));
                at = end;
            }
            before = hash(at);
            stripped.units.extend(units.get(at).cloned());
            at += 1;
        }
        stripped
    }

    /// Learns from a comparison. `gaps` are between what was kept and `now`, the page without its noise; `quick` says that
    /// the looks were in quick succession, `steady` that most of the page stayed.
    pub(super) fn learn(&mut self, now: &Stripped, gaps: &[Gap], quick: bool, steady: bool) -> Lesson {
        let mut lesson = Lesson { learned: vec![false; gaps.len()], ..Lesson::default() };
        self.weigh(&now.found, quick, &mut lesson);
        let mut seen = vec![false; self.places.len()];
        let mut streaks = 0;
        for (index, gap) in gaps.iter().enumerate() {
            let before = gap.new.start.checked_sub(1).map_or(START, |at| now.units[at].hash);
            let after = now.units.get(gap.new.end).map_or(END, |unit| unit.hash);
            if !steady || gap.len() > LONGEST_PLACE {
                continue;
            }
            let content: Vec<u32> = now.units[gap.new.clone()].iter().map(|unit| unit.hash).collect();
            let place = Place {
                before,
                after,
                content: of_run(&content),
                longest: gap.len() as u8,
                score: 0,
                streak: 0,
                cleared: 0,
            };
            if !place.is_single_in(&now.units) {
                continue;
            }
            let Some(at) = self.find_or_add(place, quick) else { continue };
            seen.resize(self.places.len().max(seen.len()), false);
            seen[at] = true;
            let place = &mut self.places[at];
            if quick {
                place.score = (place.score + NOISE).min(HIGHEST);
                (place.streak, place.cleared) = (0, 0);
                lesson.learned[index] = true;
                lesson.ignored += 1;
            } else {
                place.streak = place.streak.saturating_add(1);
                streaks += usize::from(place.has_long_streak());
            }
        }
        lesson.look_again |= !quick && !gaps.is_empty() && streaks == gaps.len();
        for (place, seen) in self.places.iter_mut().zip(seen) {
            if !seen && !place.is_noise() {
                place.cleared = place.cleared.saturating_add(u8::from(quick && place.streak > 0));
                place.streak = 0;
            }
        }
        lesson
    }

    /// What known noise did this time.
    fn weigh(&mut self, found: &[(usize, u32)], quick: bool, lesson: &mut Lesson) {
        for (index, content) in found {
            let Some(place) = self.places.get_mut(*index) else { continue };
            if place.content == *content {
                place.score = place.score.saturating_sub(if quick { QUICK_AGREEMENT } else { 1 });
                continue;
            }
            lesson.ignored += 1;
            place.content = *content;
            if quick {
                place.score = (place.score + NOISE).min(HIGHEST);
            } else if place.score >= CERTAIN {
                // What is certain may keep silent now and then.
                place.score = (place.score + 1).min(HIGHEST);
            } else {
                lesson.look_again = true;
            }
        }
    }

    /// The place with these neighbours, perhaps in the room of one that matters less.
    fn find_or_add(&mut self, new: Place, is_noise: bool) -> Option<usize> {
        let same = |place: &Place| (place.before, place.after) == (new.before, new.after);
        if let Some(at) = self.places.iter().position(same) {
            let place = &mut self.places[at];
            place.longest = place.longest.max(new.longest);
            place.content = new.content;
            return Some(at);
        }
        if self.places.len() < MOST_PLACES {
            self.places.push(new);
            return Some(self.places.len() - 1);
        }
        let (at, least) =
            self.places.iter().enumerate().min_by_key(|(_, place)| (place.score, place.streak))?;
        if least.is_noise() || (least.streak > 0 && !is_noise) {
            return None;
        }
        self.places[at] = new;
        Some(at)
    }

    /// As bytes, to be kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.places.len() as u8];
        for place in &self.places {
            for hash in [place.before, place.after, place.content] {
                bytes.extend_from_slice(&hash.to_le_bytes());
            }
            bytes.extend_from_slice(&[place.longest, place.score, place.streak, place.cleared]);
        }
        bytes
    }

    /// Reads what [`Noise::to_bytes`] wrote; `None` for anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (count, rest) = bytes.split_first()?;
        if usize::from(*count) > MOST_PLACES || rest.len() != usize::from(*count) * PLACE_BYTES {
            return None;
        }
        let places = rest.chunks_exact(PLACE_BYTES).map(Place::from_bytes).collect::<Option<_>>()?;
        Some(Self { places })
    }
}

impl Place {
    fn is_noise(&self) -> bool {
        self.score >= NOISE
    }

    /// Long enough to be worth a second look; longer each time such a look found nothing.
    fn has_long_streak(&self) -> bool {
        u32::from(self.streak) >= 2 << self.cleared.min(5)
    }

    /// Neighbours that come up again and again do not make a place.
    fn is_single_in(&self, units: &[Unit]) -> bool {
        let alone = Noise { places: vec![Self { score: NOISE, ..self.clone() }] };
        alone.strip(units).found.len() == 1
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let hash = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let &[longest, score, streak, cleared] = bytes.get(12..)? else { return None };
        let place =
            Self { before: hash(0)?, after: hash(4)?, content: hash(8)?, longest, score, streak, cleared };
        (usize::from(longest) <= LONGEST_PLACE && score <= HIGHEST).then_some(place)
    }
}
