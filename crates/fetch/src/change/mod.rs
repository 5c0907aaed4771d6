//! Did a page change? What one visit saw, what is kept of it, and what the next visit makes of both.
//!
//! Most pages differ a little at every visit: a date, a token, a counter, an advertisement. That is noise, and it is learned
//! by looking twice: what differs between two looks seconds apart is noise, whatever it is; what differs between two looks
//! days apart may be the news. So only a second look soon after the first ([`Rules::quick`]) makes noise of a place on the
//! page. A verdict says when one would be worth its fetch: [`Verdict::look_again`].
//!
//! Noise has a place rather than a content: it stands between two blocks of text that stay. See [`Noise`].

mod align;
mod compare;
mod kept;
mod look;
mod noise;
mod rules;
mod simhash;
mod units;

pub use compare::{Verdict, What, compare};
pub use kept::{BadKept, Kept, LARGEST};
pub use look::Look;
pub use noise::Noise;
pub use rules::{By, Rules};

#[cfg(test)]
mod tests;
