//! Decisions, told to who keeps them. If nobody does they cost nothing.

use refrain_core::frontier::Order;
use refrain_core::time::Time;
use refrain_store::PageId;
use tokio::sync::mpsc::UnboundedSender;

use super::Crawl;
use crate::decision::Decision;

impl Crawl {
    /// From now on every decision is told, first of all that the crawl begins.
    pub fn tell_decisions(&mut self, to: UnboundedSender<Decision>) {
        self.decisions = Some(to);
        let (time, budget) = (self.clock.now(), self.scheduler.frontier.budget());
        self.decided(|| Decision::Begins { time, budget });
    }

    pub(super) fn decided(&self, what: impl FnOnce() -> Decision) {
        if let Some(to) = &self.decisions {
            // Nobody keeps them any more.
            let _ = to.send(what());
        }
    }

    /// A page is to be fetched, whoever does it. To be called before the order is answered.
    pub(super) fn ordered(&self, now: Time, order: &Order, stored: PageId) {
        let frontier = &self.scheduler.frontier;
        self.decided(|| Decision::Ordered {
            time: now,
            page: stored,
            value: order.value,
            price: frontier.mean_price(),
            first: frontier.is_new(order.page).unwrap_or_default(),
            importance: frontier
                .page(order.page)
                .map_or(0.0, |(page, _)| f64::from(page.inner().importance())),
        });
    }
}
