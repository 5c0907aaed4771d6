//! What happens in a trace, in the order of time, whatever a policy does.

use refrain_core::time::Time;

use crate::trace::Trace;

/// Something that happens. Of what happens at the same moment, the first of these comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A page, by place, is gone.
    Vanish(u32),
    /// An outage of a source ends; it began then.
    Recover(u32, Time),
    /// A page is there, with a copy.
    Appear(u32),
    /// Changes of a page may be announced from now on.
    Hear(u32),
    /// An outage of a source begins; it ends then.
    Fail(u32, Time),
    /// Something, of this kind, announces a change of a page.
    Announce(u32, u8),
}

/// All that happens.
pub(super) fn of(trace: &Trace) -> Vec<(Time, Event)> {
    let mut events: Vec<(Time, Event)> =
        trace.announcements.iter().map(|told| (told.time, Event::Announce(told.page, told.kind))).collect();
    for (place, page) in trace.pages.iter().enumerate() {
        events.push((page.first, Event::Appear(place as u32)));
        events.push((page.last, Event::Vanish(place as u32)));
        if let Some(from) = page.heard_from {
            events.push((from.max(page.first), Event::Hear(place as u32)));
        }
    }
    for (source, clock) in trace.sources.iter().enumerate() {
        for (start, end) in clock.outages() {
            events.push((*start, Event::Fail(source as u32, *end)));
            events.push((*end, Event::Recover(source as u32, *start)));
        }
    }
    events.sort_unstable();
    events
}
