//! Facts that wait to be committed. One batch is under way at a time; what comes meanwhile is the next one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use refrain_core::frontier::OrderId;
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_store::warc::Encoded;
use refrain_store::{
    Announcement, Batch, Committed, Edit, GrantFacts, HostUpdate, Lease, Look, NewPage, PageId, ReadsFacts,
    Role, Sample, Seq, Signal, Voice,
};

use super::{Crawl, queued};
use crate::CrawlError;
use crate::memo::Memo;
use crate::recorder;
use crate::told::Told;

/// So many looks are enough for a batch.
const ENOUGH: usize = 1000;

/// With so many looks waiting, or so many bytes, nothing more is fetched: a disk that is slower than the web would fill the memory.
const TOO_MANY: usize = 4 * ENOUGH;
const TOO_MUCH: usize = 32 << 20;
/// What a new page takes beside its address.
const PAGE: usize = 200;
/// So many new pages and signals are enough for a batch, too.
const TOO_MANY_FACTS: usize = 20_000;

/// Facts that wait.
#[derive(Default)]
pub(super) struct Journal {
    next: Batch,
    /// What records and new pages take.
    bytes: usize,
    hosts: HashMap<String, HostUpdate>,
    /// Since when something waits, and whether it cannot wait for others.
    since: Option<Time>,
    urgent: bool,
    /// What follows when the batch under way is written.
    committing: Option<Following>,
    /// The looks in that batch.
    looks_committing: usize,
    /// Pages as visits left them, until the store knows; and in how many batches that is.
    memos: IdMap<PageId, (u64, Memo)>,
    batch: u64,
    /// Leases that were not written yet.
    leases: IdMap<PageId, Lease>,
    /// Facts wait for others at most so long: a commit costs about as much as ten looks.
    patience: Span,
    /// What follows when what waits is written.
    following: Following,
    /// When the batch under way was sent.
    sent: Time,
    crowd: Crowd,
}

/// What follows when a batch is written.
#[derive(Default)]
struct Following {
    /// Who wants to know.
    waiting: Vec<Written>,
    /// Pages that are crawled again.
    returning: Vec<PageId>,
}

/// Those who were told of the last batch. They will be back in a moment, and a commit for each would cost the disk, and them, more than to wait for
/// half of the others: the other half comes while these are written. Who is alone waits for nobody.
#[derive(Default)]
struct Crowd {
    half: usize,
    /// Whoever has not come by then is not waited for.
    until: Time,
}

/// Nobody waits longer for the others.
const LONGEST_GATHERING: Span = Span::from_millis(5);

/// Called with what became of a batch.
pub(super) type Written = Box<dyn FnOnce(&mut Committed) + Send>;

impl Journal {
    pub(super) fn releasing(pages: Vec<PageId>, patience: Span) -> Self {
        let next = Batch { released: pages, ..Batch::default() };
        Self { next, patience, ..Self::default() }
    }

    /// What waits is written as soon as can be, and `written` is called then.
    pub(super) fn when_written(&mut self, now: Time, written: impl FnOnce(&mut Committed) + Send + 'static) {
        self.following.waiting.push(Box::new(written));
        self.touch(now);
        self.hurry();
    }

    /// What somebody decided about a page.
    pub(super) fn edit(&mut self, now: Time, edit: Edit) {
        // What somebody says now is later than what was seen, and is written before it.
        if let Some(state) = edit.state {
            for look in self.next.looks.iter_mut().filter(|look| look.page == edit.page) {
                look.state = state;
            }
        }
        self.next.edits.push(edit);
        self.touch(now);
    }

    /// A page is forgotten. In the batch that comes before new pages: its address may be that of another page at once.
    pub(super) fn forget(&mut self, now: Time, page: PageId) {
        self.next.removals.push(page);
        self.touch(now);
    }

    /// Pages that are forgotten with what waits.
    pub(super) fn forgets(&self) -> &[PageId] {
        &self.next.removals
    }

    /// A page is crawled again, once what is decided about it is written.
    pub(super) fn take_up(&mut self, page: PageId) {
        self.following.returning.push(page);
    }

    pub(super) fn grant(&mut self, now: Time, grant: GrantFacts) {
        self.next.grants.push(grant);
        self.touch(now);
    }

    /// Wants to know what is known of these pages; where that will be in what [`Committed`] says.
    pub(super) fn ask(&mut self, pages: impl IntoIterator<Item = PageId>) -> std::ops::Range<usize> {
        let first = self.next.asked.len();
        self.next.asked.extend(pages);
        first..self.next.asked.len()
    }

