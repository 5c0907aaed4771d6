//! The elements of RSS and Atom that say something to a crawler, by the name without its prefix.

/// What an element means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// A link: to the page, or with `rel` to something else.
    Link,
    /// FeedBurner's: the page itself, where the link leads to a counter of clicks.
    OriginalLink,
    /// `guid` or `id`.
    Id,
    /// When it was published.
    Published,
    /// When it changed.
    Updated,
    /// Dublin Core's date, of a thing that happened to it: the last one that is known.
    Dated,
    /// How long a feed may be kept.
    Ttl,
    /// In which period it changes...
    Period,
    /// ... how often.
    Frequency,
}

impl Element {
    pub(super) fn of(name: &str) -> Option<Self> {
        const KNOWN: [(&str, Element); 16] = [
            ("link", Element::Link),
            ("origLink", Element::OriginalLink),
            ("guid", Element::Id),
            ("id", Element::Id),
            ("identifier", Element::Id),
            ("pubDate", Element::Published),
            ("published", Element::Published),
            ("issued", Element::Published),
            ("date", Element::Dated),
            ("updated", Element::Updated),
            ("modified", Element::Updated),
            ("lastBuildDate", Element::Updated),
            ("ttl", Element::Ttl),
            ("updatePeriod", Element::Period),
            ("updateFrequency", Element::Frequency),
            ("created", Element::Published),
        ];
        KNOWN.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, element)| element)
    }
}

/// What begins an entry.
pub(super) fn is_entry(name: &str) -> bool {
    name.eq_ignore_ascii_case("item") || name.eq_ignore_ascii_case("entry")
}

/// What holds the children that speak of the feed as a whole.
pub(super) fn is_feed(name: &str) -> bool {
    name.eq_ignore_ascii_case("channel") || name.eq_ignore_ascii_case("feed")
}
