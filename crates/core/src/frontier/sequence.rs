//! A low-discrepancy schedule under the frontier: rates that were computed beforehand, turned into fetches one by one.
//!
//! At step k = (now - start)·rate a page of share x with N fetches so far may be fetched if k·x > N, and of those the one
//! whose next fetch is due first, (N+1)/x, is ([`crate::optimum::lds`]). As a value: above 1 for who may be fetched, the
//! more the sooner it is due; below 1 for the others.

use super::HostId;
use super::model::Model;
use super::race::Look;
use crate::estimate::Observation;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// A page with its share of all fetches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharePage {
    share: f64,
    taken: u32,
}

impl SharePage {
    /// A page that is never fetched.
    pub const NOTHING: Self = Self { share: 0.0, taken: 0 };

    /// A page that gets this share of all fetches; `None` unless it is from 0 to 1.
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self { share, taken: 0 })
    }

    /// The first step k with k·x > N, by the same arithmetic that tests it.
    fn first_step(&self) -> f64 {
        let taken = f64::from(self.taken);
        let mut step = (taken / self.share).floor();
        while step * self.share <= taken {
            step += 1.0;
        }
        step
    }

    fn worth(&self) -> f64 {
        1.0 + self.share / (f64::from(self.taken) + 1.0)
    }
}

/// A frontier that follows given rates.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    rate: f64,
    start: Time,
}

impl Sequence {
    /// Step k is at k/rate after the start.
    pub fn new(rate: f64, start: Time) -> Self {
        Self { rate, start }
    }

    /// Another share from now on. Who was behind, or ahead, stays so.
    pub fn set_share(&self, page: &mut SharePage, share: f64, now: Time) {
        let (step, share) = (self.step(now), share.clamp(0.0, 1.0));
        let behind = step * page.share - f64::from(page.taken);
        *page = SharePage { share, taken: (step * share - behind).round().clamp(0.0, 4e9) as u32 };
    }

    fn step(&self, now: Time) -> f64 {
        // A step that is a nanosecond early is that step.
        (now.since(self.start).as_secs() * self.rate + 1e-6).floor()
    }
}

impl Model for Sequence {
    type Page = SharePage;
    type Past = ();

    fn value(&self, page: &SharePage, _since: &SinceFetch, now: Time) -> f64 {
        if page.share == 0.0 {
            return 0.0;
        }
        let (step, from) = (self.step(now), page.first_step());
        if step >= from { page.worth() } else { 0.5 * (step + 1.0) / (from + 1.0) }
    }

    fn reaches(&self, page: &SharePage, _since: &SinceFetch, now: Time, level: f64, _near: bool) -> Time {
        if page.share == 0.0 || level > page.worth() {
            return Time::MAX;
        }
        let step =
            if level > 0.5 { page.first_step() } else { 2.0 * level * (page.first_step() + 1.0) - 1.0 };
        // Half a step early is in time.
        let moment = self.start + Span::from_secs(((step.ceil() - 0.5) / self.rate).max(0.0));
        moment.max(now)
    }

    fn look(&self, page: &SharePage, since: &SinceFetch, now: Time) -> Look {
        // It jumps from step to step.
        Look { value: self.value(page, since, now), growth: f64::INFINITY, until: now, ..Look::NOTHING }
    }

    fn sooner(&self, _page: &SharePage) -> Option<Span> {
        Some(Span::ZERO)
    }

    fn are_alike(&self, one: &SharePage, other: &SharePage) -> bool {
        one == other
    }

    fn observe(
        &mut self,
        page: &mut SharePage,
        _past: &mut (),
        _host: HostId,
        _now: Time,
        _seen: &Observation,
    ) {
        page.taken += 1;
    }
}