    pub(super) fn settle(&mut self, now: Time, grant: u64) {
        self.next.settled.push(grant);
        self.touch(now);
    }

    pub(super) fn reads(&mut self, now: Time, reads: Vec<ReadsFacts>) {
        if !reads.is_empty() {
            self.next.reads.extend(reads);
            self.touch(now);
        }
    }

    /// Looks that are not on the disk yet.
    pub(super) fn unwritten(&self) -> usize {
        self.next.looks.len() + self.looks_committing
    }

    pub(super) fn is_empty(&self) -> bool {
        self.committing.is_none() && self.since.is_none()
    }

    /// Whether the store has to catch up first: what a batch can hold is bounded.
    pub(super) fn is_full(&self) -> bool {
        let Batch { looks, pages, signals, announced, .. } = &self.next;
        looks.len() >= TOO_MANY
            || self.bytes >= TOO_MUCH
            || pages.len() + signals.len() + announced.len() >= TOO_MANY_FACTS
    }

    /// Whether so much waits that nothing more is taken in until a batch is written: one is under way.
    pub(super) fn is_flooded(&self) -> bool {
        self.committing.is_some() && self.bytes >= 2 * TOO_MUCH
    }

    fn touch(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    /// A page as the last visit left it, if the store does not know yet.
    pub(super) fn memo(&self, page: PageId) -> Option<Memo> {
        self.memos.get(&page).map(|(_, memo)| memo.clone())
    }

    pub(super) fn lease(&mut self, page: PageId, order: OrderId, until: Time) {
        self.leases.insert(page, Lease { page, order: order.number(), until });
    }

    pub(super) fn release(&mut self, page: PageId) {
        // What began and ended between two commits was never a lease to anybody else.
        match self.leases.entry(page) {
            Entry::Occupied(unwritten) => drop(unwritten.remove()),
            Entry::Vacant(_) => self.next.released.push(page),
        }
    }

    pub(super) fn look(&mut self, now: Time, look: Look, memo: Memo) {
        self.memos.insert(look.page, (self.batch, memo));
        self.bytes += look.record.as_ref().map_or(0, Encoded::size);
        self.next.looks.push(look);
        self.touch(now);
    }

    pub(super) fn host(&mut self, now: Time, update: HostUpdate) {
        // The latest news of a host replace what was there, but for a robots.txt that came before.
        let before = self.hosts.remove(&update.name).and_then(|before| before.robots);
        let robots = update.robots.or(before);
        self.hosts.insert(update.name.clone(), HostUpdate { robots, ..update });
        self.touch(now);
    }

    /// What waits is written as soon as can be: a promise to a host, which must outlive this process.
    pub(super) fn hurry(&mut self) {
        self.urgent = true;
    }

    pub(super) fn delivered(&mut self, now: Time, reader: String, seq: Seq) {
        self.next.delivered.push((reader, seq));
        self.touch(now);
    }

    /// How it went.
    pub(super) fn sample(&mut self, now: Time, sample: Sample) {
        self.next.samples.push(sample);
        self.touch(now);
    }

    /// What belongs to the whole crawl, by name.
    pub(super) fn keep(&mut self, now: Time, meta: Vec<(String, Vec<u8>)>) {
        if !meta.is_empty() {
            self.next.meta.extend(meta);
            self.touch(now);
        }
    }

    /// A new page; its place in what [`Committed`] will say of new pages.
    pub(super) fn page(&mut self, now: Time, page: NewPage) -> usize {
        self.bytes += PAGE + page.url.as_str().len();
        self.next.pages.push(page);
        self.touch(now);
        self.next.pages.len() - 1
    }

    pub(super) fn signal(&mut self, now: Time, signal: Signal) {
        self.next.signals.push(signal);
        self.touch(now);
    }

    pub(super) fn announced(&mut self, now: Time, announcement: Announcement) {
        self.next.announced.push(announcement);
        self.touch(now);
    }

    pub(super) fn no_hub(&mut self, now: Time, page: PageId) {
        self.next.no_hubs.push(page);
        self.touch(now);
    }

    pub(super) fn voices(&mut self, now: Time, voices: Vec<Voice>) {
        if !voices.is_empty() {
            self.next.voices.extend(voices);
            self.touch(now);
        }
    }

    /// When the next batch is to be sent.
    pub(super) fn due(&self, now: Time) -> Time {
        match (self.since, &self.committing) {
            (Some(_), None) if self.next.looks.len() >= ENOUGH || self.is_full() => now,
            (Some(_), None) if self.urgent && self.following.waiting.len() >= self.crowd.half => now,
            (Some(_), None) if self.urgent => self.crowd.until.max(now),
            (Some(since), None) => since + self.patience,
            _ => Time::MAX,
        }
    }

    /// The next batch, if it is time.
    fn take(&mut self, now: Time) -> Option<Batch> {
        if self.committing.is_some() || self.since.is_none() || self.due(now) > now {
            return None;
        }
        (self.since, self.urgent, self.bytes) = (None, false, 0);
        self.batch += 1;
        self.sent = now;
        let mut batch = std::mem::take(&mut self.next);
        self.looks_committing = batch.looks.len();
        self.committing = Some(std::mem::take(&mut self.following));
        batch.hosts = self.hosts.drain().map(|(_, host)| host).collect();
        batch.leases = self.leases.drain().map(|(_, lease)| lease).collect();
        Some(batch)
    }

    /// The batch under way is on the disk: what follows.
    fn done(&mut self, now: Time) -> Following {
        let following = self.committing.take().unwrap_or_default();
        self.looks_committing = 0;
        let until = now + now.since(self.sent).min(LONGEST_GATHERING);
        self.crowd = Crowd { half: following.waiting.len().div_ceil(2), until };
        let batch = self.batch;
        self.memos.retain(|_, (since, _)| *since >= batch);
        following
    }
}

impl Crawl {
    /// Hands what waits to the store, if it is time.
    pub(super) fn flush(&mut self, now: Time) {
        if let Some(mut batch) = self.journal.take(now) {
            batch.meta.extend(self.standing.facts(self.price(), self.clock.now()));
            batch.hubs = self.scheduler.hubs.keep();
            // If there is nobody to take it, the reason is on its way as an event.
            self.recorder.commit(batch);
        }
    }

