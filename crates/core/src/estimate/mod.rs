//! From what fetches saw to what is believed.
//!
//! One fetch gives one [`Observation`]: so much time since the last, so many signals in it, changed or not. A page's
//! [`History`] takes it in and stays at 64 bytes. A [`Method`] makes an estimate of it; the default, [`Posterior`], makes a
//! belief, under a prior that the [`Learner`] fits to all pages together.
//!
//! | file | estimator | needs the rate of fetches |
//! |---|---|---|
//! | [`naive`], [`lln`], [`sa`], [`sam`] | change-rate paper | yes |
//! | [`mle`], [`moments`] | irregular intervals, all the data | no |
//! | [`regular`] | regular intervals, bias reduced | no |
//! | [`grimes`] | MLE with two made-up observations | no |
//! | [`posterior`] | the default | no |
//!
//! [`signals`] learns how good change signals are, [`interest`] how much a page or a hub matters. [`risk`] says how likely
//! a page is to be very stale, [`theory`] how wrong the classical estimators are.

pub(crate) mod bytes;
pub mod counts;
pub mod drift;
pub mod grimes;
pub mod history;
pub mod interest;
pub mod interval;
pub mod learner;
pub mod lengths;
pub mod lln;
pub mod method;
pub mod mle;
pub mod moments;
pub mod naive;
pub mod observation;
pub mod population;
pub mod posterior;
pub mod prior;
pub mod regular;
pub mod risk;
pub mod sa;
pub mod sam;
pub mod score;
pub mod shape;
pub mod signals;
pub mod theory;

pub use history::History;
pub use interval::{Confidence, Estimate};
pub use learner::{Group, Learned, Learner};
pub use method::Method;
pub use observation::{Answer, Observation, ObservationError};
pub use posterior::Posterior;
pub use prior::Prior;
pub use risk::VeryStale;

#[cfg(test)]
mod tests;
