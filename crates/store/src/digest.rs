//! What a body is known by.

use std::fmt;

use sha2::Digest as _;

/// The SHA-256 of a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha2::Sha256::digest(bytes).into())
    }

    /// The digest of pieces that belong together.
    pub(crate) fn of_pieces(pieces: &[&[u8]]) -> Self {
        let mut digester = Digester::default();
        for piece in pieces {
            digester.add(piece);
        }
        digester.digest()
    }

    /// A digest that was computed before; `None` unless there are 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Its 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// As WARC fields have it: `sha256:` and 64 hexadecimal digits.
    pub fn from_field(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("sha256:")?.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |at: usize| char::from(pair[at]).to_digit(16);
            *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
        }
        Some(Self(bytes))
    }
}

/// Computes the digest of bytes that come piece by piece.
#[derive(Clone, Default)]
pub struct Digester(sha2::Sha256);

impl Digester {
    /// Adds the next piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The digest of all pieces.
    pub fn digest(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// `sha256:` and 64 hexadecimal digits: what `sha256sum` prints of the body, and `hex(digest)` of a row.
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sha_256_that_everybody_computes() {
        let shown = Digest::of(b"abc").to_string();
        assert_eq!(shown, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::from_field(&shown), Some(Digest::of(b"abc")));
        assert_eq!(Digest::of_pieces(&[b"a", b"", b"bc"]), Digest::of(b"abc"));
    }

    #[test]
    fn what_is_no_digest_is_not_read_as_one() {
        for text in ["", "sha256:", "sha1:abc", &format!("sha256:{}", "g".repeat(64)), &"0".repeat(64)] {
            assert_eq!(Digest::from_field(text), None, "{text}");
        }
        assert_eq!(Digest::from_bytes(&[0; 31]), None);
    }
}
