//! What of a page does not count as a change, because quick looks have found that it is noise.

use std::collections::HashSet;

use refrain_fetch::change::{Ignored, IgnoredKind, Kept, Look, Rules};
use refrain_fetch::client::ContentType;
use refrain_store::{PageRecord, Reader, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

use super::diff::header;

/// So many places are listed.
const LISTED: usize = 12;
/// So many letters of each are shown.
const LETTERS: usize = 60;

/// What does not count.
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Noise {
    /// In how many places of the page there is noise.
    pub(crate) places: usize,
    /// How many pairs of looks, seconds apart, have shown that.
    pub(crate) quick_pairs: u16,
    /// The first of these places in the copy that was kept last.
    pub(crate) shown: Vec<NoisePlace>,
}

/// A place that does not count.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct NoisePlace {
    /// What the last copy has there, shortened.
    pub(crate) text: String,
    /// `words`: they are others at each look; `presence`: the block comes and goes; `order`: it changes places with others.
    pub(crate) kind: &'static str,
}

fn named(kind: IgnoredKind) -> &'static str {
    match kind {
        IgnoredKind::Words => "words",
        IgnoredKind::Presence => "presence",
        IgnoredKind::Order => "order",
    }
}

impl NoisePlace {
    /// Why it does not count, in words.
    pub(crate) fn why(&self) -> &'static str {
        match self.kind {
            "presence" => "comes and goes",
            "order" => "changes places",
            _ => "others at each look",
        }
    }
}

/// What is known of a page's noise.
pub(crate) fn kept(page: &PageRecord) -> Option<Kept> {
    Kept::from_bytes(page.kept.as_deref()?).ok()
}

/// The noise of a page; `None` if it has none. Its text is that of the copy that was kept last.
pub(crate) fn noise(reader: &Reader, page: &PageRecord, rules: &Rules) -> Result<Option<Noise>, StoreError> {
    let Some(kept) = kept(page).filter(|kept| kept.noise() > 0) else { return Ok(None) };
    let mut noise = Noise { places: kept.noise(), quick_pairs: kept.pairs(), shown: Vec::new() };
    let Some(look) = last_copy(reader, page, rules)? else { return Ok(Some(noise)) };
    let Some(blocks) = look.text() else { return Ok(Some(noise)) };
    let texts: Vec<&str> = blocks.iter().collect();
    let shown = kept.ignored(&look).into_iter().take(LISTED).filter_map(|ignored| {
        let text = texts.get(ignored.block)?.get(ignored.bytes)?;
        Some(NoisePlace { text: short(text), kind: named(ignored.kind) })
    });
    noise.shown = shown.collect();
    Ok(Some(noise))
}

fn last_copy(reader: &Reader, page: &PageRecord, rules: &Rules) -> Result<Option<Look>, StoreError> {
    let Some(digest) = &page.digest else { return Ok(None) };
    let Some(version) = reader.version_with(page.id, digest)? else { return Ok(None) };
    let Some(record) = reader.answer(version.id)? else { return Ok(None) };
    let kind = header(&record.head, "content-type").and_then(|line| ContentType::parse(&line));
    Ok(Some(Look::new(&record.body, kind.as_ref(), rules)))
}

fn short(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LETTERS).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}

/// What stands in place of words that do not count.
const MASK: &str = "[ignored]";

/// The blocks of two looks without what does not count in them.
pub(crate) fn masked(kept: &Kept, old: &Look, new: &Look) -> Option<(Vec<String>, Vec<String>)> {
    let ignored = [kept.ignored(old), kept.ignored(new)];
    let [old, new] = [old, new].map(|look| look.text().map(|text| text.iter().collect::<Vec<_>>()));
    let (old, new) = (old?, new?);
    // Of blocks that change places, those that are in both are where they were, as far as it counts.
    let order = |blocks: &[&str], ignored: &[Ignored]| -> HashSet<String> {
        let moving = ignored.iter().filter(|ignored| ignored.kind == IgnoredKind::Order);
        moving.filter_map(|ignored| blocks.get(ignored.block).map(|text| (*text).to_owned())).collect()
    };
    let both: HashSet<String> =
        order(&old, &ignored[0]).intersection(&order(&new, &ignored[1])).cloned().collect();
    Some((mask(&old, &ignored[0], &both), mask(&new, &ignored[1], &both)))
}

fn mask(blocks: &[&str], ignored: &[Ignored], both: &HashSet<String>) -> Vec<String> {
    let mut lines: Vec<Option<String>> = blocks.iter().map(|block| Some((*block).to_owned())).collect();
    // From the end, so that places before stay where they are.
    for ignored in ignored.iter().rev() {
        let Some(line) = lines.get_mut(ignored.block) else { continue };
        match (ignored.kind, line.as_mut()) {
            (IgnoredKind::Words, Some(text)) if text.get(ignored.bytes.clone()).is_some() => {
                text.replace_range(ignored.bytes.clone(), MASK);
            }
            (IgnoredKind::Presence, _) => *line = None,
            (IgnoredKind::Order, Some(text)) if both.contains(text) => *line = None,
            _ => {}
        }
    }
    lines.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use refrain_core::time::{Span, Time};
    use refrain_fetch::change::{Reported, Visit, judge};

    fn look(token: &str, count: u32) -> Look {
        let html = format!("<html><p>Order {count} token {token}</p><p>more text</p>");
        Look::new(html.as_bytes(), None, &Rules::default())
    }

    #[test]
    fn what_does_not_count_is_masked_and_the_rest_is_not() {
        let rules = Rules::default();
        let mut kept = Kept::first(&look("a", 17));
        let mut doubt = None;
        for token in ["b", "c", "d", "e"] {
            let visit = Visit {
                rules: &rules,
                doubt: doubt.take().map(|doubt| (doubt, Span::from_whole_secs(2))),
                time: Time::ZERO,
                may_look_again: true,
                is_quiet_host: false,
            };
            let reported = || Some(Reported { look: look("a", 17), time: Time::ZERO });
            let judgement = judge(&kept, &look(token, 17), visit, reported);
            doubt = judgement.doubt;
            if doubt.is_none() {
                kept = judgement.kept;
            }
        }
        let (old, new) = masked(&kept, &look("x", 17), &look("y", 18)).expect("text");
        assert_eq!(old, ["Order 17 token [ignored]", "more text"]);
        assert_eq!(new, ["Order 18 token [ignored]", "more text"]);
    }
}
