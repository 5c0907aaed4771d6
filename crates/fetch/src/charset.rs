//! From bytes to characters, as browsers do it: a byte order mark, the head of the answer, the page's own word, a guess.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED, mem};
use memchr::memmem;

use crate::html::{self, Attributes, Visitor};

/// Pages should name their encoding this early.
const PRESCAN: usize = 1024;
/// Browsers believe a later `<meta>` as well. So much of a page is searched for one, if nothing else names an encoding.
const SEARCHED: usize = 64 * 1024;

/// Returns the text of a body. `label` is what the head of the answer names, if anything. Bytes that mean nothing become U+FFFD.
pub fn decoded<'a>(bytes: &'a [u8], label: Option<&str>) -> Cow<'a, str> {
    decoded_from(bytes, label).0
}

/// The same, with the encoding that it was read in.
pub(crate) fn decoded_from<'a>(bytes: &'a [u8], label: Option<&str>) -> (Cow<'a, str>, &'static Encoding) {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or_else(|| (named(bytes, label), 0));
    (encoding.decode_without_bom_handling(&bytes[mark..]).0, encoding)
}

fn named(bytes: &[u8], label: Option<&str>) -> &'static Encoding {
    label
        .and_then(|label| Encoding::for_label(label.as_bytes()))
        .or_else(|| declared_in_html(&bytes[..bytes.len().min(PRESCAN)]))
        .or_else(|| declared_in_xml(&bytes[..bytes.len().min(PRESCAN)]))
        .or_else(|| (bytes.len() > PRESCAN).then(|| declared_in_html(&bytes[..bytes.len().min(SEARCHED)]))?)
        // What names nothing is mostly UTF-8 today, and what is not valid UTF-8 is mostly Western.
        .unwrap_or_else(|| if std::str::from_utf8(bytes).is_ok() { UTF_8 } else { WINDOWS_1252 })
}

/// Returns what the first `<meta>` that names an encoding says; not one in a comment or a script.
fn declared_in_html(start: &[u8]) -> Option<&'static Encoding> {
    let mut declared = Declared(None);
    // Markup is ASCII, whatever the encoding is.
    html::read(&mem::decode_latin1(start), &mut declared);
    declared.0
}

struct Declared(Option<&'static Encoding>);

impl Visitor for Declared {
    fn opened(&mut self, tag: &str, attributes: &Attributes) {
        if tag != "meta" || self.0.is_some() {
            return;
        }
        let is_type =
            || attributes.get("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
        let own = attributes.get("charset").and_then(|label| readable(label.as_bytes()));
        self.0 =
            own.or_else(|| readable(label_in(attributes.get("content").filter(|_| is_type())?)?.as_bytes()));
    }

    fn closed(&mut self, _: &str) {}
    fn text(&mut self, _: &str, _: bool) {}
}

/// Returns the label in a `content` attribute: `text/html; charset=windows-1251`.
fn label_in(content: &str) -> Option<&str> {
    let lower = content.to_ascii_lowercase();
    let mut at = 0;
    loop {
        at += memmem::find(&lower.as_bytes()[at..], b"charset")? + b"charset".len();
        let Some(value) = content[at..].trim_ascii_start().strip_prefix('=') else { continue };
        let value = value.trim_ascii_start();
        return match value.strip_prefix(['"', '\'']) {
            Some(quoted) => quoted.split_once(&value[..1]).map(|(label, _)| label),
            None => value.split(|c: char| c == ';' || c.is_ascii_whitespace()).next(),
        };
    }
}

/// Returns what the declaration at the start of an XML document says: `<?xml version="1.0" encoding="windows-1251"?>`.
pub(crate) fn declared_in_xml(start: &[u8]) -> Option<&'static Encoding> {
    match start {
        // Two bytes a letter, without a mark.
        [0, b'<', 0, ..] => return Some(UTF_16BE),
        [b'<', 0, _, 0, ..] => return Some(UTF_16LE),
        _ => {}
    }
    let start = start.trim_ascii_start().strip_prefix(b"<?xml")?;
    let line = &start[..memchr::memchr(b'>', start)?];
    let value = &line[memmem::find(line, b"encoding")? + b"encoding".len()..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    readable(&value[..value.iter().position(|byte| byte == quote)?])
}

/// Returns the encoding with this label. A text that could be read as far as the label has letters of one byte: what calls itself UTF-16
/// there is UTF-8, as browsers have it.
fn readable(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    Some(match encoding {
        _ if encoding == UTF_16BE || encoding == UTF_16LE => UTF_8,
        _ if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
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

    /// Letters of windows-1251 after what is said to name the encoding.
    fn cyrillic(start: &str) -> bool {
        decoded(&[start.as_bytes(), b"\xff"].concat(), None).ends_with('\u{44f}')
    }

    #[test]
    fn a_page_names_its_encoding_where_browsers_look() {
        for start in [
            "<meta charset=windows-1251>",
            "<meta charset=' windows-1251\n'>",
            "<META CHARSET = \"CP1251\" />",
            "<meta name=x content='charset=koi8-r'><meta charset=windows-1251>",
            "<meta charset=no-such-thing><meta charset=windows-1251>",
            "<meta http-equiv='Content-Type' content='text/html; charset=\"windows-1251\"'>",
            "<meta content='text/html;charset = windows-1251; x' http-equiv=content-type>",
            "<meta http-equiv=content-type content='charset charset=windows-1251'>",
            "<!-- <meta charset=koi8-r> --><meta charset=windows-1251>",
            "<script>'<meta charset=koi8-r>'</script><meta charset=windows-1251>",
            "<style><meta charset=koi8-r></style><title><meta charset=koi8-r></title><meta charset=windows-1251>",
            "<a title='<meta charset=koi8-r>'><meta charset=windows-1251>",
            "<?xml version='1.0' encoding='windows-1251'?><html>",
            "\n<?xml version=\"1.0\" encoding = \"Windows-1251\" standalone='no'?>",
            "<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1251>",
        ] {
            assert!(cyrillic(start), "{start}");
        }
        for start in [
            "<!-- <meta charset=windows-1251> -->",
            "<script><meta charset=windows-1251></script>",
            "<meta content='text/html; charset=windows-1251'>",
            "<meta http-equiv=refresh content='charset=windows-1251'>",
            "<meta http-equiv=content-type content='charset=\"windows-1251'>",
            "<?php encoding='windows-1251'?>",
            "meta charset=windows-1251",
        ] {
            assert!(!cyrillic(start), "{start}");
        }
    }

    #[test]
    fn a_late_meta_counts_after_an_early_declaration() {
        let late = format!("<!-- {} --><meta charset=windows-1251>", "x".repeat(5000));
        assert!(cyrillic(&late));
        assert!(!cyrillic(&format!("<?xml version='1.0' encoding='koi8-r'?>{late}")));
        assert!(!cyrillic(&format!("{}{late}", "x".repeat(SEARCHED))));
        // A letter on the border of what is searched does no harm.
        assert_eq!(decoded("\u{e9}".repeat(SEARCHED).as_bytes(), None).chars().count(), SEARCHED);
    }

    #[test]
    fn two_bytes_a_letter_without_a_mark() {
        let wide: Vec<u8> = "<?xml?>\u{44f}".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(decoded(&wide, None).ends_with('\u{44f}'));
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
