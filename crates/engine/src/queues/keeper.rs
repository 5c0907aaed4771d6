//! Who has the queues: a thread that does what it is asked, hands what must be kept to the store, and answers when it is there. One
//! commit is under way at a time; what comes meanwhile is the next one.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::sync::mpsc;
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;

use refrain_core::queues::{self, Became, ItemId, Manners, QueueId, Tally, Wanted, second};
use refrain_core::time::{Span, Time};
use refrain_store::{
    CrawlRow, ItemNews, ItemRow, PageId, QueueChanges, QueueRow, Reader, Schedule, ServedRow,
};
use tokio::sync::oneshot;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{Ask, Given, ItemNow, Known, Put, Queues, Said, Took, Treatment};
use crate::clock::Clock;
use crate::handle::Handle;
use crate::recorder::Task;
use crate::settings::Settings;

/// The delay of queues that have none of their own, by this name; and whether nothing is given.
pub(super) const DELAY: &str = "queues delay";
pub(super) const PAUSED: &str = "queues paused";

/// What the thread hears.
pub(crate) enum Note {
    /// Somebody asks.
    Asked(Ask),
    /// What was handed to the store is on the disk, or is not.
    Written(bool),
    /// The value of a page says that it is due.
    Due(PageId),
    /// Somebody looked at a page: it is not due any more.
    Looked(PageId),
    /// It is over.
    Stop,
}

/// The thread, from outside.
pub(crate) struct Keeper {
    to: mpsc::Sender<Note>,
    schedules: Known,
    crawl: Handle,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    /// Takes the queues out of the store; and the pages in them whose values decide.
    pub(crate) fn start(
        reader: &Reader,
        clock: Clock,
        store: mpsc::Sender<Task>,
        crawl: Handle,
    ) -> Result<(Self, Vec<PageId>), crate::CrawlError> {
        let (to, notes) = mpsc::channel();
        let schedules: Known = Arc::new(RwLock::new(HashMap::new()));
        let mut work = Work {
            queues: queues::Queues::default(),
            rows: Vec::new(),
            last_row: 0,
            seed: std::hash::RandomState::new().hash_one(0),
            schedules: Arc::clone(&schedules),
            settings: Arc::clone(&crawl.kit.settings),
            pages: HashMap::new(),
            early: HashSet::new(),
            clock,
            next: vec![QueueChanges::default()],
            touched: BTreeSet::new(),
            waiting: Vec::new(),
            committing: None,
            last_served: 0,
            leases: VecDeque::new(),
            store,
            own: to.clone(),
        };
        work.restore(reader)?;
        let pages = work.pages.keys().copied().collect();
        let thread = std::thread::Builder::new()
            .name("queues".to_owned())
            .spawn(move || work.run(&notes))
            .map_err(crate::CrawlError::Thread)?;
        Ok((Self { to, schedules, crawl, thread: Some(thread) }, pages))
    }

    /// The way to it.
    pub(crate) fn queues(&self) -> Queues {
        Queues::new(self.to.clone(), Arc::clone(&self.schedules), self.crawl.clone())
    }

    /// Where it hears what happens.
    pub(crate) fn notes(&self) -> mpsc::Sender<Note> {
        self.to.clone()
    }
}

impl Drop for Keeper {
    /// What was asked before is done and kept.
    fn drop(&mut self) {
        let _ = self.to.send(Note::Stop);
        if let Some(thread) = self.thread.take() {
            // If it panicked there is nothing left to wait for; what was not acknowledged is not relied upon.
            let _ = thread.join();
        }
    }
}

/// Says what became of what was handed to the store: also if the store ends before it comes to that.
struct Report {
    to: mpsc::Sender<Note>,
    written: bool,
}

impl Report {
    fn say(mut self, written: bool) {
        self.written = written;
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // Nobody waits if it is over.
        let _ = self.to.send(Note::Written(self.written));
    }
}

/// Called when what came before is on the disk.
type Reply = Box<dyn FnOnce() + Send>;

