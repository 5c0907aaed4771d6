//! What is promised of a page's changes: pages of a host of which the same is promised are alike, as far as their changes show.
//!
//! Nothing is believed of the promise itself. Pages with the same one learn from each other like pages made by the same template; what it
//! means on a host is what its pages have shown.

use refrain_core::time::Span;
use refrain_fetch::announce::hints::Hints;
use refrain_fetch::client::Headers;

/// A promise as a small number, from 1 on: about how long, and by whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint(pub(crate) u8);

/// Numbers from here on are sitemaps' words, those below caches'.
const WORDS: u8 = 64;

impl Hint {
    /// A cache is told to take the page for unchanged for a while, or is told nothing.
    pub(crate) fn of_answer(headers: &Headers, now: refrain_core::time::Time) -> Option<Self> {
        Hints::of(headers, now).promised().map(|promise| Self(1 + steps(promise)))
    }

    /// A sitemap says how often the page changes.
    pub(crate) fn change_every(span: Span) -> Self {
        Self(WORDS + steps(span))
    }
}

/// Lengths of time by factors of four: from below four seconds to more than thirty years, 16 steps.
fn steps(span: Span) -> u8 {
    let fours = span.as_secs().max(1.0).log2() / 2.0;
    fours.min(15.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_told_apart_by_factors() {
        let step = |seconds| steps(Span::from_whole_secs(seconds));
        assert_eq!([0, 1, 3, 4, 15, 16, 3600, 86_400].map(step), [0, 0, 0, 1, 1, 2, 5, 8]);
        assert_eq!(step(u64::MAX), 15);
        assert_eq!(Hint::change_every(Span::from_whole_secs(3600)), Hint(69));
    }
}
