//! Fetches that are under way.

use std::collections::VecDeque;

use super::{HostId, PageId};
use crate::ids::IdMap;
use crate::time::Time;

/// A fetch to make.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// To answer with.
    pub id: OrderId,
    /// What to fetch.
    pub page: PageId,
    /// Where it is.
    pub host: HostId,
    /// What it is worth.
    pub value: f64,
    /// Without an answer by then, the page is due again.
    pub expires: Time,
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OrderId(u64);

impl OrderId {
    /// Its number: the first order is 0.
    pub fn number(self) -> u64 {
        self.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    page: PageId,
    host: u32,
    started: Option<Started>,
    expires: Time,
    /// Whether it counts as a request under way at its host.
    has_place: bool,
}

/// When an order was made, and when the last request to its host before had begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Started {
    pub(super) at: Time,
    pub(super) before: Option<Time>,
}

/// An order without an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderSnapshot {
    /// To answer with.
    pub id: OrderId,
    /// What is fetched.
    pub page: PageId,
    /// Where it is.
    pub host: HostId,
    /// When its lease ends, or ended.
    pub expires: Time,
    /// Whether the lease has ended.
    pub is_late: bool,
    /// Whether it counts as a request under way at its host.
    pub has_place: bool,
}

/// An order that was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) page: PageId,
    pub(super) host: u32,
    pub(super) started: Option<Started>,
    /// Whether the lease had not ended.
    pub(super) leased: bool,
    /// Whether it counted as a request under way at its host until now.
    pub(super) had_place: bool,
}

/// All orders without an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    /// Those whose lease has not ended, in the order in which they were made: all leases are of one length, so they end
    /// in that order too. The answered ones are empty.
    leased: VecDeque<Option<Kept>>,
    /// The number of the first of them.
    first: u64,
    /// Those whose lease has ended; at most one for each page, the last.
    late: IdMap<u64, Kept>,
    late_of: IdMap<PageId, u64>,
}

impl Orders {
    pub(super) fn make(&mut self, page: PageId, host: u32, started: Started, expires: Time) -> OrderId {
        let id = self.first + self.leased.len() as u64;
        self.leased.push_back(Some(Kept { page, host, started: Some(started), expires, has_place: true }));
        OrderId(id)
    }

    /// An answer has come. An answer to a later order of the same page makes earlier ones void.
    pub(super) fn take(&mut self, order: OrderId) -> Option<Taken> {
        if order.0 < self.first {
            let Kept { page, host, started, .. } = self.late.remove(&order.0)?;
            self.late_of.remove(&page);
            return Some(Taken { page, host, started, leased: false, had_place: false });
        }
        let Kept { page, host, started, has_place, .. } = self.leased_mut(order)?.take()?;
        self.forget_answered();
        if let Some(late) = self.late_of.remove(&page) {
            self.late.remove(&late);
        }
        Some(Taken { page, host, started, leased: true, had_place: has_place })
    }

    fn leased_mut(&mut self, order: OrderId) -> Option<&mut Option<Kept>> {
        self.leased.get_mut(order.0.checked_sub(self.first)? as usize)
    }

    /// An order does not count as a request under way any more. Returns its host if it did until now.
    pub(super) fn free_place(&mut self, order: OrderId) -> Option<u32> {
        let kept = self.leased_mut(order)?.as_mut()?;
        std::mem::take(&mut kept.has_place).then_some(kept.host)
    }

    /// An order whose lease has ended, if there is one, and whether it counted as a request under way at its host. Its answer is still welcome, until the page is ordered and late again.
    pub(super) fn expire(&mut self, now: Time) -> Option<(PageId, u32, bool)> {
        let kept = self.leased.front().copied().flatten().filter(|kept| kept.expires <= now)?;
        let id = self.first;
        self.leased.pop_front();
        self.first += 1;
        self.forget_answered();
        self.late.insert(id, kept);
        if let Some(older) = self.late_of.insert(kept.page, id) {
            self.late.remove(&older);
        }
        Some((kept.page, kept.host, kept.has_place))
    }

    /// When the next lease ends.
    pub(super) fn next_expiry(&self) -> Option<Time> {
        self.leased.front().copied().flatten().map(|kept| kept.expires)
    }

    /// All without an answer, in the order of their numbers, and the number of the next.
    pub(super) fn snapshot(&self) -> (Vec<OrderSnapshot>, u64) {
        let snapshot = |id: u64, kept: &Kept, is_late: bool| OrderSnapshot {
            id: OrderId(id),
            page: kept.page,
            host: HostId(kept.host),
            expires: kept.expires,
            is_late,
            has_place: kept.has_place,
        };
        let mut orders: Vec<OrderSnapshot> =
            self.late.iter().map(|(id, kept)| snapshot(*id, kept, true)).collect();
        orders.sort_unstable_by_key(|order| order.id);
        let leased = (self.first..).zip(&self.leased);
        orders.extend(leased.filter_map(|(id, kept)| kept.as_ref().map(|kept| snapshot(id, kept, false))));
        (orders, self.first + self.leased.len() as u64)
    }

    pub(super) fn restore(orders: Vec<OrderSnapshot>, next: u64) -> Self {
        let mut all = Self { first: next, ..Self::default() };
        if let Some(first) = orders.iter().find(|order| !order.is_late) {
            all.first = first.id.0.min(next);
            all.leased.resize((next - all.first) as usize, None);
        }
        for OrderSnapshot { id, page, host, expires, is_late, has_place } in orders {
            let kept = Kept { page, host: host.0, started: None, expires, has_place };
            if is_late {
                all.late.insert(id.0, kept);
                all.late_of.insert(page, id.0);
            } else if let Some(place) =
                id.0.checked_sub(all.first).and_then(|k| all.leased.get_mut(k as usize))
            {
                *place = Some(kept);
            }
        }
        all
    }

    /// The first of the leased is never an answered one.
    fn forget_answered(&mut self) {
        while let Some(None) = self.leased.front() {
            self.leased.pop_front();
            self.first += 1;
        }
    }
}
