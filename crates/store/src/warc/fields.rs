//! The named fields at the start of a record.

use std::fmt::{Display, Write};

/// The header of a record as it grows.
pub(super) struct Fields(String);

impl Fields {
    pub(super) fn new(kind: &str) -> Self {
        let mut fields = Self("WARC/1.1\r\n".to_owned());
        fields.add("WARC-Type", kind);
        fields
    }

    /// Adds a field. Values come from numbers, dates, digests and checked addresses; should one contain a line end all the
    /// same, it becomes a space: no value ever ends its line.
    pub(super) fn add(&mut self, name: &str, value: impl Display) {
        let start = self.0.len() + name.len() + 2;
        // Writing to a string cannot fail.
        let _ = write!(self.0, "{name}: {value}");
        if self.0[start..].contains(['\r', '\n']) {
            let mended = self.0[start..].replace(['\r', '\n'], " ");
            self.0.replace_range(start.., &mended);
        }
        self.0.push_str("\r\n");
    }

    /// Closes the header.
    pub(super) fn finish(mut self) -> String {
        self.0.push_str("\r\n");
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_ends_its_line() {
        let mut fields = Fields::new("response");
        fields.add("WARC-Target-URI", "http://a/\r\nWARC-Type: forged");
        assert_eq!(
            fields.finish(),
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/  WARC-Type: forged\r\n\r\n"
        );
    }
}
