//! What others ask of a crawl that runs.

use std::collections::HashMap;

use refrain_core::frontier::{Budget, BudgetError, FrontierError, HostId, Manners, Model};
use refrain_core::time::{Span, Time};
use refrain_fetch::announce::when::When;
use refrain_fetch::url::PageUrl;
use refrain_store::PageId;
use tokio::sync::oneshot;

use super::Crawl;
use super::digest::Then;
use super::enter::Refused;
use super::pulse::{has_signals, log_fresh};
use crate::CrawlError;
use crate::back_off::BackOff;
use crate::decision::Decision;
use crate::handle::{
    Ask, BudgetNow, Heard, HostEdit, HostNow, HostShare, PageNow, Prospect, Said, Sample, SampledPage,
};
use crate::index::Place;
use crate::kinds::Kind;
use crate::once::{Once, Reused};
use crate::scope::Way;
use crate::seeds::new_page;
use crate::sources::{Announced, News};
use crate::spending;

/// A page that people asked for, and how often.
type Read = (PageId, f64);

/// A ping is not worth a visit if fewer of them than this were true, by so many visits.
const LEAST_PRECISION: f64 = 0.1;

impl Crawl {
    /// Answers, or sees to it that somebody does when what is asked for is on the disk.
    pub(super) fn asked(&mut self, now: Time, ask: Ask) -> Result<(), CrawlError> {
        match ask {
            Ask::Add { pages, found, reply } => self.add_pages(now, &pages, found, reply)?,
            Ask::Edit { edits, reply } => self.edit_pages(now, edits, reply)?,
            Ask::Remove { pages, reply } => self.remove_pages(now, &pages, reply)?,
            Ask::Hurry { pages, once, reply } => tell(reply, self.hurry_once(now, pages, once)?),
            Ask::Hosts { names, reply } => {
                tell(reply, names.iter().map(|name| self.host_now(now, name)).collect());
            }
            Ask::SetHost { name, edit, reply } => {
                let host = self.set_host(now, &name, edit)?;
                self.journal.when_written(now, move |_| tell(reply, host));
            }
            Ask::Budget { reply } => tell(reply, self.budget_now()),
            Ask::SetBudget { budget, reply } => match self.set_budget(now, budget)? {
                Ok(()) => {
                    let budget = self.budget_now();
                    self.journal.when_written(now, move |_| tell(reply, Ok(budget)));
                }
                Err(why) => tell(reply, Err(why)),
            },
            Ask::Explain { pages, reply } => {
                let pages: Result<_, _> = pages.iter().map(|page| self.page_now(now, *page)).collect();
                tell(reply, pages?);
            }
            Ask::Prospect { page, shape, at, reply } => {
                let prospect = self.prospect(page, shape, &at)?;
                tell(reply, prospect);
            }
            Ask::Sample { most, reply } => tell(reply, self.sample(most)),
            Ask::Signals { kind, said, once, reply } => match self.once(now, once) {
                Ok(again) => {
                    let heard: Result<Vec<Heard>, _> = said
                        .iter()
                        .map(
                            |said| {
                                if again { Ok(self.heard_of(said)) } else { self.told_of(now, kind, said) }
                            },
                        )
                        .collect();
                    let heard = heard?;
                    self.journal.when_written(now, move |_| tell(reply, Ok(heard)));
                }
                Err(reused) => tell(reply, Err(reused)),
            },
            // It counts as having come once all of it is taken up: until then it may come again.
            Ask::Distributed { page, url, announced, once, reply } => match self.came(now, once) {
                Ok(false) => self.take_feed(now, page, &url, announced, (once, reply))?,
                Ok(true) => self.journal.when_written(now, move |_| tell(reply, Ok(0))),
                Err(reused) => tell(reply, Err(reused)),
            },
            Ask::Reads { reads, reply } => {
                let (there, missing) = self.which_are_there(&reads)?;
                self.take_reads(now, &there);
                tell(reply, missing);
            }
            Ask::Requests { reads, once, reply } => match self.once(now, once) {
                Ok(again) => {
                    let (there, missing) = self.which_are_there(&reads)?;
                    if !again {
                        self.take_reads(now, &there);
                        let (facts, meta) = self.reads.facts(there.into_iter().map(|(page, _)| page));
                        self.journal.reads(now, facts);
                        self.journal.keep(now, meta);
                    }
                    self.journal.when_written(now, move |_| tell(reply, Ok(missing)));
                }
                Err(reused) => tell(reply, Err(reused)),
            },
            Ask::Next { wanted, reply } => self.seek(now, wanted, reply),
            Ask::Results { results, reply } => self.take_results(now, results, reply)?,
            Ask::Enqueue { pages, reply } => self.enqueue(now, &pages, reply),
            Ask::Dequeue { pages, reply } => self.dequeue(now, pages, reply)?,
            Ask::AtATime { most, reply } => self.serve_at_a_time(now, most, reply)?,
            Ask::Looked { looks, reply } => self.take_looks(now, looks, reply)?,
            Ask::UnderWay { reply } => tell(reply, self.under_way()),
            Ask::Keep { meta, reply } => {
                self.journal.keep(now, meta);
                self.journal.when_written(now, move |_| tell(reply, ()));
            }
        }
        Ok(())
    }

