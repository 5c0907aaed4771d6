//! Canonical URLs: one spelling per page, as far as spelling can tell.

use std::fmt;
use std::net::IpAddr;

use ::url::{Host, ParseError, Url};

use crate::octets;

/// The longest URL that is followed, in bytes.
pub const LONGEST: usize = 8192;

/// The longest name of a host, in bytes (RFC 1035, 2.3.4).
const LONGEST_HOST: usize = 253;

/// A URL of a page in its canonical spelling: `http` or `https`, host in lower case without a last dot, no default port,
/// no fragment, no credentials, no dot segments, percent-encoding only where it means something.
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

    /// What robots.txt is asked about: the path and the query.
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
    if let Some(path) = octets::tidied(url.path()) {
        url.set_path(&path);
    }
    if let Some(query) = url.query().and_then(octets::tidied) {
        url.set_query(Some(&query));
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
        fn no_text_is_too_strange(text in "\\PC{0,200}") {
            let _ = PageUrl::parse(&text);
        }
    }
}
