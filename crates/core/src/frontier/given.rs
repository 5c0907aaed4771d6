//! Pages whose value is any function that is given: survival curves, mixtures, whatever has a value and its inverse.

use super::HostId;
use super::model::{Model, not_after};
use super::race::Look;
use crate::estimate::Observation;
use crate::page::SinceFetch;
use crate::time::{Span, Time};
use crate::value::CrawlValue;

/// Each page brings its own value function, in seconds. Nothing is learned.
#[derive(Clone, Copy, Debug)]
pub struct Given<V> {
    of: std::marker::PhantomData<V>,
}

impl<V> Default for Given<V> {
    fn default() -> Self {
        Self { of: std::marker::PhantomData }
    }
}

impl<V: CrawlValue + Clone> Model for Given<V> {
    type Page = V;
    type Past = ();

    fn value(&self, page: &V, since: &SinceFetch, now: Time) -> f64 {
        page.value(since.elapsed(now).as_secs(), since.signals())
    }

    fn reaches(&self, page: &V, since: &SinceFetch, now: Time, level: f64, _near: bool) -> Time {
        // How exact an inverse is, is not known: a part in a million early, and never before now.
        let moment = page.moment(level, since.signals()).map(|moment| moment * (1.0 - 1e-6));
        not_after(since.fetched(), moment).max(now)
    }

    fn look(&self, page: &V, since: &SinceFetch, now: Time) -> Look {
        // How fast it grows is not known: look again, always.
        let value = self.value(page, since, now);
        Look { value, growth: f64::INFINITY, until: now, ..Look::NOTHING }
    }

    fn sooner(&self, _page: &V) -> Option<Span> {
        None
    }

    fn observe(&mut self, _page: &mut V, _past: &mut (), _host: HostId, _now: Time, _seen: &Observation) {}
}
