//! From what the store has to a frontier: facts are kept, beliefs follow from them.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use refrain_core::estimate::interest::clicks::Interest;
use refrain_core::estimate::shape::url_shape;
use refrain_core::frontier::{
    AgeLimits, Attentive, AttentivePage, AttentivePast, Budget, Found, Frontier, FrontierError, HostId,
    Hourly, HourlyPage, Manners, Settings as FrontierSettings,
};
use refrain_core::time::{Span, Time};
use refrain_store::{NewPage, Origin, PageRow, PageState, Reader, Role};
use xxhash_rust::xxh3::xxh3_64;

use crate::CrawlError;
use crate::catalogue::{Hosts, Pages};
use crate::crawl::{LONGEST_GONE, retry_after, retry_gone};
use crate::fading::{Fading, Fadings};
use crate::hubs::Hubs;
use crate::kinds::Kind;
use crate::listening::Listening;
use crate::rules::HostRules;
use crate::settings::Settings;

/// What learns: change rates and signals of pages, by the clocks of their hosts.
pub(crate) type Learner = Hourly<Attentive>;

/// The frontier, and who is in it.
pub(crate) struct Scheduler {
    pub(crate) frontier: Frontier<Learner>,
    pub(crate) pages: Pages,
    pub(crate) hosts: Hosts,
    pub(crate) manners: Manners,
    pub(crate) hubs: Hubs,
    pub(crate) listening: Listening,
    pub(crate) fadings: Fadings,
    start: Time,
    pub(crate) rate: f64,
    /// Pages that had never been fetched at the start.
    unfetched: usize,
    /// Pages by host.
    per_host: Vec<u32>,
    /// Pages whose last visits failed, or that are gone: when they are to be looked for again.
    later: BinaryHeap<Reverse<(Time, refrain_store::PageId)>>,
}

/// No page is wanted for longer than a month, in seconds, as far as is known.
pub(crate) const NEVER_FETCHED: f64 = 30.0 * 86_400.0;
/// That does not fall with time, not by a digit in a thousand years: so those that are worth the same stay in order, and nobody has to be
/// looked at again.
const HARDLY: f64 = 1e-30;
/// Whoever is found while nobody waits is worth a wait of this, in seconds.
const SHORTEST_WAIT: f64 = 10.0;
/// An order is given up after so long: more than any visit takes.
const LEASE: Span = Span::from_whole_secs(1800);

impl Scheduler {
    /// Everything that the store knows, to be crawled from now on.
    pub(crate) fn restore(reader: &Reader, settings: &Settings, now: Time) -> Result<Self, CrawlError> {
        let manners =
            Manners { gap: settings.gap, in_flight: settings.per_host, patience: settings.patience };
        let frontier_settings =
            FrontierSettings { lease: LEASE, burst: settings.burst, ..FrontierSettings::default() };
        let learner = Hourly::new(Attentive::default());
        let frontier = Frontier::new(learner, Budget::Rate(settings.rate), frontier_settings, now)?;
        let mut scheduler = Self {
            frontier,
            pages: Pages::default(),
            hosts: Hosts::default(),
            manners,
            hubs: Hubs::recall(reader, settings.rate)?,
            listening: Listening::default(),
            fadings: Fadings::default(),
            start: now,
            rate: settings.rate,
            unfetched: reader.unfetched()? as usize,
            per_host: Vec::new(),
            later: BinaryHeap::new(),
        };
        let names = scheduler.restore_hosts(reader, settings, now)?;
        crate::hours::recall(reader, scheduler.frontier.model_mut(), &scheduler.hosts)?;
        scheduler.restore_signals(reader)?;
        let mut failed = None;
        reader.pages(|row| match scheduler.restore_page(&row, &names, now) {
            Ok(()) => ControlFlow::Continue(()),
            Err(why) => {
                failed = Some(why);
                ControlFlow::Break(())
            }
        })?;
        scheduler.unfetched = 0;
        failed.map_or(Ok(scheduler), |why| Err(why.into()))
    }

