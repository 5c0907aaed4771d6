//! Why a page is fetched, or not yet.

use super::field::View;
use super::race::Field;
use super::record::Status;
use super::{Frontier, FrontierError, Model, PageId};
use crate::time::Time;

/// What a page waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WaitsFor {
    /// Nothing: it would be fetched now.
    Nothing,
    /// Its value: a fetch is not worth the price yet.
    Value,
    /// Its host may not be visited before this moment; [`Time::MAX`] until a fetch under way is over.
    Host(Time),
    /// The budget: the next fetch may be made at this moment.
    Budget(Time),
    /// The answer to its own fetch.
    Answer,
    /// It is too young, or failed a moment ago: not before this moment.
    Age(Time),
}

/// Everything that decides about a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation<P> {
    /// What is believed of it.
    pub page: P,
    /// When it was last fetched, and the signals since. For a page that was never fetched: when it appeared.
    pub since: crate::page::SinceFetch,
    /// Whether it was ever fetched.
    pub is_new: bool,
    /// What a fetch now is worth.
    pub value: f64,
    /// When a fetch is expected to be worth the price, if nothing happens before; `None` if waiting alone never makes it so.
    pub due: Option<Time>,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

impl<M: Model> Frontier<M> {
    /// Whether a page was never fetched.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn is_new(&self, page: PageId) -> Result<bool, FrontierError> {
        Ok(self.finds.contains(self.known(page)?))
    }

    /// Whether a page is being fetched: it was ordered, and its lease has not ended.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn is_ordered(&self, page: PageId) -> Result<bool, FrontierError> {
        Ok(self.pages[self.known(page)? as usize].status() == Status::Ordered)
    }

    /// Why a page is fetched, or not yet, at this moment, if a fetch must be worth this price.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn explain(
        &mut self,
        now: Time,
        page: PageId,
        price: f64,
    ) -> Result<Explanation<M::Page>, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let (status, is_new) = (self.pages[index as usize].status(), self.finds.contains(index));
        let evaluations = self.evaluations;
        let (value, due) = if is_new {
            // It is worth less every moment: now or never.
            let worth = self.finds.worth(index, now).unwrap_or(0.0);
            (worth, (worth >= price).then_some(now))
        } else {
            let mut view = view!(self);
            let value = view.special_worth(index, now);
            let due = if value >= price { now } else { view.reaches(index, price, true).max(now) };
            (value, (due < Time::LAST).then_some(due))
        };
        // To explain is not to decide.
        self.evaluations = evaluations;
        let record = &self.pages[index as usize];
        let opens = self.bounds.get(&index).map_or(Time::MIN, |bounds| bounds.opens(record.fetched()));
        let ready = self.hosts.ready_at(self.names[index as usize].host);
        let waits_for = if status == Status::Ordered {
            WaitsFor::Answer
        } else if opens > now {
            WaitsFor::Age(opens)
        } else if !(value > 0.0 && value >= price) {
            WaitsFor::Value
        } else if ready > now {
            WaitsFor::Host(ready)
        } else if self.pace.next() > now {
            WaitsFor::Budget(self.pace.next())
        } else {
            WaitsFor::Nothing
        };
        let (page, since) = (record.page.clone(), record.since());
        Ok(Explanation { page, since, is_new, value, due, waits_for })
    }
}