    fn host_now(&self, now: Time, name: &str) -> Option<HostNow> {
        let entry = self.scheduler.hosts.get(name)?;
        let state = self.scheduler.frontier.host_state(entry.id).ok()?;
        let slow = Span::from_secs(f64::from(state.manners.patience * state.response));
        Some(HostNow {
            name: name.to_owned(),
            gap: state.manners.gap.max(slow),
            gap_wanted: entry.wanted_gap,
            response: (state.response > 0.0).then(|| Span::from_secs(f64::from(state.response))),
            in_flight: state.in_flight,
            back_off: entry.back_off.until.filter(|until| *until > now),
            paused: entry.paused,
            failures: entry.back_off.failures,
            pages: self.scheduler.pages_of(name),
        })
    }

    fn set_host(&mut self, now: Time, name: &str, edit: HostEdit) -> Result<Option<HostNow>, CrawlError> {
        let manners = self.scheduler.manners;
        let Some(entry) = self.scheduler.hosts.get_mut(name) else { return Ok(None) };
        if let Some(gap) = edit.gap {
            entry.wanted_gap = gap;
        }
        if let Some(until) = edit.back_off {
            // A person who ends a back-off forgives the failures before it.
            entry.back_off = if until > now {
                BackOff { until: Some(until), ..entry.back_off }
            } else {
                BackOff::default()
            };
        }
        entry.paused = edit.paused.unwrap_or(entry.paused);
        let (id, gap, until) = (entry.id, entry.gap(manners.gap), entry.left_alone());
        self.scheduler.frontier.set_manners(now, id, Manners { gap, ..manners })?;
        self.scheduler.frontier.back_off(now, id, until)?;
        self.write_host(now, name, None);
        Ok(self.host_now(now, name))
    }

    fn budget_now(&self) -> BudgetNow {
        BudgetNow {
            budget: self.scheduler.frontier.budget(),
            price: self.price(),
            freshness: self.pulses.last(),
        }
    }

    fn set_budget(&mut self, now: Time, budget: Budget) -> Result<Result<(), BudgetError>, CrawlError> {
        match self.scheduler.frontier.set_budget(now, budget) {
            Ok(()) => {}
            Err(FrontierError::Budget(why)) => return Ok(Err(why)),
            Err(why) => return Err(why.into()),
        }
        self.scheduler.rate = budget.rate();
        self.standing.rate = budget.rate();
        self.decided(|| Decision::Budget { time: now, budget });
        self.journal.keep(now, vec![spending::kept(&self.settings, budget)]);
        Ok(Ok(()))
    }

