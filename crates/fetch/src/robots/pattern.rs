//! Path patterns: literal pieces between `*`, perhaps with a `$` at the end.
//!
//! Pieces are looked for one after the other, each as far left as possible; that finds a match whenever there is one, and
//! no byte of the path is looked at more than a few times, whatever the pattern.

use std::borrow::Cow;

use memchr::memmem;

use crate::octets::{self, must_be_encoded};

/// A pattern in normal form (see [`normalised`]); it takes no more bytes than what was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    /// What stands between the stars; the first piece is where the path must start. A star at the end leaves an empty
    /// last piece, which is found anywhere.
    pieces: Vec<Box<[u8]>>,
    /// Ended in `$`: the path must end there as well.
    to_the_end: bool,
    /// How specific it is (RFC 9309, section 2.2.2): its octets as a URL has them, wildcards included.
    len: usize,
}

impl Pattern {
    /// `None` for a value that matches nothing: an empty one, or one that no path starts with.
    pub(super) fn new(value: &[u8]) -> Option<Self> {
        if !matches!(value.first(), Some(b'/' | b'*')) {
            return None;
        }
        let (body, to_the_end) = value.strip_suffix(b"$").map_or((value, false), |body| (body, true));
        // The URL parser takes a backslash in a path for a slash.
        let query = memchr::memchr(b'?', body).unwrap_or(body.len());
        let mut body = body.to_vec();
        body[..query].iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        let pieces: Vec<Box<[u8]>> =
            body.split(|byte| *byte == b'*').map(|piece| normalised(piece).into_owned().into()).collect();
        let octets: usize =
            pieces.iter().flatten().map(|octet| if must_be_encoded(*octet) { 3 } else { 1 }).sum();
        let len = octets + pieces.len() - 1 + usize::from(to_the_end);
        Some(Self { pieces, to_the_end, len })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Does it match a normalised path? Adds the bytes it looked at, at most, to `steps`.
    pub(super) fn matches(&self, path: &[u8], steps: &mut usize) -> bool {
        let Some((first, others)) = self.pieces.split_first() else { return false };
        *steps += first.len();
        let Some(mut rest) = path.strip_prefix(&**first) else { return false };
        let Some((last, middle)) = others.split_last() else { return !self.to_the_end || rest.is_empty() };
        for piece in middle {
            let Some(after) = found(rest, piece, steps) else { return false };
            rest = after;
        }
        if self.to_the_end {
            *steps += last.len();
            rest.ends_with(last)
        } else {
            found(rest, last, steps).is_some()
        }
    }

    /// Writes it so that a line with it is read the same. An octet is encoded only where a line could not hold it raw, so it was
    /// encoded when it was read, and nothing becomes longer.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut in_query = false;
        for (index, piece) in self.pieces.iter().enumerate() {
            if index > 0 {
                out.push(b'*');
            }
            let is_last = index + 1 == self.pieces.len() && !self.to_the_end;
            for (place, byte) in piece.iter().enumerate() {
                let ends = is_last && place + 1 == piece.len();
                in_query |= *byte == b'?';
                let is_special = match byte {
                    b'*' | b'\n' | b'\r' => true,
                    b'\\' => !in_query,
                    b'$' | b'\t' | b'\x0c' | b' ' => ends,
                    _ => false,
                };
                if is_special {
                    out.extend(format!("%{byte:02X}").bytes());
                } else {
                    out.push(*byte);
                }
            }
        }
        if self.to_the_end {
            out.push(b'$');
        }
    }
}

/// What follows the leftmost occurrence of `piece`.
fn found<'a>(rest: &'a [u8], piece: &[u8], steps: &mut usize) -> Option<&'a [u8]> {
    if piece.is_empty() {
        return Some(rest);
    }
    let at = memmem::find(rest, piece);
    *steps += at.unwrap_or(rest.len()) + piece.len();
    Some(&rest[at? + piece.len()..])
}

/// A path in the form in which paths and patterns are compared: an octet that has one spelling in a canonical URL, whichever that is,
/// stands for itself, so that neither side depends on how it was written. So do a star and a dollar, which a pattern can only
/// name as `%2A` and `%24`, and the apostrophe, which the URL parser encodes in queries and leaves in paths: a piece behind a star
/// may match in either. Other encoded octets (`%2F`) stay encoded, with their digits in upper case.
/// Never longer than what was given.
pub(super) fn normalised(path: &[u8]) -> Cow<'_, [u8]> {
    if !path.contains(&b'%') {
        return Cow::Borrowed(path);
    }
    let mut normal = Vec::with_capacity(path.len());
    let mut at = 0;
    while at < path.len() {
        if let Some(octet) = octets::encoded(&path[at..]) {
            let has_one_spelling = octets::is_unreserved(octet) || octets::must_be_encoded(octet);
            if has_one_spelling || matches!(octet, b'*' | b'$' | b'\'') {
                normal.push(octet);
            } else {
                normal.push(b'%');
                normal.extend(path[at + 1..at + 3].iter().map(u8::to_ascii_uppercase));
            }
            at += 3;
        } else {
            normal.push(path[at]);
            at += 1;
        }
    }
    Cow::Owned(normal)
}