    /// In the middle of other work: hears what the store has done, and hands it what waits.
    pub(super) fn keep_store_busy(&mut self, now: Time) -> Result<(), CrawlError> {
        if let Some(written) = self.recorder.has_written() {
            self.committed(now, written)?;
        }
        self.flush(now);
        Ok(())
    }

    /// A batch is on the disk: new pages can be crawled, changes be told.
    pub(super) fn committed(
        &mut self,
        now: Time,
        (done, found): recorder::Written,
    ) -> Result<(), CrawlError> {
        let mut done = done?;
        let following = self.journal.done(now);
        // The store need not wait for what follows.
        self.flush(now);
        for sentence in std::mem::take(&mut done.refused) {
            self.tell(|| Told::Warning(format!("{sentence}; this was left out, all else is kept")));
        }
        for (page, added) in found.iter().zip(&done.pages) {
            let Some(added) = added else {
                self.scheduler.pages.index.forget_unwritten(page.url.as_str());
                continue;
            };
            if added.new {
                self.summary.found += u64::from(page.origin.role == Role::Page);
                let host = self.scheduler.host(&page.host);
                self.scheduler.add(added.page, page, host, now)?;
                if page.found == queued::FOUND {
                    self.queued.add(added.page);
                }
            } else {
                self.scheduler.pages.index.number(page.url.as_str(), added.page);
            }
        }
        for page in following.returning {
            self.scheduler.take_up_at(page, now);
        }
        if let Some(last) = done.last_change {
            self.tell(|| Told::Changes(last));
        }
        for written in following.waiting {
            written(&mut done);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use refrain_fetch::url::PageUrl;
    use refrain_store::warc::{Body, HttpHead, Response};
    use refrain_store::{Address, Outcome, PageState};

    use super::*;

    fn journal() -> Journal {
        Journal::releasing(Vec::new(), Span::from_millis(250))
    }

    fn look(number: usize, record: Option<Encoded>) -> (Look, Memo) {
        let look = Look {
            page: PageId(number as i64),
            time: Time::ZERO,
            asked: Time::ZERO,
            elapsed: None,
            outcome: Outcome::First,
            counted: None,
            status: Some(200),
            bytes: 0,
            duration: Span::ZERO,
            digest: None,
            state: PageState::Active,
            history: None,
            known: None,
            record,
        };
        let memo = Memo {
            url: PageUrl::parse("http://a.example/").unwrap(),
            etag: None,
            last_modified: None,
            redirect: None,
            title: None,
            kept: None,
            digest: None,
            fetched: None,
            state: PageState::Active,
            failures: 0,
            role: Role::Page,
            chosen: true,
            depth: 0,
            version: None,
        };
        (look, memo)
    }

    #[test]
    fn a_store_that_is_slow_is_waited_for() {
        let mut journal = journal();
        for number in 0..ENOUGH {
            let (look, memo) = look(number, None);
            journal.look(Time::ZERO, look, memo);
        }
        assert!(journal.take(Time::ZERO).is_some() && !journal.is_full());
        for number in 0..TOO_MANY {
            assert!(!journal.is_full());
            let (look, memo) = look(number, None);
            journal.look(Time::ZERO, look, memo);
        }
        assert!(journal.is_full() && journal.take(Time::ZERO).is_none(), "one batch is under way");
        journal.done(Time::ZERO);
        assert!(journal.take(Time::ZERO).is_some() && !journal.is_full());
    }

    #[test]
    fn looks_are_under_way_until_they_are_on_the_disk() {
        let mut journal = journal();
        let (one, memo) = look(0, None);
        journal.look(Time::ZERO, one, memo);
        assert_eq!(journal.unwritten(), 1, "it waits for others");
        journal.hurry();
        assert!(journal.take(Time::ZERO).is_some());
        assert_eq!(journal.unwritten(), 1, "it is being written");
        let (one, memo) = look(1, None);
        journal.look(Time::ZERO, one, memo);
        assert_eq!(journal.unwritten(), 2);
        journal.done(Time::ZERO);
        assert_eq!(journal.unwritten(), 1);
    }

    #[test]
    fn new_pages_and_signals_fill_a_batch_as_looks_do() {
        let mut journal = journal();
        let url = PageUrl::parse("http://a.example/").unwrap();
        for number in 0..TOO_MANY_FACTS {
            assert!(!journal.is_full(), "{number}");
            if number % 2 == 0 {
                let page = crate::seeds::new_page(&url, 1.0, None, Time::ZERO, "link").unwrap();
                journal.page(Time::ZERO, page);
            } else {
                journal.signal(Time::ZERO, Signal::new(PageId(1), "sitemap", Time::ZERO));
            }
        }
        assert!(journal.is_full());
        assert!(journal.take(Time::ZERO).is_some() && !journal.is_full(), "at once");
    }

    #[test]
    fn promises_are_written_at_once() {
        let mut journal = journal();
        let (look, memo) = look(0, None);
        journal.look(Time::ZERO, look, memo);
        assert!(journal.take(Time::ZERO).is_none(), "others may come");
        journal.hurry();
        assert_eq!(journal.due(Time::ZERO), Time::ZERO);
        assert!(journal.take(Time::ZERO).is_some());
    }

    #[test]
    fn who_came_with_others_waits_for_them_a_moment() {
        let mut journal = journal();
        let millis = |millis| Time::ZERO + Span::from_millis(millis);
        let ask = |journal: &mut Journal, now| {
            let (look, memo) = look(0, None);
            journal.look(now, look, memo);
            journal.when_written(now, |_| {});
        };
        for _ in 0..4 {
            ask(&mut journal, millis(0));
        }
        assert!(journal.take(millis(0)).is_some());
        journal.done(millis(3));
        ask(&mut journal, millis(3));
        assert_eq!(journal.due(millis(3)), millis(6), "as long as the commit took");
        assert!(journal.take(millis(4)).is_none());
        ask(&mut journal, millis(4));
        assert!(journal.take(millis(4)).is_some(), "two of four are here");
        journal.done(millis(8));
        ask(&mut journal, millis(20));
        assert!(journal.take(millis(20)).is_some(), "nobody waits for those who stay away");
        journal.done(millis(21));
        ask(&mut journal, millis(21));
        assert!(journal.take(millis(21)).is_some(), "who was alone waits for nobody");
    }

    #[test]
    fn large_bodies_are_not_many() {
        let url = Address::new("http://a.example/").unwrap();
        let head = HttpHead::response(200, "OK", std::iter::empty()).unwrap();
        // Nothing that compresses.
        let body: Vec<u8> = (0u64..2 << 20)
            .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33).to_le_bytes()[0])
            .collect();
        let body = Body::new(&body);
        let response = Response {
            url: &url,
            page: &url,
            time: Time::ZERO,
            ip: None,
            head: &head,
            body,
            truncated: None,
            request: None,
        };
        let record = response.encode().unwrap();
        let fits = TOO_MUCH.div_ceil(record.size());
        let mut journal = journal();
        for number in 0..fits {
            assert!(!journal.is_full());
            let (look, memo) = look(number, Some(record.clone()));
            journal.look(Time::ZERO, look, memo);
        }
        assert!(journal.is_full());
        assert!(journal.take(Time::ZERO).is_some() && !journal.is_full(), "at once");
    }
}
