//! Refrain's decisions, pure: no I/O, no clock, no randomness, no wire formats.
//!
//! Every possible fetch has a *value*, the budget has a *price*; fetch what is worth its price, most valuable first.
//!
//! - [`time`] and [`page`]: moments, what is believed about a page, what happened since its last fetch
//! - [`value`]: what one more fetch of a page is worth now, and when it will be worth a given amount
//! - [`optimum`]: the best any schedule can do with a budget in the long run, and the price it implies
//! - [`estimate`]: from what fetches saw to what is believed
//! - [`frontier`]: the online scheduler: which fetch next
//! - [`queues`]: dates and turns, for crawlers that fetch by themselves
//! - [`math`]: the numerics under all of them

pub mod estimate;
pub mod frontier;
pub mod ids;
pub mod math;
pub mod optimum;
pub mod page;
pub mod plan;
pub mod queues;
pub mod time;
pub mod value;
