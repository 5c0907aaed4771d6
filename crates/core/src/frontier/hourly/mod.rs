//! Hours of the week: pages of a host change more at some hours than at others, all alike.
//!
//! By the clock of its host (`week`) a page changes by chance at a constant rate, as far as that goes; so any model serves, by that
//! clock. How fast it runs at which hour is learned from all pages of the host (`hours`). On recorded histories that is worth up to a
//! point of freshness and costs nothing (docs/lab.md).

mod hours;
mod week;

use super::HostId;
use super::model::Model;
use super::race::Look;
use crate::estimate::Observation;
use crate::ids::IdMap;
use crate::page::SinceFetch;
use crate::time::{Span, Time};
use hours::Hours;
use week::Week;

/// A page by the clock of its host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HourlyPage<P> {
    inner: P,
    /// Which clock: as it was believed to be when the page was last fetched.
    week: Option<WeekId>,
}

/// Number of a week, plus one.
type WeekId = std::num::NonZeroU32;

impl<P> HourlyPage<P> {
    /// A page that goes by the usual clock until it is fetched.
    pub fn new(inner: P) -> Self {
        Self { inner, week: None }
    }

    /// The page as the model has it.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// The same, to change it.
    pub fn inner_mut(&mut self) -> &mut P {
        &mut self.inner
    }
}

/// A model that goes by the clocks of hosts.
#[derive(Clone, Debug, Default)]
pub struct Hourly<M> {
    inner: M,
    hosts: IdMap<u32, Hours>,
    /// All weeks that were ever believed of a host, and the last one of each. A week is replaced only when it is clearly wrong,
    /// so there are few.
    weeks: Vec<Week>,
    latest: IdMap<u32, WeekId>,
}

impl<M> Hourly<M> {
    /// A model, by the clocks of hosts.
    pub fn new(inner: M) -> Self {
        Self { inner, hosts: IdMap::default(), weeks: Vec::new(), latest: IdMap::default() }
    }

    /// The model.
    pub fn inner_mut(&mut self) -> &mut M {
        &mut self.inner
    }

    /// A page of a host, by the clock that is believed of it, if the model hears no signals of the page.
    pub fn page(&self, inner: M::Page, host: HostId) -> HourlyPage<M::Page>
    where
        M: Model,
    {
        let week = self.latest_week(&inner, host);
        HourlyPage { inner, week }
    }

    /// Where signals tell when a page changes, hours add nothing but work.
    fn latest_week(&self, page: &M::Page, host: HostId) -> Option<WeekId>
    where
        M: Model,
    {
        let is_silent = self.inner.sooner(page) == Some(Span::ZERO);
        self.latest.get(&host.index()).copied().filter(|_| is_silent)
    }

    /// What was learned of hosts since this was asked last, to be kept.
    pub fn keep(&mut self) -> Vec<(HostId, Vec<u8>)> {
        let kept = |(host, hours): (&u32, &mut Hours)| Some((HostId(*host), hours.keep()?));
        self.hosts.iter_mut().filter_map(kept).collect()
    }

    /// A host is believed to be what was kept of it. Whether that can be.
    pub fn recall(&mut self, host: HostId, kept: &[u8]) -> bool {
        let Some((hours, week)) = Hours::kept(kept) else { return false };
        self.hosts.insert(host.index(), hours);
        self.believe(host, week);
        true
    }

    fn believe(&mut self, host: HostId, week: Week) {
        self.weeks.push(week);
        if let Some(number) = WeekId::new(self.weeks.len() as u32) {
            self.latest.insert(host.index(), number);
        }
    }

    fn week<P>(&self, page: &HourlyPage<P>) -> Option<&Week> {
        page.week.map(|week| &self.weeks[week.get() as usize - 1])
    }

    /// One more look at a page of which a rate is believed.
    fn learn(&mut self, rate: f64, host: HostId, now: Time, seen: &Observation) {
        let hours = self.hosts.entry(host.index()).or_default();
        if let Some(week) = hours.observe(now, rate, seen).cloned() {
            self.believe(host, week);
        }
    }
}

/// What happened since a fetch, by another clock.
fn by_clock(week: &Week, since: &SinceFetch) -> SinceFetch {
    SinceFetch::with_signals(week.by_own_clock(since.fetched()), since.signals())
}

