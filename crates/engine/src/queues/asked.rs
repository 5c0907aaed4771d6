//! What is asked of the queues, and what is said of addresses.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::PoisonError;

use refrain_core::queues::{self, Became, ItemId, QueueId, Tally, Wanted};
use refrain_core::time::{Span, Time};
use refrain_store::{CrawlRow, ItemNews, ItemRow, PageId, QueueChanges, Schedule, ServedRow};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::work::{DELAY, PAUSED, Work};
use super::{Ask, Given, ItemNow, Put, Said, Took, Treatment};

impl Work {
    pub(super) fn asked(&mut self, ask: Ask) {
        let now = self.clock.now();
        self.is_urgent |= !matches!(ask, Ask::Put { is_patient: true, .. });
        match ask {
            Ask::Put { items, reply, .. } => {
                let took = items.into_iter().map(|(item, page)| self.put(now, item, page)).collect();
                self.answer(reply, took);
            }
            Ask::Take { wanted, reply } => {
                let given = self.take(now, &wanted);
                self.answer(reply, given);
            }
            Ask::Status { crawl, key, url, reply } => {
                let status = self.status(&crawl, &key, &url);
                self.answer(reply, status);
            }
            Ask::List { crawl, key, reply } => {
                let queues = self.chosen(Some(&crawl), key.as_deref());
                let listed = self.queues.list(&queues).into_iter().map(|item| item.0).collect();
                self.answer(reply, listed);
            }
            Ask::Queues { crawl, start, size, inactive, reply } => {
                let chosen: Vec<QueueId> = self
                    .queues
                    .queues_of(&crawl)
                    .into_iter()
                    .filter(|queue| inactive || self.queues.is_queue_active(now, *queue))
                    .collect();
                let keys =
                    chosen.iter().skip(start).take(size).map(|queue| self.queues.facts(*queue).key).collect();
                self.answer(reply, (keys, chosen.len() as u64));
            }
            Ask::Crawls { reply } => {
                let crawls = self.queues.crawls().map(str::to_owned).collect();
                self.answer(reply, crawls);
            }
            Ask::Tally { crawl, key, reply } => {
                let chosen = self.chosen(crawl.as_deref(), key.as_deref());
                let tally: Tally = self.queues.tally(now, &chosen);
                self.answer(reply, tally);
            }
            Ask::Remove { crawl, key, created_before, reply } => {
                let removed = self.remove(&crawl, key.as_deref(), created_before);
                self.answer(reply, removed);
            }
            Ask::Treat { crawl, key, treatment, reply } => {
                let is_treated = self.treat(&crawl, &key, treatment);
                self.answer(reply, is_treated);
            }
            Ask::DefaultDelay { seconds, reply } => {
                self.queues.set_delay(Span::from_whole_secs(seconds.into()));
                self.changes().meta.push((DELAY.to_owned(), seconds.to_string().into_bytes()));
                self.answer(reply, ());
            }
            Ask::SetActive { active, reply } => {
                self.queues.set_active(active);
                let kept = if active { Vec::new() } else { b"1".to_vec() };
                self.changes().meta.push((PAUSED.to_owned(), kept));
                self.answer(reply, ());
            }
            Ask::IsActive { reply } => {
                let active = self.queues.is_active();
                self.answer(reply, active);
            }
            Ask::Show(look) => self.show(now, look),
        }
    }

    /// These queues: of all crawls or of one, all or one of them.
    pub(super) fn chosen(&self, crawl: Option<&str>, key: Option<&str>) -> Vec<QueueId> {
        let crawls: Vec<&str> = crawl.map_or_else(|| self.queues.crawls().collect(), |crawl| vec![crawl]);
        match key {
            Some(key) => crawls.into_iter().filter_map(|crawl| self.queues.find(crawl, key)).collect(),
            None => crawls.into_iter().flat_map(|crawl| self.queues.queues_of(crawl)).collect(),
        }
    }

