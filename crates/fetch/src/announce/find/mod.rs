//! Where announcements are: what robots.txt, pages and heads of answers name, and where one may try; and what a body is.

mod header;
mod places;
mod sniff;

pub use header::of_header;
pub use places::{Place, Role, WELL_KNOWN, of_page, of_robots, well_known};
pub(super) use sniff::of_text as sniff_text;
pub use sniff::{Body, ENOUGH, sniff};
