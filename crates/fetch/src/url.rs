//! Canonical URLs: one spelling per page, as far as spelling can tell.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use ::url::{Host, ParseError, Url};
use encoding_rs::{EncoderResult, Encoding, UTF_8};

use crate::octets;

/// The longest URL that is followed, in bytes.
pub const LONGEST: usize = 8192;

/// The longest name of a host, in bytes (RFC 1035, 2.3.4).
const LONGEST_HOST: usize = 253;

/// A URL of a page in its canonical spelling: `http` or `https`, host in lower case without a last dot, no default port,
/// no fragment, no credentials, no dot segments, no empty query, and each octet of path and query in the spelling that
/// `octets` names. Two spellings are one page only where RFC 3986 gives a server no grounds to tell them apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageUrl(Url);

/// Why a text is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// Longer than [`LONGEST`].
    #[error("the URL is {0} bytes long; expected at most {LONGEST}")]
    TooLong(usize),
    /// A host that no name server can know.
    #[error("the URL's host is {0} bytes long; expected at most {LONGEST_HOST}")]
    HostTooLong(usize),
    /// Another scheme than `http` and `https`.
    #[error("the URL's scheme is `{0}`; expected http or https")]
    Scheme(String),
    /// A user name or a password before the host: pages behind one are not for crawlers, and it would end up in logs.
    #[error("the URL holds a user name or a password; expected none")]
    Credentials,
    /// Not a URL at all.
    #[error("not a URL: {0}")]
    Syntax(ParseError),
}

/// What belongs together: the registrable domain (`example.co.uk`), or the whole host where there is none (addresses,
/// `localhost`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site(String);

impl PageUrl {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// [`BadUrl`] says in a sentence what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        if text.len() > LONGEST {
            return Err(BadUrl::TooLong(text.len()));
        }
        canonical(Url::parse(text).map_err(BadUrl::Syntax)?)
    }

    /// Reads a link found at `self`: absolute, or relative to it.
    ///
    /// # Errors
    /// [`BadUrl`] says in a sentence what is wrong with it.
    pub fn join(&self, link: &str) -> Result<Self, BadUrl> {
        if link.len() > LONGEST {
            return Err(BadUrl::TooLong(link.len()));
        }
        canonical(self.0.join(link).map_err(BadUrl::Syntax)?)
    }

    /// Reads a link found on a page at `self` that was read in this encoding: browsers write queries in the encoding of the page, so that a
    /// form and a link lead to the same address.
    pub(crate) fn join_in(&self, link: &str, encoding: &'static Encoding) -> Result<Self, BadUrl> {
        let encoding = encoding.output_encoding();
        if encoding == UTF_8 || link.is_ascii() {
            return self.join(link);
        }
        if link.len() > LONGEST {
            return Err(BadUrl::TooLong(link.len()));
        }
        let written: &dyn Fn(&str) -> Cow<'_, [u8]> = &|query| Cow::Owned(encoded(query, encoding));
        let options = Url::options().base_url(Some(&self.0)).encoding_override(Some(written));
        canonical(options.parse(link).map_err(BadUrl::Syntax)?)
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// What comes before the path: scheme, name (IPv6 in brackets) and port, the port only if it is not the usual one.
    pub fn origin(&self) -> &str {
        &self.0[..::url::Position::BeforePath]
    }

    /// The host: a name in lower case, or an address (IPv6 without brackets).
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    /// The address, where the host is one.
    pub fn address(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(80)
    }

    /// Is it `https`?
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// The path and the query: what a request asks its host for.
    pub fn path_and_query(&self) -> &str {
        &self.0[::url::Position::BeforePath..]
    }

    /// Where this host keeps its robots.txt.
    #[must_use]
    pub fn robots(&self) -> Self {
        let mut url = self.0.clone();
        url.set_path("/robots.txt");
        url.set_query(None);
        Self(url)
    }

    /// The site it belongs to.
    pub fn site(&self) -> Site {
        let host = self.host();
        let registrable = if self.address().is_some() { None } else { psl::domain_str(host) };
        Site(registrable.unwrap_or(host).to_owned())
    }
}

impl Site {
    /// The site's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A query in an encoding. A letter that the encoding has not is written as the number that a form would send, `&#1103;`, percent-encoded
/// (URL Standard, "percent-encode after encoding").
fn encoded(query: &str, encoding: &'static Encoding) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let (mut bytes, mut rest) = (Vec::with_capacity(query.len()), query);
    loop {
        // Room for what any encoding makes of a piece, with the escape sequences that some have.
        bytes.reserve(2 * rest.len() + 32);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return bytes,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(letter) => {
                bytes.extend(format!("%26%23{}%3B", u32::from(letter)).bytes());
            }
        }
    }
}

