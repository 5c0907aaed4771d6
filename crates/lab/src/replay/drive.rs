//! The frontier in a recorded history.

use refrain_core::estimate::Answer;
use refrain_core::frontier::{AgeLimits, Frontier, HostId, Manners, Outcome, PageId};
use refrain_core::page::BeliefError;
use refrain_core::time::{Span, Time};

use super::ears::Ears;
use super::events::{self, Event};
use super::replayed::Replayed;
use super::siblings::Siblings;
use crate::simulate::SimulationError;
use crate::trace::{Trace, TracePage};

/// A trace, and how it is crawled.
pub(super) struct Drive<'a> {
    pub(super) trace: &'a Trace,
    /// Seconds from one slot for a fetch to the next; what cannot be used is lost.
    pub(super) period: f64,
    /// Whether a fetch says when the page was last changed.
    pub(super) dated: bool,
    /// No page waits longer than this.
    pub(super) floor: Option<Span>,
    /// Whether pages of a directory announce each other's changes.
    pub(super) affinity: bool,
}

/// The world as it is, and the frontier that does not know it.
struct World<'a, M: Replayed, F> {
    trace: &'a Trace,
    frontier: Frontier<M>,
    make: F,
    floor: Option<Span>,
    /// Pages by place, while they are there.
    ids: Vec<Option<PageId>>,
    /// Places by the frontier's own numbers.
    places: Vec<u32>,
    hosts: Vec<(u32, u32, HostId)>,
    /// Outages that go on: start and end, by source.
    outages: Vec<Option<(Time, Time)>>,
    /// The changes of each page that were seen.
    seen: Vec<usize>,
    /// For who does not believe everything.
    ears: Option<Ears>,
    /// Where a change announces others.
    siblings: Option<Siblings>,
}

impl Drive<'_> {
    /// When the trace begins.
    pub(super) fn start(&self) -> Time {
        self.trace.span().map_or(Time::ZERO, |(start, _)| start)
    }

    /// All fetches that are made. `make` gives a page as the model wants it.
    pub(super) fn run<M: Replayed, F>(
        &self,
        frontier: Frontier<M>,
        make: F,
    ) -> Result<Vec<(Time, u32)>, SimulationError>
    where
        F: FnMut(&mut M, HostId, &TracePage) -> Result<M::Page, BeliefError>,
    {
        let trace = self.trace;
        let Some((start, end)) = trace.span() else { return Ok(Vec::new()) };
        let mut world = World {
            trace,
            frontier,
            make,
            floor: self.floor,
            ids: vec![None; trace.pages.len()],
            places: Vec::new(),
            hosts: Vec::new(),
            outages: vec![None; trace.sources.len()],
            seen: vec![0; trace.pages.len()],
            ears: M::LISTENS.then(|| {
                // What pages of a directory say of each other is the last kind.
                Ears::new(trace.pages.len(), trace.kinds.len() + usize::from(self.affinity))
            }),
            siblings: self.affinity.then(|| Siblings::new(trace)),
        };
        let mut events = events::of(trace).into_iter().peekable();
        let mut made = Vec::new();
        let mut slot = 0u64;
        loop {
            let next = Some(slot_at(start, self.period, slot + 1)).filter(|next| *next <= end);
            if let Some((time, event)) = events.next_if(|(time, _)| *time <= next.unwrap_or(end)) {
                world.happen(time, event)?;
                continue;
            }
            let Some(now) = next else { break };
            slot += 1;
            if let Some(place) = world.fetch(now, self.dated)? {
                made.push((now, place));
                M::after_fetch(&mut world.frontier, &world.ids, now)?;
            }
        }
        Ok(made)
    }
}

/// Slot k is k periods after the start.
pub(super) fn slot_at(start: Time, seconds: f64, slot: u64) -> Time {
    start + Span::from_secs(seconds * slot as f64)
}

