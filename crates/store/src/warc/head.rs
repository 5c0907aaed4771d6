//! The head of an HTTP message: start line and headers, ending in the only blank line it has.

use crate::error::StoreError;

/// No head is larger; whoever fetches stops earlier.
const LARGEST_HEAD: usize = 1 << 20;

/// The head of a request or a response, up to and including its blank line.
///
/// The body of a record must be what such a head announces: whoever stores a body decompressed or without chunks leaves
/// `Content-Encoding` and `Transfer-Encoding` out of the head, or tools will try to undo them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpHead(Vec<u8>);

impl HttpHead {
    /// The head of a response: `HTTP/1.1 200 OK` and its headers.
    ///
    /// Values are kept as they came, but for line ends, which become spaces. A header whose name is not a token, as RFC
    /// 9110 demands, is left out.
    pub fn response<'a>(
        status: u16,
        reason: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, StoreError> {
        Self::build(format!("HTTP/1.1 {status} {}", one_line(reason)).into_bytes(), headers)
    }

    /// The head of a request: `GET /path HTTP/1.1` and its headers.
    pub fn request<'a>(
        method: &str,
        target: &str,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, StoreError> {
        Self::build(format!("{} {} HTTP/1.1", one_line(method), one_line(target)).into_bytes(), headers)
    }

    fn build<'a>(
        mut bytes: Vec<u8>,
        headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> Result<Self, StoreError> {
        bytes.extend_from_slice(b"\r\n");
        for (name, value) in headers {
            if name.is_empty() || !name.bytes().all(is_token) {
                continue;
            }
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend(
                value.iter().map(|byte| if matches!(byte, b'\r' | b'\n' | 0) { b' ' } else { *byte }),
            );
            bytes.extend_from_slice(b"\r\n");
            if bytes.len() > LARGEST_HEAD {
                return Err(StoreError::Refused(format!(
                    "an HTTP head has more than {LARGEST_HEAD} bytes; expected less"
                )));
            }
        }
        bytes.extend_from_slice(b"\r\n");
        Ok(Self(bytes))
    }

    /// The bytes, with the blank line.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// RFC 9110, 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Where the head of a message ends and its body begins, if it has a head.
pub(super) fn end_of_head(block: &[u8]) -> Option<usize> {
    block.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_head_reads_as_it_was_sent() {
        let head = HttpHead::response(200, "OK", [("Server", &b"x"[..]), ("X-Y", b"caf\xe9")]).unwrap();
        assert_eq!(head.as_bytes(), b"HTTP/1.1 200 OK\r\nServer: x\r\nX-Y: caf\xe9\r\n\r\n");
    }

    #[test]
    fn a_head_without_end_is_refused() {
        let long = vec![b'x'; LARGEST_HEAD];
        assert!(HttpHead::response(200, "OK", [("A", &long[..])]).is_err());
    }

    proptest! {
        #[test]
        fn whatever_the_headers_the_first_blank_line_is_the_last(
            reason in ".{0,20}",
            headers in prop::collection::vec((".{0,8}", prop::collection::vec(any::<u8>(), 0..40)), 0..6),
        ) {
            let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
            let head = HttpHead::response(200, &reason, pairs).unwrap();
            prop_assert_eq!(end_of_head(head.as_bytes()), Some(head.as_bytes().len()));
            let lines = head.as_bytes().split(|byte| *byte == b'\n').count() - 1;
            prop_assert!(lines <= headers.len() + 2);
        }
    }
}
