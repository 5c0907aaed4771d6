//! Real histories that are in the binary.

use refrain_lab::figures::{InterestSet, ItemSet, Recorded};

use crate::failure::Failure;
use crate::input::{NamedTrace, RecordedItems, interest_within};

/// A file of the examples, with its name.
macro_rules! example {
    ($name:literal) => {
        (concat!("examples/", $name), include_bytes!(concat!("../../../../../examples/", $name)))
    };
}

/// A file: what it is called in messages, and what is in it.
type Within = (&'static str, &'static [u8]);

const ITEMS: [(&str, Within); 3] = [
    ("reddit", example!("reddit/items.csv.gz")),
    ("bbc", example!("bbc/items.csv.gz")),
    ("hn", example!("hn/items.csv.gz")),
];
const INTEREST: [(&str, Within); 2] =
    [("shares", example!("shares/interest.csv.gz")), ("votes", example!("votes/interest.csv.gz"))];

/// All of them.
pub(super) fn recorded() -> Result<Recorded, Failure> {
    let items = ITEMS.map(|(name, (file, bytes))| {
        let sources = RecordedItems::within(file, bytes)?.items;
        Ok(ItemSet { name: name.to_owned(), sources })
    });
    let interest = INTEREST.map(|(name, (file, bytes))| {
        Ok(InterestSet { name: name.to_owned(), curves: interest_within(file, bytes)? })
    });
    Ok(Recorded {
        trace: Some(NamedTrace::example()?.trace),
        items: items.into_iter().collect::<Result<_, Failure>>()?,
        interest: interest.into_iter().collect::<Result<_, Failure>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_is_that_of_the_examples() {
        let trace = recorded().unwrap().trace.unwrap();
        let changes: usize = trace.pages.iter().map(|page| page.changes.len()).sum();
        assert_eq!((trace.pages.len(), changes, trace.announcements.len()), (150, 1245, 1328));
    }

    #[test]
    fn items_and_interest_are_those_of_the_examples() {
        let recorded = recorded().unwrap();
        let items: Vec<(&str, usize, usize)> = recorded
            .items
            .iter()
            .map(|set| (set.name.as_str(), set.sources.len(), set.sources.iter().map(Vec::len).sum()))
            .collect();
        assert_eq!(items, [("reddit", 415, 18_204), ("bbc", 38, 2_728), ("hn", 865, 2_300)]);
        let interest: Vec<(&str, usize)> =
            recorded.interest.iter().map(|set| (set.name.as_str(), set.curves.len())).collect();
        assert_eq!(interest, [("shares", 217), ("votes", 365)]);
    }
}
