//! The engine against a small web on loopback.

mod announce;
mod crawl;
mod handle;
mod hubs;
mod queues;
mod rules;
mod spelling;
mod web;
