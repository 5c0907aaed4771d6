//! The client against servers on loopback, well-behaved, broken and mean.

mod addresses;
mod answers;
mod fake;
mod misbehaviour;
mod robots_cases;
mod secure;
