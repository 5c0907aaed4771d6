//! Whose turn it is: the next fetch, when to ask for it, and those that are under way already.

use std::cmp::Reverse;

use super::field::View;
use super::hubs::HUB_FIRST;
use super::orders::Started;
use super::record::Status;
use super::{Frontier, FrontierError, HostId, Model, Order, PageId};
use crate::time::{Span, Time};

/// What the last fetch counts in the mean price.
pub(super) const PRICE_SHARE: f64 = 1.0 / 64.0;

impl<M: Model> Frontier<M> {
    /// The next fetch, if one is due now.
    ///
    /// # Errors
    /// If time went backwards.
    pub fn poll(&mut self, now: Time) -> Result<Option<Order>, FrontierError> {
        self.advance(now)?;
        self.expire();
        if now < self.pace.next() {
            return Ok(None);
        }
        self.open_doors();
        // Who is worth nothing (too young, failed a moment ago) is not fetched even if nobody else is.
        let price = self.pace.budget().price();
        let Some((index, value)) = self.choose().filter(|(_, value)| *value >= price && *value > 0.0) else {
            self.idle = Some(now);
            return Ok(None);
        };
        self.decisions += 1;
        // Who must be fetched, or goes first by rule, says nothing about what a fetch is worth.
        if value < HUB_FIRST {
            self.price = value;
            let share = if self.mean_price > 0.0 { PRICE_SHARE } else { 1.0 };
            self.mean_price += share * (value - self.mean_price);
            self.weigh(index, value);
        }
        self.pace.spend(now);
        Ok(Some(self.order(index, value)))
    }

    /// A moment not after the next one at which [`Frontier::poll`] may give an order, if nothing happens before.
    pub fn next_wakeup(&mut self) -> Option<Time> {
        let (due, price) = (self.pace.next(), self.pace.budget().price());
        let mut worth = self.race.next_worth(&mut view!(self), price);
        for host in &self.open {
            if let Some(room) = self.rooms.get(host) {
                worth = worth.min(room.next_worth(&mut view!(self, Some(*host)), price));
            }
        }
        if let Some(Reverse((ready, _))) = self.doors.peek() {
            worth = worth.min(*ready);
        }
        worth = worth.min(self.next_discovery(price));
        // Nobody is fetched before the budget allows; a lease may end before.
        let mut next = self.orders.next_expiry().unwrap_or(Time::MAX).min(worth.max(due)).max(self.now);
        if self.idle == Some(self.now) {
            // Nobody was worth it just now. Moments are early by a little: who asks again at once asks in vain.
            next = next.max(self.now + Span::from_nanos(self.pace.period().as_nanos() / 4 + 1));
        }
        (next < Time::MAX).then_some(next)
    }

    /// A page is being fetched already, by somebody who was told to before this frontier was made: an order like others, but nobody pays for it
    /// again.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn resume(&mut self, now: Time, page: PageId) -> Result<Order, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        Ok(self.order(index, 0.0))
    }

    fn order(&mut self, index: u32, value: f64) -> Order {
        self.withdraw(index);
        self.take_new(index);
        self.pages[index as usize].set_status(Status::Ordered);
        let host = self.names[index as usize].host;
        let page = self.id(index);
        let before = self.hosts[host as usize].last_start;
        self.hosts.start(host, self.now);
        self.watch_host(host);
        let expires = self.now + self.settings.lease;
        let id = self.orders.make(page, host, Started { at: self.now, before }, expires);
        Order { id, page, host: HostId(host), value, expires }
    }
}
