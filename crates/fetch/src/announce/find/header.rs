//! The `Link` lines of a head (RFC 8288): `<https://hub.example/>; rel="hub", </feed>; rel=alternate; type="application/rss+xml"`.

use super::places::{Place, Role, once_each};
use crate::links::is_feed;
use crate::url::PageUrl;

/// More links than any head needs.
const MOST: usize = 100;

/// What the `Link` lines of the answer from `url` name, each once, in order.
pub fn of_header<'a>(lines: impl Iterator<Item = &'a [u8]>, url: &PageUrl) -> Vec<Place> {
    let links = lines
        .filter_map(|line| std::str::from_utf8(line).ok())
        .flat_map(|line| Links { rest: line })
        .take(MOST);
    once_each(links.filter_map(|link| link.place(url)))
}

/// One link with its parameters, as written.
struct Link<'a> {
    target: &'a str,
    relations: String,
    kind: String,
    /// It speaks of another page.
    has_anchor: bool,
}

struct Links<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Links<'a> {
    type Item = Link<'a>;

    fn next(&mut self) -> Option<Link<'a>> {
        let (_, rest) = self.rest.split_once('<')?;
        let (target, mut rest) = rest.split_once('>')?;
        let mut link = Link { target, relations: String::new(), kind: String::new(), has_anchor: false };
        loop {
            rest = rest.trim_start();
            let Some(after) = rest.strip_prefix(';') else { break };
            let (name, value, after) = parameter(after);
            // The first of each counts.
            match name.to_ascii_lowercase().as_str() {
                "rel" if link.relations.is_empty() => link.relations = value,
                "type" if link.kind.is_empty() => link.kind = value,
                "anchor" => link.has_anchor = true,
                _ => {}
            }
            rest = after;
        }
        self.rest = rest;
        Some(link)
    }
}

impl Link<'_> {
    fn place(&self, url: &PageUrl) -> Option<Place> {
        let is =
            |word: &str| self.relations.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
        let role = if self.has_anchor {
            return None;
        } else if is("hub") {
            Role::Hub
        } else if is("self") {
            Role::Itself
        } else if is("sitemap") {
            Role::Sitemap
        } else if is("alternate") && is_feed(&self.kind, self.target) {
            Role::Feed
        } else {
            return None;
        };
        Some(Place { url: url.join(self.target.trim()).ok()?, role })
    }
}

/// `name=value`, `name="value"` or `name`, and what follows.
fn parameter(text: &str) -> (&str, String, &str) {
    let end = text.find(['=', ';', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let Some(value) = rest.strip_prefix('=') else { return (name.trim(), String::new(), rest) };
    let value = value.trim_start();
    let Some(quoted) = value.strip_prefix('"') else {
        let end = value.find([';', ',']).unwrap_or(value.len());
        return (name.trim(), value[..end].trim().to_owned(), &value[end..]);
    };
    let mut plain = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (name.trim(), plain, &quoted[at + 1..]),
            '\\' => plain.extend(letters.next().map(|(_, escaped)| escaped)),
            _ => plain.push(letter),
        }
    }
    // Nobody closed the quote: what is in it is not to be had.
    (name.trim(), String::new(), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(lines: &[&str]) -> Vec<(String, Role)> {
        let url = PageUrl::parse("https://example.org/a/b").expect("a URL");
        of_header(lines.iter().map(|line| line.as_bytes()), &url)
            .into_iter()
            .map(|place| (place.url.to_string(), place.role))
            .collect()
    }

    #[test]
    fn links_of_a_head() {
        let lines = [
            "<https://hub.example/a,b;c>; rel=\"hub\", </feed>; REL=alternate; title=\"a, \\\"b\\\"; c\"; type=\"application/rss+xml\"",
            "<me>;rel=\"nofollow self\"; rel=hub,<x>; rel=preload; as=style,</wp-json/1>; rel=alternate; type=application/json",
            "</map.xml>; rel = sitemap, </other>; rel=hub; anchor=\"#x\", <https://hub.example/a,b;c>; rel=hub",
        ];
        let expected = [
            ("https://hub.example/a,b;c", Role::Hub),
            ("https://example.org/feed", Role::Feed),
            ("https://example.org/a/me", Role::Itself),
            ("https://example.org/map.xml", Role::Sitemap),
        ];
        assert_eq!(found(&lines), expected.map(|(url, role)| (url.to_owned(), role)));
        assert!(found(&["<x", "x; rel=hub", "<x>; rel=\"hub", "", "<ftp://x/>; rel=hub"]).is_empty());
    }

    proptest! {
        #[test]
        fn no_head_is_too_strange(line in "[<>;,=\"\\\\a-c é]{0,40}") {
            let _ = found(&[&line, &format!("<{line}>; rel=hub"), &format!("<x>; rel=\"{line}")]);
        }
    }
}
