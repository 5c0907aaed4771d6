//! How much a page matters, and what a hub's links are worth.
//!
//! - [`requests`]: μ, by counting requests, the older the less
//! - [`links`]: λ_h, the rate at which a hub shows new links, from its last visits
//! - [`clicks`]: (P, δ), what a link is worth and how fast that falls, from cumulative clicks

pub mod clicks;
pub mod links;
pub mod requests;
