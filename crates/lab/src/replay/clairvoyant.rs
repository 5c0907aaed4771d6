//! Who knows the future: what no policy can beat.
//!
//! A fetch of a page freshens its copy until the page's next change. So each time between two changes is a prize: it falls from
//! importance × length at its beginning to nothing at its end, and one fetch takes what is left of it.

use refrain_core::time::Time;

use super::Score;
use crate::trace::Trace;

/// What a page has to give.
struct Unseen<'a> {
    /// The changes that the copy does not have, and all later ones.
    unseen: &'a [Time],
    /// The changes until now.
    missed: usize,
}

/// The fetches of one who knows the future: the better of two plans. One takes the greatest prize at every slot, the other, of those
/// that are worth a fetch at all, that of which most is lost by waiting. Neither need be the best there is; [`bound`] says how far
/// they can be off.
pub(super) fn fetches(trace: &Trace, slots: &[Time]) -> Vec<(Time, u32)> {
    let price = Prizes::of(trace).price(slots.len());
    let plans = [f64::INFINITY, price].map(|price| {
        let plan = plan(trace, slots, price);
        (Score::of(trace, &plan).freshness, plan)
    });
    let [greatest, hurried] = plans;
    if hurried.0 > greatest.0 { hurried.1 } else { greatest.1 }
}

/// Prizes of at least this price go first, by what is lost per second; then the greatest.
fn plan(trace: &Trace, slots: &[Time], price: f64) -> Vec<(Time, u32)> {
    let mut states: Vec<Unseen<'_>> =
        trace.pages.iter().map(|page| Unseen { unseen: &page.changes, missed: 0 }).collect();
    let mut appearing: Vec<u32> = (0..trace.pages.len() as u32).collect();
    appearing.sort_by_key(|place| std::cmp::Reverse(trace.pages[*place as usize].first));
    let mut there: Vec<u32> = Vec::new();
    let mut made = Vec::new();
    for now in slots.iter().copied() {
        while let Some(place) = appearing.pop_if(|place| trace.pages[*place as usize].first <= now) {
            there.push(place);
        }
        let mut best: Option<((bool, f64), u32)> = None;
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
                let worth = if prize >= price { (true, page.importance) } else { (false, prize) };
                if best.is_none_or(|(most, _)| worth > most) {
                    best = Some((worth, *place));
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
    let Prizes { free, all, mut prizes } = Prizes::of(trace);
    if fetches < prizes.len() {
        prizes.select_nth_unstable_by(fetches, |a, b| b.total_cmp(a));
        prizes.truncate(fetches);
    }
    if all > 0.0 { (free + prizes.iter().sum::<f64>()) / all } else { 0.0 }
}

/// All there is to win.
struct Prizes {
    /// What the copies at the first moments give.
    free: f64,
    /// What perfect copies would give.
    all: f64,
    prizes: Vec<f64>,
}

impl Prizes {
    fn of(trace: &Trace) -> Self {
        let mut prizes = Self { free: 0.0, all: 0.0, prizes: Vec::with_capacity(trace.changes()) };
        for page in &trace.pages {
            let clock = trace.clock(page);
            prizes.all += page.importance * trace.alive(page);
            let mut from = page.first;
            for (number, to) in page.changes.iter().chain([&page.last]).enumerate() {
                let prize = page.importance * clock.between(from, *to);
                if number == 0 {
                    prizes.free += prize;
                } else {
                    prizes.prizes.push(prize);
                }
                from = *to;
            }
        }
        prizes
    }

    /// The least prize that so many fetches could take, if all came when they are wanted.
    fn price(mut self, fetches: usize) -> f64 {
        if fetches >= self.prizes.len() {
            return 0.0;
        }
        *self.prizes.select_nth_unstable_by(fetches, |a, b| b.total_cmp(a)).1
    }
}
