//! Policies that want known parameters, with what was learned in their place: the most likely number is taken for the truth.

use refrain_core::estimate::Observation;
use refrain_core::frontier::{Attentive, AttentivePage, AttentivePast, HostId, Look, Model};
use refrain_core::page::{Belief, BeliefError, SinceFetch};
use refrain_core::time::{Span, Time};

/// A model of known parameters that are learned instead.
#[derive(Clone, Debug)]
pub(super) struct Estimated<M> {
    inner: M,
    learner: Attentive,
}

/// What is remembered of a page; nothing before its first fetch.
#[derive(Clone, Debug, Default)]
pub(super) struct Remembered(Option<(AttentivePage, AttentivePast)>);

impl<M> Estimated<M> {
    pub(super) fn new(inner: M) -> Self {
        Self { inner, learner: Attentive::default() }
    }

    /// A page of which nothing is known but what it shares with others.
    pub(super) fn page(&mut self, host: HostId, importance: f64) -> Result<Belief, BeliefError> {
        let page = self.learner.page(host, 0, importance as f32)?;
        Ok(believed(&page, importance))
    }
}

/// A belief, taken for the truth.
fn believed(page: &AttentivePage, importance: f64) -> Belief {
    let nothing = || Belief::new(0.0, importance);
    let belief = page.quality().map_or_else(nothing, |quality| {
        Belief::new(quality.change_rate(), importance)?.with_signals(quality.recall(), quality.false_rate())
    });
    // All numbers are in their range.
    belief.unwrap_or_else(|_| Belief::default())
}

impl<M: Model<Page = Belief, Past = ()>> Model for Estimated<M> {
    type Page = Belief;
    type Past = Remembered;

    fn value(&self, page: &Belief, since: &SinceFetch, now: Time) -> f64 {
        self.inner.value(page, since, now)
    }

    fn reaches(&self, page: &Belief, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        self.inner.reaches(page, since, now, level, near)
    }

    fn look(&self, page: &Belief, since: &SinceFetch, now: Time) -> Look {
        self.inner.look(page, since, now)
    }

    fn sooner(&self, page: &Belief) -> Option<Span> {
        self.inner.sooner(page)
    }

    fn are_alike(&self, one: &Belief, other: &Belief) -> bool {
        self.inner.are_alike(one, other)
    }

    fn observe(
        &mut self,
        page: &mut Belief,
        past: &mut Remembered,
        host: HostId,
        now: Time,
        seen: &Observation,
    ) {
        let importance = page.importance();
        if past.0.is_none() {
            past.0 =
                self.learner.page(host, 0, importance as f32).ok().map(|new| (new, AttentivePast::default()));
        }
        if let Some((learned, remembered)) = &mut past.0 {
            self.learner.observe(learned, remembered, host, now, seen);
            *page = believed(learned, importance);
        }
    }

    fn refresh(
        &mut self,
        page: &mut Belief,
        past: &mut Remembered,
        host: HostId,
        since: &SinceFetch,
        now: Time,
    ) -> bool {
        if let Some((learned, remembered)) = &mut past.0 {
            let news = self.learner.refresh(learned, remembered, host, since, now);
            *page = believed(learned, page.importance());
            return news;
        }
        if let Ok(new) = self.page(host, page.importance()) {
            *page = new;
        }
        true
    }

    fn forget(&mut self, _page: &Belief, past: &Remembered, host: HostId) {
        if let Some((learned, remembered)) = &past.0 {
            self.learner.forget(learned, remembered, host);
        }
    }
}
