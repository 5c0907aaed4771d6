//! Kinds of announcements.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

/// Who says that a page changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A sitemap, by `lastmod`.
    Sitemap,
    /// A feed, by an entry that is new or was updated.
    Feed,
    /// A feed that a hub distributed.
    WebSub,
    /// A site, by IndexNow.
    IndexNow,
    /// Somebody who says that a sitemap has news.
    Ping,
    /// A program that is trusted to speak, by its name: a content management system, a cache that was purged.
    Source(Source),
}

/// The name of a program that announces changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Source(&'static str);

/// There are no more of them than this: each is remembered for as long as the process runs.
const MOST_SOURCES: usize = 256;
const LONGEST_NAME: usize = 32;
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Numbers from here on are those of sources.
const SOURCES: u16 = 16;

impl Source {
    /// The source of this name: small letters, digits and `-`, and none of the names that other kinds have. `None` if it cannot be one, or if there are
    /// too many.
    pub fn new(name: &str) -> Option<Self> {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let is_taken = Kind::OURS.iter().any(|kind| kind.as_str() == name) || name == crate::TOGETHER;
        if name.is_empty() || name.len() > LONGEST_NAME || is_taken || !name.bytes().all(is_letter) {
            return None;
        }
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(name) {
            return Some(Self(known));
        }
        if names.len() >= MOST_SOURCES {
            return None;
        }
        let kept: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(kept);
        Some(Self(kept))
    }
}

impl Kind {
    const OURS: [Self; 5] = [Self::Sitemap, Self::Feed, Self::WebSub, Self::IndexNow, Self::Ping];

    /// As the database has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sitemap => "sitemap",
            Self::Feed => "feed",
            Self::WebSub => "websub",
            Self::IndexNow => "indexnow",
            Self::Ping => "ping",
            Self::Source(Source(name)) => name,
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let ours = Self::OURS.into_iter().find(|kind| kind.as_str() == name);
        ours.or_else(|| Source::new(name).map(Self::Source))
    }

    /// As those who learn have it: the same in every process.
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Source(Source(name)) => {
                SOURCES + (xxh3_64(name.as_bytes()) % u64::from(u16::MAX - SOURCES)) as u16
            }
            ours => Self::OURS.iter().position(|kind| *kind == ours).unwrap_or(0) as u16,
        }
    }

    /// The kind with this number, of those that were named.
    pub(crate) fn from_number(number: u16) -> Option<Self> {
        if let Some(ours) = Self::OURS.get(usize::from(number)) {
            return Some(*ours);
        }
        let names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sources = names.iter().map(|name| Self::Source(Source(name)));
        sources.find(|kind| kind.number() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_belong_together() {
        let cdn = Kind::Source(Source::new("cdn").unwrap());
        for kind in Kind::OURS.into_iter().chain([cdn]) {
            assert_eq!(Kind::from_name(kind.as_str()), Some(kind));
            assert_eq!(Kind::from_number(kind.number()), Some(kind));
        }
        for wrong in ["", "Sitemap", "a b", "feed", "together", "ü", &"x".repeat(33)] {
            assert_eq!(Source::new(wrong), None, "{wrong}");
        }
        assert_eq!((Kind::Sitemap.number(), Kind::Feed.number()), (0, 1), "as stores have them");
    }
}
