//! The store from outside: one program, so that SQLite is linked once.

mod announced;
mod asked;
mod check;
mod crash;
mod full;
mod opening;
mod queues;
mod recovery;
mod retention;
mod store;
mod support;
mod upgrade;
mod warcio;
