//! End-to-end tests: each runs the `refrain` binary as a user does.

mod announce;
mod bad_input;
mod crawl;
mod data;
mod decisions;
mod demo;
mod discover;
mod estimate;
mod figures;
mod hostile;
mod lab;
mod noise;
mod optimum;
mod plan;
mod polite;
mod push;
mod recover;
mod secure;
mod serve;
mod support;
mod webhook;
