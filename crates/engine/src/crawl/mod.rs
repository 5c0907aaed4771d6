//! The crawl: one loop over all that can happen. It owns the frontier, and is the only one who decides.
//!
//! - `answers`: what comes of visits, to the frontier and to the store
//! - `doubts`: visits whose verdict waits for a second look
//! - `knocks`: requests beside those that were ordered, one after the other
//! - `shown`, `announced`: what visits show beside the page itself: new links, signals; `outlets`: where sites announce them;
//!   `redirected`: where other fetchers were led
//! - `enter`: the only place where addresses are taken up; `located`: where hosts are; `digest`: long announcements, a part at a time
//! - `asked`: what others ask of a crawl that runs; `wishes`: what they decide about pages; `external`: work for other fetchers; `left`: where they
//!   still are though the page is forgotten
//! - `queued`: pages that others fetch by themselves; `led`: what these led to
//! - `journal`: facts that wait to be committed, and what follows when they are
//! - `decided`: decisions, for those who keep them
//! - `pauses`: the machine was suspended; `visits`: what is under way; `pulse`: how it is all doing; `samples`: how it went, for those who ask later

mod announced;
mod answers;
mod asked;
mod decided;
mod digest;
mod doubts;
mod enter;
mod external;
mod journal;
mod knocks;
mod led;
mod left;
mod located;
mod outlets;
mod pauses;
mod pulse;
mod queued;
mod redirected;
mod samples;
mod shown;
#[cfg(test)]
mod tests;
mod visits;
mod wishes;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use refrain_core::frontier::{Order, OrderId};
use refrain_core::ids::IdMap;
use refrain_core::time::{Span, Time};
use refrain_fetch::change::LATE;
use refrain_fetch::client::Client;
use refrain_fetch::url::PageUrl;
use refrain_store::{PageState, Reader, Store, StoreError};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{Semaphore, watch};

use crate::CrawlError;
use crate::alarm::Alarm;
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
use crate::read::Purpose;
use crate::reads::Reads;
use crate::recent::Recent;
use crate::recorder::Recorder;
use crate::restore::Scheduler;
use crate::settings::{Settings, Until, host_name};
use crate::spending;
use crate::standing::{Paid, Price, Standing};
use crate::told::{Summary, Told, ToldSender};
use crate::visit::{ANNOUNCING, Job, Kit, readers, visit};
pub(crate) use answers::retry;
use decided::Keeper;
use digest::Digest;
use doubts::Doubts;
use external::External;
use journal::Journal;
use knocks::Knocks;
pub(crate) use outlets::BELOW;
use pauses::{HEARTBEAT, Pauses};
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
    queued: Box<Queued>,
    kit: Arc<Kit>,
    events: UnboundedReceiver<Event>,
    knocks: Knocks,
    journal: Journal,
    visits: Visits,
    pulses: Pulses,
    sampling: Sampling,
    pauses: Pauses,
    hours: Keeping,
    /// When what was learned of signals is kept next.
    voices_due: Time,
    /// What is known of links that differ in their queries only.
    forms: Forms,
    /// Sitemaps and feeds that were complained about.
    complained: HashSet<refrain_store::PageId>,
    /// Hubs that were told of, with the pages they belong to: the last of them.
    hubs_told: Recent<(refrain_store::PageId, Box<str>), ()>,
    /// Long announcements.
    digest: Digest,
    /// Hosts whose addresses were asked for.
    locating: usize,
    /// Visits whose verdict waits for a second look.
    doubts: Doubts,
    /// Pages to be looked at again soon, to learn which links are noise, and when.
    again: Vec<(Time, refrain_store::PageId)>,
    told: Option<ToldSender>,
    decisions: Option<Keeper>,
    summary: Summary,
    /// For those who look into the store.
    standing: Standing,
    paid: Paid,
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
    /// What has panicked: the crawl ends.
    panicked: Option<String>,
}

/// What a crawl says of the thread that writes to the store, if it is no more.
const STORE: &str = "the thread that writes to the store";

