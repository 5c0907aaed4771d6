//! The way to a crawl that runs, for everybody else: doors, other fetchers, those who announce changes.
//!
//! What changes something is answered once it is on the disk. Whatever takes long (reading bodies, asking the database) is done on the
//! caller's side: the crawl decides, and does nothing else.

mod lent;
mod work;

use std::sync::Arc;

use refrain_core::estimate::Posterior;
use refrain_core::estimate::signals::quality::Quality;
use refrain_core::frontier::{Budget, BudgetError, WaitsFor};
use refrain_core::optimum::LearnedPage;
use refrain_core::time::{Span, Time};
use refrain_fetch::FetchError;
use refrain_fetch::client::{Request, Response};
use refrain_fetch::url::PageUrl;
use refrain_store::{Added, Edit, PageId, PageRecord, Reader, Role, StoreError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::door::Shut;
use crate::event::Event;
use crate::kinds::Kind;
use crate::once::{Once, Reused};
use crate::restore::shape;
use crate::seeds::Seed;
use crate::settings::host_name;
use crate::sources::{self, Announced, Known, LONGEST_ANNOUNCEMENT};
use crate::standing::Price;
use crate::visit::Kit;
pub(crate) use lent::Lent;
pub use work::{
    Brought, Given, Grant, LONGEST_LEASE, LeaseId, MOST_AT_A_TIME, Receipt, Saw, Work, WorkWanted,
};
pub(crate) use work::{Done, FetchFacts, Looked, Prepared, looked};

/// The crawl is over: nobody answers any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the crawl is over")]
pub struct Over;

/// The way to a crawl that runs. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    pub(crate) kit: Arc<Kit>,
    to: UnboundedSender<Event>,
    /// What was known of pages when they were given to fetchers.
    lent: Lent,
}

/// What can be asked of a crawl.
pub(crate) enum Ask {
    /// Pages, to be crawled from now on.
    Add { pages: Vec<Seed>, found: &'static str, reply: oneshot::Sender<Vec<Option<Added>>> },
    /// What somebody decided about pages. Those that are not there.
    Edit { edits: Vec<Edit>, reply: oneshot::Sender<Vec<PageId>> },
    /// Pages to be forgotten. Those that are not there.
    Remove { pages: Vec<PageId>, reply: oneshot::Sender<Vec<PageId>> },
    /// Pages to be fetched next. Those that are not crawled.
    Hurry { pages: Vec<PageId>, once: Option<Once>, reply: oneshot::Sender<Result<Vec<PageId>, Reused>> },
    /// How hosts are treated; all of these names.
    Hosts { names: Vec<String>, reply: oneshot::Sender<Vec<Option<HostNow>>> },
    /// How a host is to be treated.
    SetHost { name: String, edit: HostEdit, reply: oneshot::Sender<Option<HostNow>> },
    /// What may be spent.
    Budget { reply: oneshot::Sender<BudgetNow> },
    /// What may be spent from now on.
    SetBudget { budget: Budget, reply: oneshot::Sender<Result<BudgetNow, BudgetError>> },
    /// What decides about pages.
    Explain { pages: Vec<PageId>, reply: oneshot::Sender<Vec<Option<PageNow>>> },
    /// What a page will be worth.
    Prospect { page: PageId, shape: u32, at: Vec<Time>, reply: oneshot::Sender<Option<Prospect>> },
    /// Pages by chance, for a forecast.
    Sample { most: usize, reply: oneshot::Sender<Sample> },
    /// Pages that somebody says have changed.
    Signals {
        kind: Kind,
        said: Vec<Said>,
        once: Option<Once>,
        reply: oneshot::Sender<Result<Vec<Heard>, Reused>>,
    },
    /// A feed that was pushed rather than fetched.
    Distributed {
        page: PageId,
        url: PageUrl,
        announced: Box<Announced>,
        once: Option<Once>,
        reply: oneshot::Sender<Result<u64, Reused>>,
    },
    /// Pages that people asked for, and how often.
    Reads { reads: Vec<(PageId, f64)>, reply: oneshot::Sender<Vec<PageId>> },
    /// The same, told by others, who are answered once it is on the disk.
    Requests {
        reads: Vec<(PageId, f64)>,
        once: Option<Once>,
        reply: oneshot::Sender<Result<Vec<PageId>, Reused>>,
    },
    /// Work for another fetcher.
    Next { wanted: WorkWanted, reply: oneshot::Sender<Grant> },
    /// What another fetcher saw.
    Results { results: Vec<Prepared>, reply: oneshot::Sender<Vec<Receipt>> },
    /// Pages that others fetch by themselves, when they are told to; each with what it is there for. Their numbers; `None` where there are as many
    /// pages as there may be.
    Enqueue { pages: Vec<Entered>, reply: oneshot::Sender<Vec<Option<PageId>>> },
    /// Pages that are in no queue any more. Those that were not there.
    Dequeue { pages: Vec<PageId>, reply: oneshot::Sender<Vec<PageId>> },
    /// What those others saw.
    Looked { looks: Vec<(PageId, Saw)>, reply: oneshot::Sender<()> },
    /// They take up to so many pages of a host at a time.
    AtATime { most: usize, reply: oneshot::Sender<()> },
    /// Fetches whose outcome is not on the disk yet.
    UnderWay { reply: oneshot::Sender<usize> },
    /// What belongs to the whole crawl, by name.
    Keep { meta: Vec<(String, Vec<u8>)>, reply: oneshot::Sender<()> },
}

/// What somebody wants of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostEdit {
    /// The least time between two requests, where its robots.txt does not ask for more; `Some(None)` takes that back.
    pub gap: Option<Option<Span>>,
    /// Not to be visited before; a moment in the past ends that.
    pub back_off: Option<Time>,
    /// Whether it is left alone until somebody says otherwise.
    pub paused: Option<bool>,
}