impl<M: Replayed, F> World<'_, M, F>
where
    F: FnMut(&mut M, HostId, &TracePage) -> Result<M::Page, BeliefError>,
{
    fn happen(&mut self, now: Time, event: Event) -> Result<(), SimulationError> {
        match event {
            Event::Appear(place) => {
                let page = &self.trace.pages[place as usize];
                let host = self.host(now, page.source, page.group)?;
                let page = (self.make)(self.frontier.model_mut(), host, page)?;
                let id = self.frontier.insert(now, page, host, now)?;
                if let Some(floor) = self.floor {
                    self.frontier.limit_age(now, id, AgeLimits { most: floor, ..AgeLimits::default() })?;
                }
                let index = id.index() as usize;
                if index >= self.places.len() {
                    self.places.resize(index + 1, u32::MAX);
                }
                self.places[index] = place;
                self.ids[place as usize] = Some(id);
            }
            Event::Vanish(place) => {
                if let Some(id) = self.ids[place as usize].take() {
                    self.frontier.remove(now, id)?;
                }
            }
            Event::Hear(place) => {
                if let Some(id) = self.ids[place as usize] {
                    self.frontier.update(now, id, M::hear)?;
                }
            }
            Event::Announce(place, kind) => {
                if let Some(id) = self.announce(now, place, kind)? {
                    self.frontier.signal(now, id)?;
                }
            }
            Event::Fail(source, until) => {
                self.outages[source as usize] = Some((now, until));
                for (_, _, host) in self.hosts.iter().filter(|(from, _, _)| *from == source) {
                    self.frontier.back_off(now, *host, until)?;
                }
            }
            Event::Recover(source, since) => {
                self.outages[source as usize] = None;
                for (page, id) in self.trace.pages.iter().zip(&self.ids) {
                    if let Some(id) = id.filter(|_| page.source == source) {
                        self.frontier.skip_time(now, id, now.since(since.max(page.first)))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Something announces a change of a page, which should count if the page is given.
    fn announce(&mut self, now: Time, place: u32, kind: u8) -> Result<Option<PageId>, SimulationError> {
        let page = &self.trace.pages[place as usize];
        let (source, group) = (page.source, page.group);
        let watched = self.outages[source as usize].is_none();
        let Some(id) = self.ids[place as usize].filter(|_| watched) else { return Ok(None) };
        let host = self.host(now, source, group)?;
        let heard = self.ears.as_mut().is_none_or(|ears| ears.hear(host, place, kind));
        self.listen_anew();
        Ok(heard.then_some(id))
    }

    /// A page was found changed, about then: others of its directory may have changed with it.
    fn tell_siblings(&mut self, now: Time, place: u32, then: Time) -> Result<(), SimulationError> {
        let Some(siblings) = &self.siblings else { return Ok(()) };
        let kind = self.trace.kinds.len() as u8;
        for other in siblings.to_tell(self.trace, place, then) {
            if let Some(id) = self.announce(now, other, kind)? {
                self.frontier.update(now, id, M::hear)?;
                self.frontier.signal(now, id)?;
            }
        }
        Ok(())
    }

    /// Where others are heard than before, the model forgets what those said.
    fn listen_anew(&mut self) {
        for number in self.ears.iter_mut().flat_map(Ears::reconsidered) {
            let host = self.hosts.iter().find(|(_, _, host)| host.index() == number);
            if let Some((_, _, host)) = host {
                self.frontier.model_mut().listen_anew(*host);
            }
        }
    }

    fn host(&mut self, now: Time, source: u32, group: u32) -> Result<HostId, SimulationError> {
        let known = self.hosts.iter().find(|(s, g, _)| (*s, *g) == (source, group));
        if let Some((_, _, host)) = known {
            return Ok(*host);
        }
        let host = self.frontier.add_host(Manners { in_flight: u16::MAX, ..Manners::default() });
        if let Some((_, until)) = self.outages[source as usize] {
            self.frontier.back_off(now, host, until)?;
        }
        self.hosts.push((source, group, host));
        Ok(host)
    }

    fn fetch(&mut self, now: Time, dated: bool) -> Result<Option<u32>, SimulationError> {
        let Some(order) = self.frontier.poll(now)? else { return Ok(None) };
        let place = self.places[order.page.index() as usize];
        let page = &self.trace.pages[place as usize];
        let changes = &page.changes;
        let seen = &mut self.seen[place as usize];
        let until_now = *seen + changes[*seen..].partition_point(|change| *change <= now);
        let answer = if until_now > *seen { Answer::Changed } else { Answer::Unchanged };
        *seen = until_now;
        if let Some(ears) = &mut self.ears {
            let (known, since) = self.frontier.page(order.page)?;
            let rate = self.frontier.model().change_rate(known, self.frontier.past(order.page)?);
            let spoken_of = page.heard_from.is_some_and(|from| from <= now);
            let rate = rate.or_else(|| M::expected(known));
            let expected = rate.map(|rate| rate * since.elapsed(now).as_secs());
            let told = self.siblings.as_ref().is_some_and(|siblings| siblings.speak_of(self.trace, place));
            let speaks = |kind: u8| if usize::from(kind) < self.trace.kinds.len() { spoken_of } else { told };
            ears.learn(order.host, place, expected, answer == Answer::Changed, speaks);
        }
        // By the clock of its source, as the time between fetches is.
        let ago = |change: Time| {
            let usable = Span::from_secs(self.trace.clock(page).between(change, now));
            Time::from_nanos(now.as_nanos().saturating_sub(usable.as_nanos() as i64))
        };
        let modified = until_now.checked_sub(1).filter(|_| dated).map(|last| ago(changes[last]));
        let outcome = modified.map_or(Outcome::Seen(answer), |modified| Outcome::Dated { answer, modified });
        self.frontier.answer(now, order.id, outcome, None)?;
        let before = self.siblings.as_mut().map(|siblings| siblings.see(place, now));
        if let Some(before) = before.filter(|_| answer == Answer::Changed) {
            // In the middle, where nothing says when: a page that was seen later has more likely seen this change than not.
            let middle = before + Span::from_secs(now.since(before).as_secs() / 2.0);
            self.tell_siblings(now, place, if dated { changes[until_now - 1] } else { middle })?;
        }
        Ok(Some(place))
    }
}
