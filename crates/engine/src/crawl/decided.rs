//! Decisions, told to who keeps them. If nobody does they cost nothing; if whoever does is slower than the crawl, some are left out, and that is
//! told: the crawl waits for nobody.

use std::cell::Cell;

use refrain_core::frontier::Order;
use refrain_core::time::{Span, Time};
use refrain_store::PageId;
use tokio::sync::mpsc::Sender;

use super::Crawl;
use crate::decision::Decision;
use crate::told::Told;

/// That decisions are left out is said at most so often.
const SAY_AGAIN: Span = Span::from_whole_secs(60);

/// Who keeps decisions.
pub(super) struct Keeper {
    to: Sender<Decision>,
    /// Since when they are left out, and how many were.
    since: Cell<Option<Time>>,
    missed: Cell<u64>,
    /// All that ever were.
    all_missed: Cell<u64>,
    /// When that was said last.
    said: Cell<Option<Time>>,
}

impl Keeper {
    fn new(to: Sender<Decision>) -> Self {
        let (since, said) = (Cell::new(None), Cell::new(None));
        Self { to, since, missed: Cell::new(0), all_missed: Cell::new(0), said }
    }

    /// Tells a decision, or counts it. Whether it is time to say that some are left out.
    fn tell(&self, decision: Decision) -> bool {
        // First of all that there are some missing; then there must be room for one more.
        if let Some(gap) = self.gap(decision.time())
            && self.to.capacity() > 1
            && self.to.try_send(gap).is_ok()
        {
            self.since.set(None);
            self.missed.set(0);
        }
        if self.to.is_closed() {
            // Nobody keeps them any more.
            return false;
        }
        if self.since.get().is_none() && self.to.try_send(decision).is_ok() {
            return false;
        }
        self.missed.update(|missed| missed + 1);
        self.all_missed.update(|missed| missed + 1);
        let now = decision.time();
        if self.since.get().is_none() {
            self.since.set(Some(now));
        }
        let is_news = self.said.get().is_none_or(|said| now.since(said) >= SAY_AGAIN);
        if is_news {
            self.said.set(Some(now));
        }
        is_news
    }

    fn gap(&self, time: Time) -> Option<Decision> {
        let since = self.since.get()?;
        Some(Decision::Missed { since, time: time.max(since), count: self.missed.get() })
    }
}

impl Crawl {
    /// From now on every decision is told, first of all that the crawl begins. What there is no room for is left out, and counted:
    /// [`Decision::Missed`].
    pub fn tell_decisions(&mut self, to: Sender<Decision>) {
        self.decisions = Some(Keeper::new(to));
        let (time, budget) = (self.clock.now(), self.scheduler.frontier.budget());
        self.decided(|| Decision::Begins { time, budget });
    }

    pub(super) fn decided(&self, what: impl FnOnce() -> Decision) {
        let Some(keeper) = &self.decisions else { return };
        if keeper.tell(what()) {
            self.tell(|| {
                Told::Warning("decisions come faster than they are logged; some are left out".to_owned())
            });
        }
    }

    /// Decisions that were left out.
    pub(super) fn missed_decisions(&self) -> u64 {
        self.decisions.as_ref().map_or(0, |keeper| keeper.all_missed.get())
    }

    /// What is still to be told at the end. Now there is time to wait.
    pub(super) async fn end_decisions(&mut self) {
        let now = self.clock.now();
        if let Some(keeper) = self.decisions.take()
            && let Some(gap) = keeper.gap(now)
        {
            // Nobody keeps them any more.
            let _ = keeper.to.send(gap).await;
        }
    }

    /// A page is to be fetched, whoever does it. To be called before the order is answered.
    pub(super) fn ordered(&self, now: Time, order: &Order, stored: PageId) {
        let frontier = &self.scheduler.frontier;
        self.decided(|| Decision::Ordered {
            time: now,
            page: stored,
            value: order.value,
            price: self.price().map(|price| price.value),
            first: frontier.is_new(order.page).unwrap_or_default(),
            importance: frontier
                .page(order.page)
                .map_or(0.0, |(page, _)| f64::from(page.inner().importance())),
        });
    }
}

#[cfg(test)]
mod tests {
    use refrain_core::frontier::Budget;
    use tokio::sync::mpsc::channel;

    use super::*;

    fn at(secs: u64) -> Time {
        Time::ZERO + Span::from_whole_secs(secs)
    }

    fn decision(secs: u64) -> Decision {
        Decision::Budget { time: at(secs), budget: Budget::Rate(1.0) }
    }

    #[test]
    fn what_is_left_out_is_told_in_its_place() {
        let (to, mut kept) = channel(3);
        let keeper = Keeper::new(to);
        let told: Vec<bool> = (0..6).map(|secs| keeper.tell(decision(secs))).collect();
        assert_eq!(told, [false, false, false, true, false, false], "it is said once");
        assert_eq!(kept.try_recv(), Ok(decision(0)));
        // There is room for the gap, but not for what follows it.
        assert!(!keeper.tell(decision(6)));
        assert_eq!((kept.try_recv(), kept.try_recv()), (Ok(decision(1)), Ok(decision(2))));
        assert!(!keeper.tell(decision(7)) && !keeper.tell(decision(8)));
        let gap = Decision::Missed { since: at(3), time: at(7), count: 4 };
        let rest: Vec<Decision> = std::iter::from_fn(|| kept.try_recv().ok()).collect();
        assert_eq!(rest, [gap, decision(7), decision(8)]);
        assert_eq!(keeper.all_missed.get(), 4);
        drop(kept);
        assert!(!keeper.tell(decision(9)), "nobody keeps them any more");
        assert_eq!((keeper.all_missed.get(), keeper.gap(at(9))), (4, None));
    }
}
