//! `refrain serve`.

pub(crate) mod metrics;
