//! Where an HTML page leads, what it calls itself, and what it asks of crawlers.
//!
//! The page is read as a stream of tags, so it may be as malformed as it likes.

mod directives;
mod reader;
mod refresh;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use encoding_rs::{Encoding, UTF_8};

use crate::html;
use crate::url::PageUrl;
pub(crate) use reader::{Found, is_feed};

pub use directives::Directives;

/// So many different links of a page are kept.
pub const MOST: usize = 5000;
/// The links of a page take so many bytes in all: short ones become long where the page says that they begin with a long address.
const MOST_BYTES: usize = 1 << 20;

/// What an HTML page says about itself and others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// The title, with single spaces; cut off where it is very long.
    pub title: Option<String>,
    /// Pages that it links to, each once, in order.
    pub links: Vec<Link>,
    /// What `<link>` says: other forms of this page, its neighbours, its feeds.
    pub related: Vec<Related>,
    /// What the page asks of crawlers.
    pub directives: Directives,
    /// There were more links than [`MOST`].
    pub incomplete: bool,
}

/// A link that a person could follow, `<a>` or `<area>`, or that a browser follows by itself: `<meta http-equiv=refresh>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: PageUrl,
    /// Every link to it asks not to be followed: `rel=nofollow`.
    pub nofollow: bool,
}

/// A link for machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    /// Where it leads.
    pub url: PageUrl,
    /// What is there.
    pub relation: Relation,
}

/// What a `<link>` leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The page under its proper name.
    Canonical,
    /// The page in another language or form.
    Alternate,
    /// A feed (RSS, Atom, JSON Feed).
    Feed,
    /// The next page of a series.
    Next,
    /// The previous page of a series.
    Previous,
    /// A WebSub hub, which tells of changes.
    Hub,
    /// The page's name at the hub.
    Itself,
    /// A sitemap of the site.
    Sitemap,
}

/// Reads a page that was found at `url`. `agent` is our product token, for requests that name us.
pub fn links(html: &str, url: &PageUrl, agent: &str) -> Links {
    let mut found = Found::new(agent);
    html::read(html, &mut found);
    resolved(found, url, UTF_8)
}

/// What was found on a page at `url` that was read in this encoding, with links as they are followed.
pub(crate) fn resolved(found: Found, url: &PageUrl, encoding: &'static Encoding) -> Links {
    let title = found.title();
    let base = found.base.as_deref().and_then(|base| url.join_in(base, encoding).ok());
    let base = base.as_ref().unwrap_or(url);
    let Found { anchors, relations, directives, incomplete, .. } = found;
    let mut result = Links { title, directives, incomplete, ..Links::default() };
    let (mut places, mut bytes) = (HashMap::new(), 0);
    for (href, nofollow) in anchors {
        let Ok(target) = base.join_in(&href, encoding) else { continue };
        match places.entry(target) {
            Entry::Occupied(known) => {
                let link: &mut Link = &mut result.links[*known.get()];
                link.nofollow &= nofollow;
            }
            Entry::Vacant(_) if result.links.len() == MOST || bytes >= MOST_BYTES => result.incomplete = true,
            Entry::Vacant(place) => {
                let url = place.key().clone();
                bytes += url.as_str().len();
                place.insert(result.links.len());
                result.links.push(Link { url, nofollow });
            }
        }
    }
    for (href, relation) in relations {
        if let Ok(url) = base.join_in(&href, encoding) {
            result.related.push(Related { url, relation });
        }
    }
    result
}

#[cfg(test)]
mod tests;
