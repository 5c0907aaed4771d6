//! The continuous optimum: the best any schedule can do with a budget in the long run.
//!
//! Maximise Σ μ_i · freshness_i(rate_i) subject to Σ rate_i = R. Each page's gain is concave in its rate, and its
//! marginal gain is the crawl value V at the moment it is fetched; so (Karush-Kuhn-Tucker) there is one price Λ with
//!
//! - V = Λ whenever a page is fetched, if its rate is between its bounds,
//! - V ≤ Λ at its minimum rate (0 unless a user asks for more), V ≥ Λ at its maximum.
//!
//! Given Λ every page decides for itself ([`Candidate::visit`]); Λ is found so that the rates add up ([`allocate()`]),
//! or is given ([`at_price`]: a fetch costs so much), or is swept to see what any budget buys ([`curve()`]).
//!
//! What competes for the budget: pages without signals ([`Page`]), with signals ([`SignalPage`]), either with bounds
//! ([`Bounded`]), and hubs, which are pages in another costume ([`hubs`]). [`lds`] turns rates into a sequence,
//! [`cost`] is the case of one page and a fixed price.
//!
//! ```
//! use refrain_core::optimum::{Page, allocate};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two pages that people want equally: one changes once a day, one a hundred times.
//! let pages = [Page::new(1.0, 1.0)?, Page::new(100.0, 1.0)?];
//! let best = allocate(&pages, 2.0)?;
//! // The fast one is not worth a fetch: by the time anyone asks, the copy is stale again.
//! assert_eq!(best.visits[1].rate, 0.0);
//! assert!((best.visits[0].rate - 2.0).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```

mod allocate;
mod candidate;
pub mod cost;
mod curve;
pub mod hubs;
pub mod lds;
mod learned;
mod polite;
mod price;

pub use allocate::{Allocation, Infeasible, allocate, at_price};
pub use candidate::{Bounded, Candidate, Page, SignalPage, Visit};
pub use curve::{CurvePoint, curve, rates_for_freshness};
pub use learned::LearnedPage;
pub use polite::{Group, polite_curve};

#[cfg(test)]
mod tests;
