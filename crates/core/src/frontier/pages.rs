//! Pages: they come, are announced, are known better, may not be older than this, and go.

use super::field::{Bounds, View};
use super::hubs::AT_ONCE;
use super::record::{Name, Record, Status};
use super::{AgeLimits, Frontier, FrontierError, HostId, Model, PageId};
use crate::page::SinceFetch;
use crate::time::{Span, Time};

impl<M: Model> Frontier<M> {
    /// A new page of which nothing is remembered, last fetched at `fetched`.
    ///
    /// # Errors
    /// If the host is unknown, time went backwards, or there is no room for more pages.
    pub fn insert(
        &mut self,
        now: Time,
        page: M::Page,
        host: HostId,
        fetched: Time,
    ) -> Result<PageId, FrontierError> {
        self.insert_with_past(now, page, M::Past::default(), host, fetched)
    }

    /// A page with what is remembered of it, last fetched at `fetched`.
    ///
    /// # Errors
    /// As [`Frontier::insert`].
    pub fn insert_with_past(
        &mut self,
        now: Time,
        page: M::Page,
        past: M::Past,
        host: HostId,
        fetched: Time,
    ) -> Result<PageId, FrontierError> {
        self.advance(now)?;
        let index = self.put(page, past, host, fetched.min(now))?;
        self.race.enter(&mut view!(self), index);
        Ok(self.id(index))
    }

    /// A page is gone.
    ///
    /// # Errors
    /// If it is unknown, or time went backwards.
    pub fn remove(&mut self, now: Time, page: PageId) -> Result<M::Page, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        self.withdraw(index);
        self.bounds.remove(&index);
        self.hubs.remove(&index);
        self.finds.remove(index);
        let name = &mut self.names[index as usize];
        name.generation = name.generation.wrapping_add(1);
        let record = &mut self.pages[index as usize];
        record.set_status(Status::Vacant);
        self.model.forget(&record.page, &self.pasts[index as usize], HostId(name.host));
        self.vacant.push(index);
        Ok(record.page.clone())
    }

    /// A change signal for a page. Whether it counted: one that comes too soon after a fetch does not.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn signal(&mut self, now: Time, page: PageId) -> Result<bool, FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let record = &mut self.pages[index as usize];
        let mut since = record.since();
        if !since.signal(now, self.settings.ignore_signals_within) {
            return Ok(false);
        }
        record.set_since(since);
        if record.status() != Status::Waiting {
            return Ok(true);
        }
        let sooner = self.model.sooner(&record.page);
        let room = record.is_in_room().then_some(self.names[index as usize].host);
        match sooner {
            Some(sooner) => {
                let race = room.and_then(|host| self.rooms.get_mut(&host)).unwrap_or(&mut self.race);
                race.hurry(&mut view!(self, room), index, sooner);
            }
            None => self.reenter(index),
        }
        Ok(true)
    }

    /// Changes what is known of a page: its importance, its belief.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn update(
        &mut self,
        now: Time,
        page: PageId,
        change: impl FnOnce(&mut M::Page),
    ) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        change(&mut self.pages[index as usize].page);
        self.reenter(index);
        Ok(())
    }

    /// A page is valued anew by what was learned since it was last fetched.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn refresh(&mut self, now: Time, page: PageId) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if self.pages[index as usize].status() == Status::Waiting {
            self.refresh_one(index);
        }
        Ok(())
    }

    /// The host of a page.
    ///
    /// # Errors
    /// If the page is unknown.
    pub fn host_of(&self, page: PageId) -> Result<HostId, FrontierError> {
        Ok(HostId(self.names[self.known(page)? as usize].host))
    }

    /// So much of the time since the last fetch of a page does not count: nothing could change, or nobody could have seen it.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn skip_time(&mut self, now: Time, page: PageId, span: Span) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let since = self.pages[index as usize].since();
        let waiting = self.pages[index as usize].status() == Status::Waiting;
        if waiting {
            // Out of the race before its place, which is kept relative to the fetch, changes.
            self.withdraw(index);
        }
        let fetched = (since.fetched() + span).min(now.max(since.fetched()));
        self.pages[index as usize].set_since(SinceFetch::with_signals(fetched, since.signals()));
        if waiting {
            self.race.enter(&mut view!(self), index);
        }
        Ok(())
    }

    /// The least and the greatest age at which a page is fetched.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn limit_age(&mut self, now: Time, page: PageId, limits: AgeLimits) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        let bounds = Bounds { limits, ..self.bounds.get(&index).copied().unwrap_or_default() };
        self.bound(index, bounds);
        self.reenter(index);
        Ok(())
    }

    /// A page is fetched before all others, whatever it is worth and even if it failed a moment ago, as soon as its host may be visited. Until
    /// [`Frontier::limit_age`] says otherwise.
    ///
    /// # Errors
    /// If the page is unknown, or time went backwards.
    pub fn hurry(&mut self, now: Time, page: PageId) -> Result<(), FrontierError> {
        self.advance(now)?;
        let index = self.known(page)?;
        if self.finds.contains(index) {
            self.finds.hurry(index, AT_ONCE);
        }
        let limits = AgeLimits { most: Span::ZERO, ..AgeLimits::default() };
        self.bound(index, Bounds { limits, ..Bounds::default() });
        self.reenter(index);
        Ok(())
    }

    /// A place for a page, in no race yet.
    pub(super) fn put(
        &mut self,
        page: M::Page,
        past: M::Past,
        host: HostId,
        fetched: Time,
    ) -> Result<u32, FrontierError> {
        self.host(host)?;
        let record = Record::new(page, fetched);
        if let Some(index) = self.vacant.pop() {
            self.pages[index as usize] = record;
            self.names[index as usize].host = host.0;
            self.pasts[index as usize] = past;
            return Ok(index);
        }
        let index = u32::try_from(self.pages.len()).map_err(|_| FrontierError::Full)?;
        push(&mut self.pages, record);
        push(&mut self.names, Name { host: host.0, generation: 0 });
        push(&mut self.pasts, past);
        Ok(index)
    }

    pub(super) fn bound(&mut self, index: u32, bounds: Bounds) {
        if bounds == Bounds::default() {
            self.bounds.remove(&index);
        } else {
            self.bounds.insert(index, bounds);
        }
        self.mark_special(index);
    }

    /// A page with limits, or a hub, is more than its value.
    pub(super) fn mark_special(&mut self, index: u32) {
        let special = self.bounds.contains_key(&index) || self.hubs.contains_key(&index);
        self.pages[index as usize].set_special(special);
    }
}

/// Like `Vec::push`, but grows by an eighth: of tens of millions, half would be too much to keep in reserve.
pub(super) fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() == all.capacity() {
        all.reserve_exact(all.len() / 8 + 64);
    }
    all.push(one);
}
