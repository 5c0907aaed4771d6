//! Refrain's eyes: everything between a URL and what was seen there.
//!
//! - [`url`]: one spelling per page, and what site it belongs to
//! - [`robots`]: what a host asks of crawlers
//! - [`client`]: one request, one answer; redirects are answers too, because every hop must be polite to its host
//! - [`charset`] and [`links`]: what an HTML page says, and where it leads
//! - [`text`] and [`change`]: what a reader sees of it, and whether that changed
//! - [`announce`]: what sites say of their changes: sitemaps, feeds, dates and hints
//! - [`dns`] and [`address`]: where names lead, and where no crawler goes
//!
//! Whatever comes from the network is bounded in size, number and time. Nothing here decides when to look.

pub mod address;
pub mod announce;
pub mod change;
pub mod charset;
pub mod client;
mod clock;
pub mod dns;
mod error;
mod html;
pub mod links;
mod octets;
pub mod robots;
pub mod text;
pub mod url;

pub use error::{FetchError, Stage};
