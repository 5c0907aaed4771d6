//! Visits whose verdict waits for a second look: what differs may be noise. Each is ordered again in a moment; nothing is written or reported until
//! the verdict stands. If the second look fails, is late, or the crawl ends, the first look counts as it is.

use refrain_core::frontier;
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_fetch::change::SECOND_LOOK;
use refrain_store::{PageId, PageState};

use super::Crawl;
use super::shown::Shown;
use crate::CrawlError;
use crate::memo::Memo;
use crate::read::Doubted;
use crate::settings::{Until, host_name};
use crate::visit::{Room, Seen, Visited};

/// A verdict waits at most this long.
const PATIENCE: Span = Span::from_whole_secs(60);
/// So many bytes of bodies may wait; each is kept in up to three forms. They do not count in the memory for bodies: the second look needs that.
const MOST_BYTES: u64 = 16 << 20;

/// Visits whose verdict waits.
#[derive(Default)]
pub(super) struct Doubts {
    held: IdMap<PageId, Held>,
    bytes: u64,
}

struct Held {
    /// What counts if no other look is made.
    visited: Visited,
    /// What the looks so far have shown.
    shown: Shown,
    /// Since the first of them.
    since: Time,
    /// What the next look settles; `None` while it is under way.
    doubted: Option<Doubted>,
}

impl Doubts {
    fn remove(&mut self, page: PageId) -> Option<Held> {
        let held = self.held.remove(&page)?;
        self.bytes -= held.visited.bytes;
        Some(held)
    }

    /// Whether the verdict on a page waits.
    pub(super) fn is_held(&self, page: PageId) -> bool {
        self.held.contains_key(&page)
    }

    /// How many verdicts wait.
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// When the next verdict has waited long enough.
    pub(super) fn next(&self) -> Time {
        self.held.values().map(|held| held.since + PATIENCE).min().unwrap_or(Time::MAX)
    }
}

impl Crawl {
    /// Whether a verdict on a page may wait for a second look.
    pub(super) fn may_look_again(&self) -> bool {
        self.settings.fetches && self.settings.until != Until::Once && self.doubts.bytes < MOST_BYTES
    }

    /// What a look that is about to be made settles.
    pub(super) fn doubted(&mut self, page: PageId) -> Option<Doubted> {
        self.doubts.held.get_mut(&page)?.doubted.take()
    }

    /// A visit of our own is over. If its verdict has to wait, the page is ordered again; otherwise it is taken in.
    pub(super) fn settle_visit(&mut self, now: Time, mut visited: Visited) -> Result<(), CrawlError> {
        let held = self.doubts.remove(visited.stored);
        let earlier = held.as_ref().map(|held| held.shown).unwrap_or_default();
        let since = held.as_ref().map_or(visited.time, |held| held.since);
        let doubt = if let Seen::Read(read) = &mut visited.seen { read.doubt.take() } else { None };
        if let (Some(doubted), Some(order)) = (doubt, visited.order) {
            let mut shown = self.show(now, &mut visited)?;
            shown.add(earlier);
            let again = frontier::Outcome::Failed { retry_after: SECOND_LOOK };
            self.answer_order(now, order, again, visited.response)?;
            self.judge_host(now, visited.asked, &visited.host, &visited.seen)?;
            self.summary.second_looks += 1;
            self.doubts.bytes += visited.bytes;
            let visited = Visited { order: None, room: Room::default(), ..visited };
            self.doubts.held.insert(visited.stored, Held { visited, shown, since, doubted: Some(doubted) });
            return Ok(());
        }
        if let (Some(held), false) = (held, matches!(visited.seen, Seen::Read(_))) {
            // The second look failed: what the first one saw is not lost.
            let memo = held.visited.memo.clone();
            let first = Visited { order: visited.order.take(), ..held.visited };
            self.take_in(now, first, held.shown)?;
            visited.memo = Memo { failures: 0, state: PageState::Active, ..memo };
            return self.take_in(now, visited, Shown::default());
        }
        if let Seen::Read(read) = &visited.seen
            && let (Some(found), Some(host)) =
                (read.found_noise, self.scheduler.hosts.get_mut(&host_name(&visited.memo.url)))
        {
            host.noise.learn(found);
        }
        self.take_in(now, visited, earlier)
    }

    /// Verdicts that have waited since before `since + PATIENCE` stand as they are.
    pub(super) fn give_up_doubts(&mut self, now: Time) -> Result<(), CrawlError> {
        let is_due = |held: &Held| held.doubted.is_some() && held.since + PATIENCE <= now;
        let due = self.doubts.held.iter().filter(|(_, held)| is_due(held)).map(|(page, _)| *page);
        for page in due.collect::<Vec<_>>() {
            self.believe(now, page)?;
        }
        Ok(())
    }

    /// The crawl is over: no more second looks.
    pub(super) fn believe_all(&mut self, now: Time) -> Result<(), CrawlError> {
        for page in self.doubts.held.keys().copied().collect::<Vec<_>>() {
            self.believe(now, page)?;
        }
        Ok(())
    }

    fn believe(&mut self, now: Time, page: PageId) -> Result<(), CrawlError> {
        let Some(mut held) = self.doubts.remove(page) else { return Ok(()) };
        // A page that was removed meanwhile has nothing to report.
        let Some(scheduled) = self.scheduler.pages.scheduled(page) else { return Ok(()) };
        if held.doubted.is_some() {
            // The order was answered when the verdict was put off; what came of it is learned now.
            held.visited.order = Some(self.scheduler.frontier.resume(now, scheduled)?.id);
        }
        self.take_in(now, held.visited, held.shown)
    }
}
