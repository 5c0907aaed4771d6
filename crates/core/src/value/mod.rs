//! The crawl value: the fresh requests that one more fetch of a page, now, would earn.
//!
//! V grows while a page waits and jumps with every change signal. Whoever schedules needs three things of it: its
//! value now, the moment at which it will reach a given value (so that a page can sleep until then), and its
//! supremum (a page whose supremum is below the price is never fetched). [`CrawlValue`] is these three.
//!
//! | value | believes | file |
//! |---|---|---|
//! | [`Greedy`] | there are no signals | `greedy.rs` |
//! | [`GreedyCis`] | signals are never wrong | `cis.rs` |
//! | [`GreedyNcis`] | signals miss changes and cry wolf at known rates: exact | `ncis.rs` |
//! | [`GreedyNcis::approximate`] | the same, first J terms of its sums (APPROX-J) | `ncis.rs` |
//! | [`greedy_cis_plus`] | CIS for pages with good signals, GREEDY for the rest | `cis_plus.rs` |
//! | [`GammaPosterior`] | the change rate is uncertain: V averaged over a Gamma posterior | `gamma_posterior.rs` |
//! | [`Mixture`] | any of these, averaged over a few weighted possibilities | `mixture.rs` |
//! | [`SurvivalValue`] | any curve S(s) = P(unchanged for s) | `survival.rs` |
//!
//! The delay-aware variant (GREEDY-NCIS-D) is [`GreedyNcis`] on a page that ignores signals which come too soon after
//! a fetch: [`crate::frontier::Settings::ignore_signals_within`], applied by [`crate::page::SinceFetch::signal`].
//!
//! ```
//! use refrain_core::page::Belief;
//! use refrain_core::value::{CrawlValue, GreedyNcis};
//!
//! # fn main() -> Result<(), refrain_core::page::BeliefError> {
//! // Changes twice a day, is asked for ten times a day; its sitemap announces 80 % of the changes and lies once a day.
//! let page = GreedyNcis::new(&Belief::new(2.0, 10.0)?.with_signals(0.8, 1.0)?);
//! // Six hours after a fetch, a signal makes it worth much more.
//! assert!(page.value(0.25, 1) > 5.0 * page.value(0.25, 0));
//! // Without one, it is worth one fresh request after a bit more than a day.
//! let moment = page.moment(1.0, 0).unwrap();
//! assert!((page.value(moment, 0) - 1.0).abs() < 1e-9);
//! # Ok(())
//! # }
//! ```
//!
//! Times are plain `f64` in the unit of the belief's rates. Nothing here is ever negative or not a number.

mod cis;
mod cis_plus;
mod gamma_posterior;
mod greedy;
mod mixture;
mod ncis;
mod policy;
pub mod signals;
mod survival;

pub use cis::GreedyCis;
pub use cis_plus::{TRUSTED_PRECISION, TRUSTED_RECALL, greedy_cis_plus};
pub use gamma_posterior::GammaPosterior;
pub use greedy::Greedy;
pub use mixture::Mixture;
pub use ncis::GreedyNcis;
pub use policy::{PageValue, UnknownValueFunction, ValueFunction};
pub use survival::{PiecewiseHazard, Survival, SurvivalValue};

/// A crawl value as a function of the time since the last fetch and the signals since then.
pub trait CrawlValue {
    /// The value after `elapsed` time and `signals` signals: not negative, growing in both, at most
    /// [`supremum`](Self::supremum).
    fn value(&self, elapsed: f64, signals: u32) -> f64;

    /// What the value tends to when a page is left alone for ever.
    fn supremum(&self) -> f64;

    /// How long after its last fetch a page that has seen `signals` signals (and sees no more) reaches `value`: 0 if
    /// it is there at once, `None` if waiting alone never gets it there.
    fn moment(&self, value: f64, signals: u32) -> Option<f64>;
}

#[cfg(test)]
mod tests;
