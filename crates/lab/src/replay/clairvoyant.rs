//! Who knows the future: what no policy can beat.
//!
//! A fetch of a page freshens its copy until the page's next change. So each time between two changes is a prize: it falls from
//! importance × length at its beginning to nothing at its end, and one fetch takes what is left of it.

use refrain_core::time::Time;

use crate::trace::Trace;

/// The times between changes, and what is left of them, of one page.
struct Prizes<'a> {
    /// The changes that the copy does not have, and all later ones.
    unseen: &'a [Time],
    /// The changes until now.
    missed: usize,
}

/// The fetches of one who, at every slot, takes the greatest prize. That need not be the best plan; [`bound`] says how far it
/// can be off.
pub(super) fn fetches(trace: &Trace, slots: impl Iterator<Item = Time>) -> Vec<(Time, u32)> {
    let mut states: Vec<Prizes<'_>> =
        trace.pages.iter().map(|page| Prizes { unseen: &page.changes, missed: 0 }).collect();
    let mut appearing: Vec<u32> = (0..trace.pages.len() as u32).collect();
    appearing.sort_by_key(|place| std::cmp::Reverse(trace.pages[*place as usize].first));
    let mut there: Vec<u32> = Vec::new();
    let mut made = Vec::new();
    for now in slots {
        while let Some(place) = appearing.pop_if(|place| trace.pages[*place as usize].first <= now) {
            there.push(place);
        }
        let mut best: Option<(f64, u32)> = None;
        there.retain(|place| {
            let page = &trace.pages[*place as usize];
            if page.last <= now {
                return false;
            }
            let state = &mut states[*place as usize];
            while state.unseen.get(state.missed).is_some_and(|change| *change <= now) {
                state.missed += 1;
            }
            if state.missed > 0 && !in_outage(trace, *place, now) {
                let next = state.unseen.get(state.missed).copied().unwrap_or(page.last);
                let prize = page.importance * trace.clock(page).between(now, next);
                if best.is_none_or(|(most, _)| prize > most) {
                    best = Some((prize, *place));
                }
            }
            true
        });
        if let Some((_, place)) = best {
            let state = &mut states[place as usize];
            state.unseen = &state.unseen[state.missed..];
            state.missed = 0;
            made.push((now, place));
        }
    }
    made
}

fn in_outage(trace: &Trace, place: u32, now: Time) -> bool {
    let outages = trace.clock(&trace.pages[place as usize]).outages();
    let after = outages.partition_point(|(start, _)| *start <= now);
    after > 0 && now < outages[after - 1].1
}

/// A freshness (by importance) that no policy exceeds with so many fetches: as if each of the greatest prizes could be taken at its
/// very beginning.
pub(super) fn bound(trace: &Trace, fetches: usize) -> f64 {
    let (mut free, mut all) = (0.0, 0.0);
    let mut prizes: Vec<f64> = Vec::with_capacity(trace.changes());
    for page in &trace.pages {
        let clock = trace.clock(page);
        all += page.importance * trace.alive(page);
        let mut from = page.first;
        for (number, to) in page.changes.iter().chain([&page.last]).enumerate() {
            let prize = page.importance * clock.between(from, *to);
            if number == 0 {
                free += prize;
            } else {
                prizes.push(prize);
            }
            from = *to;
        }
    }
    if fetches < prizes.len() {
        prizes.select_nth_unstable_by(fetches, |a, b| b.total_cmp(a));
        prizes.truncate(fetches);
    }
    if all > 0.0 { (free + prizes.iter().sum::<f64>()) / all } else { 0.0 }
}
