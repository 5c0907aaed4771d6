//! Kinds of announcements.

/// Who says that a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A sitemap, by `lastmod`.
    Sitemap,
    /// A feed, by an entry that is new or was updated.
    Feed,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Sitemap, Self::Feed];

    /// As the database has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// As those who learn have it.
    pub(crate) fn number(self) -> u16 {
        self as u16
    }

    /// The kind with this number.
    pub(crate) fn from_number(number: u16) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}
