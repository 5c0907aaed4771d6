//! What a body is, by its first bytes: what servers say of sitemaps and feeds is often wrong.

use std::ops::ControlFlow;

use crate::announce::inflow::Inflow;
use crate::announce::trimmed;
use crate::announce::xml::{Token, Tokens, local};

/// So much of a body is looked at.
pub const ENOUGH: usize = 16 * 1024;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A sitemap: pages of a site.
    Sitemap,
    /// An index of sitemaps.
    SitemapIndex,
    /// A list of URLs, one on each line.
    TextList,
    /// RSS of any version.
    Rss,
    /// Atom.
    Atom,
    /// JSON Feed.
    JsonFeed,
    /// An HTML page.
    Html,
    /// Something else, or nothing.
    Other,
}

impl Body {
    /// Can [`sitemap`](crate::announce::sitemap) read it?
    pub fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::TextList)
    }

    /// Can [`feed`](crate::announce::feed) read it?
    pub fn is_feed(self) -> bool {
        matches!(self, Self::Rss | Self::Atom | Self::JsonFeed)
    }

    /// What it is, with an article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sitemap => "a sitemap",
            Self::SitemapIndex => "an index of sitemaps",
            Self::TextList => "a list of URLs",
            Self::Rss => "an RSS feed",
            Self::Atom => "an Atom feed",
            Self::JsonFeed => "a JSON feed",
            Self::Html => "an HTML page",
            Self::Other => "something else",
        }
    }
}

/// Looks at the start of a body, gzip'ed or not. `charset` is what the head of the answer names.
pub fn sniff(body: &[u8], charset: Option<&str>) -> Body {
    let mut inflow = Inflow::new(ENOUGH as u64, charset);
    let mut start = String::new();
    let mut take = |text: &str, _: bool| {
        start.push_str(text);
        text.len()
    };
    // Compressed, less would do; but some write long comments.
    inflow.push(&body[..body.len().min(ENOUGH)], &mut take);
    inflow.finish(&mut take);
    of_text(&start)
}

/// Looks at the start of a text.
pub(in crate::announce) fn of_text(text: &str) -> Body {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}' || c == '\0');
    match text.as_bytes().first() {
        Some(b'<') => of_markup(text),
        Some(b'{')
            if text.contains("jsonfeed.org/version")
                || (text.contains("\"items\"") && text.contains("\"version\"")) =>
        {
            Body::JsonFeed
        }
        Some(_) => of_lines(text),
        None => Body::Other,
    }
}

/// The first element tells.
fn of_markup(text: &str) -> Body {
    let mut first = ControlFlow::Continue(());
    Tokens::new().read(text, false, &mut |token| {
        if let (Token::Start { name, .. }, ControlFlow::Continue(())) = (token, first) {
            first = ControlFlow::Break(of_element(local(name)));
        }
    });
    match first {
        ControlFlow::Break(body) => body,
        ControlFlow::Continue(()) if is_html_type(text) => Body::Html,
        ControlFlow::Continue(()) => Body::Other,
    }
}

fn of_element(name: &str) -> Body {
    const HTML: [&str; 16] = [
        "html", "head", "body", "title", "meta", "link", "script", "style", "div", "p", "h1", "table", "a",
        "br", "center", "font",
    ];
    let is = |known: &str| name.eq_ignore_ascii_case(known);
    match () {
        // Some forget the root.
        () if is("urlset") || is("url") => Body::Sitemap,
        () if is("sitemapindex") || is("sitemap") => Body::SitemapIndex,
        () if is("rss") || is("rdf") || is("channel") => Body::Rss,
        () if is("feed") => Body::Atom,
        () if HTML.into_iter().any(is) => Body::Html,
        () => Body::Other,
    }
}

fn is_html_type(text: &str) -> bool {
    text.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype html"))
}

/// A list has a URL on most lines, as far as they are looked at: some begin with a heading.
fn of_lines(text: &str) -> Body {
    let end = (0..=ENOUGH.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let is_url = |line: &str| {
        let has =
            |scheme: &str| line.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        (has("http://") || has("https://")) && !line.contains(char::is_whitespace)
    };
    let (mut urls, mut others) = (0, 0);
    for line in text[..end].lines().map(trimmed).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        *if is_url(line) { &mut urls } else { &mut others } += 1;
    }
    if urls > 0 && urls >= others { Body::TextList } else { Body::Other }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bodies_are_known_by_their_start() {
        for (text, body) in [
            (
                "<?xml version='1.0'?>\n<!-- made by hand -->\n<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
                Body::Sitemap,
            ),
            ("\u{feff}<sm:urlset xmlns:sm='x'>", Body::Sitemap),
            ("<sitemapindex>", Body::SitemapIndex),
            ("\n\n<rss version='2.0'>", Body::Rss),
            ("<rdf:RDF>", Body::Rss),
            ("<!DOCTYPE rss PUBLIC '-//x//DTD RSS 0.91//EN' 'x.dtd'><rss version='0.91'>", Body::Rss),
            ("<feed xmlns='http://www.w3.org/2005/Atom'>", Body::Atom),
            ("{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": []}", Body::JsonFeed),
            ("{\"items\": []}", Body::Other),
            ("# pages\n\nhttps://example.org/a\n", Body::TextList),
            ("HTTP://example.org/a", Body::TextList),
            ("Addresses\nhttps://example.org/a\nhttps://example.org/b", Body::TextList),
            ("URL\r\nhttps://example.org/a", Body::TextList),
            ("not found", Body::Other),
            ("Not found.\nAsk the owner.\nhttps://example.org/", Body::Other),
            ("https://example.org/ is for sale\nhttps://example.org/a b", Body::Other),
            ("<!doctype html><title>x</title>", Body::Html),
            ("<!DOCTYPE HTML", Body::Html),
            ("<svg>", Body::Other),
            ("", Body::Other),
        ] {
            assert_eq!(sniff(text.as_bytes(), None), body, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = sniff(&bytes, None);
        }
    }
}
