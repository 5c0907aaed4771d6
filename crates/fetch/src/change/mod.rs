//! Did a page change? What one look saw, what is kept of it, and what the next look makes of both.
//!
//! Most pages differ a little at every visit: a date, a token, a counter, an advertisement. That is noise, and it is told from news by
//! looking again: news does not change within two seconds. The rules:
//!
//! - Noise is what differed in at least three *quick pairs*, pairs of looks two seconds apart. Nothing else is ever ignored.
//! - Noise is the smallest stretch of words that differed (`slots`); what stands beside it still counts. Blocks that come and go, and
//!   blocks that change places, are noise as well if quick pairs showed it (`page`).
//! - Where noise is on the page follows from what stands around it, look by look, and so survives changes beside it (`page::pairing`).
//! - A change that may be noise is a [`Doubt`]: the verdict waits for a second look, and more as long as they leave something open. The
//!   copy that was reported last is then compared with what the page shows, noise left out: what changed between two quick looks, or beside
//!   noise before that was known, is not lost (`judge`).
//! - A clock, or "3 minutes ago", is the same at two looks seconds apart. It is no change if it differs from the copy that was reported last only
//!   because time passed, which follows from when both were fetched (`elapsed`).
//! - Second looks get rarer where they find nothing. Noise is confirmed by a quick pair now and then, and is none any more where
//!   such pairs agree, or if none could be made for long (`attention`).

mod align;
mod attention;
mod elapsed;
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
mod windows;
mod words;

pub use attention::HostNoise;
pub use ignored::{Ignored, Kind as IgnoredKind};
pub use judge::{Doubt, Judgement, Reported, SECOND_LOOK, Verdict, Visit, What, judge};
pub use kept::{BadKept, Kept, LARGEST};
pub use look::Look;
pub use rules::{By, Rules};

#[cfg(test)]
mod tests;
