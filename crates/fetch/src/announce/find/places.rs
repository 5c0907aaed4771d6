//! Places that somebody names, and places that many sites have.

use crate::links::{Links, Relation};
use crate::robots::Robots;
use crate::url::PageUrl;

/// Somewhere an announcement may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub url: PageUrl,
    /// What is said to be there.
    pub role: Role,
}

/// What is said to be at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A sitemap, or an index of some.
    Sitemap,
    /// A feed.
    Feed,
    /// A WebSub hub.
    Hub,
    /// What the hub calls the page.
    Itself,
}

/// Where most sites that have announcements have them, the most frequent first of each kind. Each is a request: the short list.
pub const WELL_KNOWN: [(&str, Role); 10] = [
    ("/sitemap.xml", Role::Sitemap),
    ("/sitemap_index.xml", Role::Sitemap),
    ("/feed", Role::Feed),
    ("/rss.xml", Role::Feed),
    ("/atom.xml", Role::Feed),
    ("/feed.xml", Role::Feed),
    ("/index.xml", Role::Feed),
    ("/rss", Role::Feed),
    ("/feed.json", Role::Feed),
    ("/sitemap.txt", Role::Sitemap),
];

/// The well-known places of the host of `url`, in the order in which to try them. Once one of a kind is found, others of the kind
/// are not worth their requests.
pub fn well_known(url: &PageUrl) -> impl Iterator<Item = Place> {
    let home = url.robots();
    WELL_KNOWN.into_iter().filter_map(move |(path, role)| Some(Place { url: home.join(path).ok()?, role }))
}

/// The sitemaps that the robots.txt of the host of `url` names, each once, in order.
pub fn of_robots(robots: &Robots, url: &PageUrl) -> Vec<Place> {
    let home = url.robots();
    let named = robots.sitemaps().iter().filter_map(|named| home.join(named).ok());
    once_each(named.map(|url| Place { url, role: Role::Sitemap }))
}

/// What the `<link>`s of a page name, each once, in order.
pub fn of_page(links: &Links) -> Vec<Place> {
    once_each(links.related.iter().filter_map(|related| {
        let role = match related.relation {
            Relation::Feed => Role::Feed,
            Relation::Sitemap => Role::Sitemap,
            Relation::Hub => Role::Hub,
            Relation::Itself => Role::Itself,
            Relation::Canonical | Relation::Alternate | Relation::Next | Relation::Previous => return None,
        };
        Some(Place { url: related.url.clone(), role })
    }))
}

/// All that come here are bounded in number: a thousand sitemaps of a robots.txt, two hundred links of a page.
pub(super) fn once_each(places: impl Iterator<Item = Place>) -> Vec<Place> {
    let mut seen = std::collections::HashSet::new();
    places.filter(|place| seen.insert((place.url.clone(), place.role as u8))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::links;

    fn shown(places: &[Place]) -> Vec<(String, Role)> {
        places.iter().map(|place| (place.url.to_string(), place.role)).collect()
    }

    #[test]
    fn robots_name_sitemaps() {
        let url = PageUrl::parse("https://example.org/a/b").expect("a URL");
        let robots = Robots::parse(
            b"User-agent: *\nSitemap: https://example.org/1.xml\nsitemap:/2.xml\nSitemap: 3.xml\nSitemap: /2.xml\nSitemap: ftp://x/\n",
            "Refrain",
        );
        let found = shown(&of_robots(&robots, &url));
        let expected =
            ["https://example.org/1.xml", "https://example.org/2.xml", "https://example.org/3.xml"];
        assert_eq!(found, expected.map(|url| (url.to_owned(), Role::Sitemap)));
    }

    #[test]
    fn pages_name_feeds_hubs_and_sitemaps() {
        let url = PageUrl::parse("https://example.org/a/b").expect("a URL");
        let html = "<link rel=canonical href=/c><link rel=alternate type='application/atom+xml; charset=utf-8' href=feed>\
                    <link rel='alternate' type=application/rss+xml href=feed><link rel=hub href=https://hub.example/>\
                    <link rel=self href=/me><link rel=sitemap href=/map.xml>";
        let found = shown(&of_page(&links(html, &url, "Refrain")));
        let expected = [
            ("https://example.org/a/feed", Role::Feed),
            ("https://hub.example/", Role::Hub),
            ("https://example.org/me", Role::Itself),
            ("https://example.org/map.xml", Role::Sitemap),
        ];
        assert_eq!(found, expected.map(|(url, role)| (url.to_owned(), role)));
    }

    #[test]
    fn well_known_places_are_at_the_root() {
        let url = PageUrl::parse("https://example.org:8443/a/b?c").expect("a URL");
        let places: Vec<Place> = well_known(&url).collect();
        assert_eq!(places.len(), WELL_KNOWN.len());
        assert_eq!(places[0].url.as_str(), "https://example.org:8443/sitemap.xml");
    }
}
