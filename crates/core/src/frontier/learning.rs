//! Beliefs that are learned as the crawl goes.

use super::HostId;
use super::model::{AHEAD, Model, SEEN_ENOUGH, ahead, bend, check_importance, not_after, steepest};
use super::race::Look;
use crate::estimate::risk::VeryStale;
use crate::estimate::{Group, History, Learner, Observation, Posterior};
use crate::page::{BeliefError, SinceFetch};
use crate::time::{Span, Time};
use crate::value::GammaPosterior;

/// A page about which a belief is learned; its history is kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningPage {
    /// The belief, as the value needs it and as the groups were told it.
    shape: f32,
    rate: f32,
    importance: f32,
    url_shape: u32,
}

impl LearningPage {
    /// What is believed.
    pub fn belief(&self) -> Option<Posterior> {
        Posterior::new(f64::from(self.shape), f64::from(self.rate)).ok()
    }

    /// Requests per second, or any weight.
    pub fn importance(&self) -> f32 {
        self.importance
    }

    fn group(&self, host: HostId) -> Group {
        Group { host: host.index(), shape: self.url_shape }
    }

    /// What the groups were told last; nothing before the first observation.
    fn told(&self, past: &History) -> Option<Posterior> {
        self.belief().filter(|_| past.seen() > 0)
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
    risk: Option<Risk>,
}

/// A bound on how stale a page may get while little is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Risk {
    /// What is too stale.
    pub limit: VeryStale,
    /// How likely that may be.
    pub chance: f64,
    /// From so many looks on, enough is known.
    pub until_seen: u32,
}

/// What nobody waits for longer than, in seconds: a decade.
const LONGEST_WAIT: f64 = 3.2e8;

impl Learning {
    /// With what was learned before, or a prior.
    pub fn new(learner: Learner) -> Self {
        Self { learner, risk: None }
    }

    /// Pages of which little is known are fetched before the risk of being too stale gets greater than this.
    #[must_use]
    pub fn with_risk(self, risk: Risk) -> Self {
        Self { risk: Some(risk), ..self }
    }

    /// A new page of a host, with a number for the shape of its URL ([`Group::ANY_SHAPE`]: none).
    ///
    /// # Errors
    /// Unless the importance is finite and not negative.
    pub fn page(
        &mut self,
        host: HostId,
        url_shape: u32,
        importance: f32,
    ) -> Result<LearningPage, BeliefError> {
        check_importance(importance)?;
        let prior = self.learner.prior(Group { host: host.index(), shape: url_shape });
        let belief = Posterior::of(&History::default(), &prior);
        let (shape, rate) = (belief.shape() as f32, belief.rate() as f32);
        Ok(LearningPage { shape, rate, importance, url_shape })
    }
}

impl Model for Learning {
    type Page = LearningPage;
    type Past = History;

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
            return Look { value: 0.0, growth: 0.0, until: Time::MAX, ..Look::NOTHING };
        };
        let elapsed = since.elapsed(now).as_secs();
        let (value, slope) = of.value_and_slope(elapsed);
        let steepest = steepest(f64::from(page.importance));
        Look {
            value,
            growth: (slope * (1.0 + AHEAD)).min(steepest),
            until: ahead(since, now),
            bend: bend(slope, elapsed),
            tight: true,
            concave_from: elapsed,
        }
    }

    fn sooner(&self, _page: &LearningPage) -> Option<Span> {
        Some(Span::ZERO)
    }

    fn are_alike(&self, one: &LearningPage, other: &LearningPage) -> bool {
        one == other
    }

    fn change_rate(&self, page: &LearningPage, past: &History) -> Option<f64> {
        page.told(past).map(|belief| belief.mean())
    }

    fn observe(
        &mut self,
        page: &mut LearningPage,
        past: &mut History,
        host: HostId,
        _now: Time,
        seen: &Observation,
    ) {
        let told = page.told(past);
        past.observe(seen);
        let belief = self.learner.learn(page.group(host), told.as_ref(), past);
        (page.shape, page.rate) = (belief.shape() as f32, belief.rate() as f32);
    }

    fn refresh(
        &mut self,
        page: &mut LearningPage,
        past: &mut History,
        host: HostId,
        _since: &SinceFetch,
        _now: Time,
    ) -> bool {
        if past.seen() >= SEEN_ENOUGH {
            return false;
        }
        let belief = match page.told(past) {
            Some(told) => self.learner.learn(page.group(host), Some(&told), past),
            None => Posterior::of(past, &self.learner.prior(page.group(host))),
        };
        (page.shape, page.rate) = (belief.shape() as f32, belief.rate() as f32);
        true
    }

    fn careful(&self, page: &LearningPage, past: &History, price: f64) -> Option<Span> {
        let Risk { limit, chance, until_seen } = self.risk?;
        if past.seen() >= until_seen {
            return None;
        }
        let belief = page.belief()?;
        let wanted = page.value()?.moment_early(price, 0.0, 1e-3).unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT);
        let careful = belief.careful_interval(wanted, limit, chance);
        (careful < wanted).then(|| Span::from_secs(careful))
    }

    fn fail(&mut self, past: &mut History) {
        past.fail();
    }

    fn forget(&mut self, page: &LearningPage, past: &History, host: HostId) {
        if let Some(told) = page.told(past) {
            self.learner.forget(page.group(host), &told);
        }
    }
}
