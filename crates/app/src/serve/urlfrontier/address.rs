//! What is taken for a URL, and which queue it belongs to if nobody says.

use refrain_fetch::url::PageUrl;

/// A name of a queue or of a crawl is no longer than this.
const LONGEST_NAME: usize = 4096;
/// A URL is no longer than this, in bytes.
pub(super) const LONGEST_URL: usize = 32 << 10;
/// The crawl of those who name none.
pub(super) const DEFAULT: &str = "DEFAULT";

/// Returns the name of a crawl; a blank one is [`DEFAULT`].
pub(super) fn crawl(name: String) -> String {
    // Blanks as the reference has them: everything up to the space.
    if name.bytes().all(|byte| byte <= b' ') { DEFAULT.to_owned() } else { name }
}

/// The key, if there is one.
pub(super) fn key(name: String) -> Option<String> {
    Some(name).filter(|name| !name.is_empty())
}

/// Whether this can be the name of a queue or of a crawl.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME
}

/// Returns the host name of a URL of any scheme, without user, password and port; `None` if it has none.
pub(super) fn host(url: &str) -> Option<String> {
    if let Some(host) = plain_host(url) {
        return Some(host.to_owned());
    }
    let (scheme, rest) = url.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // A URL parser would mend `http:///path` and `http://\a.example` silently.
    if !is_scheme || host.is_empty() || host.contains(['\\', ' ']) {
        return None;
    }
    // Whatever the scheme, all spellings of a host are one key.
    PageUrl::parse(&format!("http://{host}/")).ok().map(|url| url.host().to_owned())
}

/// The name of the host, where there is nothing to ponder: nearly always.
fn plain_host(url: &str) -> Option<&str> {
    if url.len() > refrain_fetch::url::LONGEST {
        return None;
    }
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = &rest[..end];
    let is_plain = |label: &str| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && !label.starts_with("xn--")
    };
    // What ends in a number is an address, of which there are many spellings.
    let is_named = host.bytes().next_back().is_some_and(|byte| byte.is_ascii_lowercase());
    (is_named && host.len() <= 253 && host.split('.').all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_queue() {
        let longer = format!("http://a/{}", "x".repeat(9000));
        for (url, name) in [
            ("http://a.example", "a.example"),
            ("https://www.a.example:8443/x?y=http://b.example/", "www.a.example"),
            ("http://b.example?q=c.example/", "b.example"),
            ("http://b.example#q=c.example/", "b.example"),
            ("HTTP://A.example:80/x", "a.example"),
            ("http://A.Example/ü", "a.example"),
            ("http://10.0.0.1/", "10.0.0.1"),
            ("http://[2001:db8::1]:8080/", "2001:db8::1"),
            ("http://xn--bcher-kva.example/", "xn--bcher-kva.example"),
            ("http://bücher.example/", "xn--bcher-kva.example"),
            ("http://localhost/", "localhost"),
            ("http://a_b.example/a b", "a_b.example"),
            ("http://user:password@A.example:8080/@x", "a.example"),
            ("ftp://files.example:21/pub/x?y@z", "files.example"),
            ("s3://my_bucket/key", "my_bucket"),
            ("file://host.example/etc/passwd", "host.example"),
            (&longer, "a"),
        ] {
            assert_eq!(host(url).as_deref(), Some(name), "{url}");
        }
    }

    #[test]
    fn what_is_none() {
        let long = format!("http://{}/", "a".repeat(70_000));
        for url in [
            "",
            " ",
            "no address",
            "http://",
            "http:///path",
            "/only/a/path",
            "//a.example/",
            "http://a b.example/",
            "http://./",
            "file:///etc/passwd",
            "ftp://user:password@/x",
            "http://\\a.example/",
            "http:/a.example",
            "http://a.example:port/",
            "mailto:a@b.example",
            " http://a.example/",
            &long,
        ] {
            assert_eq!(host(url), None, "{url:.50}");
        }
    }

    #[test]
    fn a_blank_crawl_is_the_default() {
        for (name, expected) in [("", DEFAULT), (" ", DEFAULT), ("\t \n", DEFAULT), (" a ", " a ")] {
            assert_eq!(crawl(name.to_owned()), expected, "{name:?}");
        }
    }

    /// The short way says nothing else than the long one.
    #[test]
    fn what_is_plain_is_so_for_everybody() {
        for url in [
            "http://a.example/",
            "https://a-b.c1.example?x",
            "http://localhost#x",
            "http://-a.example/",
            "http://0x7f.a/",
        ] {
            if let Some(host) = plain_host(url) {
                assert_eq!(PageUrl::parse(url).unwrap().host(), host, "{url}");
            }
        }
        for url in [
            "http://a..example/",
            "http://1.2.3/",
            "http://A.example/",
            "http://a@b.example/",
            "http://a.example:1/",
        ] {
            assert_eq!(plain_host(url), None, "{url}");
        }
    }
}
