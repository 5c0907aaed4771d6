//! What a policy's fetches were worth.

use refrain_core::time::Time;

use crate::trace::{Trace, TracePage};

/// The copies that a list of fetches gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// The share of time that copies are fresh, by importance.
    pub freshness: f64,
    /// The same, all pages alike.
    pub plain_freshness: f64,
    /// How long ago the first change was that a copy does not have, in seconds: 0 if it is fresh; by importance.
    pub age: f64,
    /// The same, all pages alike.
    pub plain_age: f64,
    /// Fetches made.
    pub fetches: u64,
    /// Fetches that found nothing new.
    pub wasted: u64,
    /// Pages that were never fetched.
    pub never_fetched: u64,
    /// Of those, pages that changed.
    pub starved: u64,
}

impl Score {
    /// Scores fetches (moments and places of pages), in the order of time.
    pub fn of(trace: &Trace, fetches: &[(Time, u32)]) -> Self {
        let mut of_page: Vec<Vec<Time>> = vec![Vec::new(); trace.pages.len()];
        for (time, page) in fetches {
            of_page[*page as usize].push(*time);
        }
        let mut score = Self { fetches: fetches.len() as u64, ..Self::default() };
        let (mut importance, mut time) = (0.0, 0.0);
        for (page, fetches) in trace.pages.iter().zip(&of_page) {
            let copy = Copies::of(trace, page, fetches);
            let alive = trace.alive(page);
            importance += page.importance * alive;
            time += alive;
            score.freshness += page.importance * copy.fresh;
            score.plain_freshness += copy.fresh;
            score.age += page.importance * copy.age;
            score.plain_age += copy.age;
            score.wasted += copy.wasted;
            score.never_fetched += u64::from(fetches.is_empty());
            score.starved += u64::from(fetches.is_empty() && !page.changes.is_empty());
        }
        let share = |sum: f64, all: f64| if all > 0.0 { sum / all } else { 0.0 };
        score.freshness = share(score.freshness, importance);
        score.age = share(score.age, importance);
        score.plain_freshness = share(score.plain_freshness, time);
        score.plain_age = share(score.plain_age, time);
        score
    }
}

/// The copies of one page.
#[derive(Default)]
struct Copies {
    fresh: f64,
    /// ∫ age
    age: f64,
    wasted: u64,
}

impl Copies {
    fn of(trace: &Trace, page: &TracePage, fetches: &[Time]) -> Self {
        let clock = trace.clock(page);
        let mut all = Self::default();
        let mut from = page.first;
        let mut unseen = page.changes.as_slice();
        for (to, is_fetch) in fetches.iter().map(|time| (*time, true)).chain([(page.last, false)]) {
            // A fetch sees what changed at its very moment.
            let missed = unseen.partition_point(|change| *change <= to);
            let stale_from = unseen[..missed].first().copied().unwrap_or(to);
            all.fresh += clock.between(from, stale_from);
            all.age += 0.5 * clock.between(stale_from, to).powi(2);
            all.wasted += u64::from(is_fetch && missed == 0);
            unseen = &unseen[missed..];
            from = to;
        }
        all
    }
}
