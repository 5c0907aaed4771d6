//! How good a page's change signals are, learned from what fetches saw.
//!
//! An interval of length τ with n signals is unchanged with probability e^{-(ατ + nb)}: no change came unannounced (rate
//! α), and every signal was false. A signal is true with probability 1 - e^{-b}, which is the precision; with γ signals
//! per unit of time, γ(1 - e^{-b}) = λΔ is the rate of announced changes, and Δ = α + λΔ.
//!
//! - [`likelihood`]: (α, b) by maximum likelihood, with or without a prior
//! - [`history`]: what is remembered per page and kind of signal
//! - [`quality`]: precision and recall, and what several kinds say together
//! - [`trust`]: what is believed of signals beforehand; [`pool`]: learned from all pages of a host
//! - [`sure`]: how sure precision and recall are
//! - [`voices`]: several kinds of signals on many hosts, and which of them are listened to
//! - [`attribution`]: which interval a signal belongs to

pub mod attribution;
pub mod history;
pub mod likelihood;
pub mod pool;
pub mod quality;
pub mod sure;
pub mod trust;
pub mod voices;
