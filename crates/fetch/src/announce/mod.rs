//! What sites say of their own changes. They say it badly: how far it can be believed is learned elsewhere, here it is read.
//!
//! - [`find`]: where announcements are, and what a body is
//! - [`sitemap`]: pages of a site and when they changed, however many
//! - [`feed`]: what is new, in RSS, Atom and JSON Feed
//! - [`hints`]: what heads of answers promise, and what the weaker words of sitemaps are worth
//! - [`when`]: dates in all the ways they are written, and which of them are absurd
//!
//! All of it is pure and bounded: no input costs more work than its size, and none more memory than a tag.

pub mod feed;
pub mod find;
pub mod hints;
mod inflow;
pub mod sitemap;
pub mod when;
mod xml;

pub use inflow::Cut;

/// The text without what surrounds it: white space, also the kind that does not break, and marks that take no room.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    })
}
