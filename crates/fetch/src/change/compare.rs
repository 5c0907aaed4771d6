//! The verdict.

use refrain_core::time::Span;

use super::align::{self, Gap};
use super::kept::Kept;
use super::look::Look;
use super::noise::Lesson;
use super::rules::{By, Rules};
use super::units;

/// What a look says about a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Did it change?
    pub changed: bool,
    /// What differs, by the rules.
    pub what: What,
    /// So many places differ as well, and mean nothing.
    pub noise_ignored: usize,
    /// What differs may well be noise: a second look within [`Rules::quick`] would tell. Asked for rarely, and less and less
    /// often where it found nothing.
    pub look_again: bool,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing that counts.
    Nothing,
    /// The bytes.
    Exact,
    /// The text.
    Text {
        /// So many units of text (blocks, or runs of blocks on long pages) are new, gone or other than they were,
        changed: usize,
        /// of so many.
        of: usize,
    },
    /// The sketch of the text.
    Simhash {
        /// So many of its 64 bits differ.
        distance: u32,
    },
}

/// Compares what was kept with what was seen `elapsed` later; gives the verdict, and what to keep instead.
pub fn compare(kept: &Kept, look: &Look, elapsed: Span, rules: &Rules) -> (Verdict, Kept) {
    let exact = if kept.digest == look.digest { What::Nothing } else { What::Exact };
    // Under other rules other blocks were seen; and what is not text has none.
    if kept.mark != look.mark || !kept.is_text || look.blocks.is_none() {
        return (verdict(exact, &Lesson::default()), Kept::first(look));
    }
    let now = kept.noise.strip(&units::units(&look.hashes, kept.grain));
    let hashes: Vec<u32> = now.units.iter().map(|unit| unit.hash).collect();
    let gaps = align::gaps(&kept.units, &hashes);
    let mut noise = kept.noise.clone();
    let lesson = if rules.learn_noise {
        noise.learn(&now, &gaps, elapsed <= rules.quick, is_steady(&gaps, kept.units.len()))
    } else {
        Lesson { learned: vec![false; gaps.len()], ..Lesson::default() }
    };
    let next = Kept::next(look, kept.grain, noise);
    let what = match rules.by {
        By::Exact => exact,
        By::Text => text(&gaps, &lesson, kept.units.len().max(hashes.len())),
        By::Simhash { distance: most } => {
            let distance = (kept.simhash ^ next.simhash).count_ones();
            // Noise that was learned just now is in the old sketch, and not in the new one.
            let all_noise = !gaps.is_empty() && lesson.learned.iter().all(|learned| *learned);
            if distance <= most || all_noise { What::Nothing } else { What::Simhash { distance } }
        }
    };
    (verdict(what, &lesson), next)
}

fn verdict(what: What, lesson: &Lesson) -> Verdict {
    let changed = what != What::Nothing;
    Verdict { changed, what, noise_ignored: lesson.ignored, look_again: lesson.look_again }
}

/// Most of what was there still is: it is the same page, not an error message or another version of everything.
fn is_steady(gaps: &[Gap], units: usize) -> bool {
    let gone: usize = gaps.iter().map(|gap| gap.old.len()).sum();
    2 * gone <= units
}

fn text(gaps: &[Gap], lesson: &Lesson, of: usize) -> What {
    let news = gaps.iter().zip(&lesson.learned).filter(|(_, learned)| !**learned);
    match news.map(|(gap, _)| gap.len()).sum() {
        0 => What::Nothing,
        changed => What::Text { changed, of },
    }
}