pub(super) struct Work {
    pub(super) queues: queues::Queues,
    /// The numbers of queues in the store, by their places.
    pub(super) rows: Vec<i64>,
    pub(super) last_row: i64,
    /// Of fingerprints: nobody knows which addresses have the same.
    seed: u64,
    pub(super) schedules: Known,
    settings: Arc<Settings>,
    /// What is in queues, by the pages whose values decide.
    pub(super) pages: HashMap<PageId, Vec<ItemId>>,
    /// Pages that were due before what is in queues of them was put there, or brought back.
    early: HashSet<PageId>,
    pub(super) clock: Clock,
    /// What is to be kept, in order: where something is removed a new one begins.
    next: Vec<QueueChanges>,
    /// Queues of which something is to be kept.
    touched: BTreeSet<QueueId>,
    waiting: Vec<Reply>,
    committing: Option<Vec<Reply>>,
    pub(super) last_served: i64,
    /// What was given, and until when.
    pub(super) leases: VecDeque<(i64, u32)>,
    store: mpsc::Sender<Task>,
    own: mpsc::Sender<Note>,
}

impl Work {
    fn run(mut self, notes: &mpsc::Receiver<Note>) {
        let mut stopping = false;
        while let Ok(note) = notes.recv() {
            let mut next = Some(note);
            while let Some(note) = next {
                match note {
                    Note::Asked(ask) if !stopping => self.asked(ask),
                    // Whoever asks now is told that it is over.
                    Note::Asked(_) => {}
                    Note::Written(true) => {
                        for reply in self.committing.take().into_iter().flatten() {
                            reply();
                        }
                    }
                    // The crawl ends, and says why.
                    Note::Written(false) => return,
                    Note::Due(page) => self.is_due(page),
                    Note::Looked(page) => drop(self.early.remove(&page)),
                    Note::Stop => stopping = true,
                }
                self.flush();
                next = notes.try_recv().ok();
            }
            if stopping && self.committing.is_none() {
                return;
            }
        }
    }

    /// Hands over what is to be kept, unless a commit is under way; if nothing is, whoever waits has the answer.
    fn flush(&mut self) {
        if self.committing.is_some() {
            return;
        }
        self.end_leases();
        self.write_queues();
        if self.next.iter().all(QueueChanges::is_empty) {
            for reply in self.waiting.drain(..) {
                reply();
            }
            return;
        }
        let changes = std::mem::replace(&mut self.next, vec![QueueChanges::default()]);
        let report = Report { to: self.own.clone(), written: false };
        let written = Box::new(move |written| report.say(written));
        // If the store is no more, nobody is answered: the crawl is over.
        let waiting = std::mem::take(&mut self.waiting);
        if self.store.send(Task::Queues(changes, written)).is_ok() {
            self.committing = Some(waiting);
        }
    }

    fn end_leases(&mut self) {
        let now = second(self.clock.now());
        let mut ended = None;
        while let Some((id, _)) = self.leases.front().filter(|(_, until)| *until < now) {
            ended = Some(*id);
            self.leases.pop_front();
        }
        if ended.is_some() {
            self.changes().ended = ended;
        }
    }

    fn write_queues(&mut self) {
        for queue in std::mem::take(&mut self.touched) {
            let facts = self.queues.facts(queue);
            // One that was closed meanwhile stays so.
            if self.queues.find(&facts.crawl, &facts.key) != Some(queue) {
                continue;
            }
            let Manners { delay, blocked_until, limit, served } = facts.manners;
            let (id, crawl, key) = (self.rows[queue.0 as usize], facts.crawl, facts.key);
            self.changes().queues.push(QueueRow { id, crawl, key, delay, blocked_until, limit, served });
        }
    }

    /// Where what happens now is to be kept.
    fn changes(&mut self) -> &mut QueueChanges {
        if self.next.is_empty() {
            self.next.push(QueueChanges::default());
        }
        let last = self.next.len() - 1;
        &mut self.next[last]
    }

