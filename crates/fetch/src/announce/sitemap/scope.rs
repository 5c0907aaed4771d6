//! For which pages a sitemap may speak.
//!
//! By the protocol, a sitemap speaks for the pages of its own host (and there, strictly, for those below its own directory).
//! For pages of another host it speaks only if the robots.txt of that host names it.

use crate::robots::Robots;
use crate::url::PageUrl;

/// How a page stands to a sitemap that names it, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// Below the directory of the sitemap.
    Below,
    /// On the same host.
    Host,
    /// On another host of the same site: `www.`, mostly.
    Site,
    /// On another site.
    Elsewhere,
}

/// How `page` stands to `sitemap`. `http` and `https` are one host, each at its usual port.
pub fn scope(sitemap: &PageUrl, page: &PageUrl) -> Scope {
    if is_same_host(sitemap, page) {
        let directory = sitemap.path_and_query().split('?').next().unwrap_or_default();
        let directory = directory.rfind('/').map_or("/", |slash| &directory[..=slash]);
        return if page.path_and_query().starts_with(directory) { Scope::Below } else { Scope::Host };
    }
    if sitemap.site() == page.site() { Scope::Site } else { Scope::Elsewhere }
}

/// Does the robots.txt of a host name this sitemap, and so let it speak for the host's pages? `page` is any page of the host.
/// Sitemaps that an index names are let in with it: ask for the index.
pub fn is_vouched_for(sitemap: &PageUrl, page: &PageUrl, robots_of_page: &Robots) -> bool {
    let home = page.robots();
    robots_of_page.sitemaps().iter().any(|named| home.join(named).is_ok_and(|named| named == *sitemap))
}

fn is_same_host(one: &PageUrl, other: &PageUrl) -> bool {
    let usual = |url: &PageUrl| url.port() == if url.is_secure() { 443 } else { 80 };
    one.host() == other.host() && (one.port() == other.port() || (usual(one) && usual(other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text).expect("a URL")
    }

    #[test]
    fn pages_near_and_far() {
        let sitemap = url("https://example.org/shop/sitemap.xml?page=/x/2");
        for (page, expected) in [
            ("https://example.org/shop/a", Scope::Below),
            ("http://example.org/shop/", Scope::Below),
            ("https://example.org/", Scope::Host),
            ("https://www.example.org/shop/a", Scope::Site),
            ("https://example.org:8443/shop/a", Scope::Site),
            ("https://example.com/shop/a", Scope::Elsewhere),
        ] {
            assert_eq!(scope(&sitemap, &url(page)), expected, "{page}");
        }
    }

    #[test]
    fn a_host_lets_others_speak_for_it() {
        let robots = Robots::parse(b"Sitemap: https://maps.example/org.xml\nSitemap: /own.xml\n", "Refrain");
        let page = url("https://example.org/a/b");
        assert!(is_vouched_for(&url("https://maps.example/org.xml"), &page, &robots));
        assert!(is_vouched_for(&url("https://example.org/own.xml"), &page, &robots));
        assert!(!is_vouched_for(&url("https://evil.example/org.xml"), &page, &robots));
    }
}
