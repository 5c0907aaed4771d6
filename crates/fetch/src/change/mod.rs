//! Did a page change? What one look saw, what is kept of it, and what the next look makes of both.
//!
//! Most pages differ a little at every visit: a date, a token, a counter, an advertisement. That is noise, and it is told from news by
//! looking again: news does not change within two seconds. The rules:
//!
//! - Noise is what differed in at least three *quick pairs*, pairs of looks at most five seconds apart ([`Rules::quick`]). Of slower pairs only tokens
//!   count, words in which letters and digits alternate: other text may change so fast. Nothing else is ever ignored.
//! - Noise is the smallest stretch of words that differed (`slots`); what stands beside it still counts. Blocks that come and go, and
//!   blocks that change places, are noise as well if quick pairs showed it (`page`).
//! - Where noise is on the page follows from what stands around it, look by look, and so survives changes beside it (`page::pairing`).
//! - A change that may be noise is a [`Doubt`]: the verdict waits for a second look, and more as long as they leave something open. The
//!   copy that was reported last is then compared with what the page shows, noise left out: what changed between two quick looks, or beside
//!   noise before that was known, is not lost (`judge`).
//! - Of each noisy place it is remembered what it showed (`values`). A text that is new among texts that take turns is a change, and a place that shows
//!   the same for longer than is likely (`habit`) is checked at once: its noise may have ended.
//! - A clock, or "3 minutes ago", is the same at two looks seconds apart. It is no change if it differs from the copy that was reported last only
//!   because time passed, which follows from when both were fetched (`elapsed`).
//! - Second looks get rarer where they find nothing. Noise is confirmed by a quick pair now and then, and is none any more where
//!   such pairs agree, or if none could be made for long (`attention`).

mod affix;
mod align;
mod attention;
mod elapsed;
mod habit;
mod ignored;
mod judge;
mod kept;
mod look;
mod page;
mod rules;
mod score;
mod simhash;
mod slots;
mod times;
mod units;
mod values;
mod windows;
mod words;

pub use attention::HostNoise;
pub use ignored::{Ignored, Kind as IgnoredKind};
pub use judge::{Doubt, Judgement, LATE, Reported, SECOND_LOOK, Verdict, Visit, What, judge};
pub use kept::{BadKept, Kept, LARGEST};
pub use look::Look;
pub use rules::{By, Rules};

#[cfg(test)]
mod tests;