    fn page_now(&mut self, now: Time, stored: PageId) -> Result<Option<PageNow>, CrawlError> {
        let Some(id) = self.scheduler.pages.scheduled(stored) else { return Ok(None) };
        let price = self.price();
        let frontier = &mut self.scheduler.frontier;
        let explained = frontier.explain(now, id, price.map_or(0.0, |price| price.value))?;
        let page = explained.page.inner();
        let changes = page.change_rate();
        let survival = log_fresh(page, explained.since.elapsed(now).as_secs(), explained.since.signals());
        Ok(Some(PageNow {
            changes,
            stale: survival.filter(|_| !explained.is_new).map(|survival| -survival.exp_m1()),
            value: explained.value,
            price,
            importance: f64::from(page.importance()),
            signals: explained.since.signals(),
            due: price.and(explained.due),
            waits_for: explained.waits_for,
            is_hub: frontier.hub(id)?.is_some(),
        }))
    }

    fn prospect(&mut self, stored: PageId, shape: u32, at: &[Time]) -> Result<Option<Prospect>, CrawlError> {
        let Some(id) = self.scheduler.pages.scheduled(stored) else { return Ok(None) };
        let frontier = &mut self.scheduler.frontier;
        let (page, since) = frontier.page(id)?;
        let values = at.iter().map(|moment| frontier.model().value(page, &since, *moment)).collect();
        let host = frontier.host_of(id)?;
        // What is believed of a page of this kind that nobody has looked at.
        let like_it = frontier.model_mut().inner_mut().page(host, shape, 1.0).ok();
        Ok(Some(Prospect { values, prior: like_it.and_then(|page| page.change_rate()) }))
    }

    fn sample(&self, most: usize) -> Sample {
        let frontier = &self.scheduler.frontier;
        let slots = self.scheduler.pages.slots();
        let stride = slots.div_ceil(most.max(1)).max(1);
        let mut sample = Sample { of: frontier.len(), ..Sample::default() };
        let mut places = HashMap::new();
        for slot in (0..slots).step_by(stride) {
            let Some(id) = self.scheduler.pages.at(slot) else { continue };
            let (Ok((page, _)), Ok(host)) = (frontier.page(id), frontier.host_of(id)) else { continue };
            let page = page.inner();
            let importance = f64::from(page.importance());
            let Some(changes) = page.change_rate().filter(|_| importance > 0.0) else { continue };
            let place = *places.entry(host.index()).or_insert_with(|| {
                sample.hosts.push(self.host_share(host));
                sample.hosts.len() as u32 - 1
            });
            let signals = if has_signals(page) { page.quality() } else { None };
            let is_seen = frontier.past(id).is_ok_and(|past| past.history().seen() > 0);
            sample.pages.push(SampledPage { changes, signals, importance, is_seen, host: place });
        }
        // Who matters to nobody is not missing where all were asked.
        if stride == 1 {
            sample.of = sample.pages.len();
        }
        sample
    }

    /// Whether a request came before. If not, it is known again once what it changes is on the disk.
    fn once(&mut self, now: Time, once: Option<Once>) -> Result<bool, Reused> {
        let again = self.came(now, once)?;
        if let Some(once) = once.filter(|_| !again) {
            let kept = self.once.keep(once, now);
            self.journal.keep(now, vec![kept]);
        }
        Ok(again)
    }

    /// Whether a request came before, and all that it changes is known.
    fn came(&self, now: Time, once: Option<Once>) -> Result<bool, Reused> {
        once.map_or(Ok(false), |once| self.once.came(once, now))
    }

    /// What has become of a signal that came before.
    fn heard_of(&self, said: &Said) -> Heard {
        match self.scheduler.pages.index.page(said.url.as_str()) {
            Place::Page(_) | Place::OnItsWay => Heard::Known,
            Place::Unknown => Heard::Stranger,
        }
    }

    fn host_share(&self, host: HostId) -> HostShare {
        let gap = self.scheduler.frontier.host_state(host).map_or(Span::ZERO, |state| {
            state.manners.gap.max(Span::from_secs(f64::from(state.manners.patience * state.response)))
        });
        let name = self.scheduler.hosts.with_id(host).map(|(name, _)| &**name);
        HostShare { gap, pages: name.map_or(0, |name| self.scheduler.pages_of(name)) }
    }