/// How a host is treated at the moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HostNow {
    /// Scheme, name and port.
    pub name: String,
    /// The least time between two requests, robots.txt and slowness considered.
    pub gap: Span,
    /// What somebody wants it to be.
    pub gap_wanted: Option<Span>,
    /// How long it takes to answer; `None` before its first answer.
    pub response: Option<Span>,
    /// Requests under way.
    pub in_flight: u16,
    /// Until when it is left alone.
    pub back_off: Option<Time>,
    /// Whether it is left alone until somebody says otherwise.
    pub paused: bool,
    /// Failures in a row.
    pub failures: u32,
    /// Pages, sitemaps and feeds included.
    pub pages: u32,
}

/// What may be spent, and what it buys at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetNow {
    /// What may be spent.
    pub budget: Budget,
    /// What a fetch must be worth; `None`: not known yet.
    pub price: Option<Price>,
    /// The share of copies that are expected to be fresh, weighted by importance.
    pub freshness: Option<f64>,
}

/// What decides about a page at the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageNow {
    /// How often it changes, per second, if that is known as well as it can be; a page that is new is believed to be like others.
    pub changes: Option<Posterior>,
    /// How likely its copy is stale; `None`: there is none.
    pub stale: Option<f64>,
    /// What a fetch now is worth: seconds for which the copy will be fresh that otherwise would not, times the importance.
    pub value: f64,
    /// What a fetch must be worth; `None`: not known yet.
    pub price: Option<Price>,
    /// How much it matters now.
    pub importance: f64,
    /// Signals since the last look.
    pub signals: u32,
    /// When it is expected to be worth the price; `None`: never, if nothing happens, or the price is not known yet.
    pub due: Option<Time>,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Whether it shows what is new, and is visited for that.
    pub is_hub: bool,
}

/// What a page will be worth, if nothing happens to it, and what it was believed to be like before it was looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Prospect {
    /// What a fetch is worth at each of the moments that were asked for.
    pub values: Vec<f64>,
    /// Changes per second of pages like it, as far as is known now.
    pub prior: Option<Posterior>,
}