    pub(super) fn print(&self, queue: QueueId, url: &str) -> u64 {
        // The same address in another queue is another one.
        let seed = self.seed.wrapping_add(u64::from(queue.0).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        xxh3_64_with_seed(url.as_bytes(), seed)
    }

    fn open(&mut self, crawl: &str, key: &str, schedule: Option<Schedule>) -> QueueId {
        let (queue, new) = self.queues.open(crawl, key);
        if new {
            self.last_row += 1;
            self.rows.push(self.last_row);
            self.touched.insert(queue);
            self.decide(crawl, schedule);
        }
        queue
    }

    /// Who decides in a crawl is settled by the first that is said of it.
    fn decide(&mut self, crawl: &str, schedule: Option<Schedule>) {
        let mut known = self.schedules.write().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(crawl) {
            let schedule = schedule.unwrap_or_else(|| self.settings.schedules.of(crawl));
            known.insert(crawl.to_owned(), schedule);
            drop(known);
            self.changes().crawls.push(CrawlRow { name: crawl.to_owned(), schedule });
        }
    }

    fn put(&mut self, now: Time, item: Put, page: Option<PageId>) -> Took {
        let queue = self.open(&item.crawl, &item.key, item.schedule);
        let print = self.print(queue, &item.url);
        let said = match (item.said, page) {
            // Where values decide, what exists is due when they say so.
            (Said::Discovered, Some(_)) if self.queues.known(print).is_some() => return Took::Ignored,
            (_, Some(_)) => queues::Said::Parked,
            (Said::Discovered, None) => queues::Said::Discovered,
            (Said::Known(due), None) => queues::Said::Known(u32::try_from(due).unwrap_or(u32::MAX)),
        };
        let (became, since) = (self.queues.put(now, queue, print, said, item.created), self.last_served);
        let (id, new) = match became {
            Became::New(id) => (id, true),
            Became::Updated(id) => (id, false),
            Became::Ignored(_) => return Took::Ignored,
            Became::Full => return Took::Full,
        };
        let Some(whole) = self.queues.item(id) else { return Took::Full };
        let (row, id, due) = (self.rows[queue.0 as usize], id.0, whole.due);
        if let Some(page) = page {
            let items = self.pages.entry(page).or_default();
            if !items.contains(&ItemId(id)) {
                items.push(ItemId(id));
            }
            if self.early.remove(&page) {
                self.queues.let_go(now, ItemId(id));
            }
        }
        let changes = self.changes();
        if new {
            let (created, url, metadata) = (whole.created, item.url, item.metadata);
            changes.items.push(ItemRow { id, queue: row, created, due, since, page, url, metadata });
        } else {
            changes.news.push(ItemNews { id, due, since, metadata: Some(item.metadata) });
        }
        Took::Taken { new, completed: due == 0 }
    }

    /// The items of a page are due, unless somebody has them.
    pub(super) fn is_due(&mut self, page: PageId) {
        let now = self.clock.now();
        let mut waited = false;
        for item in self.pages.get(&page).into_iter().flatten() {
            waited |= self.queues.let_go(now, *item);
        }
        if !waited {
            self.early.insert(page);
        }
    }

    /// The queues of these pages give nothing before this time, since the host of the pages is not asked before.
    pub(super) fn rest(&mut self, pages: &[PageId], until: Time) {
        let items = pages.iter().filter_map(|page| self.pages.get(page)).flatten();
        let queues: BTreeSet<QueueId> =
            items.filter_map(|item| self.queues.item(*item)).map(|item| item.queue).collect();
        for queue in queues {
            self.queues.rest(queue, until);
        }
    }

    fn take(&mut self, now: Time, wanted: &Wanted) -> Given {
        let taken = self.queues.take(now, wanted);
        let mut given = Given::default();
        if taken.items.is_empty() {
            return given;
        }
        let mut items = Vec::new();
        for (queue, ids) in taken.items {
            let facts = self.queues.facts(queue);
            self.touched.insert(queue);
            items.extend(ids.iter().map(|id| id.0));
            given.queues.push((facts.crawl, facts.key, ids.into_iter().map(|id| id.0).collect()));
        }
        self.last_served += 1;
        self.leases.push(Reverse((taken.until, self.last_served)));
        let served = ServedRow { id: self.last_served, until: taken.until, items };
        self.changes().served.push(served);
        given
    }

    fn status(&self, crawl: &str, key: &str, url: &str) -> Option<ItemNow> {
        let queue = self.queues.find(crawl, key)?;
        let item = self.queues.item(self.queues.known(self.print(queue, url))?)?;
        Some(ItemNow { id: item.id.0, due: item.due, is_parked: item.is_parked, created: item.created })
    }

    /// Treats a queue as said from now on. Returns false if it is a limit for a queue that is not there: delays and blocks are remembered for one
    /// that is still to come.
    fn treat(&mut self, crawl: &str, key: &str, treatment: Treatment) -> bool {
        if matches!(treatment, Treatment::Limit(_)) && self.queues.find(crawl, key).is_none() {
            return false;
        }
        let queue = self.open(crawl, key, None);
        let mut manners = self.queues.manners(queue);
        // Several clients may tell of one host: what one of them heard does not undercut what another one did.
        match treatment {
            Treatment::Delay(0) => manners.delay = Some(Span::ZERO),
            Treatment::Delay(seconds) => {
                manners.delay = manners.delay.max(Some(Span::from_whole_secs(seconds.into())));
            }
            Treatment::Limit(limit) => manners.limit = (limit > 0).then_some(limit),
            Treatment::Block(0) => manners.blocked_until = None,
            Treatment::Block(until) => {
                let until = Time::ZERO.later(Span::from_whole_secs(until));
                manners.blocked_until = manners.blocked_until.max(Some(until));
            }
        }
        self.queues.set_manners(self.clock.now(), queue, manners);
        if manners.limit.is_none() {
            // What is to be kept of it comes before that.
            self.keep_counts();
            let row = self.rows[queue.0 as usize];
            self.next.push(QueueChanges { no_limits: vec![row], ..QueueChanges::default() });
        }
        self.touched.insert(queue);
        true
    }
}
