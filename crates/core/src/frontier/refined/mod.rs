//! Beyond pages that change by chance at one rate: what a page has shown beside that, each as an option of [`Attentive`].
//!
//! - [`Refinement::Gaps`]: periodic pages, by the time since their last change (`gaps`)
//! - [`Refinement::Points`]: change rates of any distribution instead of a Gamma distribution (`points`)
//!
//! Both are off unless asked for: docs/lab.md says what they are worth on recorded histories.

mod gaps;
mod points;

use std::sync::Arc;

pub use gaps::GapHistory;

use super::HostId;
use super::attentive::{Attentive, AttentivePage, AttentivePast};
use super::model::{Model, not_after};
use super::race::Look;
use crate::estimate::Observation;
use crate::page::{BeliefError, SinceFetch};
use crate::time::{Span, Time};
use crate::value::{CrawlValue, PiecewiseHazard, SurvivalValue};
use points::{Points, PointsValue, Weights};

/// What is learned beside rates of change and signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refinement {
    /// How long after its last change a page changes again, where that is no matter of chance.
    Gaps,
    /// Which rates of change there are, instead of how they are spread.
    Points,
}

/// A page as [`Attentive`] has it, and what refines its value.
#[derive(Clone, Debug)]
pub struct RefinedPage {
    inner: AttentivePage,
    curve: Curve,
}

/// The value from the last fetch on.
#[derive(Clone, Debug)]
enum Curve {
    /// As [`Attentive`] has it.
    Plain,
    Gaps(Arc<SurvivalValue<PiecewiseHazard>>),
    Points(Arc<PointsValue>),
}

/// What is remembered of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RefinedPast {
    inner: AttentivePast,
    gaps: GapHistory,
    weights: Option<Weights>,
}

impl RefinedPage {
    /// From now on signals may come, or will not any more.
    pub fn set_heard(&mut self, heard: bool) {
        self.inner.set_heard(heard);
    }

    /// Signals have their own way with values: curves are for pages without.
    fn curve(&self) -> Option<&dyn CrawlValue> {
        match &self.curve {
            _ if self.inner.has_signals() => None,
            Curve::Gaps(value) => Some(&**value),
            Curve::Points(value) => Some(&**value),
            Curve::Plain => None,
        }
    }
}

/// [`Attentive`] with a refinement.
#[derive(Clone, Debug)]
pub struct Refined {
    inner: Attentive,
    refinement: Refinement,
    points: Points,
}

impl Refined {
    /// With this refinement.
    pub fn new(refinement: Refinement) -> Self {
        Self { inner: Attentive::default(), refinement, points: Points::default() }
    }

    /// A new page of a host, with a number for the shape of its URL
    /// ([`Group::ANY_SHAPE`](crate::estimate::Group::ANY_SHAPE): none).
    ///
    /// # Errors
    /// Unless the importance is finite and not negative.
    pub fn page(
        &mut self,
        host: HostId,
        url_shape: u32,
        importance: f32,
    ) -> Result<RefinedPage, BeliefError> {
        let inner = self.inner.page(host, url_shape, importance)?;
        let mut page = RefinedPage { inner, curve: Curve::Plain };
        page.curve = self.refine(&page, &mut RefinedPast::default(), host);
        Ok(page)
    }

    /// From now on other signals of this host count than until now.
    pub fn listen_anew(&mut self, host: HostId) {
        self.inner.listen_anew(host);
    }

    fn refine(&mut self, page: &RefinedPage, past: &mut RefinedPast, host: HostId) -> Curve {
        let importance = f64::from(page.inner.importance());
        match self.refinement {
            Refinement::Gaps => {
                past.gaps.value(importance).map_or(Curve::Plain, |value| Curve::Gaps(Arc::new(value)))
            }
            Refinement::Points => {
                let after = self.points.believe(host.index(), past.inner.history());
                // What was never looked at says nothing about others.
                if past.inner.history().seen() > 0 {
                    self.points.replace(host.index(), past.weights.as_ref(), Some(&after));
                    past.weights = Some(after);
                }
                points::value(&after, importance).map_or(Curve::Plain, Curve::Points)
            }
        }
    }
}

impl Model for Refined {
    type Page = RefinedPage;
    type Past = RefinedPast;

    fn value(&self, page: &RefinedPage, since: &SinceFetch, now: Time) -> f64 {
        match page.curve() {
            Some(curve) => curve.value(since.elapsed(now).as_secs(), since.signals()),
            None => self.inner.value(&page.inner, since, now),
        }
    }

    fn reaches(&self, page: &RefinedPage, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        let Some(curve) = page.curve() else {
            return self.inner.reaches(&page.inner, since, now, level, near);
        };
        // Inverses are good to a part in a billion, and a part in a million is early enough.
        let moment = curve.moment(level, since.signals()).map(|moment| moment * (1.0 - 1e-6));
        not_after(since.fetched(), moment).max(now)
    }

    fn look(&self, page: &RefinedPage, since: &SinceFetch, now: Time) -> Look {
        let Some(curve) = page.curve() else { return self.inner.look(&page.inner, since, now) };
        // How fast it grows is not known: look again, always.
        let value = curve.value(since.elapsed(now).as_secs(), since.signals());
        Look { value, growth: f64::INFINITY, until: now, ..Look::NOTHING }
    }

    fn sooner(&self, page: &RefinedPage) -> Option<Span> {
        match page.curve() {
            Some(_) => Some(Span::ZERO),
            None => self.inner.sooner(&page.inner),
        }
    }

    fn change_rate(&self, page: &RefinedPage, past: &RefinedPast) -> Option<f64> {
        self.inner.change_rate(&page.inner, &past.inner)
    }

    fn observe(
        &mut self,
        page: &mut RefinedPage,
        past: &mut RefinedPast,
        host: HostId,
        now: Time,
        seen: &Observation,
    ) {
        self.inner.observe(&mut page.inner, &mut past.inner, host, now, seen);
        if self.refinement == Refinement::Gaps {
            past.gaps.observe(seen);
        }
        page.curve = self.refine(page, past, host);
    }

    fn refresh(
        &mut self,
        page: &mut RefinedPage,
        past: &mut RefinedPast,
        host: HostId,
        since: &SinceFetch,
        now: Time,
    ) -> bool {
        let news = self.inner.refresh(&mut page.inner, &mut past.inner, host, since, now);
        // A curve of gaps begins at the last fetch, and knows nothing of others.
        if news && self.refinement == Refinement::Points {
            page.curve = self.refine(page, past, host);
        }
        news
    }

    fn fail(&mut self, past: &mut RefinedPast) {
        self.inner.fail(&mut past.inner);
    }

    fn forget(&mut self, page: &RefinedPage, past: &RefinedPast, host: HostId) {
        self.inner.forget(&page.inner, &past.inner, host);
        self.points.replace(host.index(), past.weights.as_ref(), None);
    }
}
