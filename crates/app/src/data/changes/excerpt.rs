//! What a change removed and added, in a few short pieces of text: computed when the change is read, from the two versions that are kept.

use std::time::Duration;

use refrain_fetch::change::Rules;
use refrain_store::{Change, Digest, Reader, StoreError};
use serde::Serialize;
use similar::{DiffOp, TextDiff};
use utoipa::ToSchema;

use crate::data::diff::compare::text_of;

/// So many pieces of each kind are shown.
const SHOWN: usize = 3;
/// A piece has at most so many characters.
const LONGEST: usize = 160;
/// So many characters before the first difference are shown of a longer line.
const BEFORE: usize = 40;
/// After so long the shortest difference is not looked for any more.
const ENOUGH: Duration = Duration::from_millis(100);

/// What a change removed from the text of a page, and what it added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Excerpt {
    /// The first pieces of text that are no longer there, at most 3, each of at most 160 characters.
    removed: Vec<String>,
    /// The first pieces of text that are new, at most 3, each of at most 160 characters.
    added: Vec<String>,
    /// How many more pieces differ.
    more: usize,
}

/// What a change removed and added. `None` if there is nothing to show: a first copy, a page that is gone, a version that is not kept, a body
/// that is not text, or one whose text is the same.
pub(super) fn excerpt(reader: &Reader, change: &Change, rules: &Rules) -> Option<Excerpt> {
    let text = |digest: &Option<Digest>| -> Result<Option<Vec<String>>, StoreError> {
        let Some(digest) = digest else { return Ok(None) };
        let version = reader.version_with(change.page, digest)?;
        version.map_or(Ok(None), |version| text_of(reader, &version, rules))
    };
    // A damaged body is the business of `refrain check`: the feed goes on without it.
    let old = text(&change.old).ok()??;
    let new = text(&change.new).ok()??;
    Some(between(&old, &new)).filter(|excerpt| *excerpt != Excerpt::default())
}

/// What differs between two texts, line by line.
fn between(old: &[String], new: &[String]) -> Excerpt {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (old.iter().map(String::as_str).collect(), new.iter().map(String::as_str).collect());
    let diff = TextDiff::configure().timeout(ENOUGH).diff_slices(&old, &new);
    let mut excerpt = Excerpt::default();
    for op in diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. })) {
        let (gone, came) = (&old[op.old_range()], &new[op.new_range()]);
        for place in 0..gone.len().max(came.len()) {
            let (gone, came) = (gone.get(place), came.get(place));
            let same = gone.zip(came).map_or(0, |(gone, came)| alike(gone, came));
            for (piece, shown) in [(gone, &mut excerpt.removed), (came, &mut excerpt.added)] {
                match piece {
                    Some(piece) if shown.len() < SHOWN => shown.push(shortened(piece, same)),
                    Some(_) => excerpt.more += 1,
                    None => {}
                }
            }
        }
    }
    excerpt
}

/// How many characters two lines have in common at the beginning.
fn alike(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

/// A line, or the part of it around its first difference, which comes after `same` characters.
fn shortened(line: &str, same: usize) -> String {
    let length = line.chars().count();
    if length <= LONGEST {
        return line.to_owned();
    }
    let start = same.saturating_sub(BEFORE).min(length - LONGEST + 1);
    // Room for an ellipsis where something is left out.
    let room = LONGEST - usize::from(start > 0);
    let is_cut = start + room < length;
    let part: String = line.chars().skip(start).take(room - usize::from(is_cut)).collect();
    format!("{}{part}{}", if start > 0 { "…" } else { "" }, if is_cut { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split('|').filter(|line| !line.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn the_first_differences_are_shown_and_the_rest_is_counted() {
        let found = between(&lines("title|price 10|end"), &lines("title|price 12|sold out|end"));
        assert_eq!(
            (found.removed, found.added, found.more),
            (lines("price 10"), lines("price 12|sold out"), 0)
        );
        let found = between(&[], &lines("a|b|c|d|e"));
        assert_eq!((found.removed, found.added, found.more), (vec![], lines("a|b|c"), 2));
        assert_eq!(between(&lines("a|b"), &lines("a|b")), Excerpt::default());
    }

    #[test]
    fn of_a_long_line_the_part_that_differs_is_shown() {
        let old = format!("{}price 10{}", "x".repeat(500), "y".repeat(500));
        let new = old.replace("10", "12");
        let found = between(&[old], std::slice::from_ref(&new));
        for (piece, price) in [(&found.removed[0], "price 10"), (&found.added[0], "price 12")] {
            assert!(piece.contains(price) && piece.chars().count() == LONGEST, "{piece}");
            assert!(piece.starts_with('…') && piece.ends_with('…'), "{piece}");
        }
        let found = between(std::slice::from_ref(&new), &[format!("{new}!")]);
        assert!(found.added[0].starts_with('…') && found.added[0].ends_with("y!"), "{found:?}");
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_whatever_the_texts(
            old in prop::collection::vec("[aäб ]{0,400}", 0..12),
            new in prop::collection::vec("[aäб ]{0,400}", 0..12),
        ) {
            let found = between(&old, &new);
            prop_assert!(found.removed.len() <= SHOWN && found.added.len() <= SHOWN);
            prop_assert!(found.removed.iter().chain(&found.added).all(|piece| piece.chars().count() <= LONGEST));
            prop_assert_eq!(found == Excerpt::default(), old == new);
        }
    }
}
