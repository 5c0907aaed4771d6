//! What a replay tells a model beside what its frontier does.

use refrain_core::estimate::Group;
use refrain_core::frontier::{
    Attentive, AttentivePage, Frontier, HostId, Hourly, HourlyPage, Known, Model, PageId, Refined,
    RefinedPage, Rules,
};
use refrain_core::page::{Belief, BeliefError};
use refrain_core::time::Time;

use super::estimated::Estimated;
use crate::simulate::SimulationError;

/// A model that can be replayed.
pub(super) trait Replayed: Model + Sized {
    /// From now on changes of this page may be announced.
    fn hear(_page: &mut Self::Page) {}

    /// A fetch was made; these are the pages that are there.
    fn after_fetch(
        _frontier: &mut Frontier<Self>,
        _pages: &[Option<PageId>],
        _now: Time,
    ) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// A model that learns everything about pages.
pub(super) trait Learns: Replayed {
    /// A page whose changes nothing announces yet.
    fn unheard(&mut self, host: HostId, importance: f32) -> Result<Self::Page, BeliefError>;
}

impl Replayed for Attentive {
    fn hear(page: &mut AttentivePage) {
        page.set_heard(true);
    }
}

impl Learns for Attentive {
    fn unheard(&mut self, host: HostId, importance: f32) -> Result<AttentivePage, BeliefError> {
        let mut page = self.page(host, Group::ANY_SHAPE, importance)?;
        page.set_heard(false);
        Ok(page)
    }
}

impl Replayed for Refined {
    fn hear(page: &mut RefinedPage) {
        page.set_heard(true);
    }
}

impl Learns for Refined {
    fn unheard(&mut self, host: HostId, importance: f32) -> Result<RefinedPage, BeliefError> {
        let mut page = self.page(host, Group::ANY_SHAPE, importance)?;
        page.set_heard(false);
        Ok(page)
    }
}

impl<M: Replayed> Replayed for Hourly<M> {
    fn hear(page: &mut HourlyPage<M::Page>) {
        M::hear(page.inner_mut());
    }
}

impl<M: Learns> Learns for Hourly<M> {
    fn unheard(&mut self, host: HostId, importance: f32) -> Result<HourlyPage<M::Page>, BeliefError> {
        self.inner_mut().unheard(host, importance).map(HourlyPage::new)
    }
}

impl Replayed for Known {}
impl Replayed for Rules {}
impl<M: Model<Page = Belief, Past = ()>> Replayed for Estimated<M> {}
