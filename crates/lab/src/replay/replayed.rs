//! What a replay tells a model beside what its frontier does.

use refrain_core::frontier::{Attentive, AttentivePage, Frontier, Known, Model, PageId, Rules};
use refrain_core::page::Belief;
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

impl Replayed for Attentive {
    fn hear(page: &mut AttentivePage) {
        page.set_heard(true);
    }
}

impl Replayed for Known {}
impl Replayed for Rules {}
impl<M: Model<Page = Belief, Past = ()>> Replayed for Estimated<M> {}