/// Who is told to stop waits this long for visits under way.
const GRACE: Span = Span::from_whole_secs(10);
/// So many hubs are not told of again.
const MOST_HUBS_TOLD: usize = 50_000;
/// So many events are taken in one turn.
const EVENTS_IN_A_TURN: usize = 1000;
/// Who wants one look at each page does not wait for longer.
const LONG: Span = Span::from_whole_secs(300);
/// So many pages are taken up at a time.
const MOST_TAKEN_UP: usize = 1000;
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
        told: Option<ToldSender>,
    ) -> Result<Self, CrawlError> {
        let mut scheduler = Box::new(Scheduler::restore(store.read(), &settings, clock.now())?);
        spending::resume(store.read(), &settings, &mut scheduler, clock.now())?;
        let external = External::restore(store.read(), &mut scheduler, clock.now())?;
        let reads = Reads::recall(store.read(), settings.reads_memory)?;
        let once = Ring::recall(store.read(), clock.now())?;
        let client = Client::new(settings.client.clone())?;
        let before = Standing::read(store.read())?.map(|before| before.follow).unwrap_or_default();
        let (standing, paid) = (Standing::begin(&settings), Paid::begin(store.read())?);
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
            copies: Mutex::new(Reader::open(directory)?),
            readers: readers(),
            announcing: Arc::new(Semaphore::new(ANNOUNCING)),
        });
        Ok(Self {
            clock,
            scheduler,
            reader,
            recorder,
            queues: None,
            queued: Box::default(),
            kit,
            events,
            knocks: Knocks::default(),
            // Whoever had a lease is gone with the process that gave it.
            journal: Journal::releasing(leases, settings.commit_within),
            visits: Visits::default(),
            pulses: Pulses::default(),
            sampling: Sampling::default(),
            pauses: Pauses::new(clock.now()),
            hours: Keeping::new(clock.now()),
            voices_due: clock.now() + KEEP_VOICES,
            forms: Forms::default(),
            complained: HashSet::new(),
            hubs_told: Recent::new(MOST_HUBS_TOLD),
            digest: Digest::default(),
            locating: 0,
            doubts: Doubts::default(),
            again: Vec::new(),
            settings,
            told,
            decisions: None,
            summary: Summary::default(),
            standing,
            paid,
            follows_anew,
            external,
            paused: HashSet::new(),
            hurried: IdMap::default(),
            reads,
            once,
            panicked: None,
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
            // Crawlers that fetch by themselves obey robots.txt by themselves.
            let now = self.clock.now();
            for page in self.scheduler.forbidden.take_if(|page| self.queued.has(page)) {
                self.scheduler.take_up_at(page, now);
            }
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
    /// If the store fails: what was committed stays, the rest is not lost on the web. If a part of the crawl panics: what waits is committed before.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<Summary, CrawlError> {
        let start = self.clock.now();
        self.pauses = Pauses::new(start);
        let deadline = match self.settings.until {
            Until::After(span) => start + span,
            Until::Stopped | Until::Once => Time::MAX,
        };
        let mut stopping: Option<Time> = None;
        loop {
            let now = self.wake();
            let is_over = *stop.borrow() || now >= deadline || self.panicked.is_some() || self.is_done();
            if stopping.is_none() && is_over {
                stopping = Some(self.close(now));
            }
            let wake = match stopping {
                None => {
                    let wake = self.decide(now)?;
                    // Deciding may have removed the last page, which nothing else tells of.
                    if self.is_done() || self.gives_up(now, wake) {
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
                .min(self.digest(now)?)
                .min(self.pulse(now))
                .min(self.journal.due(now))
                .min(deadline.max(now))
                .min(self.reads.due())
                .min(now + HEARTBEAT);
            tokio::select! {
                written = self.recorder.written() => {
                    // It says why it ends, unless it panicked.
                    let written = written.ok_or_else(|| CrawlError::Panicked(STORE.to_owned()))?;
                    self.committed(self.clock.now(), written)?;
                }
                event = self.events.recv(), if !self.journal.is_flooded() => {
                    let Some(event) = event else { break };
                    self.happen(event)?;
                    // Whatever else has happened meanwhile; but the store does not wait for all of it.
                    for _ in 0..EVENTS_IN_A_TURN {
                        if self.journal.is_flooded() {
                            break;
                        }
                        let Ok(event) = self.events.try_recv() else { break };
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
    fn gives_up(&mut self, now: Time, wake: Time) -> bool {
        let gives_up = self.settings.until == Until::Once
            && self.visits.len() == 0
            && self.locating == 0
            && self.journal.is_empty()
            && !self.scheduler.frontier.is_empty()
            && wake.since(now) > LONG;
        if gives_up {
            let left = self.scheduler.frontier.len();
            self.summary.unvisited = left as u64;
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
        let rules = self.scheduler.reread_rules(self.settings.fetches, now);
        self.give_up_doubts(now)?;
        self.take_up_again(now)?;
        let external = self.serve_fetchers(now)?;
        while self.settings.fetches && self.has_room() {
            let Some((order, stored)) = self.next_order(now)? else { break };
            self.journal.lease(stored, order.id, order.expires);
            self.start(now, Some(order.id), order.page, stored)?;
        }
        self.fill_queues(now)?;
        self.scheduler.let_fade(now)?;
        let wants_more =
            self.external.waits() || (self.settings.fetches && self.has_room()) || self.fills_queues();
        let next = if wants_more { self.scheduler.frontier.next_wakeup() } else { None }.unwrap_or(Time::MAX);
        let again = self.again.iter().map(|(time, _)| *time).min().unwrap_or(Time::MAX);
        let fade = self.scheduler.fadings.next().min(self.doubts.next());
        let later = self.scheduler.next_later();
        Ok(next.min(knocks).min(again).min(later).min(rules).min(fade).min(external))
    }

    /// The next fetch for those who fetch what they are told to, if one is due. What others fetch by themselves goes to their queues on the way.
    fn next_order(&mut self, now: Time) -> Result<Option<(Order, refrain_store::PageId)>, CrawlError> {
        while let Some((order, stored)) = self.queued.unclaimed(now) {
            let back_off = self.scheduler.frontier.host_state(order.host)?.back_off;
            if back_off <= now {
                return Ok(Some((order, stored)));
            }
            self.scheduler.frontier.set_aside(now, order.id, back_off.since(now))?;
        }
        while let Some((order, stored)) = self.any_order(now)? {
            if !self.give_to_queue(now, &order, stored)? {
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
            if !self.is_located(now, order.host)? {
                self.scheduler.frontier.set_aside(now, order.id, Span::ZERO)?;
                if !self.has_room() {
                    break;
                }
                continue;
            }
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
            self.paid.add(order.value);
        }
        Ok(())
    }

    /// Whether one more visit can be made, and what it sees be kept. If not, what ends that is an event.
    fn has_room(&self) -> bool {
        self.visits.len() + self.locating < self.settings.parallel && !self.journal.is_full()
    }

    /// Pages that failed, were gone or forbidden: whose time has come. Of many, some now and others in a moment.
    fn take_up_again(&mut self, now: Time) -> Result<(), CrawlError> {
        for _ in 0..MOST_TAKEN_UP {
            let Some(stored) = self.scheduler.pop_later(now) else { break };
            let Some(record) = self.reader.page_by_id(stored)? else { continue };
            let is_wanted = crate::restore::is_crawled(record.state) || record.state == PageState::Gone;
            if !is_wanted || self.scheduler.pages.scheduled(stored).is_some() {
                continue;
            }
            let Ok(url) = PageUrl::parse(&record.url) else { continue };
            let host = self.scheduler.host(&host_name(&url));
            let is_forbidden = record.state == PageState::Disallowed && !self.queued.has(stored);
            if is_forbidden && let Some(until) = self.scheduler.forbidden_until(host, &url, now) {
                self.scheduler.forbidden.add(host, stored, until);
                continue;
            }
            self.scheduler.take_up(&record.row(), host, now)?;
        }
        Ok(())
    }

    fn look_again(&mut self, now: Time) -> Result<(), CrawlError> {
        while let Some(due) = self.again.iter().position(|(time, _)| *time <= now) {
            let (_, stored) = self.again.swap_remove(due);
            // A look that settles a verdict shows links as well.
            let page = self.scheduler.pages.scheduled(stored).filter(|_| !self.doubts.is_held(stored));
            if let Some(page) = page {
                self.start(now, None, page, stored)?;
            }
        }
        Ok(())
    }

    /// Begins a visit. `now` is the moment of the whole step: the frontier refuses one that is before another.
    fn start(
        &mut self,
        now: Time,
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
            self.scheduler.frontier.remove(now, page)?;
            self.scheduler.pages.remove(page);
            if order.is_some() {
                self.journal.release(stored);
            }
            return Ok(());
        };
        let wants_links = self.follows_anew && !self.scheduler.pages.has_links(stored);
        // A look without an order is there for its links.
        let doubted = order.and_then(|_| self.doubted(stored));
        let host = self.scheduler.hosts.get(&host_name(&memo.url));
        // A look that comes later settles nothing.
        let is_soon = host.is_none_or(|host| host.gap(self.scheduler.manners.gap) <= LATE);
        let purpose = Purpose {
            doubted,
            may_look_again: order.is_some() && is_soon && self.may_look_again(),
            is_quiet_host: host.is_some_and(|host| host.noise.is_quiet()),
            wants_links,
            ..Purpose::default()
        };
        let number = self.visits.begin(memo.url.as_str(), now);
        let what = format!("the visit to {}", memo.url);
        let (kit, job) = (Arc::clone(&self.kit), Job { number, order, page, stored, memo, purpose });
        self.spawn(what, Some(number), async move { Event::Visited(Box::new(visit(kit, job).await)) });
        Ok(())
    }

    /// Does work on a task of its own; `visit` is its number if it is a visit. The result is an event, also if the work panics.
    fn spawn(&self, what: String, visit: Option<u64>, work: impl Future<Output = Event> + Send + 'static) {
        let events = self.kit.door.events();
        let alarm = Alarm::new(events.clone(), what, visit);
        tokio::spawn(async move {
            let event = work.await;
            // Without a receiver the crawl is over.
            let _ = events.send(event);
            alarm.done();
        });
    }

    fn memo(&self, stored: refrain_store::PageId) -> Result<Option<Memo>, StoreError> {
        match self.reader.page_by_id(stored)? {
            Some(record) => Memo::of(record, &self.reader),
            None => Ok(None),
        }
    }

    fn happen(&mut self, event: Event) -> Result<(), CrawlError> {
        let now = self.wake();
        match event {
            Event::Visited(visited) => self.visited(now, visited)?,
            Event::Knock { host, again, enter } => {
                let host = self.scheduler.host(&host);
                self.is_located(now, host)?;
                self.knocks.wait(host, again, enter);
            }
            Event::Left { host, response } => {
                let host = self.scheduler.host(&host);
                self.scheduler.frontier.leave(now, host, response)?;
            }
            Event::Located { host, found } => self.has_located(now, &host, found)?,
            Event::Leads { way, from, to, reply } => {
                // The visit may be gone.
                let _ = reply.send(self.leads_on(now, way, &from, &to));
            }
            Event::Answered { host } => self.answered(now, &host)?,
            Event::Rules { host, known } => {
                let rules = self.scheduler.hosts.get(&host).and_then(|entry| entry.rules.clone());
                // Whoever asked may be gone.
                let _ = known.send(rules.filter(|rules| rules.hold(now, self.settings.robots_for)));
            }
            Event::Ruled { host, rules, text } => self.ruled(now, &host, &rules, &text)?,
            Event::Delivered { reader, seq } => self.journal.delivered(now, reader, seq),
            Event::Panicked { what, visit } => {
                if let Some(number) = visit {
                    self.visits.end(number);
                }
                self.panicked.get_or_insert(what);
            }
            Event::Warning(sentence) => drop(self.tell(|| Told::Warning(sentence))),
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
        self.believe_all(self.clock.now())?;
        self.keep_hours(self.clock.now());
        self.keep_voices(self.clock.now());
        self.count();
        let now = self.clock.now();
        self.last_sample(now);
        self.standing.ended = self.panicked.is_none();
        self.journal.keep(now, self.standing.facts(self.price(), now));
        loop {
            self.flush(Time::MAX);
            if self.journal.is_empty() {
                break;
            }
            tokio::select! {
                written = self.recorder.written() => {
                    let written = written.ok_or_else(|| CrawlError::Panicked(STORE.to_owned()))?;
                    self.committed(self.clock.now(), written)?;
                }
                event = self.events.recv() => match event {
                    Some(event @ (Event::Visited(_) | Event::Delivered { .. } | Event::Panicked { .. })) => {
                        self.happen(event)?;
                    }
                    Some(_) => {}
                    None => break,
                },
            }
        }
        self.count();
        self.end_decisions().await;
        let Self { reader, recorder, queues, summary, panicked, .. } = self;
        // Who writes leaves last: then SQLite's log is emptied into the database.
        drop(queues);
        drop(reader);
        recorder.close();
        panicked.map_or(Ok(summary), |what| Err(CrawlError::Panicked(what)))
    }

    /// What a fetch must be worth at the moment: the one price that everything shows.
    fn price(&self) -> Option<Price> {
        let given = self.scheduler.frontier.budget().price();
        if given > 0.0 { Some(Price::given(given)) } else { self.paid.price() }
    }

    /// What the crawl has come to.
    fn count(&mut self) {
        self.summary.pages = (self.scheduler.frontier.len() + self.scheduler.waiting()) as u64;
        self.summary.hosts = self.scheduler.hosts.len() as u64;
        self.summary.hubs = self.scheduler.hubs.len() as u64;
        self.summary.leased = self.external.under_way();
        self.summary.under_way = self.under_way();
        self.summary.price = self.price().map(|price| price.value);
        self.summary.missed_decisions = self.missed_decisions();
    }

    /// Fetches whose outcome is not on the disk yet.
    fn under_way(&self) -> usize {
        self.visits.len()
            + self.external.under_way()
            + self.digest.looks()
            + self.doubts.len()
            + self.journal.unwritten()
    }

    /// Publishes an event. Returns false if there was no room for it.
    fn tell(&self, what: impl FnOnce() -> Told) -> bool {
        self.told.as_ref().is_none_or(|told| told.send(what()))
    }
}
