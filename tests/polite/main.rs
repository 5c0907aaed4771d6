//! A crawl as the hosts see it: none is asked too soon or too often, through redirects, restarts and kills; and what comes of crawls
//! that are killed.

#[path = "../support/desk.rs"]
mod desk;
#[path = "../support/fake.rs"]
mod fake;
#[path = "../support/mod.rs"]
mod support;

mod archive;
mod back_off;
mod crash;
mod gaps;
