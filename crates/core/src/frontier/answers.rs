//! What comes back: an answer is learned from, a fetch without one is due again.

use super::field::{Bounds, View};
use super::record::Status;
use super::{Frontier, FrontierError, HostId, Model, OrderId, Outcome};
use crate::estimate::Observation;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

impl<M: Model> Frontier<M> {
    /// What came of an order, and how long the host took to answer.
    ///
    /// # Errors
    /// If there is no such order, it was answered before, or time went backwards. A late answer, after the lease has ended,
    /// is as good as any other, once.
    pub fn answer(
        &mut self,
        now: Time,
        order: OrderId,
        outcome: Outcome,
        response: Option<Span>,
    ) -> Result<(), FrontierError> {
        self.answer_as_of(now, order, outcome, response, SinceFetch::fetched_at(now))
    }

    /// The same, if the copy is as of an earlier time than now: `copy` says when the request that made it was sent, and how many signals came later.
    /// Those stay open: the copy cannot have seen what they announce. A time before the copy that is replaced, or after now, is taken for the nearer one.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub fn answer_as_of(
        &mut self,
        now: Time,
        order: OrderId,
        outcome: Outcome,
        response: Option<Span>,
        copy: SinceFetch,
    ) -> Result<(), FrontierError> {
        self.advance(now)?;
        let taken = self.orders.take(order).ok_or(FrontierError::UnknownOrder(order))?;
        let host = taken.host;
        if taken.had_place {
            self.hosts.finish(host, response);
            self.watch_host(host);
        }
        let index = taken.page.index;
        // The page may be gone by now.
        if self.known(taken.page).is_err() {
            return Ok(());
        }
        if !matches!(outcome, Outcome::Failed { .. }) {
            self.refresh_others();
        }
        match outcome {
            Outcome::Seen(_) | Outcome::Dated { .. } | Outcome::Links { .. } => {
                if self.finds.contains(index) {
                    self.settle_new(index, taken.leased, copy);
                    return Ok(());
                }
                self.seen(index, outcome, copy);
                let is_new = self.pages[index as usize].since() == SinceFetch::fetched_at(now);
                if is_new && taken.leased && !self.pages[index as usize].is_special() {
                    self.pages[index as usize].set_status(Status::Waiting);
                    self.race.enter_fresh(&mut view!(self), index);
                    return Ok(());
                }
            }
            Outcome::Failed { retry_after } if self.finds.contains(index) => {
                if taken.leased {
                    self.pages[index as usize].set_status(Status::New);
                    self.finds.return_at(index, now + retry_after);
                }
                return Ok(());
            }
            Outcome::Failed { retry_after } => {
                self.model.fail(&mut self.pasts[index as usize]);
                let bounds = self.bounds.get(&index).copied().unwrap_or_default();
                self.bound(index, Bounds { not_before: now + retry_after, ..bounds });
            }
        }
        if taken.leased {
            self.pages[index as usize].set_status(Status::Waiting);
        }
        // If the answer was late, another order for the page may be under way.
        self.reenter(index);
        Ok(())
    }

    /// An order does not count as a request under way at its host from now on, so that the host may be asked again after its gap: a crawler
    /// fetches the page that paces its requests by itself. Nothing happens to an order that was answered.
    ///
    /// # Errors
    /// If time went backwards.
    pub fn free_place(&mut self, now: Time, order: OrderId) -> Result<(), FrontierError> {
        self.advance(now)?;
        if let Some(host) = self.orders.free_place(order) {
            self.hosts.finish(host, None);
            self.watch_host(host);
        }
        Ok(())
    }

    /// An order that nobody is there to carry out: what it cost is given back, the page is left alone for a while, and nothing is learned.
    ///
    /// # Errors
    /// If there is no such order, it was answered before, or time went backwards.
    pub fn set_aside(&mut self, now: Time, order: OrderId, span: Span) -> Result<(), FrontierError> {
        self.advance(now)?;
        let taken = self.orders.take(order).ok_or(FrontierError::UnknownOrder(order))?;
        if !taken.leased {
            return Ok(());
        }
        self.pace.take_back();
        if taken.had_place {
            self.hosts.finish(taken.host, None);
        }
        // No request was made: the gap that counts is the one since the request before.
        self.hosts[taken.host as usize].take_back(taken.started);
        self.watch_host(taken.host);
        let index = taken.page.index;
        if self.known(taken.page).is_err() {
            return Ok(());
        }
        if self.finds.contains(index) {
            self.pages[index as usize].set_status(Status::New);
            self.finds.return_at(index, now + span);
            return Ok(());
        }
        let bounds = self.bounds.get(&index).copied().unwrap_or_default();
        self.bound(index, Bounds { not_before: now + span, ..bounds });
        self.pages[index as usize].set_status(Status::Waiting);
        self.reenter(index);
        Ok(())
    }

    pub(super) fn seen(&mut self, index: u32, outcome: Outcome, copy: SinceFetch) {
        let (answer, modified) = match outcome {
            Outcome::Seen(answer) | Outcome::Links { answer, .. } => (answer, None),
            Outcome::Dated { answer, modified } => (answer, Some(modified)),
            Outcome::Failed { .. } => return,
        };
        let record = &mut self.pages[index as usize];
        // A clock that stood still makes no interval; the page was seen all the same.
        let since = record.since();
        let copy = copy.within(since.fetched(), self.now);
        let signals = since.signals().saturating_sub(copy.signals());
        if let Ok(seen) = Observation::between(since.fetched(), copy.fetched(), signals, answer) {
            let seen = seen.dated(modified.map(|modified| copy.fetched().since(modified).as_secs()));
            let host = HostId(self.names[index as usize].host);
            self.model.observe(
                &mut record.page,
                &mut self.pasts[index as usize],
                host,
                copy.fetched(),
                &seen,
            );
        }
        record.set_since(copy);
        if let (Outcome::Links { new, .. }, Some(hub)) = (outcome, self.hubs.get_mut(&index)) {
            hub.visited(since.elapsed(copy.fetched()).as_secs(), new);
        }
        let careful =
            self.model.careful(&self.pages[index as usize].page, &self.pasts[index as usize], self.price);
        let bounds = self.bounds.get(&index).copied();
        if bounds.is_some() || careful.is_some() {
            let bounds = bounds.unwrap_or_default();
            let careful = careful.unwrap_or(Span::MAX);
            self.bound(index, Bounds { not_before: Time::MIN, careful, ..bounds });
        }
    }

    /// A few pages learn from the others, in turn.
    pub(super) fn refresh_others(&mut self) {
        for _ in 0..self.settings.refresh {
            let index = self.refreshed % self.pages.len().max(1) as u32;
            self.refreshed = index + 1;
            if self.pages[index as usize].status() == Status::Waiting {
                self.refresh_one(index);
            }
        }
    }

    /// A page that waits learns from the others.
    pub(super) fn refresh_one(&mut self, index: u32) {
        let record = &self.pages[index as usize];
        let host = HostId(self.names[index as usize].host);
        let (since, past) = (record.since(), &mut self.pasts[index as usize]);
        // What it is worth changes, and with it its place: it leaves with what it was.
        let mut page = record.page.clone();
        if self.model.refresh(&mut page, past, host, &since, self.now) {
            self.withdraw(index);
            self.pages[index as usize].page = page;
            self.race.enter(&mut view!(self), index);
        }
    }

    /// Orders without an answer: their pages are due again, their hosts free.
    pub(super) fn expire(&mut self) {
        while let Some((page, host, has_place)) = self.orders.expire(self.now) {
            if has_place {
                self.hosts.finish(host, None);
                self.watch_host(host);
            }
            if let Ok(index) = self.known(page) {
                if self.finds.contains(index) {
                    self.pages[index as usize].set_status(Status::New);
                    self.finds.return_at(index, self.now);
                    continue;
                }
                self.pages[index as usize].set_status(Status::Waiting);
                self.reenter(index);
            }
        }
    }
}
