//! The pages as the race sees them.

use std::collections::BTreeMap;

use super::hubs::{Discovery, HubState};
use super::model::{Model, not_after};
use super::race::{Field, Look, Place};
use super::record::{Name, Record};
use crate::ids::IdMap;
use crate::time::{Span, Time};

/// The least and the greatest age of a page at its fetch: a user's right, whatever it is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgeLimits {
    /// It is not fetched younger.
    pub least: Span,
    /// Once it is older it goes before all that are worth more, the most overdue first.
    pub most: Span,
}

impl Default for AgeLimits {
    fn default() -> Self {
        Self { least: Span::ZERO, most: Span::MAX }
    }
}

/// Limits of a page, and when it may be tried again after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) limits: AgeLimits,
    pub(super) not_before: Time,
    /// The greatest age that is safe while little is known of the page.
    pub(super) careful: Span,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { limits: AgeLimits::default(), not_before: Time::MIN, careful: Span::MAX }
    }
}

/// More than any value: what a page that is as old as it may be is worth. It grows with how overdue it is.
const OVERDUE: f64 = 1e200;

impl Bounds {
    /// When the page may be fetched at all.
    pub(super) fn opens(&self, fetched: Time) -> Time {
        (fetched + self.limits.least).max(self.not_before)
    }

    /// The greatest age it may have.
    fn most(&self) -> Span {
        self.limits.most.min(self.careful)
    }

    /// When it must be.
    pub(super) fn overdue(&self, fetched: Time) -> Time {
        if self.most() == Span::MAX { Time::MAX } else { (fetched + self.most()).max(self.opens(fetched)) }
    }

    fn overdue_value(&self, age: f64) -> f64 {
        OVERDUE * (age / self.most().as_secs().max(1e-9)).max(1.0)
    }

    /// The most that this grows per second.
    fn overdue_growth(&self) -> f64 {
        OVERDUE / self.most().as_secs().max(1e-9)
    }

    /// When it may be fetched, or must be, whichever is next: its value jumps then. `None` once it must be.
    fn next_jump(&self, fetched: Time, now: Time) -> Option<Time> {
        [self.opens(fetched), self.overdue(fetched)].into_iter().find(|jump| *jump > now)
    }
}

/// Everything that a race needs.
pub(super) struct View<'a, M: Model> {
    /// The host whose room it is, if it is one.
    pub(super) room: Option<u32>,
    pub(super) names: &'a [Name],
    pub(super) pages: &'a mut Vec<Record<M::Page>>,
    pub(super) bounds: &'a IdMap<u32, Bounds>,
    pub(super) hubs: &'a BTreeMap<u32, HubState>,
    pub(super) discovery: Discovery,
    /// What a fetch costs, as hubs see it.
    pub(super) hub_price: f64,
    pub(super) model: &'a M,
    pub(super) now: Time,
    pub(super) evaluations: &'a mut u64,
}

