//! From bytes to characters, as browsers do it: a byte order mark, the head of the answer, the page's own word, a guess.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::memmem;

/// Pages must name their encoding this early.
const PRESCAN: usize = 1024;

/// The text of a body. `label` is what the head of the answer names, if anything. Bytes that mean nothing become U+FFFD.
pub fn decoded<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or_else(|| (named(bytes, label), 0));
    encoding.decode_without_bom_handling(&bytes[mark..]).0
}

fn named(bytes: &[u8], label: Option<&str>) -> &'static Encoding {
    label
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| declared(&bytes[..bytes.len().min(PRESCAN)]))
        // What names nothing is mostly UTF-8 today, and what is not valid UTF-8 is mostly Western.
        .unwrap_or_else(|| if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 })
}

/// What the first `<meta>` that speaks of it says.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let start = start.to_ascii_lowercase();
    let mut rest = &start[..];
    while let Some(at) = memmem::find(rest, b"<meta") {
        rest = &rest[at + 5..];
        let tag = &rest[..memchr::memchr(b'>', rest).unwrap_or(rest.len())];
        if let Some(encoding) = label_in(tag).and_then(Encoding::for_label) {
            // A page that can be read as far as its <meta> is not UTF-16, whatever it says.
            let is_wide = encoding == UTF_16BE || encoding == UTF_16LE;
            return Some(if is_wide { UTF_8 } else { encoding });
        }
    }
    None
}

fn label_in(tag: &[u8]) -> Option<&[u8]> {
    let after = &tag[memmem::find(tag, b"charset")? + b"charset".len()..];
    let value = after.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let value = value.strip_prefix(b"\"").or_else(|| value.strip_prefix(b"'")).unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| matches!(byte, b'"' | b'\'' | b';' | b'/') || byte.is_ascii_whitespace());
    Some(&value[..end.unwrap_or(value.len())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mark_beats_the_head_beats_the_page_beats_the_guess() {
        assert_eq!(decoded(b"\xef\xbb\xbf\xc3\xa9", Some("windows-1252")), "é");
        assert_eq!(decoded(b"\xff\xfeA\0", None), "A");
        assert_eq!(decoded(b"<meta charset=utf-8>\xe9", Some("latin1")), "<meta charset=utf-8>é");
        assert_eq!(
            decoded(b"<META x><Meta CharSet='KOI8-R'/>\xc1", None),
            "<META x><Meta CharSet='KOI8-R'/>а"
        );
        let older = b"<meta http-equiv=content-type content='text/html; charset = windows-1251'>\xe0";
        assert!(decoded(older, None).ends_with('а'));
        assert_eq!(decoded(b"<meta charset=utf-16>\xc3\xa9", None), "<meta charset=utf-16>é");
        assert_eq!(decoded(b"\xc3\xa9", None), "é");
        assert_eq!(decoded(b"\xe9t\xe9", None), "été");
        assert_eq!(decoded(b"\xe9", Some("no-such-thing")), "é");
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..300), label in "\\PC{0,10}") {
            let _ = decoded(&bytes, Some(&label));
            let mut page = b"<meta charset=".to_vec();
            page.extend_from_slice(&bytes);
            let _ = decoded(&page, None);
        }
    }
}
