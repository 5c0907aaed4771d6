//! References in text: numbers, and the names that HTML defines, which XML's five are among. Names that a document declares itself are not known,
//! so nothing expands.

use std::borrow::Cow;

/// The longest name that HTML defines and its semicolon take 32 bytes; so does `#x0010FFFF;`, with zeros before it.
pub(super) const LONGEST: usize = 32;

/// Text with its references resolved.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::announce) struct Resolved<'a> {
    pub(in crate::announce) text: Cow<'a, str>,
    /// The text has a reference to an entity that is not defined; it is left as written. Such a text is no address: what it leads to is not known.
    pub(in crate::announce) unknown: bool,
}

/// An ampersand that begins no reference is itself: URLs are full of them.
pub(in crate::announce) fn resolved(text: &str) -> Resolved<'_> {
    let Some(first) = memchr::memchr(b'&', text.as_bytes()) else {
        return Resolved { text: Cow::Borrowed(text), unknown: false };
    };
    let mut plain = String::with_capacity(text.len());
    plain.push_str(&text[..first]);
    let mut rest = &text[first..];
    let mut unknown = false;
    while let Some(after) = rest.strip_prefix('&') {
        // Not further than a reference can reach: work stays linear.
        let near = &after.as_bytes()[..after.len().min(LONGEST)];
        let name = memchr::memchr(b';', near).map(|end| &after[..end]).filter(|name| is_name(name));
        let reference = name.map(|name| &rest[..name.len() + 2]);
        rest = if let Some((reference, meant)) = reference.and_then(|text| Some((text, meant(text)?))) {
            plain.push_str(&meant);
            &rest[reference.len()..]
        } else {
            plain.push('&');
            unknown |= reference.is_some();
            after
        };
        let end = memchr::memchr(b'&', rest.as_bytes()).unwrap_or(rest.len());
        plain.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    Resolved { text: Cow::Owned(plain), unknown }
}

fn is_name(name: &str) -> bool {
    (1..LONGEST).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"#_.-:".contains(&byte))
}

/// The text that a reference, `&eacute;` or `&#233;`, stands for; `None` if it is not defined.
fn meant(reference: &str) -> Option<Cow<'_, str>> {
    let meant = html_escape::decode_html_entities(reference);
    (meant != reference).then_some(meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, bool) {
        let Resolved { text, unknown } = resolved(text);
        (text.into_owned(), unknown)
    }

    #[test]
    fn only_what_cannot_expand_is_resolved() {
        assert_eq!(read("a&amp;b&lt;&gt;&quot;&apos;&#65;&#x42;"), ("a&b<>\"'AB".into(), false));
        assert_eq!(read("?a=1&b=2&c"), ("?a=1&b=2&c".into(), false));
        assert_eq!(read("&lol9; &eacute"), ("&lol9; &eacute".into(), true));
        assert_eq!(read("caf&eacute;&nbsp;&CounterClockwiseContourIntegral;"), ("café\u{a0}∳".into(), false));
        assert_eq!(read("&amp;amp;"), ("&amp;".into(), false));
        assert_eq!(read("&#0;&#xD800;&#99999999999;"), ("&#0;&#xD800;&#99999999999;".into(), true));
        assert_eq!(read("&;&&"), ("&;&&".into(), false));
    }
}
