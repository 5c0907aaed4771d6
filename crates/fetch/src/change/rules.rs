//! What counts as a change, chosen per site.

use refrain_core::time::Span;
use xxhash_rust::xxh3::xxh3_64;

use crate::text::Selectors;

/// Counted up when pages are cut into other blocks than before.
const READER: u32 = 2;

/// What counts as a change.
#[derive(Clone, Debug)]
pub struct Rules {
    /// What is compared.
    pub by: By,
    /// Which parts of an HTML page count.
    pub selectors: Selectors,
    /// Digits do not count: for sites full of counters and prices that nobody follows.
    pub ignore_digits: bool,
    /// Learn what differs between two looks in quick succession, and ignore it from then on.
    pub learn_noise: bool,
    /// Two looks at most this far apart are in quick succession: the text of a page does not change that fast.
    pub quick: Span,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Every byte of the body.
    Exact,
    /// The blocks of visible text.
    Text,
    /// A sketch of the visible text: only if more than so many of its 64 bits differ, the page changed.
    Simhash {
        /// The greatest distance that is no change; 3 is usual.
        distance: u32,
    },
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            by: By::Text,
            selectors: Selectors::default(),
            ignore_digits: false,
            learn_noise: true,
            quick: Span::from_whole_secs(5),
        }
    }
}

impl Rules {
    /// Rules with equal marks see equal blocks in equal pages, and keep the same of them.
    pub(super) fn mark(&self) -> u32 {
        let sketches = matches!(self.by, By::Simhash { .. });
        let spelled = format!("{READER} {sketches} {} {}", self.ignore_digits, self.selectors.spelled());
        xxh3_64(spelled.as_bytes()) as u32
    }
}