impl<M: Model> View<'_, M> {
    /// What a page is worth at some moment from now on, without limits.
    fn worth(&self, id: u32, now: Time) -> f64 {
        let record = &self.pages[id as usize];
        let since = record.since();
        let value = self.model.value(&record.page, &since, now);
        match self.hubs.get(&id) {
            Some(hub) => value + hub.value(since.elapsed(now).as_secs(), self.discovery, self.hub_price),
            None => value,
        }
    }

    /// What it is worth with its limits.
    pub(super) fn special_worth(&self, id: u32, now: Time) -> f64 {
        let fetched = self.pages[id as usize].fetched();
        let Some(bounds) = self.bounds.get(&id) else { return self.worth(id, now) };
        if now < bounds.opens(fetched) {
            0.0
        } else if now >= bounds.overdue(fetched) {
            bounds.overdue_value(now.since(fetched).as_secs())
        } else {
            self.worth(id, now)
        }
    }

    /// A look that holds until the next limit of the page, where its value jumps.
    fn special_look(&self, id: u32) -> Look {
        let record = &self.pages[id as usize];
        let now = self.now;
        let jump = self.bounds.get(&id).map(|bounds| (*bounds, bounds.next_jump(record.fetched(), now)));
        match jump {
            Some((bounds, None)) => {
                let value = self.special_worth(id, now);
                Look { value, growth: bounds.overdue_growth(), until: Time::MAX, ..Look::NOTHING }
            }
            Some((bounds, Some(opens))) if now < bounds.opens(record.fetched()) => {
                Look { until: just_before(opens), ..Look::NOTHING }
            }
            Some((_, Some(overdue))) => {
                let look = self.unlimited_look(id);
                Look {
                    until: look.until.min(just_before(overdue)),
                    bend: f64::INFINITY,
                    concave_from: 0.0,
                    ..look
                }
            }
            None => self.unlimited_look(id),
        }
    }

    /// A look at a page without limits, and at what it is worth as a hub.
    fn unlimited_look(&self, id: u32) -> Look {
        let record = &self.pages[id as usize];
        let since = record.since();
        let page = self.model.look(&record.page, &since, self.now);
        let Some(hub) = self.hubs.get(&id) else { return page };
        let hub = hub.look(since.elapsed(self.now).as_secs(), self.discovery, self.hub_price);
        let due = hub.due.map(|due| just_before(not_after(since.fetched(), Some(due))));
        Look {
            value: page.value + hub.value,
            growth: page.growth + hub.growth,
            until: if page.growth + page.bend == 0.0 { Time::MAX } else { page.until }
                .min(due.unwrap_or(Time::MAX)),
            // A jump is not on any parabola.
            bend: if due.is_some() { f64::INFINITY } else { page.bend + hub.bend },
            tight: hub.evenly && page.growth == 0.0,
            concave_from: 0.0,
        }
    }

    /// A moment not after the one at which a hub reaches a level: as it follows where the page itself is never worth anything;
    /// otherwise twice as far, until it is too far, then halved.
    fn hub_reaches(&self, id: u32, level: f64) -> Time {
        let record = &self.pages[id as usize];
        let is_only_hub = || self.model.value(&record.page, &record.since(), self.now + FAR) == 0.0;
        if let Some(hub) = self.hubs.get(&id)
            && is_only_hub()
        {
            let reaches = hub.reaches(level, self.discovery, self.hub_price);
            return not_after(record.fetched(), reaches).max(self.now);
        }
        let (mut low, mut step) = (self.now, Span::from_millis(1));
        while self.worth(id, low + step) < level {
            if step > FAR {
                return Time::MAX;
            }
            low = low + step;
            step = Span::from_nanos(2 * step.as_nanos());
        }
        for _ in 0..HALVINGS {
            step = Span::from_nanos(step.as_nanos() / 2);
            if self.worth(id, low + step) < level {
                low = low + step;
            }
        }
        low
    }
}

/// The last moment at which what is said until then holds.
fn just_before(moment: Time) -> Time {
    if moment == Time::MAX { moment } else { moment - Span::from_nanos(1) }
}

/// No hub waits for longer than a few decades, and none needs its moment more exactly than to a part in a million.
const FAR: Span = Span::from_whole_secs(1_000_000_000);
const HALVINGS: u32 = 20;

impl<M: Model> Field for View<'_, M> {
    fn now(&self) -> Time {
        self.now
    }

    fn look(&mut self, id: u32) -> Look {
        *self.evaluations += 1;
        let record = &self.pages[id as usize];
        if record.is_special() {
            self.special_look(id)
        } else {
            self.model.look(&record.page, &record.since(), self.now)
        }
    }

    fn reaches(&mut self, id: u32, level: f64, near: bool) -> Time {
        *self.evaluations += 1;
        let record = &self.pages[id as usize];
        let special = record.is_special();
        let reaches = if special && self.hubs.contains_key(&id) {
            self.hub_reaches(id, level)
        } else {
            self.model.reaches(&record.page, &record.since(), self.now, level, near)
        };
        let Some(bounds) = self.bounds.get(&id).filter(|_| special) else { return reaches };
        let overdue = bounds.overdue(record.fetched());
        if level > OVERDUE {
            let age = level / OVERDUE * bounds.most().as_secs();
            return not_after(record.fetched(), Some(age)).max(overdue);
        }
        reaches.max(bounds.opens(record.fetched())).min(overdue)
    }

    fn are_twins(&self, one: u32, other: u32) -> bool {
        let (one, other) = (&self.pages[one as usize], &self.pages[other as usize]);
        !one.is_special()
            && !other.is_special()
            && one.since() == other.since()
            && self.model.are_alike(&one.page, &other.page)
    }

    fn everyone(&self) -> std::ops::Range<u32> {
        0..self.pages.len() as u32
    }

    fn place(&self, id: u32) -> (Place, Time) {
        let record = &self.pages[id as usize];
        // Who has left for another race is out of this one; so is a page that has the number of one that is gone.
        let here = match self.room {
            None => !record.is_in_room(),
            Some(host) => record.is_in_room() && self.names[id as usize].host == host,
        };
        if here { record.place() } else { (Place::Out, Time::MAX) }
    }

    #[inline]
    fn sleeps_in(&self, id: u32, tier: usize) -> bool {
        self.pages[id as usize].sleeps_in(tier)
    }

    fn set_place(&mut self, id: u32, place: Place, wake: Time) {
        self.pages[id as usize].set_place(place, wake);
    }
}
