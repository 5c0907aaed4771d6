//! Fetches that are under way.

use std::collections::{HashMap, VecDeque};

use super::{HostId, PageId};
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

#[derive(Clone, Copy, Debug)]
struct Kept {
    page: PageId,
    host: u32,
    /// Until when; nothing once the lease has ended.
    expires: Option<Time>,
}

/// An order that was answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) page: PageId,
    pub(super) host: u32,
    /// Whether the lease had not ended.
    pub(super) leased: bool,
}

/// All orders without an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Orders {
    next: u64,
    kept: HashMap<u64, Kept>,
    /// When leases end, the first first: all are of one length.
    leases: VecDeque<(Time, u64)>,
    /// The last order of each page whose lease has ended.
    late: HashMap<PageId, u64>,
}

impl Orders {
    pub(super) fn make(&mut self, page: PageId, host: u32, expires: Time) -> OrderId {
        let id = self.next;
        self.next += 1;
        self.kept.insert(id, Kept { page, host, expires: Some(expires) });
        self.leases.push_back((expires, id));
        OrderId(id)
    }

    /// An answer has come. An answer to a later order of the same page makes earlier ones void.
    pub(super) fn take(&mut self, order: OrderId) -> Option<Taken> {
        let kept = self.kept.remove(&order.0)?;
        if !self.late.is_empty()
            && let Some(late) = self.late.remove(&kept.page)
            && late != order.0
        {
            if late < order.0 {
                self.kept.remove(&late);
            } else {
                self.late.insert(kept.page, late);
            }
        }
        Some(Taken { page: kept.page, host: kept.host, leased: kept.expires.is_some() })
    }

    /// An order whose lease has ended, if there is one. Its answer is still welcome, until the page is ordered and late again.
    pub(super) fn expire(&mut self, now: Time) -> Option<(PageId, u32)> {
        self.forget_answered();
        let (expires, id) = *self.leases.front()?;
        if expires > now {
            return None;
        }
        self.leases.pop_front();
        let kept = self.kept.get_mut(&id)?;
        kept.expires = None;
        let (page, host) = (kept.page, kept.host);
        // At most one late order a page is remembered.
        if let Some(older) = self.late.insert(page, id) {
            self.kept.remove(&older);
        }
        Some((page, host))
    }

    pub(super) fn next_expiry(&mut self) -> Option<Time> {
        self.forget_answered();
        self.leases.front().map(|(expires, _)| *expires)
    }

    fn forget_answered(&mut self) {
        while self.leases.front().is_some_and(|(_, id)| !self.kept.contains_key(id)) {
            self.leases.pop_front();
        }
    }
}
