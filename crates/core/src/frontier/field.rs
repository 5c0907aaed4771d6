//! The pages as the race sees them.

use std::collections::HashMap;

use super::model::{Model, not_after};
use super::race::{Field, Look, Place};
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// What a page is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It takes part in a race.
    Waiting,
    /// It is being fetched.
    Ordered,
    /// There is no page here.
    Vacant,
}

/// A page. Small: there may be tens of millions.
#[derive(Clone, Debug)]
pub(super) struct Record<P> {
    pub(super) page: P,
    pub(super) fetched: Time,
    pub(super) wake: Time,
    pub(super) signals: u32,
    pub(super) host: u32,
    pub(super) generation: u32,
    pub(super) place: Place,
    pub(super) status: Status,
    pub(super) in_room: bool,
    pub(super) bounded: bool,
}

impl<P> Record<P> {
    pub(super) fn new(page: P, host: u32, since: SinceFetch) -> Self {
        Self {
            page,
            fetched: since.fetched(),
            wake: Time::MAX,
            signals: since.signals(),
            host,
            generation: 0,
            place: Place::Out,
            status: Status::Waiting,
            in_room: false,
            bounded: false,
        }
    }

    pub(super) fn since(&self) -> SinceFetch {
        SinceFetch::with_signals(self.fetched, self.signals)
    }

    pub(super) fn set_since(&mut self, since: SinceFetch) {
        (self.fetched, self.signals) = (since.fetched(), since.signals());
    }
}

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
}

impl Default for Bounds {
    fn default() -> Self {
        Self { limits: AgeLimits::default(), not_before: Time::MIN }
    }
}

/// More than any value: what a page that is as old as it may be is worth. It grows with how overdue it is.
const OVERDUE: f64 = 1e200;

impl Bounds {
    /// When the page may be fetched at all.
    fn opens(&self, fetched: Time) -> Time {
        (fetched + self.limits.least).max(self.not_before)
    }

    /// When it must be.
    fn overdue(&self, fetched: Time) -> Time {
        if self.limits.most == Span::MAX {
            Time::MAX
        } else {
            (fetched + self.limits.most).max(self.opens(fetched))
        }
    }

    fn overdue_value(&self, age: f64) -> f64 {
        OVERDUE * (age / self.limits.most.as_secs().max(1e-9)).max(1.0)
    }
}

/// Everything that a race needs.
pub(super) struct View<'a, M: Model> {
    /// Whether it is the race in a room.
    pub(super) room: bool,
    pub(super) pages: &'a mut Vec<Record<M::Page>>,
    pub(super) bounds: &'a HashMap<u32, Bounds>,
    pub(super) model: &'a M,
    pub(super) now: Time,
    pub(super) evaluations: &'a mut u64,
}

impl<M: Model> Field for View<'_, M> {
    fn now(&self) -> Time {
        self.now
    }

    fn look(&mut self, id: u32) -> Look {
        *self.evaluations += 1;
        let record = &self.pages[id as usize];
        let since = record.since();
        if record.bounded
            && let Some(bounds) = self.bounds.get(&id)
        {
            let value = if self.now < bounds.opens(record.fetched) {
                0.0
            } else if self.now >= bounds.overdue(record.fetched) {
                bounds.overdue_value(since.elapsed(self.now).as_secs())
            } else {
                self.model.value(&record.page, &since, self.now)
            };
            // It may jump: look again, always.
            return Look { value, growth: f64::INFINITY, until: self.now, tight: false };
        }
        self.model.look(&record.page, &since, self.now)
    }

    fn reaches(&mut self, id: u32, level: f64, near: bool) -> Time {
        *self.evaluations += 1;
        let record = &self.pages[id as usize];
        let since = record.since();
        if record.bounded
            && let Some(bounds) = self.bounds.get(&id)
        {
            let overdue = bounds.overdue(record.fetched);
            if level > OVERDUE {
                let age = level / OVERDUE * bounds.limits.most.as_secs();
                return not_after(record.fetched, Some(age)).max(overdue);
            }
            let reaches = self.model.reaches(&record.page, &since, self.now, level, near);
            return reaches.max(bounds.opens(record.fetched)).min(overdue);
        }
        self.model.reaches(&record.page, &since, self.now, level, near)
    }

    fn everyone(&self) -> std::ops::Range<u32> {
        0..self.pages.len() as u32
    }

    fn place(&self, id: u32) -> (Place, Time) {
        let record = &self.pages[id as usize];
        // A page that has left for another race is out of this one.
        if record.in_room == self.room { (record.place, record.wake) } else { (Place::Out, Time::MAX) }
    }

    fn set_place(&mut self, id: u32, place: Place, wake: Time) {
        let record = &mut self.pages[id as usize];
        (record.place, record.wake) = (place, wake);
    }
}
