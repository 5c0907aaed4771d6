//! WARC 1.1, the archive format of the field (ISO 28500:2017): one gzip member per record, so that each can be read by
//! itself, with the tools that everybody has.
//!
//! Records are made on any thread ([`Response`], [`Revisit`]); what they are encoded to is appended to a segment as it is.

mod date;
mod fields;
mod head;
mod member;
mod read;
mod record;
#[cfg(test)]
mod tests;

pub use head::HttpHead;
pub use read::{BadRecord, Record, read_record};
pub use record::{Body, Encoded, Kind, Response, Revisit, Truncated, warcinfo};

/// No block of a record is larger; whoever fetches stops far earlier.
pub const LARGEST_BLOCK: u64 = 1 << 30;
