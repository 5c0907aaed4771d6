//! A feed reader's rule, as Miniflux has it: the more a hub showed last week, the more often it is polled.

use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use refrain_core::time::{Span, Time};

use super::DiscoverError;
use super::drive::{Crawler, Fetch};

const WEEK: Span = Span::from_whole_secs(7 * 86_400);
/// Between two polls of a hub.
const LEAST: Span = Span::from_whole_secs(300);
const MOST: Span = Span::from_whole_secs(86_400);

/// Hubs when they are due, what they show as soon as there is time, the newest first. What is left goes to the hub that is nearest to
/// being due, so that the whole budget is spent.
pub(super) struct Miniflux {
    due: BTreeSet<(Time, u32)>,
    /// New pages, the newest on top.
    new: BinaryHeap<(Time, u32, u32)>,
    /// When the links of the last week appeared, by hub.
    recent: Vec<VecDeque<Time>>,
}

impl Miniflux {
    /// All hubs are due at the start.
    pub(super) fn new(hubs: usize, start: Time) -> Self {
        Self {
            due: (0..hubs as u32).map(|hub| (start, hub)).collect(),
            new: BinaryHeap::new(),
            recent: vec![VecDeque::new(); hubs],
        }
    }
}

impl Crawler for Miniflux {
    fn choose(&mut self, now: Time) -> Result<Option<Fetch>, DiscoverError> {
        let next = self.due.first().copied();
        if next.is_none_or(|(due, _)| due > now)
            && let Some((_, hub, place)) = self.new.pop()
        {
            return Ok(Some(Fetch::Item(hub, place)));
        }
        self.due.pop_first();
        Ok(next.map(|(_, hub)| Fetch::Hub(hub)))
    }

    fn visited(
        &mut self,
        now: Time,
        hub: u32,
        links: impl ExactSizeIterator<Item = (u32, Time)>,
    ) -> Result<(), DiscoverError> {
        let recent = &mut self.recent[hub as usize];
        for (place, born) in links {
            self.new.push((born, hub, place));
            recent.push_back(born);
        }
        while recent.front().is_some_and(|born| now.since(*born) > WEEK) {
            recent.pop_front();
        }
        self.due.insert((now + interval(recent.len()), hub));
        Ok(())
    }

    fn fetched(&mut self, _now: Time) -> Result<(), DiscoverError> {
        Ok(())
    }

    fn learn(&mut self, _now: Time, _worth: &[(u32, f64)]) -> Result<(), DiscoverError> {
        Ok(())
    }
}

/// How long until the next poll of a hub that showed so many links within a week.
fn interval(links: usize) -> Span {
    if links == 0 {
        return MOST;
    }
    Span::from_nanos(WEEK.as_nanos() / links as u64).max(LEAST).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(seconds)
    }

    #[test]
    fn intervals_follow_the_last_week() {
        assert_eq!(interval(0), MOST);
        assert_eq!(interval(7), MOST);
        assert_eq!(interval(14), Span::from_whole_secs(43_200));
        assert_eq!(interval(1_000_000), LEAST);
    }

    #[test]
    fn due_hubs_then_the_newest_pages_then_who_is_nearest_to_due() {
        let mut reader = Miniflux::new(2, at(0));
        assert_eq!(reader.choose(at(10)), Ok(Some(Fetch::Hub(0))));
        let links = [(0, at(4)), (1, at(8))];
        reader.visited(at(10), 0, links.into_iter()).unwrap();
        assert_eq!(reader.choose(at(20)), Ok(Some(Fetch::Hub(1))));
        reader.visited(at(20), 1, [(0, at(6))].into_iter()).unwrap();
        let picks = [40, 50, 60].map(|time| reader.choose(at(time)).unwrap());
        assert_eq!(picks, [Fetch::Item(0, 1), Fetch::Item(1, 0), Fetch::Item(0, 0)].map(Some));
        // Both are due a day after their visits; 0 was visited before.
        assert_eq!(reader.choose(at(70)), Ok(Some(Fetch::Hub(0))));
    }
}
