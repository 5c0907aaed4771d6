//! A page as it is kept: small, since there may be tens of millions, and what a look needs within one line of the cache.

use super::race::Place;
use crate::page::SinceFetch;
use crate::time::{Span, Time};

/// What a page is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    /// It takes part in a race.
    Waiting,
    /// It is being fetched.
    Ordered,
    /// There is no page here.
    Vacant,
    /// It was found and never fetched.
    New,
}

/// A page: what is needed to value it and to find its place.
#[derive(Clone, Debug)]
#[repr(align(32))]
pub(super) struct Record<P> {
    pub(super) page: P,
    fetched: Time,
    /// Until when it sleeps: seconds after the fetch, rounded down. To wake early is always right.
    wake: f32,
    /// Signals in the upper 24 bits, then what is in `State`.
    packed: u32,
}

const SIGNALS_SHIFT: u32 = 8;
const MOST_SIGNALS: u32 = u32::MAX >> SIGNALS_SHIFT;
const PLACE: u32 = 0b111;
const SEAT: u32 = 0b111;
const BEHIND: u32 = 0b110;
const STATUS_SHIFT: u32 = 3;
const STATUS: u32 = 0b11 << STATUS_SHIFT;
const IN_ROOM: u32 = 1 << 5;
const SPECIAL: u32 = 1 << 6;

impl<P> Record<P> {
    pub(super) fn new(page: P, fetched: Time) -> Self {
        Self { page, fetched, wake: f32::INFINITY, packed: 0 }
    }

    pub(super) fn since(&self) -> SinceFetch {
        SinceFetch::with_signals(self.fetched, self.packed >> SIGNALS_SHIFT)
    }

    pub(super) fn set_since(&mut self, since: SinceFetch) {
        self.fetched = since.fetched();
        let rest = self.packed & !(MOST_SIGNALS << SIGNALS_SHIFT);
        self.packed = since.signals().min(MOST_SIGNALS) << SIGNALS_SHIFT | rest;
    }

    pub(super) fn fetched(&self) -> Time {
        self.fetched
    }

    /// Where it is, and until when it sleeps.
    pub(super) fn place(&self) -> (Place, Time) {
        let place = match self.packed & PLACE {
            0 => Place::Out,
            SEAT => Place::Seat,
            BEHIND => Place::Behind,
            tier => Place::Tier(tier as u8 - 1),
        };
        (place, self.wake())
    }

    /// Whether it sleeps in this tier, of whichever race.
    #[inline]
    pub(super) fn sleeps_in(&self, tier: usize) -> bool {
        self.packed & PLACE == tier as u32 + 1
    }

    fn wake(&self) -> Time {
        if self.wake < f32::INFINITY {
            self.fetched + Span::from_secs(f64::from(self.wake))
        } else {
            Time::MAX
        }
    }

    /// Puts it somewhere, asleep until then or a little earlier.
    pub(super) fn set_place(&mut self, place: Place, wake: Time) {
        self.wake =
            if wake < Time::MAX { not_above(wake.since(self.fetched).as_secs()) } else { f32::INFINITY };
        let place = match place {
            Place::Out => 0,
            Place::Seat => SEAT,
            Place::Behind => BEHIND,
            Place::Tier(tier) => u32::from(tier) + 1,
        };
        self.packed = self.packed & !PLACE | place;
    }

    pub(super) fn status(&self) -> Status {
        match (self.packed & STATUS) >> STATUS_SHIFT {
            0 => Status::Waiting,
            1 => Status::Ordered,
            2 => Status::Vacant,
            _ => Status::New,
        }
    }

    pub(super) fn set_status(&mut self, status: Status) {
        self.packed = self.packed & !STATUS | (status as u32) << STATUS_SHIFT;
    }

    /// Whether it waits in the room of its host.
    pub(super) fn is_in_room(&self) -> bool {
        self.packed & IN_ROOM != 0
    }

    pub(super) fn set_in_room(&mut self, in_room: bool) {
        self.packed = self.packed & !IN_ROOM | if in_room { IN_ROOM } else { 0 };
    }

    /// Whether more is known of it, beside its value, that decides when it is fetched.
    pub(super) fn is_special(&self) -> bool {
        self.packed & SPECIAL != 0
    }

    pub(super) fn set_special(&mut self, special: bool) {
        self.packed = self.packed & !SPECIAL | if special { SPECIAL } else { 0 };
    }
}

fn not_above(secs: f64) -> f32 {
    let single = secs as f32;
    if f64::from(single) > secs { single.next_down() } else { single }
}

/// Who a page is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) host: u32,
    pub(super) generation: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out() {
        let mut record = Record::new((), Time::from_nanos(5));
        for place in [Place::Tier(0), Place::Tier(2), Place::Seat, Place::Behind, Place::Out] {
            for status in [Status::Ordered, Status::Vacant, Status::Waiting] {
                record.set_place(place, Time::MAX);
                record.set_status(status);
                record.set_in_room(status == Status::Ordered);
                record.set_special(status == Status::Vacant);
                record.set_since(SinceFetch::with_signals(Time::from_nanos(7), 12_345));
                assert_eq!((record.place(), record.status()), ((place, Time::MAX), status));
                assert_eq!(record.is_in_room(), status == Status::Ordered);
                assert_eq!(record.is_special(), status == Status::Vacant);
                assert_eq!(record.since(), SinceFetch::with_signals(Time::from_nanos(7), 12_345));
            }
        }
        record.set_since(SinceFetch::with_signals(Time::ZERO, u32::MAX));
        assert_eq!(record.since().signals(), MOST_SIGNALS);
        assert_eq!(record.status(), Status::Waiting);
    }

    #[test]
    fn it_wakes_early_by_a_ten_millionth_at_most() {
        let mut record = Record::new((), Time::ZERO);
        for nanos in [1, 999, 1_234_567_890_123, 98_765_432_109_876_543] {
            let wake = Time::from_nanos(nanos);
            record.set_place(Place::Tier(1), wake);
            let (_, rounded) = record.place();
            assert!(
                rounded <= wake
                    && wake.since(rounded).as_secs() <= 1.2e-7 * wake.since(Time::ZERO).as_secs() + 1e-9
            );
        }
    }
}