/// Pages by chance, as they are believed to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The pages.
    pub pages: Vec<SampledPage>,
    /// How many there are in all.
    pub of: usize,
    /// Their hosts.
    pub hosts: Vec<HostShare>,
}

/// A page in a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledPage {
    /// Changes per second.
    pub changes: Posterior,
    /// How good its signals are; `None` if there are none that say something.
    pub signals: Option<Quality>,
    /// How much it matters: more than nothing.
    pub importance: f64,
    /// Whether anything of this was seen on the page itself: it was looked at twice.
    pub is_seen: bool,
    /// The place of its host among the hosts.
    pub host: u32,
}

impl SampledPage {
    /// The page as it competes for a budget; `None` if its numbers are beyond all bounds.
    pub fn candidate(&self) -> Option<LearnedPage> {
        let page = LearnedPage::new(self.changes.mean(), self.changes.shape(), self.importance).ok()?;
        match &self.signals {
            Some(quality) => page.with_signals(quality).ok(),
            None => Some(page),
        }
    }
}

/// A host in a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostShare {
    /// The least time between two requests, robots.txt and slowness considered.
    pub gap: Span,
    /// How many pages it has, whether they are in the sample or not.
    pub pages: u32,
}

/// A page that is put into a queue.
#[derive(Clone, Debug)]
pub(crate) struct Entered {
    pub(crate) url: PageUrl,
    /// What it is there for.
    pub(crate) role: Role,
    /// The page that led to it, if it was just found.
    pub(crate) shown_by: Option<PageUrl>,
}

/// Somebody says that a page changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The page.
    pub url: PageUrl,
    /// When; `None`: just now.
    pub changed: Option<Time>,
    /// Whether a page that is not known yet becomes one.
    pub adds: bool,
}

/// What became of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// It was news, and counts as far as its kind can be believed.
    News,
    /// The copy has it already, or it was said before.
    Known,
    /// There was no such page, and it is one now.
    Added,
    /// There is no such page.
    Stranger,
}

impl Handle {
    pub(crate) fn new(kit: Arc<Kit>) -> Self {
        Self { to: kit.door.events(), lent: kit.lent.clone(), kit }
    }

    /// Asks at once, not when the answer is awaited: what is asked first is done first.
    pub(crate) fn ask<T, F: FnOnce(oneshot::Sender<T>) -> Ask>(
        &self,
        ask: F,
    ) -> impl Future<Output = Result<T, Over>> + use<T, F> {
        let (reply, answer) = oneshot::channel();
        let sent = self.to.send(Event::Asked(Box::new(ask(reply)))).map_err(|_| Over);
        async move {
            sent?;
            answer.await.map_err(|_| Over)
        }
    }

    /// The moment, as the crawl has it.
    pub fn now(&self) -> Time {
        self.kit.clock.now()
    }

    /// Pages, to be crawled from now on; of those that are known, what is said of them holds from now on. For each its number and whether it is
    /// new; `None` where there are as many pages as there may be.
    ///
    /// # Errors
    /// If the crawl is over, as with all of these.
    pub async fn add(&self, pages: Vec<Seed>, found: &'static str) -> Result<Vec<Option<Added>>, Over> {
        self.ask(|reply| Ask::Add { pages, found, reply }).await
    }

