//! The attributes of a tag.

use super::references::{Resolved, resolved};

/// More attributes than any tag needs; root elements have one for each namespace.
const MOST: usize = 100;

/// The value of the attribute with this name, references resolved; the first, if there are several.
pub(in crate::announce) fn attribute<'a>(attributes: &'a str, wanted: &str) -> Option<Resolved<'a>> {
    let mut rest = attributes;
    for _ in 0..MOST {
        rest = rest.trim_ascii_start();
        let end = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_ascii_start();
        let Some(value) = after.strip_prefix('=') else {
            // No value: HTML in disguise. An end has neither name nor value.
            if name.is_empty() {
                return None;
            }
            rest = after;
            continue;
        };
        let value = value.trim_ascii_start();
        let (value, after) = match value.as_bytes().first() {
            Some(quote @ (b'"' | b'\'')) => value[1..].split_once(char::from(*quote))?,
            _ => value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len())),
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(resolved(value));
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_however_they_are_written() {
        let text = " a='1' b = \"2 > 1\" c d=4 xml:base='/x?y=1&amp;z=2' HREF=\"five\"";
        let value = |name: &str| attribute(text, name).map(|value| value.text.into_owned());
        assert_eq!(value("a").as_deref(), Some("1"));
        assert_eq!(value("b").as_deref(), Some("2 > 1"));
        assert_eq!(value("c"), None);
        assert_eq!(value("d").as_deref(), Some("4"));
        assert_eq!(value("xml:base").as_deref(), Some("/x?y=1&z=2"));
        assert_eq!(value("href").as_deref(), Some("five"));
        assert_eq!(attribute("a=\"open", "a"), None);
        assert_eq!(attribute("=====", "a"), None);
        assert_eq!(attribute("", ""), None);
    }
}
