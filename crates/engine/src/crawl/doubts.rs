//! Visits whose verdict waits for a second look: what differs may be noise. Each is ordered again in a moment; nothing is written or reported until
//! the verdict stands. If the second look fails, is late, or the crawl ends, the first look counts as it is.

use refrain_core::frontier;
use refrain_core::ids::IdMap;
use refrain_core::page::SinceFetch;
use refrain_core::time::Time;
use refrain_fetch::change::{LATE, SECOND_LOOK};
use refrain_store::warc::Encoded;
use refrain_store::{PageId, PageState};

use super::Crawl;
use super::shown::Shown;
use crate::CrawlError;
use crate::memo::Memo;
use crate::read::Doubted;
use crate::settings::{Until, host_name};
use crate::visit::{Room, Seen, Visited};

/// The most memory that verdicts which wait may take, in bytes. It is not part of the memory for bodies, which the second look needs.
const MOST_BYTES: usize = 16 << 20;
/// The memory that a visit takes beside its text and its record, in bytes: its address, headers, and what is kept of the page.
const VISIT: usize = 16 << 10;

/// Visits whose verdict waits.
#[derive(Default)]
pub(super) struct Doubts {
    held: IdMap<PageId, Held>,
    /// The memory that they take.
    bytes: usize,
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
    /// The memory that all of this takes, in bytes.
    size: usize,
}

/// The memory, in bytes, that a visit takes while its verdict waits.
fn size(visited: &Visited, doubted: &Doubted) -> usize {
    let record = match &visited.seen {
        Seen::Read(read) => read.record.as_ref().map_or(0, Encoded::size),
        _ => 0,
    };
    VISIT + record + doubted.doubt.size()
}

impl Doubts {
    fn remove(&mut self, page: PageId) -> Option<Held> {
        let held = self.held.remove(&page)?;
        self.bytes -= held.size;
        Some(held)
    }

    fn insert(&mut self, page: PageId, held: Held) {
        self.bytes += held.size;
        self.held.insert(page, held);
    }

    /// Whether there is room for one that takes so many bytes.
    fn has_room(&self, size: usize) -> bool {
        self.bytes + size <= MOST_BYTES
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
        self.held.values().map(|held| held.since + LATE).min().unwrap_or(Time::MAX)
    }
}

impl Crawl {
    /// Whether a verdict on a page may wait for a second look.
    pub(super) fn may_look_again(&self) -> bool {
        self.settings.fetches && self.settings.until != Until::Once && self.doubts.has_room(VISIT)
    }

    /// What a look that is about to be made settles.
    pub(super) fn doubted(&mut self, page: PageId) -> Option<Doubted> {
        self.doubts.held.get_mut(&page)?.doubted.take()
    }

    /// A visit of our own is over. If its verdict has to wait, and there is room for that, the page is ordered again; otherwise it is taken in.
    pub(super) fn settle_visit(&mut self, now: Time, mut visited: Visited) -> Result<(), CrawlError> {
        let held = self.doubts.remove(visited.stored);
        let earlier = held.as_ref().map(|held| held.shown).unwrap_or_default();
        let since = held.as_ref().map_or(visited.time, |held| held.since);
        let doubt = if let Seen::Read(read) = &mut visited.seen { read.doubt.take() } else { None };
        // Visits that began while there was room may all have a doubt: where they do not fit together, the verdict stands as it is.
        let doubt = doubt.map(|doubted| (size(&visited, &doubted), doubted));
        let doubt = doubt.filter(|(size, _)| self.doubts.has_room(*size));
        if let (Some((size, doubted)), Some(order)) = (doubt, visited.order) {
            let mut shown = self.show(now, &mut visited)?;
            shown.add(earlier);
            let again = frontier::Outcome::Failed { retry_after: SECOND_LOOK };
            self.answer_order(now, (order, SinceFetch::fetched_at(now)), again, visited.response)?;
            self.judge_host(now, visited.asked, &visited.host, &visited.seen)?;
            self.summary.second_looks += 1;
            let visited = Visited { order: None, room: Room::default(), ..visited };
            self.doubts.insert(visited.stored, Held { visited, shown, since, doubted: Some(doubted), size });
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

    /// Verdicts that have waited since before `since + LATE` stand as they are.
    pub(super) fn give_up_doubts(&mut self, now: Time) -> Result<(), CrawlError> {
        let is_due = |held: &Held| held.doubted.is_some() && held.since + LATE <= now;
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