    /// What somebody decided about pages. Those that are not there.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn edit(&self, edits: Vec<Edit>) -> Result<Vec<PageId>, Over> {
        self.ask(|reply| Ask::Edit { edits, reply }).await
    }

    /// Pages to be forgotten, with all that is known of them. Those that were not there.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn remove(&self, pages: Vec<PageId>) -> Result<Vec<PageId>, Over> {
        self.ask(|reply| Ask::Remove { pages, reply }).await
    }

    /// Pages to be fetched next, as soon as their hosts allow it. Those that are not crawled. Who asks again under the same name asks once, as
    /// long as this process lives.
    ///
    /// # Errors
    /// If the crawl is over; inside, if the name is that of another request.
    pub async fn hurry(
        &self,
        pages: Vec<PageId>,
        once: Option<Once>,
    ) -> Result<Result<Vec<PageId>, Reused>, Over> {
        self.ask(|reply| Ask::Hurry { pages, once, reply }).await
    }

    /// How hosts are treated; `None` where there is no such host.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn hosts(&self, names: Vec<String>) -> Result<Vec<Option<HostNow>>, Over> {
        self.ask(|reply| Ask::Hosts { names, reply }).await
    }

    /// How a host is treated from now on; `None` if there is no such host.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn set_host(&self, name: String, edit: HostEdit) -> Result<Option<HostNow>, Over> {
        self.ask(|reply| Ask::SetHost { name, edit, reply }).await
    }

    /// What may be spent.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn budget(&self) -> Result<BudgetNow, Over> {
        self.ask(|reply| Ask::Budget { reply }).await
    }

    /// What may be spent from now on, also after a restart with the same settings.
    ///
    /// # Errors
    /// If the crawl is over; inside, if that is no budget.
    pub async fn set_budget(&self, budget: Budget) -> Result<Result<BudgetNow, BudgetError>, Over> {
        self.ask(|reply| Ask::SetBudget { budget, reply }).await
    }

    /// What decides about pages; `None` for those that are not crawled at the moment.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn explain(&self, pages: Vec<PageId>) -> Result<Vec<Option<PageNow>>, Over> {
        self.ask(|reply| Ask::Explain { pages, reply }).await
    }

    /// What a page will be worth at these moments, if nothing happens to it; `None` if it is not crawled at the moment. The record is the page's own.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn prospect(&self, record: &PageRecord, at: Vec<Time>) -> Result<Option<Prospect>, Over> {
        let (page, shape) = (record.id, shape(&record.url, record.origin.hint));
        self.ask(|reply| Ask::Prospect { page, shape, at, reply }).await
    }

    /// Pages by chance, at most so many, as they are believed to be.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn sample(&self, most: usize) -> Result<Sample, Over> {
        self.ask(|reply| Ask::Sample { most, reply }).await
    }

    /// Somebody says that pages changed. What became of each; who says it again under the same name has said nothing new.
    ///
    /// # Errors
    /// If the crawl is over; inside, if the name is that of another request.
    pub async fn signal(
        &self,
        kind: Kind,
        said: Vec<Said>,
        once: Option<Once>,
    ) -> Result<Result<Vec<Heard>, Reused>, Over> {
        self.ask(|reply| Ask::Signals { kind, said, once, reply }).await
    }

    /// A feed was pushed rather than fetched: how many signals and new pages were in it; none, if the same came before. `page` is the feed.
    ///
    /// # Errors
    /// If the crawl is over; inside, if the name is that of another request.
    pub async fn distributed(
        &self,
        page: PageId,
        url: PageUrl,
        answer: Response,
        once: Option<Once>,
    ) -> Result<Result<u64, Reused>, Over> {
        let (kit, now, place) = (Arc::clone(&self.kit), self.now(), url.clone());
        // Until all of it is taken up.
        let _turn = Arc::clone(&kit.announcing).acquire_owned().await.map_err(|_| Over)?;
        let read = tokio::task::spawn_blocking(move || {
            let charset = answer.content_type().and_then(|kind| kind.charset);
            let known = Known {
                index: &kit.index,
                follow: kit.settings.follow.as_ref(),
                now,
                most: LONGEST_ANNOUNCEMENT,
            };
            sources::read(Kind::WebSub, &answer.body, charset.as_deref(), &place, known)
        });
        let announced = Box::new(read.await.map_err(|_| Over)?);
        self.ask(|reply| Ask::Distributed { page, url, announced, once, reply }).await
    }

    /// People asked for pages, as others tell: each, and how often. Those that are not there. What is told again under the same name is not counted
    /// again.
    ///
    /// # Errors
    /// If the crawl is over; inside, if the name is that of another request.
    pub async fn requests(
        &self,
        reads: Vec<(PageId, f64)>,
        once: Option<Once>,
    ) -> Result<Result<Vec<PageId>, Reused>, Over> {
        self.ask(|reply| Ask::Requests { reads, once, reply }).await
    }

    /// People asked for pages: each, and how often. Those that are not there. It is on the disk within seconds.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn reads(&self, reads: Vec<(PageId, f64)>) -> Result<Vec<PageId>, Over> {
        self.ask(|reply| Ask::Reads { reads, reply }).await
    }

    /// Work for another fetcher: what is worth fetching now; if there is nothing, it is waited for as long as wanted. Leases are on the disk when
    /// this returns.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn next(&self, wanted: WorkWanted) -> Result<Grant, Over> {
        self.ask(|reply| Ask::Next { wanted, reply }).await
    }

    /// What a fetcher needs to know to make the fetches of a grant. What robots.txt forbids is not among them, and is to be handed in for it,
    /// if there is any.
    pub fn resolve(&self, grant: Grant) -> (Vec<Work>, Vec<Brought>) {
        work::resolve(grant, &self.lent, self.now())
    }

    /// What another fetcher saw, read as our own answers are: whatever takes long about it. Then [`Handle::hand_in`].
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn prepare(&self, reader: &Reader, brought: Vec<Brought>) -> Result<Results, StoreError> {
        let prepare = |one| work::prepare(&self.kit, reader, &self.lent, one);
        reader.at_one_moment(|_| Ok(Results(brought.into_iter().map(prepare).collect())))
    }

    /// What another fetcher saw becomes known. What became of each, in order.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn hand_in(&self, results: Results) -> Result<Vec<Receipt>, Over> {
        self.ask(|reply| Ask::Results { results: results.0, reply }).await
    }

    /// Keeps what belongs to the whole crawl, by name; what is empty is not kept any more. It is written in the order of the calls, and on the disk when
    /// the answer is there.
    ///
    /// # Errors
    /// If the crawl is over.
    pub fn keep(&self, meta: Vec<(String, Vec<u8>)>) -> impl Future<Output = Result<(), Over>> + use<> {
        self.ask(|reply| Ask::Keep { meta, reply })
    }

    /// Fetches under way, and those whose outcome is not on the disk yet, at this moment. If there are none, and nothing is ordered, nothing more is
    /// going to change.
    ///
    /// # Errors
    /// If the crawl is over.
    pub async fn under_way(&self) -> Result<usize, Over> {
        self.ask(|reply| Ask::UnderWay { reply }).await
    }

    /// A request of our own, beside those for pages: polite, and paid for. `None`: the host's turn does not come soon.
    ///
    /// # Errors
    /// If the crawl is over; inside, if there was no answer of use.
    pub async fn get(&self, request: &Request) -> Result<Option<Result<Response, FetchError>>, Over> {
        let host = host_name(&request.url);
        let mut request = request.clone();
        loop {
            let mut inside = match self.kit.door.enter(&host, false).await {
                Ok(inside) => inside,
                Err(Shut::Later(_)) => return Ok(None),
                Err(Shut::Over) => return Err(Over),
            };
            let answer = self.kit.client.get(&request).await;
            self.kit.door.answered(&host);
            match answer {
                // Once more, in its turn.
                Err(FetchError::Closed) if !request.new_connection => request.new_connection = true,
                Err(why) if why.is_ours() => return Ok(None),
                answer => {
                    inside.response = answer.as_ref().ok().map(|answer| answer.first_byte);
                    return Ok(Some(answer));
                }
            }
        }
    }
}

/// What another fetcher saw, ready to be handed in.
pub struct Results(pub(crate) Vec<Prepared>);
