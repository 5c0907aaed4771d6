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
use refrain_fetch::url::PageUrl;
use refrain_store::{NewPage, Origin, PageRow, PageState, Reader, Role};
use xxhash_rust::xxh3::xxh3_64;

use crate::CrawlError;
use crate::back_off::BackOff;
use crate::catalogue::{Hosts, Pages};
use crate::crawl::retry;
use crate::fading::{Fading, Fadings};
use crate::forbidden::Forbidden;
use crate::hubs::Hubs;
use crate::kinds::Kind;
use crate::listening::Listening;
use crate::neighbours::Neighbours;
use crate::rules::HostRules;
use crate::scope::is_chosen;
use crate::settings::Settings;
use crate::sites::Sites;

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
    pub(crate) forbidden: Forbidden,
    /// How long a robots.txt is believed.
    robots_for: Span,
    pub(crate) neighbours: Neighbours,
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
/// The age of a copy whose age is not known.
const UNKNOWN_AGE: Span = Span::from_whole_secs(86_400);
/// An order is given up after so long: more than any visit takes.
pub(crate) const LEASE: Span = Span::from_whole_secs(1800);

/// Returns the share of its worth that the first fetch of a page keeps when it fails for the `failures`-th time in a row.
///
/// By Laplace's rule of succession a fetch after k failures succeeds with a probability of 1/(k+2), so it is worth 2/(k+2) of the fetch of a page
/// that was never tried, which goes first. Below a half it does not fall: a page that failed often must not wait for ever.
pub(crate) fn share_after(failures: u32) -> f64 {
    match failures {
        1 => 2.0 / 3.0,
        2 => 3.0 / 4.0,
        _ => 1.0,
    }
}

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
            pages: Pages::with(Sites::new(settings.most_names)),
            hosts: Hosts::default(),
            manners,
            hubs: Hubs::recall(reader, settings.rate)?,
            listening: Listening::default(),
            fadings: Fadings::default(),
            forbidden: Forbidden::default(),
            robots_for: settings.robots_for,
            neighbours: Neighbours::recall(reader, settings.politeness, manners, now)?,
            start: now,
            rate: settings.rate,
            unfetched: reader.unfetched()? as usize,
            per_host: Vec::new(),
            later: BinaryHeap::new(),
        };
        scheduler.pages.sites.recall(reader)?;
        let names = scheduler.restore_hosts(reader, settings, now)?;
        scheduler.hosts.recall_guests(reader)?;
        crate::hours::recall(reader, scheduler.frontier.model_mut(), &scheduler.hosts)?;
        scheduler.restore_signals(reader, now)?;
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

    fn restore_signals(&mut self, reader: &Reader, now: Time) -> Result<(), CrawlError> {
        let (learner, hosts) = (self.frontier.model_mut().inner_mut(), &self.hosts);
        self.listening = Listening::recall(reader, learner, |name| hosts.get(name).map(|entry| entry.id))?;
        let index = &self.pages.index;
        reader.announced(|page, kind, said| {
            if let Some(kind) = Kind::from_name(kind) {
                // What was said of the future would make all that is said from now on old.
                index.say(page, kind, said.min(now));
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
            let rules = row.robots.take().map(|kept| {
                // Rules from the future were read by a clock that was ahead: how old they are is not known.
                let asked = if kept.fetched > now { Time::MIN } else { kept.fetched };
                HostRules::kept(asked, kept.status, &kept.text, &settings.agent)
            });
            rows.push((row, rules));
            ControlFlow::Continue(())
        })?;
        let mut names = HashMap::with_capacity(rows.len());
        for (row, rules) in rows {
            let id = self.frontier.add_host(self.manners);
            names.insert(row.id, id);
            let entry = self.hosts.add(&row.name, id);
            entry.back_off = BackOff::stored(row.back_off_until, row.failures, now);
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
            self.introduce(&row.name, id)?;
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
        let is_page = row.origin.role == Role::Page;
        self.pages.sites.add_page(host, is_page, is_chosen(row.found, row.origin.role));
        if !is_page && let Some(entry) = self.hosts.with_id_mut(host) {
            entry.outlets.known += 1;
        }
        match again_from(row, now) {
            None => Ok(()),
            Some(from) if from > now => {
                self.later.push(Reverse((from, row.id)));
                Ok(())
            }
            Some(_) => {
                let url =
                    (row.state == PageState::Disallowed).then(|| PageUrl::parse(row.url).ok()).flatten();
                match url.and_then(|url| self.forbidden_until(host, &url, now)) {
                    Some(until) => self.forbidden.add(host, row.id, until),
                    None => self.take_up(row, host, now)?,
                }
                Ok(())
            }
        }
    }

    /// Returns the time until which the rules of a host forbid an address, if they do, and are not too old.
    pub(crate) fn forbidden_until(&self, host: HostId, url: &PageUrl, now: Time) -> Option<Time> {
        let rules = self.hosts.with_id(host)?.1.rules.as_ref()?;
        let forbids = rules.hold(now, self.robots_for) && !rules.allow(url);
        forbids.then(|| rules.asked + self.robots_for)
    }

    /// A page turned out to be forbidden by the rules of a host: its robots.txt is read again when it is too old.
    pub(crate) fn forbid(&mut self, host: HostId, page: refrain_store::PageId, now: Time) {
        let asked =
            self.hosts.with_id(host).and_then(|(_, entry)| entry.rules.as_ref()).map(|rules| rules.asked);
        // A fetcher may know what we do not.
        let until = asked.map(|asked| asked + self.robots_for).filter(|until| *until > now);
        self.forbidden.add(host, page, until.unwrap_or(now + self.robots_for));
    }

    /// Sees to it that robots.txt is read again where it forbids pages and is too old; says when to look again. With `fetches`, one page is
    /// scheduled for that. Other fetchers may obey robots.txt by themselves, and tell only of the page: all are scheduled.
    pub(crate) fn reread_rules(&mut self, fetches: bool, now: Time) -> Time {
        while let Some(host) = self.forbidden.pop_due(now) {
            let rules = self.hosts.with_id(host).and_then(|(_, entry)| entry.rules.as_ref());
            if let Some(rules) = rules.filter(|rules| rules.hold(now, self.robots_for)) {
                self.forbidden.again(host, rules.asked + self.robots_for);
            } else if fetches {
                let page = self.forbidden.take_one(host);
                self.forbidden.again(host, now + self.robots_for);
                self.later.extend(page.map(|page| Reverse((now, page))));
            } else {
                self.release(host, now);
            }
        }
        self.forbidden.next()
    }

    /// The rules of a host are others: pages that were forbidden are looked at again.
    pub(crate) fn release(&mut self, host: HostId, now: Time) {
        let pages = self.forbidden.take(host);
        self.later.extend(pages.into_iter().map(|page| Reverse((now, page))));
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
        self.later.len() + self.forbidden.len()
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
            // Of a fetch by a clock that was ahead it is not known when it was.
            let fetched = if fetched > now { now - UNKNOWN_AGE } else { fetched };
            self.frontier.insert_with_past(now, page, past, host, fetched)?
        } else {
            // There is no copy; but somebody else may have watched the page.
            let chosen = is_chosen(row.found, row.origin.role);
            let rank = self.rank(host, chosen);
            let (born, interest) = (row.born().min(now), self.first_worth(row.importance, &row.origin, rank));
            let id = self.frontier.discover_with_past(now, Found { page, host, born, interest }, past)?;
            let share = (1..=row.failures.min(2)).map(share_after).product();
            self.frontier.discount_first(now, id, share)?;
            if !chosen {
                self.pages.sites.wait(host, id);
            }
            id
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
        let mut page =
            learner.page(host, shape(new.url.as_str(), new.origin.hint), bearable(new.importance))?;
        page.set_heard(false);
        let born = new.origin.born.unwrap_or(new.added).min(now);
        let chosen = is_chosen(new.found, new.origin.role);
        let interest = self.first_worth(new.importance, &new.origin, self.rank(host, chosen));
        let found = Found { page: HourlyPage::new(page), host, born, interest };
        let id = self.frontier.discover(now, found)?;
        if !chosen {
            self.pages.sites.wait(host, id);
        }
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
    ///
    /// Of pages that the crawl found, the k-th that waits at a site is worth a k-th of that: so sites take turns, and one that shows thousands of new
    /// pages holds up no other.
    fn first_worth(&self, importance: f64, origin: &Origin, rank: u64) -> Interest {
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
        let turn = (wait / rank as f64).max(SHORTEST_WAIT);
        Interest { profit: importance * turn + price, decay: HARDLY }
    }

    /// The how manieth of its site a page will be that waits for its first fetch; what was chosen goes first.
    fn rank(&self, host: HostId, chosen: bool) -> u64 {
        if chosen { 1 } else { self.pages.sites.waiting_of(host) + 1 }
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
        if let Some(known) = self.hosts.get(name) {
            return known.id;
        }
        let id = self.frontier.add_host_visited(self.manners, self.start);
        self.hosts.add(name, id);
        // The host is there, and so are its groups: nothing can be wrong.
        let _ = self.introduce(name, id);
        id
    }

    /// A new host takes its place in its site, and beside its neighbours as far as its name tells which those are.
    fn introduce(&mut self, name: &str, id: HostId) -> Result<(), FrontierError> {
        self.pages.sites.add_host(id, name);
        let (keys, now) = (self.neighbours.by_name(name), self.frontier.now());
        self.neighbours.settle(&mut self.frontier, now, id, &keys).map(drop)
    }

    /// How many pages of a host are crawled; sitemaps and feeds are none.
    pub(crate) fn crawled_of(&self, host: &str) -> u64 {
        self.hosts.get(host).map_or(0, |entry| self.pages.sites.crawled_of(entry.id))
    }

    /// There is no page at an address any more.
    pub(crate) fn forget(&mut self, url: &str, page: refrain_store::PageId, role: Role) {
        self.pages.index.forget(url, page);
        let host =
            PageUrl::parse(url).ok().and_then(|url| self.hosts.get(url.origin()).map(|entry| entry.id));
        if let Some(host) = host {
            self.pages.sites.remove_page(host, role == Role::Page);
        }
    }
}

/// From when on a page is crawled, if it ever is.
fn again_from(row: &PageRow<'_>, now: Time) -> Option<Time> {
    let is_crawled = is_crawled(row.state) || row.state == PageState::Gone;
    is_crawled.then(|| not_before(row, now).unwrap_or(Time::MIN))
}

/// Returns the time before which a page is not fetched because its last fetches failed, or found it missing. A fetch in the future was made by
/// a clock that was ahead.
pub fn not_before(row: &PageRow<'_>, now: Time) -> Option<Time> {
    let looked = row.looked?.min(now);
    let is_gone = row.state == PageState::Gone;
    (row.failures > 0 || is_gone).then(|| looked + retry(is_gone, row.failures.max(1)))
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
    let mut page = learner.page(host, shape, bearable(row.importance_at(now)))?;
    page.set_heard(heard);
    Ok((page, past))
}

/// An importance in single precision. An earlier version kept greater ones than are taken today.
fn bearable(importance: f64) -> f32 {
    importance.min(refrain_store::GREATEST_IMPORTANCE) as f32
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