    fn restore_signals(&mut self, reader: &Reader) -> Result<(), CrawlError> {
        let learner = self.frontier.model_mut().inner_mut();
        self.listening = Listening::recall(reader, learner, &self.hosts)?;
        let index = &self.pages.index;
        reader.announced(|page, kind, said| {
            if let Some(kind) = Kind::from_name(kind) {
                index.say(page, kind, said);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn restore_hosts(
        &mut self,
        reader: &Reader,
        settings: &Settings,
        now: Time,
    ) -> Result<HashMap<refrain_store::HostId, HostId>, CrawlError> {
        // Of a robots.txt only what it asks of us: the texts of all hosts are long.
        let mut rows = Vec::new();
        reader.hosts(|mut row| {
            let rules = row
                .robots
                .take()
                .map(|kept| HostRules::kept(kept.fetched, kept.status, &kept.text, &settings.agent));
            rows.push((row, rules));
            ControlFlow::Continue(())
        })?;
        let mut names = HashMap::with_capacity(rows.len());
        for (row, rules) in rows {
            let id = self.frontier.add_host(self.manners);
            names.insert(row.id, id);
            let entry = self.hosts.add(&row.name, id);
            entry.failures = row.failures;
            entry.back_off = row.back_off_until;
            (entry.wanted_gap, entry.paused) = (row.wanted_gap, row.paused);
            entry.rules = rules.map(Arc::new);
            let (gap, left_alone) = (entry.gap(self.manners.gap), entry.left_alone());
            // When the last request before was made is not known to the millisecond: it may have been a moment ago.
            self.frontier.was_visited(now, id, now)?;
            // What robots.txt asked for may be known without its text.
            let gap = gap.max(row.gap.unwrap_or(Span::ZERO));
            if gap != self.manners.gap {
                self.frontier.set_manners(now, id, Manners { gap, ..self.manners })?;
            }
            if left_alone > now {
                self.frontier.back_off(now, id, left_alone)?;
            }
        }
        Ok(names)
    }

    fn restore_page(
        &mut self,
        row: &PageRow<'_>,
        names: &HashMap<refrain_store::HostId, HostId>,
        now: Time,
    ) -> Result<(), FrontierError> {
        self.pages.index.number(row.url, row.id);
        let Some(host) = names.get(&row.host).copied() else { return Ok(()) };
        match again_from(row) {
            None => Ok(()),
            Some(from) if from > now => {
                self.later.push(Reverse((from, row.id)));
                Ok(())
            }
            Some(_) => self.take_up(row, host, now),
        }
    }

    /// A page of the store is taken up at a moment.
    pub(crate) fn take_up_at(&mut self, page: refrain_store::PageId, from: Time) {
        self.later.push(Reverse((from, page)));
    }

    /// When the next of those comes that wait.
    pub(crate) fn next_later(&self) -> Time {
        self.later.peek().map_or(Time::MAX, |Reverse((from, _))| *from)
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.later.len()
    }

    /// One whose time has come.
    pub(crate) fn pop_later(&mut self, now: Time) -> Option<refrain_store::PageId> {
        let Reverse((from, _)) = self.later.peek()?;
        if *from > now {
            return None;
        }
        self.later.pop().map(|Reverse((_, page))| page)
    }

    /// A page of the store is crawled from now on.
    pub(crate) fn take_up(
        &mut self,
        row: &PageRow<'_>,
        host: HostId,
        now: Time,
    ) -> Result<(), FrontierError> {
        let heard = !self.pages.index.kinds_of(row.id).is_empty();
        let (page, past) = recalled(self.frontier.model_mut().inner_mut(), row, host, (now, heard))?;
        let page = self.frontier.model().page(page, host);
        let id = if let Some(fetched) = row.fetched {
            self.frontier.insert_with_past(now, page, past, host, fetched)?
        } else {
            // There is no copy; but somebody else may have watched the page.
            let (born, interest) = (row.born().min(now), self.first_worth(row.importance, &row.origin));
            self.frontier.discover_with_past(now, Found { page, host, born, interest }, past)?
        };
        self.limit_age(id, row.max_age, now)?;
        self.pages.add(row.id, id);
        self.count_page(host);
        self.fade(row.id, row.importance, &row.origin, row.born(), now);
        if row.fetched.is_some() {
            self.make_hub(row.id, id, row.origin.role != Role::Page, now)?;
        }
        for _ in 0..self.listening.heard_of(row.id, host) {
            self.frontier.signal(now, id)?;
        }
        Ok(())
    }

    /// A page that was never fetched.
    pub(crate) fn add(
        &mut self,
        stored: refrain_store::PageId,
        new: &NewPage,
        host: HostId,
        now: Time,
    ) -> Result<(), FrontierError> {
        let learner = self.frontier.model_mut().inner_mut();
        let mut page = learner.page(host, shape(new.url.as_str(), new.origin.hint), new.importance as f32)?;
        page.set_heard(false);
        let born = new.origin.born.unwrap_or(new.added).min(now);
        let interest = self.first_worth(new.importance, &new.origin);
        let found = Found { page: HourlyPage::new(page), host, born, interest };
        let id = self.frontier.discover(now, found)?;
        self.limit_age(id, new.max_age, now)?;
        self.pages.add(stored, id);
        self.count_page(host);
        self.pages.index.number(new.url.as_str(), stored);
        self.fade(stored, new.importance, &new.origin, born, now);
        Ok(())
    }

    /// What the first fetch of a page is worth.
    ///
    /// What is new may be worth less with every hour. A page that stays will be fetched sooner or later: what its turn now is worth is what is
    /// lost if all others that wait for theirs come first. It is always worth more than what fetches are worth at the time.
    fn first_worth(&self, importance: f64, origin: &Origin) -> Interest {
        let importance = match (origin.role, origin.decay) {
            (Role::Page, Some(decay)) if decay > 0.0 && decay.is_finite() => {
                return Interest { profit: importance / decay, decay };
            }
            (Role::Page, _) => importance,
            // A sitemap matters as much as any page until it was read.
            _ => 1.0,
        };
        let waiting = self.frontier.new_pages().max(self.unfetched) + 1;
        let wait = (waiting as f64 / self.rate).clamp(SHORTEST_WAIT, NEVER_FETCHED);
        let price = if importance > 0.0 { 2.0 * self.frontier.mean_price() } else { 0.0 };
        Interest { profit: importance * wait + price, decay: HARDLY }
    }

    /// A page is a hub from now on, as it was found to be one.
    pub(crate) fn make_hub(
        &mut self,
        stored: refrain_store::PageId,
        page: refrain_core::frontier::PageId,
        is_source: bool,
        now: Time,
    ) -> Result<(), FrontierError> {
        let changes = self.frontier.page(page)?.0.inner().change_rate().map(|rate| rate.mean());
        match self.hubs.state(stored, changes.filter(|_| !is_source)) {
            Some(hub) => self.frontier.make_hub(now, page, hub),
            None => Ok(()),
        }
    }

    /// A page that matters less with every hour is looked after.
    fn fade(&mut self, page: refrain_store::PageId, importance: f64, origin: &Origin, born: Time, now: Time) {
        if let Some(decay) = origin.decay.filter(|decay| *decay > 0.0 && decay.is_finite()) {
            self.fadings.add(page, Fading { importance, decay, born }, now);
        }
    }

    /// Pages whose importance has fallen are worth less from now on.
    pub(crate) fn let_fade(&mut self, now: Time) -> Result<(), FrontierError> {
        while let Some((stored, importance)) = self.fadings.pop(now) {
            let Some(page) = self.pages.scheduled(stored) else { continue };
            self.frontier.update(now, page, |page| {
                // It is finite and not negative.
                let _ = page.inner_mut().set_importance(importance as f32);
            })?;
        }
        Ok(())
    }

    fn limit_age(
        &mut self,
        page: refrain_core::frontier::PageId,
        max_age: Option<Span>,
        now: Time,
    ) -> Result<(), FrontierError> {
        match max_age {
            Some(most) => self.frontier.limit_age(now, page, AgeLimits { most, ..AgeLimits::default() }),
            None => Ok(()),
        }
    }

    /// How many pages a host has, sitemaps and feeds included.
    pub(crate) fn pages_of(&self, host: &str) -> u32 {
        let index = self.hosts.get(host).map(|entry| entry.id.index() as usize);
        index.and_then(|index| self.per_host.get(index)).copied().unwrap_or(0)
    }

    fn count_page(&mut self, host: HostId) {
        let index = host.index() as usize;
        if index >= self.per_host.len() {
            self.per_host.resize(index + 1, 0);
        }
        self.per_host[index] += 1;
    }

    /// The host of this name. If it is new it may have been visited a moment before the start all the same, by a process that was
    /// killed before it could write that down.
    pub(crate) fn host(&mut self, name: &str) -> HostId {
        let (frontier, manners, start) = (&mut self.frontier, self.manners, self.start);
        self.hosts.id(name, || frontier.add_host_visited(manners, start))
    }
}

/// From when on a page is crawled, if it ever is.
fn again_from(row: &PageRow<'_>) -> Option<Time> {
    let failed = row.looked.filter(|_| row.failures > 0);
    match row.state {
        PageState::Gone => Some(row.looked.map_or(Time::MIN, |looked| looked + retry_missing(row, looked))),
        state if !is_crawled(state) => None,
        _ => Some(failed.map_or(Time::MIN, |looked| looked + retry_after(row.failures - 1))),
    }
}

/// A page that has been gone for a while is left alone for as long again: that doubles, as it does while a crawl runs.
fn retry_missing(row: &PageRow<'_>, looked: Time) -> Span {
    let gone_for = row.changed.map_or(Span::ZERO, |since| looked.since(since));
    gone_for.max(retry_gone(0)).min(LONGEST_GONE)
}

/// Whether pages in this state are crawled. What robots.txt forbids may be allowed today.
pub(crate) fn is_crawled(state: PageState) -> bool {
    matches!(state, PageState::Active | PageState::Disallowed)
}

/// A page as it is believed to be by what was seen of it; others learn from it.
pub(crate) fn recalled(
    learner: &mut Attentive,
    row: &PageRow<'_>,
    host: HostId,
    (now, heard): (Time, bool),
) -> Result<(AttentivePage, AttentivePast), FrontierError> {
    let (mut page, mut past) = remembered(learner, row, host, (now, heard))?;
    learner.recall(&mut page, &mut past, host);
    Ok((page, past))
}

/// A page like others of its kind, and what is remembered of it. `heard`: something announces its changes.
pub(crate) fn remembered(
    learner: &mut Attentive,
    row: &PageRow<'_>,
    host: HostId,
    (now, heard): (Time, bool),
) -> Result<(AttentivePage, AttentivePast), FrontierError> {
    let past = row.history.and_then(AttentivePast::from_bytes).unwrap_or_default();
    let shape = shape(row.url, row.origin.hint);
    let mut page = learner.page(host, shape, row.importance_at(now) as f32)?;
    page.set_heard(heard);
    Ok((page, past))
}

/// What the first fetch of a page is worth at most.
pub(crate) fn first_worth_at_most(importance: f64, origin: &Origin) -> Interest {
    let decay = origin.decay.filter(|decay| *decay > 0.0 && decay.is_finite()).unwrap_or(HARDLY);
    Interest { profit: importance * NEVER_FETCHED.min(1.0 / decay), decay }
}

/// What pages made by the same template share, and of which the same is promised, as a number.
pub(crate) fn shape(url: &str, hint: Option<u8>) -> u32 {
    let template = xxh3_64(url_shape(url).as_bytes()) as u32;
    // 0 means any shape.
    hint.map_or(template, |hint| template ^ u32::from(hint).wrapping_mul(0x9e37_79b9)).max(1)
}
