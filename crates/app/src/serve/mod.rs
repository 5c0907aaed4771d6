//! `refrain serve`: a crawl that others can talk to while it runs.

#[allow(dead_code, unused_imports, reason = "the server that opens these doors is on its way")]
pub(crate) mod push;