    /// Somebody says that a page changed.
    fn told_of(&mut self, now: Time, kind: Kind, said: &Said) -> Result<Heard, CrawlError> {
        let index = &self.scheduler.pages.index;
        let page = match index.page(said.url.as_str()) {
            Place::Page(page) => page,
            // It will be fetched anyway.
            Place::OnItsWay => return Ok(Heard::Known),
            Place::Unknown if !said.adds => return Ok(Heard::Stranger),
            Place::Unknown => {
                let way = match kind {
                    Kind::Source(_) => Way::Chosen,
                    Kind::IndexNow => Way::IndexNow,
                    Kind::Sitemap | Kind::Feed | Kind::WebSub => Way::Entry,
                    Kind::Ping => Way::Ping,
                };
                let page = new_page(&said.url, 1.0, None, now, kind.as_str()).map_err(|_| Refused::Unusable);
                let entered = page.and_then(|page| self.enter(now, way, None, &said.url, page));
                return Ok(entered.map_or(Heard::Stranger, |_| Heard::Added));
            }
        };
        let before = index.said(page, kind);
        // Clocks differ a little; what lies further ahead is no date, and says nothing.
        let when = When::exactly(said.changed.unwrap_or(now)).plausible(now);
        let Some(when) = when.filter(|when| before.is_none_or(|before| when.earliest() > before)) else {
            return Ok(Heard::Known);
        };
        let news = News { page, said: when, first: before.is_none(), elsewhere: None };
        let is_news = self.hear(now, kind, &news, 1.0)?.news > 0.0;
        if is_news && kind == Kind::Ping {
            self.heed_ping(now, page)?;
        }
        Ok(if is_news { Heard::News } else { Heard::Known })
    }

    /// A sitemap or a feed matters for what it shows, not for itself: it is visited if such words were true often enough.
    fn heed_ping(&mut self, now: Time, stored: PageId) -> Result<(), CrawlError> {
        let Some(page) = self.scheduler.pages.scheduled(stored) else { return Ok(()) };
        let host = self.scheduler.frontier.host_of(page)?;
        if self.scheduler.listening.precision(host, Kind::Ping) >= LEAST_PRECISION {
            self.hurry_pages(now, vec![stored])?;
        }
        Ok(())
    }

    fn take_feed(
        &mut self,
        now: Time,
        page: PageId,
        url: &PageUrl,
        announced: Box<Announced>,
        (once, reply): (Option<Once>, oneshot::Sender<Result<u64, Reused>>),
    ) -> Result<(), CrawlError> {
        let memo = match self.journal.memo(page) {
            Some(memo) => Some(memo),
            None => self.memo(page)?,
        };
        let Some(memo) = memo.filter(|memo| memo.url.as_str() == url.as_str()) else {
            self.journal.when_written(now, move |_| tell(reply, Ok(0)));
            return Ok(());
        };
        self.take_up_announced(now, announced, Then::Feed { page, memo: Box::new(memo), once, reply })
    }

    /// Pages that people read.
    fn take_reads(&mut self, now: Time, reads: &[Read]) {
        for (page, times) in reads.iter().filter(|(_, times)| times.is_finite() && *times > 0.0) {
            self.reads.add(*page, *times, now);
        }
    }

    /// Which of them are pages, and which are not, or not any more.
    fn which_are_there(&self, reads: &[Read]) -> Result<(Vec<Read>, Vec<PageId>), CrawlError> {
        let (mut there, mut missing) = (Vec::with_capacity(reads.len()), Vec::new());
        for read in reads {
            let is_there =
                self.scheduler.pages.scheduled(read.0).is_some() || self.reader.page_head(read.0)?.is_some();
            if is_there { there.push(*read) } else { missing.push(read.0) }
        }
        Ok((there, missing))
    }
}

/// Whoever asked may be gone: that is no matter.
pub(super) fn tell<T>(reply: oneshot::Sender<T>, answer: T) {
    let _ = reply.send(answer);
}
