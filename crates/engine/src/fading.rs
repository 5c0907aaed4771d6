//! Pages that matter less with every hour: news. Their importance is brought up to date a few times per life.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use refrain_core::time::{Span, Time};
use refrain_store::PageId;

/// How much a page has lost when it is looked at again: a fifth.
const STEP: f64 = 0.22;
/// What has lost all but this is worth nothing any more.
const NOTHING: f64 = 1e-3;

/// A page whose importance falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fading {
    pub(crate) importance: f64,
    pub(crate) decay: f64,
    pub(crate) born: Time,
}

impl Fading {
    /// How much it matters at a moment; nothing, once that is next to nothing.
    pub(crate) fn at(&self, now: Time) -> f64 {
        let left = (-self.decay * now.since(self.born).as_secs()).exp();
        if left < NOTHING { 0.0 } else { self.importance * left }
    }
}

/// All of them, by when they are to be looked at.
#[derive(Default)]
pub(crate) struct Fadings {
    due: BinaryHeap<Reverse<(Time, PageId)>>,
    pages: std::collections::HashMap<PageId, Fading>,
}

impl Fadings {
    pub(crate) fn add(&mut self, page: PageId, fading: Fading, now: Time) {
        self.pages.insert(page, fading);
        self.due.push(Reverse((now + Span::from_secs(STEP / fading.decay), page)));
    }

    /// A page that fades matters so much, if it were new.
    pub(crate) fn weigh(&mut self, page: PageId, importance: f64) {
        if let Some(fading) = self.pages.get_mut(&page) {
            fading.importance = importance;
        }
    }

    /// When the next one is due.
    pub(crate) fn next(&self) -> Time {
        self.due.peek().map_or(Time::MAX, |Reverse((due, _))| *due)
    }

    /// One that is due, and how much it matters now. One that does not matter any more is not asked for again.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(PageId, f64)> {
        while self.next() <= now {
            let Reverse((_, page)) = self.due.pop()?;
            let Some(fading) = self.pages.get(&page) else { continue };
            let importance = fading.at(now);
            if importance > 0.0 {
                let wait = Span::from_secs(STEP / fading.decay).max(Span::from_millis(1));
                self.due.push(Reverse((now + wait, page)));
            } else {
                self.pages.remove(&page);
            }
            return Some((page, importance));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_fade_until_they_are_nothing() {
        let at = |seconds: f64| Time::ZERO + Span::from_secs(seconds);
        let mut fadings = Fadings::default();
        let fading = Fading { importance: 8.0, decay: 0.1, born: at(0.0) };
        fadings.add(PageId(1), fading, at(0.0));
        assert_eq!(fadings.pop(at(1.0)), None);
        let mut last = 8.0;
        let mut told = 0;
        while fadings.next() < Time::MAX {
            let now = fadings.next();
            let (page, importance) = fadings.pop(now).unwrap();
            assert!(page == PageId(1) && importance < last);
            (last, told) = (importance, told + 1);
        }
        assert!(last == 0.0 && (30..34).contains(&told), "{last} {told}");
    }
}
