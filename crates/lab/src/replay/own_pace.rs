//! Policies with intervals of their own that keep to them, whatever that costs: no page needs to know of another.

use refrain_core::estimate::{Answer, Observation};
use refrain_core::frontier::{Rule, Rules};
use refrain_core::page::SinceFetch;
use refrain_core::time::Time;

use crate::trace::Trace;

/// All fetches, in the order of time.
pub(super) fn fetches(rule: Rule, trace: &Trace) -> Vec<(Time, u32)> {
    let rules = Rules::new(rule);
    let mut told: Vec<Vec<Time>> = vec![Vec::new(); trace.pages.len()];
    for announcement in &trace.announcements {
        told[announcement.page as usize].push(announcement.time);
    }
    let mut made = Vec::new();
    for (place, page) in trace.pages.iter().enumerate() {
        let clock = trace.clock(page);
        let mut state = rules.page(page.importance as f32);
        let (mut fetched, mut unseen, mut told) =
            (page.first, page.changes.as_slice(), told[place].as_slice());
        loop {
            told = &told[told.partition_point(|time| *time <= fetched)..];
            let told_at = told.first().map_or(Time::MAX, |time| clock.after(*time, 0.0));
            let announced = |signals| SinceFetch::with_signals(fetched, signals);
            // At its due date, or when something is announced that makes it due.
            let due = rules.due(&state, &announced(0));
            let mut now = if due.is_finite() { clock.after(fetched, due) } else { Time::MAX };
            if told_at < now && rules.due(&state, &announced(1)) < due {
                now = told_at;
            }
            if now >= page.last {
                break;
            }
            let seen = unseen.partition_point(|change| *change <= now);
            let answer = if seen > 0 { Answer::Changed } else { Answer::Unchanged };
            let modified = page.changes.len() - unseen.len() + seen;
            unseen = &unseen[seen..];
            let elapsed = clock.between(fetched, now);
            if let Ok(seen) = Observation::new(elapsed, 0, answer) {
                let content_age = modified.checked_sub(1).map(|last| clock.between(page.changes[last], now));
                rules.see(&mut state, &seen.dated(content_age));
            }
            made.push((now, place as u32));
            fetched = now;
        }
    }
    made.sort_unstable();
    made
}
