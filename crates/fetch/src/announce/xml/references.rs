//! References in text: the five predefined ones and numbers. No others are known, so nothing expands.

use std::borrow::Cow;

/// `&#x0010FFFF;`, and zeros for those who like them.
pub(super) const LONGEST: usize = 32;

/// Text with its references resolved.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::announce) struct Resolved<'a> {
    pub(in crate::announce) text: Cow<'a, str>,
    /// There was a reference to something that only a document type could tell; it is left as written.
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
        rest = if let (Some(name), Some(character)) = (name, name.and_then(character)) {
            plain.push(character);
            &after[name.len() + 1..]
        } else {
            plain.push('&');
            unknown |= name.is_some();
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

fn character(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            code.ok().and_then(char::from_u32).filter(|c| *c != '\0')
        }
    }
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
        assert_eq!(read("&lol9; &nbsp;"), ("&lol9; &nbsp;".into(), true));
        assert_eq!(read("&amp;amp;"), ("&amp;".into(), false));
        assert_eq!(read("&#0;&#xD800;&#99999999999;"), ("&#0;&#xD800;&#99999999999;".into(), true));
        assert_eq!(read("&;&&"), ("&;&&".into(), false));
    }
}