    fn answer<T: Send + 'static>(&mut self, reply: oneshot::Sender<T>, answer: T) {
        self.waiting.push(Box::new(move || {
            // Whoever asked may be gone.
            let _ = reply.send(answer);
        }));
    }

    fn asked(&mut self, ask: Ask) {
        let now = self.clock.now();
        match ask {
            Ask::Put { items, reply } => {
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
                self.treat(&crawl, &key, treatment);
                self.answer(reply, ());
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
        }
    }

    /// These queues: of all crawls or of one, all or one of them.
    fn chosen(&self, crawl: Option<&str>, key: Option<&str>) -> Vec<QueueId> {
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
    fn is_due(&mut self, page: PageId) {
        let now = self.clock.now();
        let mut waited = false;
        for item in self.pages.get(&page).into_iter().flatten() {
            waited |= self.queues.let_go(now, *item);
        }
        if !waited {
            self.early.insert(page);
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
        self.leases.push_back((self.last_served, taken.until));
        let served = ServedRow { id: self.last_served, until: taken.until, items };
        self.changes().served.push(served);
        given
    }

    fn status(&self, crawl: &str, key: &str, url: &str) -> Option<ItemNow> {
        let queue = self.queues.find(crawl, key)?;
        let item = self.queues.item(self.queues.known(self.print(queue, url))?)?;
        Some(ItemNow { id: item.id.0, due: item.due, is_parked: item.is_parked, created: item.created })
    }

    fn remove(&mut self, crawl: &str, key: Option<&str>, created_before: Option<u32>) -> (u64, Vec<PageId>) {
        let queues = self.chosen(Some(crawl), key);
        let is_old = |item: &ItemId| {
            let created = self.queues.item(*item).map_or(u32::MAX, |item| item.created);
            created_before.is_none_or(|before| created < before)
        };
        let old: Vec<ItemId> = self.queues.list(&queues).into_iter().filter(is_old).collect();
        self.next.push(QueueChanges::default());
        for item in &old {
            self.queues.remove(*item);
        }
        let gone: HashSet<ItemId> = old.iter().copied().collect();
        let mut orphans = Vec::new();
        self.pages.retain(|page, items| {
            items.retain(|item| !gone.contains(item));
            if items.is_empty() {
                orphans.push(*page);
            }
            !items.is_empty()
        });
        let mut closed: BTreeSet<QueueId> = self.queues.sweep().into_iter().collect();
        if created_before.is_none() {
            for queue in queues.into_iter().filter(|queue| !closed.contains(queue)).collect::<Vec<_>>() {
                self.queues.close(queue);
                closed.insert(queue);
            }
        }
        let no_queues = closed.iter().map(|queue| self.rows[queue.0 as usize]).collect();
        let is_gone = !self.queues.crawls().any(|other| other == crawl);
        let changes = self.changes();
        changes.no_items = old.iter().map(|item| item.0).collect();
        changes.no_queues = no_queues;
        if is_gone {
            changes.no_crawls.push(crawl.to_owned());
            self.schedules.write().unwrap_or_else(PoisonError::into_inner).remove(crawl);
        }
        (old.len() as u64, orphans)
    }

    fn treat(&mut self, crawl: &str, key: &str, treatment: Treatment) {
        let queue = self.open(crawl, key, None);
        let mut manners = self.queues.manners(queue);
        match treatment {
            Treatment::Delay(seconds) => manners.delay = Some(Span::from_whole_secs(seconds.into())),
            Treatment::Limit(limit) => manners.limit = (limit > 0).then_some(limit),
            Treatment::Block(0) => manners.blocked_until = None,
            Treatment::Block(until) => {
                manners.blocked_until = Some(Time::ZERO.later(Span::from_whole_secs(until)));
            }
        }
        self.queues.set_manners(self.clock.now(), queue, manners);
        self.touched.insert(queue);
    }
}