/// A look at a page now, by another clock.
fn seen_by_clock(week: &Week, now: Time, seen: &Observation) -> Option<Observation> {
    let fetched = Time::from_nanos(now.as_nanos().saturating_sub((seen.elapsed() * 1e9) as i64));
    let (first, second) = (week.by_own_clock(fetched), week.by_own_clock(now));
    let own = Observation::between(first, second, seen.signals(), seen.answer()).ok()?;
    let changed = seen.content_age().map(|age| {
        let changed = Time::from_nanos(now.as_nanos().saturating_sub((age * 1e9) as i64));
        second.since(week.by_own_clock(changed)).as_secs()
    });
    Some(own.dated(changed))
}

impl<M: Model> Model for Hourly<M> {
    type Page = HourlyPage<M::Page>;
    type Past = M::Past;

    fn value(&self, page: &Self::Page, since: &SinceFetch, now: Time) -> f64 {
        match self.week(page) {
            Some(week) => self.inner.value(&page.inner, &by_clock(week, since), week.by_own_clock(now)),
            None => self.inner.value(&page.inner, since, now),
        }
    }

    fn reaches(&self, page: &Self::Page, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        let Some(week) = self.week(page) else {
            return self.inner.reaches(&page.inner, since, now, level, near);
        };
        let (own_since, own_now) = (by_clock(week, since), week.by_own_clock(now));
        let reached = self.inner.reaches(&page.inner, &own_since, own_now, level, near);
        if reached >= Time::LAST { reached } else { week.when(reached).max(now) }
    }

    fn look(&self, page: &Self::Page, since: &SinceFetch, now: Time) -> Look {
        let Some(week) = self.week(page) else { return self.inner.look(&page.inner, since, now) };
        let look = self.inner.look(&page.inner, &by_clock(week, since), week.by_own_clock(now));
        let (pace, until) = week.pace(now);
        Look {
            growth: look.growth * pace * (1.0 + 1e-9),
            until: week.when(look.until).min(until),
            bend: f64::INFINITY,
            concave_from: 0.0,
            ..look
        }
    }

    fn sooner(&self, page: &Self::Page) -> Option<Span> {
        let own = self.inner.sooner(&page.inner)?;
        Some(match self.week(page) {
            Some(week) => Span::from_secs_ceil(own.as_secs() / week.slowest() * (1.0 + 1e-9)),
            None => own,
        })
    }

    fn are_alike(&self, one: &Self::Page, other: &Self::Page) -> bool {
        // By a clock of their own, pages of the same age are not worth the same at all moments.
        one.week.is_none() && other.week.is_none() && self.inner.are_alike(&one.inner, &other.inner)
    }

    fn change_rate(&self, page: &Self::Page, past: &M::Past) -> Option<f64> {
        self.inner.change_rate(&page.inner, past)
    }

    fn observe(
        &mut self,
        page: &mut Self::Page,
        past: &mut M::Past,
        host: HostId,
        now: Time,
        seen: &Observation,
    ) {
        let own = self.week(page).and_then(|week| seen_by_clock(week, now, seen));
        self.inner.observe(&mut page.inner, past, host, now, own.as_ref().unwrap_or(seen));
        if let Some(rate) = self.inner.change_rate(&page.inner, past) {
            self.learn(rate, host, now, seen);
        }
        page.week = self.latest_week(&page.inner, host);
    }

    fn refresh(
        &mut self,
        page: &mut Self::Page,
        past: &mut M::Past,
        host: HostId,
        since: &SinceFetch,
        now: Time,
    ) -> bool {
        let own = self.week(page).map(|week| (by_clock(week, since), week.by_own_clock(now)));
        let (since, now) = own.unwrap_or((*since, now));
        self.inner.refresh(&mut page.inner, past, host, &since, now)
    }

    fn careful(&self, page: &Self::Page, past: &M::Past, price: f64) -> Option<Span> {
        self.inner.careful(&page.inner, past, price)
    }

    fn fail(&mut self, past: &mut M::Past) {
        self.inner.fail(past);
    }

    fn forget(&mut self, page: &Self::Page, past: &M::Past, host: HostId) {
        self.inner.forget(&page.inner, past, host);
    }
}
