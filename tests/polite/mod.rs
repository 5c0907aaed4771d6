//! A crawl as the hosts see it: none is asked too soon or too often, through redirects, restarts and kills; and what comes of crawls
//! that are killed.

mod archive;
mod back_off;
mod crash;
mod gaps;
mod kept;
mod names;
mod rules;
