//! Addresses of pages, checked once: what is one can be written into a line of a WARC header.

use std::fmt;

use crate::error::StoreError;

/// No address is longer than this; what is, comes from a trap.
pub const LONGEST_ADDRESS: usize = 16 * 1024;

/// An absolute URL without spaces and control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(String);

impl Address {
    /// Checks an address. Whether it is canonical is the caller's business.
    pub fn new(url: impl Into<String>) -> Result<Self, StoreError> {
        let url = url.into();
        if url.len() > LONGEST_ADDRESS {
            let start: String = url.chars().take(60).collect();
            return Err(StoreError::Refused(format!(
                "the address {start:?}… has {} bytes; expected at most {LONGEST_ADDRESS}",
                url.len()
            )));
        }
        let bad = |c: char| c.is_control() || c.is_whitespace();
        if url.contains(bad) || !url.contains("://") {
            return Err(StoreError::Refused(format!(
                "the address {url:?} cannot be used; expected an absolute URL without spaces"
            )));
        }
        Ok(Self(url))
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_end_a_header_line_is_refused() {
        for url in [
            "",
            "example.org",
            "http://a/\r\nWARC-Type: x",
            "http://a/\n",
            "http://a b/",
            "http://a/\0",
            "http://a/\u{85}",
        ] {
            assert!(Address::new(url).is_err(), "{url:?}");
        }
        assert!(Address::new(format!("http://a/{}", "x".repeat(LONGEST_ADDRESS))).is_err());
        assert_eq!(Address::new("http://a/ü?x#y").unwrap().as_str(), "http://a/ü?x#y");
    }
}
