//! What is too large, or not a number, is refused before anything is written; what strangers wrote is cut to size instead.

use crate::address::LONGEST_ADDRESS;
use crate::batch::Batch;
use crate::error::StoreError;
use crate::facts::Outcome;

const LARGEST_HISTORY: usize = 64 << 10;
const LARGEST_KEPT: usize = 4 << 20;
const LARGEST_META: usize = 256 << 20;
const LARGEST_ROBOTS: usize = 2 << 20;
const LONGEST_NAME: usize = 1024;
const LONGEST_VALIDATOR: usize = 2048;
const LONGEST_TITLE: usize = 500;

/// Refuses what only a mistake of the caller can have made.
pub(crate) fn check(batch: &Batch) -> Result<(), StoreError> {
    for page in &batch.pages {
        importance(page.url.as_str(), page.importance)?;
        name("a host", &page.host)?;
        name("how a page was found", page.found)?;
    }
    for edit in &batch.edits {
        importance(&format!("page {}", edit.page.0), edit.importance.unwrap_or(0.0))?;
    }
    for host in &batch.hosts {
        name("a host", &host.name)?;
        size("robots.txt", host.robots.as_ref().map_or(0, |robots| robots.text.len()), LARGEST_ROBOTS)?;
    }
    for past in &batch.past {
        size("a history", past.history.len(), LARGEST_HISTORY)?;
    }
    for look in &batch.looks {
        size("a history", look.history.as_ref().map_or(0, Vec::len), LARGEST_HISTORY)?;
        let kept = look.known.as_ref().and_then(|known| known.kept.as_ref());
        size("what is kept of a page", kept.map_or(0, Vec::len), LARGEST_KEPT)?;
        name("what counted as change", look.counted.as_deref().unwrap_or_default())?;
        if matches!(look.outcome, Outcome::First | Outcome::Changed) && look.digest.is_none() {
            let (page, outcome) = (look.page.0, look.outcome.as_str());
            return Err(StoreError::Refused(format!(
                "the look at page {page} has the outcome {outcome:?} but no digest; expected that of the body"
            )));
        }
        if let Some(record) = &look.record
            && look.digest != Some(record.digest())
        {
            return Err(StoreError::Refused(format!(
                "the look at page {} and its record disagree on the digest of the body; expected the same",
                look.page.0
            )));
        }
    }
    batch.signals.iter().try_for_each(|signal| name("a kind of signal", &signal.kind))?;
    batch.delivered.iter().try_for_each(|(consumer, _)| name("a consumer", consumer))?;
    batch.meta.iter().try_for_each(|(key, value)| {
        name("a key", key)?;
        size("a value", value.len(), LARGEST_META)
    })
}

fn importance(whose: &str, value: f64) -> Result<(), StoreError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(StoreError::Refused(format!("{whose}: the importance is {value}; expected a number from 0 on")))
}

fn name(what: &str, text: &str) -> Result<(), StoreError> {
    size(&format!("the name of {what}"), text.len(), LONGEST_NAME)
}

fn size(what: &str, found: usize, most: usize) -> Result<(), StoreError> {
    if found <= most {
        return Ok(());
    }
    Err(StoreError::Refused(format!("{what} has {found} bytes; expected at most {most}")))
}

/// A validator that can be sent back; what is longer is no validator.
pub(super) fn validator(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| text.len() <= LONGEST_VALIDATOR)
}

/// Where a page leads, if it is an address of bearable length.
pub(super) fn target(text: Option<&String>) -> Option<&str> {
    text.map(String::as_str).filter(|text| text.len() <= LONGEST_ADDRESS)
}

/// A title, cut after so many characters.
pub(super) fn title(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.char_indices().nth(LONGEST_TITLE).map_or(&text[..], |(end, _)| &text[..end]))
}
