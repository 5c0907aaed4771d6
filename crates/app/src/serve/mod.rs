//! `refrain serve`.

#[expect(dead_code, reason = "the command that serves them is on its way")]
pub(crate) mod metrics;
