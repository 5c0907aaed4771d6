//! The optimal rates of what is believed, planned anew now and then, as a low-discrepancy sequence.

use refrain_core::estimate::{Group, History, Learner, Observation, Posterior};
use refrain_core::frontier::{Frontier, HostId, Look, Model, PageId, Sequence, SharePage};
use refrain_core::optimum::{Page, allocate};
use refrain_core::page::{Belief, SinceFetch};
use refrain_core::time::{Span, Time};

use super::replayed::Replayed;
use crate::simulate::SimulationError;

/// A new plan after each page was fetched once, on average, and not sooner than this.
const LEAST_FETCHES: usize = 256;

/// Plans by learned rates.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    sequence: Sequence,
    rate: f64,
    learner: Learner,
    pages: u32,
    since_plan: usize,
}

/// A page with its share of the fetches.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedPage {
    share: SharePage,
    importance: f64,
    /// The change rate that is believed.
    rate: f64,
}

/// What was seen, and what the learner was told.
#[derive(Clone, Debug, Default)]
pub(super) struct PlannedPast {
    history: History,
    told: Option<Posterior>,
}

impl Planned {
    pub(super) fn new(rate: f64, start: Time) -> Self {
        let sequence = Sequence::new(rate, start);
        Self { sequence, rate, learner: Learner::default(), pages: 0, since_plan: 0 }
    }

    /// A new page: until the next plan it gets what a page gets on average.
    pub(super) fn page(&mut self, host: HostId, importance: f64, now: Time) -> PlannedPage {
        let prior = self.learner.prior(group(host));
        let rate = Posterior::of(&History::default(), &prior).mean();
        self.pages += 1;
        let mut share = SharePage::NOTHING;
        self.sequence.set_share(&mut share, 1.0 / f64::from(self.pages), now);
        PlannedPage { share, importance, rate }
    }
}

fn group(host: HostId) -> Group {
    Group { host: host.index(), shape: Group::ANY_SHAPE }
}

impl Model for Planned {
    type Page = PlannedPage;
    type Past = PlannedPast;

    fn value(&self, page: &PlannedPage, since: &SinceFetch, now: Time) -> f64 {
        self.sequence.value(&page.share, since, now)
    }

    fn reaches(&self, page: &PlannedPage, since: &SinceFetch, now: Time, level: f64, near: bool) -> Time {
        self.sequence.reaches(&page.share, since, now, level, near)
    }

    fn look(&self, page: &PlannedPage, since: &SinceFetch, now: Time) -> Look {
        self.sequence.look(&page.share, since, now)
    }

    fn sooner(&self, page: &PlannedPage) -> Option<Span> {
        self.sequence.sooner(&page.share)
    }

    fn observe(
        &mut self,
        page: &mut PlannedPage,
        past: &mut PlannedPast,
        host: HostId,
        now: Time,
        seen: &Observation,
    ) {
        self.sequence.observe(&mut page.share, &mut (), host, now, seen);
        past.history.observe(seen);
        let belief = self.learner.learn(group(host), past.told.as_ref(), &past.history);
        (past.told, page.rate) = (Some(belief), belief.mean());
    }

    fn forget(&mut self, _page: &PlannedPage, past: &PlannedPast, host: HostId) {
        self.pages -= 1;
        if let Some(told) = &past.told {
            self.learner.forget(group(host), told);
        }
    }
}

impl Replayed for Planned {
    fn after_fetch(
        frontier: &mut Frontier<Self>,
        pages: &[Option<PageId>],
        now: Time,
    ) -> Result<(), SimulationError> {
        let due = LEAST_FETCHES.max(frontier.len());
        let model = frontier.model_mut();
        model.since_plan += 1;
        if model.since_plan < due {
            return Ok(());
        }
        model.since_plan = 0;
        let (sequence, rate) = (model.sequence, model.rate);
        let ids: Vec<PageId> = pages.iter().flatten().copied().collect();
        let mut plain = Vec::with_capacity(ids.len());
        for id in &ids {
            let page = frontier.page(*id)?.0;
            plain.push(Page::of(&Belief::new(page.rate, page.importance)?));
        }
        // Where nothing is worth a fetch, shares stay as they are.
        let Ok(optimum) = allocate(&plain, rate) else { return Ok(()) };
        let total: f64 = optimum.visits.iter().map(|visit| visit.rate).sum();
        for (id, visit) in ids.iter().zip(&optimum.visits) {
            let share = if total > 0.0 { visit.rate / total } else { 0.0 };
            frontier.update(now, *id, |page| sequence.set_share(&mut page.share, share, now))?;
        }
        Ok(())
    }
}
