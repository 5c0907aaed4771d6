//! How often people ask for pages, counted as it happens: a page that is read matters as much as it is read per day.
//!
//! Pages that nobody reads keep the importance that they were given.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use refrain_core::time::{Span, Time};
use refrain_store::{PageId, Reader, ReadsFacts, StoreError};

/// What was read is weighed so often, and all that was ever read so often: what nobody reads any more matters less.
const OFTEN: Span = Span::from_whole_secs(10);
const SELDOM: Span = Span::from_whole_secs(3600);
const DAY: f64 = 86_400.0;
/// The first reads say little: as if there had been a day without any before them.
const HEAD_START: f64 = DAY;
/// A page that was read once never matters less.
const LEAST: f64 = 1e-3;
/// Under what the moment of the first read is kept.
const SINCE: &str = "reads.since";

/// Reads, each worth the less the older it is.
pub(crate) struct Reads {
    memory: Span,
    /// When counting began.
    since: Option<Time>,
    counts: HashMap<PageId, Count>,
    /// Pages that were read since they were weighed.
    fresh: HashSet<PageId>,
    next: Time,
    next_round: Time,
}

#[derive(Clone, Copy)]
struct Count {
    count: f64,
    time: Time,
}

/// What pages matter, and what is to be kept.
#[derive(Default)]
pub(crate) struct Weighed {
    pub(crate) importance: Vec<(PageId, f64)>,
    pub(crate) facts: Vec<ReadsFacts>,
    pub(crate) meta: Vec<(String, Vec<u8>)>,
}

impl Reads {
    /// As a store has them.
    pub(crate) fn recall(reader: &Reader, memory: Span) -> Result<Self, StoreError> {
        let since = reader.meta(SINCE)?.and_then(|kept| String::from_utf8_lossy(&kept).parse().ok());
        let mut counts = HashMap::new();
        reader.reads(|ReadsFacts { page, count, time }| {
            counts.insert(page, Count { count, time });
            ControlFlow::Continue(())
        })?;
        let since = since.map(Time::from_nanos);
        let next = if counts.is_empty() { Time::MAX } else { Time::MIN };
        Ok(Self { memory, since, counts, fresh: HashSet::new(), next, next_round: next })
    }

    /// A page was read so often.
    pub(crate) fn add(&mut self, page: PageId, times: f64, now: Time) {
        self.since.get_or_insert(now);
        let memory = self.memory;
        let count = self.counts.entry(page).or_insert(Count { count: 0.0, time: now });
        *count = Count { count: count.at(now, memory) + times, time: now };
        self.fresh.insert(page);
        self.next = self.next.min(now + OFTEN);
        self.next_round = self.next_round.min(now + SELDOM);
    }

    /// What is known of these pages, and since when, to be kept.
    pub(crate) fn facts(
        &self,
        pages: impl Iterator<Item = PageId>,
    ) -> (Vec<ReadsFacts>, Vec<(String, Vec<u8>)>) {
        let facts = pages.filter_map(|page| self.counts.get(&page).map(|count| count.facts(page))).collect();
        (facts, self.since.map(kept).into_iter().collect())
    }

    /// A page is no more.
    pub(crate) fn forget(&mut self, page: PageId) {
        self.counts.remove(&page);
        self.fresh.remove(&page);
    }

    /// When pages are to be weighed.
    pub(crate) fn due(&self) -> Time {
        self.next.min(self.next_round)
    }

    /// What pages matter now, if it is time.
    pub(crate) fn weigh(&mut self, now: Time) -> Option<Weighed> {
        if now < self.due() {
            return None;
        }
        let pages: Vec<PageId> = if now >= self.next_round {
            self.next_round = now + SELDOM;
            self.counts.keys().copied().collect()
        } else {
            self.fresh.iter().copied().collect()
        };
        self.next = Time::MAX;
        let since = self.since.unwrap_or(now);
        let memory = self.memory.as_secs().max(1.0);
        // How long there was to read, if that is forgotten as reads are.
        let watched = -memory * (-now.since(since).as_secs() / memory).exp_m1() + HEAD_START;
        let mut weighed = Weighed { meta: vec![kept(since)], ..Weighed::default() };
        for page in pages {
            let Some(count) = self.counts.get(&page) else { continue };
            let per_day = DAY * count.at(now, self.memory) / watched;
            weighed.importance.push((page, per_day.max(LEAST)));
            if self.fresh.contains(&page) {
                weighed.facts.push(count.facts(page));
            }
        }
        self.fresh.clear();
        Some(weighed)
    }
}

fn kept(since: Time) -> (String, Vec<u8>) {
    (SINCE.to_owned(), since.as_nanos().to_string().into_bytes())
}

impl Count {
    fn facts(self, page: PageId) -> ReadsFacts {
        ReadsFacts { page, count: self.count, time: self.time }
    }

    fn at(self, now: Time, memory: Span) -> f64 {
        self.count * (-now.since(self.time).as_secs() / memory.as_secs().max(1.0)).exp()
    }
}

#[cfg(test)]
mod tests {
    use refrain_store::{Options, Store};

    use super::*;

    #[test]
    fn pages_matter_as_often_as_they_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Options::default()).unwrap();
        let at = |day: f64| Time::ZERO + Span::from_secs(day * DAY);
        let mut reads = Reads::recall(store.read(), Span::from_whole_secs(30 * 86_400)).unwrap();
        assert_eq!(reads.due(), Time::MAX);
        for hour in 0..24 * 100 {
            reads.add(PageId(1), 10.0 / 24.0, at(f64::from(hour) / 24.0));
            if hour < 24 * 10 {
                reads.add(PageId(2), 1.0, at(f64::from(hour) / 24.0));
            }
        }
        let weighed = reads.weigh(at(100.0)).unwrap();
        let of = |page| weighed.importance.iter().find(|(own, _)| *own == PageId(page)).unwrap().1;
        // A day of head start in a month of memory.
        assert!((of(1) - 10.0).abs() < 0.5, "{}", of(1));
        // 240 reads three months ago: 240 e^{-3} or so, of a month.
        assert!(of(2) > 0.2 && of(2) < 0.5, "{}", of(2));
        assert_eq!(weighed.facts.len(), 2);
        assert!(reads.weigh(at(100.0)).is_none(), "nothing was read since");
        assert!(reads.weigh(at(100.1)).is_some_and(|weighed| weighed.facts.is_empty()), "all fades");
    }
}
