//! What counted as a change, as a text that is kept with the observation, and how much of a page that is.

use refrain_fetch::change::What;

/// What counted as a change.
pub(crate) fn counted(what: What) -> String {
    match what {
        What::Nothing => "nothing".to_owned(),
        What::Exact => "bytes".to_owned(),
        What::Text { changed, of } => format!("text: {changed} of {of} blocks"),
        What::Simhash { distance } => format!("simhash: {distance} of 64 bits"),
    }
}

/// The share of a page's text that changed, 0 to 1, from what counted as the change; `None` where that was not the text.
pub fn changed_share(counted: &str) -> Option<f64> {
    let (changed, of) = counted.strip_prefix("text: ")?.strip_suffix(" blocks")?.split_once(" of ")?;
    let (changed, of) = (changed.parse::<u64>().ok()?, of.parse::<u64>().ok()?);
    (of > 0).then(|| (changed as f64 / of as f64).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_read_from_what_was_written() {
        assert_eq!(changed_share(&counted(What::Text { changed: 3, of: 12 })), Some(0.25));
        // Blocks that went count as well: more can differ than there are now.
        assert_eq!(changed_share(&counted(What::Text { changed: 5, of: 4 })), Some(1.0));
        for other in
            [What::Nothing, What::Exact, What::Simhash { distance: 7 }, What::Text { changed: 1, of: 0 }]
        {
            assert_eq!(changed_share(&counted(other)), None, "{other:?}");
        }
        for other in ["", "imported", "text: x of 3 blocks", "text: 1 of 3"] {
            assert_eq!(changed_share(other), None, "{other}");
        }
    }
}
