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
    /// Whether it is told only what is worth hearing; others hear everything.
    const LISTENS: bool = false;

    /// How often a page that was never fetched is expected to change per second, if anything is.
    fn expected(_page: &Self::Page) -> Option<f64> {
        None
    }

    /// From now on other signals count on this host.
    fn listen_anew(&mut self, _host: HostId) {}

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
    const LISTENS: bool = true;

    fn expected(page: &AttentivePage) -> Option<f64> {
        page.change_rate().map(|belief| belief.mean())
    }

    fn listen_anew(&mut self, host: HostId) {
        Attentive::listen_anew(self, host);
    }

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
    const LISTENS: bool = true;

    fn listen_anew(&mut self, host: HostId) {
        Refined::listen_anew(self, host);
    }

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
    const LISTENS: bool = M::LISTENS;

    fn expected(page: &HourlyPage<M::Page>) -> Option<f64> {
        M::expected(page.inner())
    }

    fn listen_anew(&mut self, host: HostId) {
        self.inner_mut().listen_anew(host);
    }

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
