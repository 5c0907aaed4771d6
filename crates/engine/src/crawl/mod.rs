//! The crawl: one loop over all that can happen. It owns the frontier, and is the only one who decides.
//!
//! - `answers`: what comes of visits, to the frontier and to the store
//! - `knocks`: requests beside those that were ordered, one after the other
//! - `shown`, `announced`: what visits show beside the page itself: new links, signals; `outlets`: where sites announce them;
//!   `redirected`: where other fetchers were led
//! - `asked`: what others ask of a crawl that runs; `wishes`: what they decide about pages; `external`: work for other fetchers; `left`: where they
//!   still are though the page is forgotten
//! - `queued`: pages that others fetch by themselves; `led`: what these led to
//! - `journal`: facts that wait to be committed, and what follows when they are
//! - `decided`: decisions, for those who keep them
//! - `visits`: what is under way; `pulse`: how it is all doing; `samples`: how it went, for those who ask later

mod announced;
mod answers;
mod asked;
mod decided;
mod external;
mod journal;
mod knocks;
mod led;
mod left;
mod outlets;
mod pulse;
mod queued;
mod redirected;
mod samples;
mod shown;
mod visits;
mod wishes;

use std::collections::HashSet;
use std::sync::Arc;

use refrain_core::frontier::{Order, OrderId};
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_fetch::client::Client;
use refrain_fetch::url::PageUrl;
use refrain_store::{PageState, Reader, Store, StoreError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use crate::CrawlError;
use crate::clock::Clock;
use crate::door::Door;
use crate::event::Event;
use crate::handle::{Handle, Lent};
use crate::hours::Keeping;
use crate::ledger::Ledger;
use crate::links::Forms;
use crate::memo::Memo;
use crate::once::Ring;
use crate::queues::{self, Queues};
use crate::reads::Reads;
use crate::recorder::Recorder;
use crate::restore::Scheduler;
use crate::settings::{Settings, Until, host_name};
use crate::spending;
use crate::standing::Standing;
use crate::told::{Summary, Told};
use crate::visit::{Job, Kit, visit};
pub(crate) use answers::{LONGEST_GONE, retry_after, retry_gone};
use decided::Keeper;
use external::External;
use journal::Journal;
use knocks::Knocks;
pub(crate) use outlets::BELOW;
use pulse::Pulses;
use queued::Queued;
use samples::Sampling;
use visits::Visits;

/// A crawl, ready to run.
pub struct Crawl {
    settings: Arc<Settings>,
    clock: Clock,
    scheduler: Box<Scheduler>,
    reader: Reader,
    /// Queues of crawlers that fetch by themselves, if there are any. Before the recorder: who hands something to the store leaves before it.
    queues: Option<queues::Keeper>,
    recorder: Recorder,
    /// The pages in queues of other crawlers whose values decide.
    queued: Queued,
    kit: Arc<Kit>,
    events: UnboundedReceiver<Event>,
    knocks: Knocks,
    journal: Journal,
    visits: Visits,
    pulses: Pulses,
    sampling: Sampling,
    hours: Keeping,
    /// When what was learned of signals is kept next.
    voices_due: Time,
    /// What is known of links that differ in their queries only.
    forms: Forms,
    /// Sitemaps and feeds that were complained about.
    complained: HashSet<refrain_store::PageId>,
    /// Hubs that were told of, by the pages they belong to.
    hubs_told: HashSet<(refrain_store::PageId, u64)>,
    /// Pages to be looked at again soon, to learn what is noise, and when.
    again: Vec<(Time, refrain_store::PageId)>,
    told: Option<UnboundedSender<Told>>,
    decisions: Option<Keeper>,
    summary: Summary,
    /// For those who look into the store.
    standing: Standing,
    /// Other links are followed than before: pages must be read again, even if they did not change.
    follows_anew: bool,
    /// Work of other fetchers.
    external: External,
    /// Pages that were paused since the start: visits to them may be under way.
    paused: HashSet<refrain_store::PageId>,
    /// Pages that somebody wants at once, each with the order that was made for that, once it is made.
    hurried: IdMap<refrain_store::PageId, Option<OrderId>>,
    reads: Reads,
    /// Requests that count once.
    once: Ring,
}

/// Who is told to stop waits this long for visits under way.
const GRACE: Span = Span::from_whole_secs(10);
/// Who wants one look at each page does not wait for longer.
const LONG: Span = Span::from_whole_secs(300);
/// What was learned of signals is kept so often.
const KEEP_VOICES: Span = Span::from_whole_secs(15);

impl Crawl {
    /// Takes over a store, and begins where it was left. `told` hears of everything that happens.
    ///
    /// # Errors
    /// If the store cannot be read, or the client cannot be set up.
    pub fn new(
        store: Store,
        directory: &std::path::Path,
        settings: Settings,
        clock: Clock,
        told: Option<UnboundedSender<Told>>,
    ) -> Result<Self, CrawlError> {
        let mut scheduler = Box::new(Scheduler::restore(store.read(), &settings, clock.now())?);
        spending::resume(store.read(), &settings, &mut scheduler, clock.now())?;
        let external = External::restore(store.read(), &mut scheduler, clock.now())?;
        let reads = Reads::recall(store.read(), settings.reads_memory)?;
        let once = Ring::recall(store.read(), clock.now())?;
        let client = Client::new(settings.client.clone())?;
        let before = Standing::read(store.read())?.map(|before| before.follow).unwrap_or_default();
        let standing = Standing::begin(store.read(), &settings)?;
        let follows_anew = settings.follow.is_some() && before != standing.follow;
        let leases = store.read().leases()?.into_iter().map(|lease| lease.page).collect();
        let reader = Reader::open(directory)?;
        let (to_events, events) = unbounded_channel();
        let recorder = Recorder::start(store, settings.retention, clock).map_err(CrawlError::Thread)?;
        let settings = Arc::new(settings);
        let door = Door::new(to_events);
        let kit = Arc::new(Kit {
            client,
            clock,
            door,
            settings: Arc::clone(&settings),
            index: scheduler.pages.index.clone(),
            lent: Lent::default(),
        });
        Ok(Self {
            clock,
            scheduler,
            reader,
            recorder,
            queues: None,
            queued: Queued::default(),
            kit,
            events,
            knocks: Knocks::default(),
            // Whoever had a lease is gone with the process that gave it.
            journal: Journal::releasing(leases, settings.commit_within),
            visits: Visits::default(),
            pulses: Pulses::default(),
            sampling: Sampling::default(),
            hours: Keeping::new(clock.now()),
            voices_due: clock.now() + KEEP_VOICES,
            forms: Forms::default(),
            complained: HashSet::new(),
            hubs_told: HashSet::new(),
            again: Vec::new(),
            settings,
            told,
            decisions: None,
            summary: Summary::default(),
            standing,
            follows_anew,
            external,
            paused: HashSet::new(),
            hurried: IdMap::default(),
            reads,
            once,
        })
    }

    /// The way to this crawl, for everybody else.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.kit))
    }

    /// The queues of crawlers that fetch by themselves, from now on.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn queues(&mut self) -> Result<Queues, CrawlError> {
        let keeper = if let Some(keeper) = self.queues.take() {
            keeper
        } else {
            let (store, handle) = (self.recorder.tasks(), self.handle());
            let (keeper, pages) = queues::Keeper::start(&self.reader, self.clock, store, handle)?;
            self.queued.open(&keeper, pages);
            keeper
        };
        Ok(self.queues.insert(keeper).queues())
    }

    /// Where those who pass on changes say how far they have come.
    pub fn ledger(&self) -> Ledger {
        Ledger::new(self.kit.door.events())
    }

    /// Crawls until it is over or told to stop: `stop` becomes true.
    ///
    /// # Errors
    /// If the store fails: what was committed stays, the rest is not lost on the web.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<Summary, CrawlError> {
        let start = self.clock.now();
        let deadline = match self.settings.until {
            Until::After(span) => start + span,
            Until::Stopped | Until::Once => Time::MAX,
        };
        let mut stopping: Option<Time> = None;
        loop {
            let now = self.clock.now();
            if stopping.is_none() && (*stop.borrow() || now >= deadline || self.is_done()) {
                stopping = Some(self.close(now));
            }
            let wake = match stopping {
                None => {
                    let wake = self.decide(now)?;
                    if self.gives_up(now, wake) {
                        stopping = Some(self.close(now));
                        continue;
                    }
                    wake
                }
                Some(until) if self.visits.len() == 0 || now >= until => break,
                Some(until) => until,
            };
            if self.hours.is_due(now) {
                self.keep_hours(now);
            }
            if now >= self.voices_due {
                self.keep_voices(now);
            }
            self.weigh_reads(now)?;
            self.flush(now);
            let wake = wake
                .min(self.pulse(now))
                .min(self.journal.due(now))
                .min(deadline.max(now))
                .min(self.reads.due());
            tokio::select! {
                written = self.recorder.written() => {
                    let Some(written) = written else { break };
                    self.committed(self.clock.now(), written)?;
                }
                event = self.events.recv() => {
                    let Some(event) = event else { break };
                    self.happen(event)?;
                    // Whatever else has happened meanwhile; but the store does not wait for all of it.
                    while let Ok(event) = self.events.try_recv() {
                        self.keep_store_busy(self.clock.now())?;
                        self.happen(event)?;
                    }
                }
                () = tokio::time::sleep_until(self.clock.instant(wake)) => {}
                _ = stop.changed(), if stopping.is_none() => {}
            }
        }
        self.finish().await
    }

    /// No more requests. Until when visits under way are waited for.
    fn close(&mut self, now: Time) -> Time {
        self.knocks.close();
        self.external.close();
        now + GRACE
    }

    /// With one look at each page wanted, whether the rest is too long to wait for.
    fn gives_up(&self, now: Time, wake: Time) -> bool {
        let gives_up = self.settings.until == Until::Once
            && self.visits.len() == 0
            && self.journal.is_empty()
            && !self.scheduler.frontier.is_empty()
            && wake.since(now) > LONG;
        if gives_up {
            let left = self.scheduler.frontier.len();
            self.tell(|| {
                Told::Warning(format!(
                    "{left} pages were not looked at: their hosts want to be left alone for longer than {} minutes",
                    LONG.as_secs() / 60.0
                ))
            });
        }
        gives_up
    }

    /// Makes what requests can be made now; says when to look again.
    fn decide(&mut self, now: Time) -> Result<Time, CrawlError> {
        let knocks = self.knocks.serve(&mut self.scheduler.frontier, &mut self.summary.requests, now)?;
        self.look_again(now)?;
        self.take_up_again(now)?;
        let external = self.serve_fetchers(now)?;
        while self.settings.fetches && self.has_room() {
            let Some((order, stored)) = self.next_order(now)? else { break };
            self.journal.lease(stored, order.id, order.expires);
            self.start(Some(order.id), order.page, stored)?;
        }
        self.fill_queues(now)?;
        self.scheduler.let_fade(now)?;
        let wants_more =
            self.external.waits() || (self.settings.fetches && self.has_room()) || self.fills_queues();
        let next = if wants_more { self.scheduler.frontier.next_wakeup() } else { None }.unwrap_or(Time::MAX);
        let again = self.again.iter().map(|(time, _)| *time).min().unwrap_or(Time::MAX);
        let fade = self.scheduler.fadings.next();
        Ok(next.min(knocks).min(again).min(self.scheduler.next_later()).min(fade).min(external))
    }

    /// The next fetch for those who fetch what they are told to, if one is due. What others fetch by themselves goes to their queues on the way.
    fn next_order(&mut self, now: Time) -> Result<Option<(Order, refrain_store::PageId)>, CrawlError> {
        if let Some(order) = self.queued.unclaimed(now) {
            return Ok(Some(order));
        }
        while let Some((order, stored)) = self.any_order(now)? {
            if !self.queued.give(&order, stored) {
                return Ok(Some((order, stored)));
            }
        }
        Ok(None)
    }

    /// The next fetch, whoever makes it, if one is due.
    fn any_order(&mut self, now: Time) -> Result<Option<(Order, refrain_store::PageId)>, CrawlError> {
        let made = self.poll(now)?;
        if let Some((order, stored)) = &made {
            self.is_made(now, order, *stored)?;
        }
        Ok(made)
    }

    /// The next fetch that would be made.
    fn poll(&mut self, now: Time) -> Result<Option<(Order, refrain_store::PageId)>, CrawlError> {
        while let Some(order) = self.scheduler.frontier.poll(now)? {
            if let Some(stored) = self.scheduler.pages.stored(order.page) {
                return Ok(Some((order, stored)));
            }
        }
        Ok(None)
    }

    /// A fetch is made.
    fn is_made(&mut self, now: Time, order: &Order, stored: refrain_store::PageId) -> Result<(), CrawlError> {
        self.summary.requests += 1;
        self.ordered(now, order, stored);
        if let Some(wanted) = self.hurried.get_mut(&stored) {
            *wanted = Some(order.id);
        }
        if !self.scheduler.frontier.is_new(order.page)? {
            self.standing.paid(order.value);
        }
        Ok(())
    }

    /// Whether one more visit can be made, and what it sees be kept. If not, what ends that is an event.
    fn has_room(&self) -> bool {
        self.visits.len() < self.settings.parallel && !self.journal.is_full()
    }

    /// Pages that failed, or were gone, before the crawl began: whose time has come.
    fn take_up_again(&mut self, now: Time) -> Result<(), CrawlError> {
        while let Some(stored) = self.scheduler.pop_later(now) {
            let Some(record) = self.reader.page_by_id(stored)? else { continue };
            let is_wanted = crate::restore::is_crawled(record.state) || record.state == PageState::Gone;
            if !is_wanted || self.scheduler.pages.scheduled(stored).is_some() {
                continue;
            }
            let Ok(url) = PageUrl::parse(&record.url) else { continue };
            let host = self.scheduler.host(&host_name(&url));
            self.scheduler.take_up(&record.row(), host, now)?;
        }
        Ok(())
    }

    fn look_again(&mut self, now: Time) -> Result<(), CrawlError> {
        while let Some(due) = self.again.iter().position(|(time, _)| *time <= now) {
            let (_, stored) = self.again.swap_remove(due);
            if let Some(page) = self.scheduler.pages.scheduled(stored) {
                self.start(None, page, stored)?;
            }
        }
        Ok(())
    }

    fn start(
        &mut self,
        order: Option<OrderId>,
        page: refrain_core::frontier::PageId,
        stored: refrain_store::PageId,
    ) -> Result<(), CrawlError> {
        let memo = match self.journal.memo(stored) {
            Some(memo) => Some(memo),
            None => self.memo(stored)?,
        };
        let Some(memo) = memo else {
            // Somebody removed it, or it has an address that nobody can ask for.
            self.scheduler.frontier.remove(self.clock.now(), page)?;
            self.scheduler.pages.remove(page);
            return Ok(());
        };
        let wants_links = self.follows_anew && !self.scheduler.pages.has_links(stored);
        let number = self.visits.begin(memo.url.as_str(), self.clock.now());
        let (kit, job) = (Arc::clone(&self.kit), Job { number, order, page, stored, memo, wants_links });
        let events = self.kit.door.events();
        tokio::spawn(async move {
            let visited = visit(kit, job).await;
            // If nobody listens the crawl is over.
            let _ = events.send(Event::Visited(Box::new(visited)));
        });
        Ok(())
    }

    fn memo(&self, stored: refrain_store::PageId) -> Result<Option<Memo>, StoreError> {
        match self.reader.page_by_id(stored)? {
            Some(record) => Memo::of(record, &self.reader),
            None => Ok(None),
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), CrawlError> {
        let now = self.clock.now();
        match event {
            Event::Visited(visited) => self.visited(now, *visited)?,
            Event::Knock { host, again, enter } => {
                let host = self.scheduler.host(&host);
                self.knocks.wait(host, again, enter);
            }
            Event::Left { host, response } => {
                let host = self.scheduler.host(&host);
                self.scheduler.frontier.leave(now, host, response)?;
            }
            Event::Answered { host } => self.answered(now, &host)?,
            Event::Rules { host, known } => {
                let rules = self.scheduler.hosts.get(&host).and_then(|entry| entry.rules.clone());
                // Whoever asked may be gone.
                let _ = known.send(rules.filter(|rules| rules.hold(now, self.settings.robots_for)));
            }
            Event::Ruled { host, rules, text } => self.ruled(now, &host, &rules, &text)?,
            Event::Delivered { reader, seq } => self.journal.delivered(now, reader, seq),
            Event::Asked(ask) => self.asked(now, *ask)?,
        }
        Ok(())
    }

    fn keep_voices(&mut self, now: Time) {
        self.voices_due = now + KEEP_VOICES;
        let Scheduler { frontier, listening, hosts, .. } = &mut *self.scheduler;
        let voices = listening.keep(frontier.model_mut().inner_mut(), hosts);
        self.journal.voices(now, voices);
    }

    fn keep_hours(&mut self, now: Time) {
        let kept = self.hours.keep(&mut self.scheduler.frontier, &self.scheduler.hosts, now);
        self.journal.keep(now, kept);
    }

    /// The gap to the next request is counted from the answer to the last: so no delay on the way makes it shorter where it counts,
    /// at the host. With several requests at a time it is counted between their starts.
    fn answered(&mut self, now: Time, host: &str) -> Result<(), CrawlError> {
        if self.settings.per_host == 1 {
            let host = self.scheduler.host(host);
            self.scheduler.frontier.was_visited(now, host, now)?;
        }
        Ok(())
    }

    /// With one look at each page wanted, whether all were made.
    fn is_done(&self) -> bool {
        self.settings.until == Until::Once
            && self.scheduler.frontier.is_empty()
            && self.visits.len() == 0
            && self.journal.is_empty()
    }

    async fn finish(mut self) -> Result<Summary, CrawlError> {
        self.keep_hours(self.clock.now());
        self.keep_voices(self.clock.now());
        self.count();
        self.last_sample(self.clock.now());
        loop {
            self.flush(Time::MAX);
            if self.journal.is_empty() {
                break;
            }
            tokio::select! {
                written = self.recorder.written() => {
                    let Some(written) = written else { break };
                    self.committed(self.clock.now(), written)?;
                }
                event = self.events.recv() => match event {
                    Some(event @ (Event::Visited(_) | Event::Delivered { .. })) => self.happen(event)?,
                    Some(_) => {}
                    None => break,
                },
            }
        }
        self.count();
        self.end_decisions().await;
        let Self { reader, recorder, queues, summary, .. } = self;
        // Who writes leaves last: then SQLite's log is emptied into the database.
        drop(queues);
        drop(reader);
        recorder.close();
        Ok(summary)
    }

    /// What the crawl has come to.
    fn count(&mut self) {
        self.summary.pages = (self.scheduler.frontier.len() + self.scheduler.waiting()) as u64;
        self.summary.hosts = self.scheduler.hosts.len() as u64;
        self.summary.hubs = self.scheduler.hubs.len() as u64;
        self.summary.leased = self.external.under_way();
        self.summary.under_way = self.visits.len() + self.summary.leased;
        self.summary.price = self.scheduler.frontier.mean_price();
        self.summary.missed_decisions = self.missed_decisions();
    }

    fn tell(&self, what: impl FnOnce() -> Told) {
        if let Some(told) = &self.told {
            // Nobody watches any more.
            let _ = told.send(what());
        }
    }
}
