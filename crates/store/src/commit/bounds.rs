//! What is too large, or not a number, is refused before anything is written; what strangers wrote is cut to size instead.

use std::collections::HashSet;

use crate::address::LONGEST_ADDRESS;
use crate::batch::Batch;
use crate::error::StoreError;
use crate::facts::{
    Edit, GREATEST_IMPORTANCE, HostUpdate, HubFacts, LONGEST_NAME, Look, NewPage, Outcome, PastLooks,
    ReadsFacts, Sample, Seq, Signal, Voice,
};

const LARGEST_HISTORY: usize = 64 << 10;
const LARGEST_KEPT: usize = 4 << 20;
const LARGEST_META: usize = 256 << 20;
const LARGEST_ROBOTS: usize = 2 << 20;
const LONGEST_VALIDATOR: usize = 2048;
const LONGEST_TITLE: usize = 500;

/// What is refused: a sentence.
type Checked = Result<(), String>;

/// Facts of a batch that were left out.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    /// The places of pages that are not added.
    pub(crate) pages: HashSet<usize>,
    /// Why, for each fact.
    pub(crate) reasons: Vec<String>,
}

/// Refuses a batch with a fact that cannot be.
pub(crate) fn check(batch: &Batch) -> Result<(), StoreError> {
    let all = || {
        batch.hosts.iter().try_for_each(host)?;
        batch.pages.iter().try_for_each(page)?;
        batch.edits.iter().try_for_each(edit)?;
        batch.past.iter().try_for_each(past)?;
        batch.looks.iter().try_for_each(look)?;
        batch.signals.iter().try_for_each(signal)?;
        batch.voices.iter().try_for_each(voice)?;
        batch.hubs.iter().try_for_each(hub)?;
        batch.reads.iter().try_for_each(reads)?;
        batch.delivered.iter().try_for_each(delivered)?;
        batch.samples.iter().try_for_each(sample)?;
        batch.meta.iter().try_for_each(meta)
    };
    all().map_err(StoreError::Refused)
}

/// Takes the facts that cannot be out of a batch. Pages stay where they are, and are to be passed over.
pub(crate) fn sift(batch: &mut Batch) -> Refused {
    let mut refused = Refused::default();
    for (at, new) in batch.pages.iter().enumerate() {
        if let Err(why) = page(new) {
            refused.pages.insert(at);
            refused.reasons.push(why);
        }
    }
    let reasons = &mut refused.reasons;
    retain(&mut batch.hosts, host, reasons);
    retain(&mut batch.edits, edit, reasons);
    retain(&mut batch.past, past, reasons);
    retain(&mut batch.looks, look, reasons);
    retain(&mut batch.signals, signal, reasons);
    retain(&mut batch.voices, voice, reasons);
    retain(&mut batch.hubs, hub, reasons);
    retain(&mut batch.reads, reads, reasons);
    retain(&mut batch.delivered, delivered, reasons);
    retain(&mut batch.samples, sample, reasons);
    retain(&mut batch.meta, meta, reasons);
    refused
}

fn retain<T>(facts: &mut Vec<T>, check: impl Fn(&T) -> Checked, reasons: &mut Vec<String>) {
    facts.retain(|fact| match check(fact) {
        Ok(()) => true,
        Err(why) => {
            reasons.push(why);
            false
        }
    });
}

fn page(page: &NewPage) -> Checked {
    importance(page.url.as_str(), page.importance)?;
    name("a host", &page.host)?;
    name("how a page was found", page.found)
}

fn edit(edit: &Edit) -> Checked {
    edit.importance.map_or(Ok(()), |value| importance(&format!("page {}", edit.page.0), value))
}

fn host(host: &HostUpdate) -> Checked {
    name("a host", &host.name)?;
    size("robots.txt", host.robots.as_ref().map_or(0, |robots| robots.text.len()), LARGEST_ROBOTS)
}

fn past(past: &PastLooks) -> Checked {
    size("a history", past.history.len(), LARGEST_HISTORY)
}

fn look(look: &Look) -> Checked {
    size("a history", look.history.as_ref().map_or(0, Vec::len), LARGEST_HISTORY)?;
    let kept = look.known.as_ref().and_then(|known| known.kept.as_ref());
    size("what is kept of a page", kept.map_or(0, Vec::len), LARGEST_KEPT)?;
    name("what counted as change", look.counted.as_deref().unwrap_or_default())?;
    if matches!(look.outcome, Outcome::First | Outcome::Changed) && look.digest.is_none() {
        let (page, outcome) = (look.page.0, look.outcome.as_str());
        return Err(format!(
            "the look at page {page} has the outcome {outcome:?} but no digest; expected that of the body"
        ));
    }
    if let Some(record) = &look.record
        && look.digest != Some(record.digest())
    {
        return Err(format!(
            "the look at page {} and its record disagree on the digest of the body; expected the same",
            look.page.0
        ));
    }
    Ok(())
}

fn signal(signal: &Signal) -> Checked {
    name("a kind of signal", &signal.kind)
}

fn voice(voice: &Voice) -> Checked {
    name("a kind of signal", &voice.kind)?;
    let numbers = [voice.intervals, voice.precision, voice.recall];
    finite(&numbers, || format!("what is known of {} at {}", voice.kind, voice.host))
}

fn hub(hub: &HubFacts) -> Checked {
    finite(&[hub.rate, hub.profit, hub.decay], || format!("what is known of hub {}", hub.page.0))
}

fn reads(reads: &ReadsFacts) -> Checked {
    finite(&[reads.count], || format!("how often page {} is read", reads.page.0))
}

fn delivered((consumer, _): &(String, Seq)) -> Checked {
    name("a consumer", consumer)
}

fn sample(sample: &Sample) -> Checked {
    finite(&[sample.fresh, sample.foretold, sample.rate, sample.price.unwrap_or(0.0)], || {
        "how the crawl went".to_owned()
    })
}

fn meta((key, value): &(String, Vec<u8>)) -> Checked {
    name("a key", key)?;
    size("a value", value.len(), LARGEST_META)
}

fn importance(whose: &str, value: f64) -> Checked {
    if (0.0..=GREATEST_IMPORTANCE).contains(&value) {
        return Ok(());
    }
    let value = if value > GREATEST_IMPORTANCE { format!("{value:e}") } else { value.to_string() };
    Err(format!("{whose}: the importance is {value}; expected a number from 0 to {GREATEST_IMPORTANCE:e}"))
}

/// SQLite has no number for what is not a number.
fn finite(values: &[f64], what: impl FnOnce() -> String) -> Checked {
    match values.iter().find(|value| !value.is_finite()) {
        None => Ok(()),
        Some(value) => Err(format!("{}: {value} is among its numbers; expected finite ones", what())),
    }
}

fn name(what: &str, text: &str) -> Checked {
    size(&format!("the name of {what}"), text.len(), LONGEST_NAME)
}

fn size(what: &str, found: usize, most: usize) -> Checked {
    if found <= most {
        return Ok(());
    }
    Err(format!("{what} has {found} bytes; expected at most {most}"))
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
