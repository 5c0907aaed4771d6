//! A recorded history: pages that appear and vanish, when they changed, what announced it, and when nobody was looking.

mod clock;
mod invent;
mod looks;

use refrain_core::time::{Span, Time};

pub use clock::Clock;
pub use invent::{NoWorld, World};
pub use looks::{LookedAt, from_looks};

/// A page of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct TracePage {
    /// Its number in the whole trace.
    pub number: u32,
    /// How much it matters.
    pub importance: f64,
    /// The recorder it comes from, by number: those have outages.
    pub source: u32,
    /// The pages it is alike, by number: a site, or a part of one.
    pub group: u32,
    /// Its directory, by number, if it is in one.
    pub directory: Option<u32>,
    /// From when on there is a copy.
    pub first: Time,
    /// Until when it was there.
    pub last: Time,
    /// From when on changes may be announced; never, if nothing does.
    pub heard_from: Option<Time>,
    /// When it changed, in order, after `first` and not after `last`.
    pub changes: Vec<Time>,
}

/// Something that may announce a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// When it came.
    pub time: Time,
    /// For which page, by place in the trace.
    pub page: u32,
    /// Of which kind, by number.
    pub kind: u8,
    /// Whether a change belongs to it: policies do not see this.
    pub is_change: bool,
}

/// A recorded history.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The pages.
    pub pages: Vec<TracePage>,
    /// The usable time of each source.
    pub sources: Vec<Clock>,
    /// How many groups of pages there are.
    pub groups: u32,
    /// The names of the kinds of announcements.
    pub kinds: Vec<String>,
    /// Announcements in the order of time.
    pub announcements: Vec<Announcement>,
}

impl Trace {
    /// What happened between two moments. A page that was there before has a copy from the first on.
    #[must_use]
    pub fn within(&self, from: Time, to: Time) -> Self {
        let mut places = vec![u32::MAX; self.pages.len()];
        let mut pages = Vec::new();
        for (place, page) in places.iter_mut().zip(&self.pages) {
            let (first, last) = (page.first.max(from), page.last.min(to));
            if first >= last {
                continue;
            }
            let changes = page.changes.iter().copied().filter(|change| *change > first && *change <= last);
            *place = pages.len() as u32;
            pages.push(TracePage { first, last, changes: changes.collect(), ..page.clone() });
        }
        let announcements = self.announcements.iter().filter(|told| told.time >= from && told.time <= to);
        let announcements = announcements
            .map(|told| Announcement { page: places[told.page as usize], ..*told })
            .filter(|told| told.page != u32::MAX)
            .collect();
        let (sources, groups, kinds) = (self.sources.clone(), self.groups, self.kinds.clone());
        Self { pages, sources, groups, kinds, announcements }
    }

    /// With announcements of these kinds only.
    #[must_use]
    pub fn with_kinds(mut self, wanted: impl Fn(&str) -> bool) -> Self {
        let kept: Vec<bool> = self.kinds.iter().map(|kind| wanted(kind)).collect();
        self.announcements.retain(|told| kept[told.kind as usize]);
        if !kept.contains(&true) {
            self.pages.iter_mut().for_each(|page| page.heard_from = None);
        }
        self
    }

    /// The first and the last moment of any page.
    pub fn span(&self) -> Option<(Time, Time)> {
        let first = self.pages.iter().map(|page| page.first).min()?;
        let last = self.pages.iter().map(|page| page.last).max()?;
        Some((first, last))
    }

    /// How long it goes, in seconds.
    pub fn seconds(&self) -> f64 {
        self.span().map_or(0.0, |(first, last)| last.since(first).as_secs())
    }

    /// How many changes there were.
    pub fn changes(&self) -> usize {
        self.pages.iter().map(|page| page.changes.len()).sum()
    }

    /// Changes of all pages per second.
    pub fn change_rate(&self) -> f64 {
        self.changes() as f64 / self.seconds()
    }

    /// The usable time of a page's source.
    pub fn clock(&self, page: &TracePage) -> &Clock {
        &self.sources[page.source as usize]
    }

    /// How long a page was there and seen, in seconds.
    pub fn alive(&self, page: &TracePage) -> f64 {
        self.clock(page).between(page.first, page.last)
    }
}

/// A moment from seconds since the Unix epoch; `None` if it is beyond the calendar.
pub fn unix(seconds: f64) -> Option<Time> {
    (0.0..9.2e9).contains(&seconds).then(|| Time::ZERO + Span::from_secs(seconds))
}
