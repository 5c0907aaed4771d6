//! Beliefs that are learned as the crawl goes.

use super::model::{AHEAD, Model, ahead, not_after, steepest};
use super::race::Look;
use crate::estimate::{Group, History, Learner, Observation, Posterior};
use crate::page::{BeliefError, SinceFetch};
use crate::time::{Span, Time};
use crate::value::GammaPosterior;

/// A page about which a belief is learned: 84 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningPage {
    /// The belief, as the value needs it and as the groups were told it.
    shape: f32,
    rate: f32,
    importance: f32,
    group: Group,
    history: History,
}

impl LearningPage {
    /// What is believed.
    pub fn belief(&self) -> Option<Posterior> {
        Posterior::new(f64::from(self.shape), f64::from(self.rate)).ok()
    }

    /// What fetches saw.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Requests per second, or any weight.
    pub fn importance(&self) -> f32 {
        self.importance
    }

    /// What the groups were told last; nothing before the first observation.
    fn told(&self) -> Option<Posterior> {
        self.belief().filter(|_| self.history.seen() > 0)
    }

    fn value(&self) -> Option<GammaPosterior> {
        GammaPosterior::new(f64::from(self.shape), f64::from(self.rate), f64::from(self.importance)).ok()
    }
}

/// Learns from every fetch; values are averaged over the belief. Signals do not change them: this model learns change rates
/// alone.
#[derive(Clone, Debug, Default)]
pub struct Learning {
    learner: Learner,
}

impl Learning {
    /// With what was learned before, or a prior.
    pub fn new(learner: Learner) -> Self {
        Self { learner }
    }

    /// A new page.
    ///
    /// # Errors
    /// Unless the importance is finite and not negative.
    pub fn page(&mut self, group: Group, importance: f32) -> Result<LearningPage, BeliefError> {
        if !(importance.is_finite() && importance >= 0.0) {
            return Err(BeliefError::NotARate { name: "importance", value: f64::from(importance) });
        }
        let history = History::default();
        let prior = self.learner.prior(group);
        let belief = Posterior::of(&history, &prior);
        let (shape, rate) = (belief.shape() as f32, belief.rate() as f32);
        Ok(LearningPage { shape, rate, importance, group, history })
    }
}

impl Model for Learning {
    type Page = LearningPage;

    fn value(&self, page: &LearningPage, since: &SinceFetch, now: Time) -> f64 {
        page.value().map_or(0.0, |value| value.value_and_slope(since.elapsed(now).as_secs()).0)
    }

    fn reaches(&self, page: &LearningPage, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        let last_step = if near { 1e-5 } else { 0.15 };
        let lower = since.elapsed(now).as_secs();
        let moment = page.value().and_then(|value| value.moment_early(level, lower, last_step));
        not_after(since.fetched(), moment)
    }

    /// V' = -μτS'(τ) = μ a u (1-u)^a with u = τ/(B+τ): grows by no more than τ does.
    fn look(&self, page: &LearningPage, since: &SinceFetch, now: Time) -> Look {
        let Some(of) = page.value() else {
            return Look { value: 0.0, growth: 0.0, until: Time::MAX, tight: false };
        };
        let (value, slope) = of.value_and_slope(since.elapsed(now).as_secs());
        let steepest = steepest(f64::from(page.importance));
        Look { value, growth: (slope * (1.0 + AHEAD)).min(steepest), until: ahead(since, now), tight: true }
    }

    fn sooner(&self, _page: &LearningPage) -> Option<Span> {
        Some(Span::ZERO)
    }

    fn observe(&mut self, page: &mut LearningPage, seen: &Observation) {
        let told = page.told();
        page.history.observe(seen);
        let prior = self.learner.prior(page.group);
        let belief = Posterior::of(&page.history, &prior);
        (page.shape, page.rate) = (belief.shape() as f32, belief.rate() as f32);
        // What the groups are told is what is kept, so that it can be taken back exactly.
        if let Some(told_now) = page.belief() {
            self.learner.tell(page.group, told.as_ref(), &told_now);
        }
    }

    fn fail(&mut self, page: &mut LearningPage) {
        page.history.fail();
    }

    fn forget(&mut self, page: &LearningPage) {
        if let Some(told) = page.told() {
            self.learner.untell(page.group, &told);
        }
    }
}