/// The parser has lowered the host, dropped the default port and resolved dot segments; the rest is done here.
fn canonical(mut url: Url) -> Result<PageUrl, BadUrl> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadUrl::Scheme(url.scheme().chars().take(32).collect()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadUrl::Credentials);
    }
    url.set_fragment(None);
    if let Some(Host::Domain(name)) = url.host()
        && name.ends_with('.')
    {
        let bare = name.trim_end_matches('.').to_owned();
        url.set_host(Some(&bare)).map_err(BadUrl::Syntax)?;
    }
    let host = url.host_str().map_or(0, str::len);
    if host > LONGEST_HOST {
        return Err(BadUrl::HostTooLong(host));
    }
    if let Some(path) = octets::canonical(url.path()) {
        url.set_path(&path);
    }
    if let Some(query) = url.query().and_then(octets::canonical) {
        url.set_query(Some(&query));
    }
    // Programs behind a server (CGI, WSGI, servlets) are given an empty query where there is none.
    if url.query() == Some("") {
        url.set_query(None);
    }
    // Encoding and joining can make a URL longer than what was written.
    if url.as_str().len() > LONGEST { Err(BadUrl::TooLong(url.as_str().len())) } else { Ok(PageUrl(url)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled(text: &str) -> String {
        PageUrl::parse(text).map_or_else(|bad| bad.to_string(), |url| url.to_string())
    }

    #[test]
    fn one_spelling_per_page() {
        for (given, canonical) in [
            ("HTTP://Example.ORG", "http://example.org/"),
            ("http://example.org:80/a", "http://example.org/a"),
            ("https://example.org:443/a#part", "https://example.org/a"),
            ("https://example.org:8443/", "https://example.org:8443/"),
            ("http://example.org./x", "http://example.org/x"),
            ("http://example.org/a/./b/../c", "http://example.org/a/c"),
            ("http://example.org/%7euser/%c3%a9?q=%41%2f", "http://example.org/~user/%C3%A9?q=A%2F"),
            ("http://example.org/a b", "http://example.org/a%20b"),
            ("http://example.org/100%", "http://example.org/100%"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://0x7f.1/", "http://127.0.0.1/"),
            ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ] {
            assert_eq!(spelled(given), canonical);
        }
    }

    /// Octets that may stand in no path and no query are one page however they are written, in both parts.
    #[test]
    fn an_octet_that_must_be_encoded_has_one_spelling() {
        for octet in b"\"<>[]^`{|} ".iter().copied().chain(0x80..=0xff) {
            let encoded = format!("%{octet:02X}");
            // Raw octets beyond ASCII are not text: only their two encoded spellings are compared.
            let raw = if octet.is_ascii() { char::from(octet).to_string() } else { encoded.to_lowercase() };
            for [before, after] in [["a", "b"], ["a?b", "c"], ["a?b=", ""]] {
                let expected = format!("http://example.org/{before}{encoded}{after}");
                // Spaces at the end are not of the URL.
                if octet != b' ' || !after.is_empty() {
                    assert_eq!(spelled(&format!("http://example.org/{before}{raw}{after}")), expected);
                }
                assert_eq!(spelled(&expected), expected);
                assert_eq!(spelled(&format!("http://example.org/{before}%{octet:02x}{after}")), expected);
            }
        }
        // A backslash separates segments of a path, but not what is in a query.
        assert_eq!(spelled("http://example.org/a\\b?c\\d"), "http://example.org/a/b?c%5Cd");
        assert_eq!(spelled("http://example.org/a%5cb?c%5cd"), "http://example.org/a%5Cb?c%5Cd");
        assert_eq!(
            spelled("http://example.org/?a[b]=1&c={d|e}^`"),
            spelled("http://example.org/?a%5Bb%5D=1&c=%7Bd%7ce%7D%5E%60")
        );
    }

    #[test]
    fn an_empty_query_is_none() {
        for (given, canonical) in [
            ("http://example.org/a?", "http://example.org/a"),
            ("http://example.org?", "http://example.org/"),
            ("http://example.org/a?#b", "http://example.org/a"),
            ("http://example.org/a??", "http://example.org/a??"),
            ("http://example.org/a?&", "http://example.org/a?&"),
            ("http://example.org/a?=", "http://example.org/a?="),
        ] {
            assert_eq!(spelled(given), canonical);
        }
    }

    /// What may separate is not what separates when it is encoded; nor is a stray percent sign an encoded one.
    #[test]
    fn what_may_be_two_pages_stays_two() {
        for octet in b"!#$%&'()*+,/:;=?@" {
            for start in ["http://example.org/a", "http://example.org/a?b"] {
                let raw = spelled(&format!("{start}{}z", char::from(*octet)));
                let encoded = spelled(&format!("{start}%{octet:02X}z"));
                // The parser itself encodes the apostrophe in queries.
                let is_one = *octet == b'\'' && start.contains('?');
                assert_eq!(raw == encoded, is_one, "{raw} {encoded}");
            }
        }
        for (one, other) in [
            ("http://example.org/a", "http://example.org/a/"),
            ("http://example.org/a", "http://example.org//a"),
            ("http://example.org/a", "http://example.org/A"),
            ("http://example.org/?a&b", "http://example.org/?b&a"),
            ("http://example.org/?a", "http://example.org/?a="),
            ("http://example.org/?a+b", "http://example.org/?a%20b"),
        ] {
            assert_ne!(spelled(one), spelled(other));
        }
    }

    #[test]
    fn what_is_not_a_page_is_refused_in_a_sentence() {
        assert_eq!(spelled("ftp://example.org/"), "the URL's scheme is `ftp`; expected http or https");
        assert_eq!(
            spelled("http://me:secret@example.org/"),
            "the URL holds a user name or a password; expected none"
        );
        assert_eq!(spelled("/relative"), "not a URL: relative URL without a base");
        let long = format!("http://example.org/{}", "é".repeat(2000));
        assert_eq!(spelled(&long), "the URL is 12019 bytes long; expected at most 8192");
        let label = "a".repeat(63);
        let long = format!("http://{label}.{label}.{label}.{label}/");
        assert_eq!(spelled(&long), "the URL's host is 255 bytes long; expected at most 253");
    }

    #[test]
    fn links_are_resolved() {
        let base = PageUrl::parse("https://example.org/a/b?c=d").expect("a URL");
        let joined = |link: &str| base.join(link).map(|url| url.to_string()).ok();
        assert_eq!(joined("../x").as_deref(), Some("https://example.org/x"));
        assert_eq!(joined("//other.example/y").as_deref(), Some("https://other.example/y"));
        assert_eq!(joined("?e").as_deref(), Some("https://example.org/a/b?e"));
        assert_eq!(joined("#here").as_deref(), Some("https://example.org/a/b?c=d"));
        assert_eq!(joined("mailto:me@example.org"), None);
        assert_eq!(joined("javascript:void(0)"), None);
    }

    #[test]
    fn queries_are_written_in_the_encoding_of_the_page() {
        let base = PageUrl::parse("https://example.org/a").expect("a URL");
        let joined = |link: &str, label: &str| {
            let encoding = Encoding::for_label(label.as_bytes()).expect("an encoding");
            base.join_in(link, encoding).map(|url| url.path_and_query().to_owned()).ok()
        };
        for (link, label, expected) in [
            ("/\u{44f}?q=\u{44f}#\u{44f}", "windows-1251", "/%D1%8F?q=%FF"),
            ("/\u{44f}?q=\u{44f}", "utf-8", "/%D1%8F?q=%D1%8F"),
            ("/\u{44f}?q=\u{44f}", "utf-16", "/%D1%8F?q=%D1%8F"),
            ("?q=\u{e9}\u{44f}&x=1", "windows-1252", "/a?q=%E9%26%231103%3B&x=1"),
            ("?q=\u{65e5}", "shift_jis", "/a?q=%93%FA"),
            ("?q=\u{65e5}!", "iso-2022-jp", "/a?q=%1B$BF|%1B(B!"),
            ("?q=%FF\u{44f}", "windows-1251", "/a?q=%FF%FF"),
        ] {
            let expected = octets::canonical(expected).unwrap_or_else(|| expected.to_owned());
            assert_eq!(joined(link, label).as_deref(), Some(&*expected), "{link} {label}");
        }
    }

    #[test]
    fn sites_are_registrable_domains() {
        let site = |text: &str| PageUrl::parse(text).map(|url| url.site().to_string()).unwrap_or_default();
        assert_eq!(site("http://a.b.example.co.uk/"), "example.co.uk");
        assert_eq!(site("http://user.github.io/"), "user.github.io");
        assert_eq!(site("http://localhost/"), "localhost");
        assert_eq!(site("http://10.1.2.3/"), "10.1.2.3");
        assert_eq!(site("http://[::1]/"), "::1");
    }

    #[test]
    fn robots_live_at_the_root() {
        let url = PageUrl::parse("https://example.org:8443/a?b").expect("a URL");
        assert_eq!(url.robots().as_str(), "https://example.org:8443/robots.txt");
        assert_eq!(url.path_and_query(), "/a?b");
        assert_eq!(url.port(), 8443);
    }

    proptest! {
        #[test]
        fn a_canonical_url_is_its_own_canonical_form(tail in "[ -~é]{0,40}", host in "[a-z%.]{1,12}") {
            if let Ok(url) = PageUrl::parse(&format!("http://{host}/{tail}")) {
                prop_assert_eq!(PageUrl::parse(url.as_str()), Ok(url.clone()));
                prop_assert!(url.path_and_query().starts_with('/'));
            }
        }

        #[test]
        fn no_text_is_too_strange(text in "\\PC{0,200}", label in prop::sample::select(vec!["iso-2022-jp", "gb18030", "big5", "koi8-r"])) {
            let _ = PageUrl::parse(&text);
            let base = PageUrl::parse("https://example.org/a").expect("a URL");
            let _ = base.join_in(&format!("?{text}"), Encoding::for_label(label.as_bytes()).expect("an encoding"));
        }
    }
}
