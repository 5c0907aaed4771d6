//! The fetches of a host as an assignment of its pages to slots, and what each fetch costs where it is.
//!
//! A slot is a time at which the host is asked. The cost of a fetch is the time for which its copy is stale between the fetch of the
//! same page before it and the one after it, times importance. Cost is convex in the time of the fetch, so its slope tells which
//! exchanges cannot pay, without computing them.

use super::problem::{PlanPage, Problem};

/// The link of a fetch that is the first or the last of its page.
const NONE: u32 = u32::MAX;
/// A change has to gain more than this share of the cost of the fetches that it moves: less may be rounding.
const LEAST_GAIN: f64 = 1e-11;

/// Slots in the order of time, with the page that is fetched in each.
pub(super) struct SlotTable<'a> {
    pages: &'a [PlanPage],
    horizon: f64,
    /// Seconds from the start.
    pub(super) times: Vec<f64>,
    /// Page numbers at the host.
    pub(super) page_at: Vec<u32>,
    /// The slots of the same page before and after.
    previous: Vec<u32>,
    next: Vec<u32>,
    /// The first slot of each page.
    first: Vec<u32>,
    /// Stale seconds around each fetch, times importance, and their derivative by its time.
    costs: Vec<f64>,
    slopes: Vec<f64>,
}

impl<'a> SlotTable<'a> {
    /// Pages are those of one host; `page_at` has their numbers at that host.
    pub(super) fn new(problem: &Problem, pages: &'a [PlanPage], times: Vec<f64>, page_at: Vec<u32>) -> Self {
        let slots = times.len();
        let mut table = Self {
            pages,
            horizon: problem.seconds(),
            times,
            page_at,
            previous: vec![NONE; slots],
            next: vec![NONE; slots],
            first: vec![NONE; pages.len()],
            costs: vec![0.0; slots],
            slopes: vec![0.0; slots],
        };
        let mut last = vec![NONE; pages.len()];
        for slot in 0..slots {
            let page = table.page_at[slot] as usize;
            let before = std::mem::replace(&mut last[page], slot as u32);
            table.previous[slot] = before;
            match before {
                NONE => table.first[page] = slot as u32,
                before => table.next[before as usize] = slot as u32,
            }
        }
        table.measure_all();
        table
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    pub(super) fn page_count(&self) -> usize {
        self.pages.len()
    }

    /// Puts the slots at other times, in the same order.
    pub(super) fn set_times(&mut self, times: &[f64]) {
        self.times.copy_from_slice(times);
        self.measure_all();
    }

    fn measure_all(&mut self) {
        for slot in 0..self.len() {
            self.measure(slot);
        }
    }

    /// Stale seconds of all fetched pages, times importance.
    pub(super) fn total(&self) -> f64 {
        let parts = (0..self.len()).map(|slot| {
            let page = &self.pages[self.page_at[slot] as usize];
            let rest = if self.next[slot] == NONE {
                page.stale_time(self.horizon).after_fetch(self.horizon - self.times[slot])
            } else {
                0.0
            };
            page.importance() * (self.before(page, self.previous[slot], self.times[slot]) + rest)
        });
        parts.sum()
    }

    /// The first and the second derivative of the cost of a fetch by its time.
    pub(super) fn slope_and_curvature(&self, slot: usize) -> (f64, f64) {
        let page = &self.pages[self.page_at[slot] as usize];
        let (since, until) = self.freshness(page, self.previous[slot], self.next[slot], self.times[slot]);
        (page.importance() * (since.1 - until.1), page.importance() * page.rate() * (since.0 + until.0))
    }

    /// Exchanges the pages of two slots, the earlier one first, if that costs less. Returns the gain.
    pub(super) fn exchange(&mut self, early: usize, late: usize) -> f64 {
        let (one, other) = (self.page_at[early], self.page_at[late]);
        // Costs are convex: a slope that is greater now stays so.
        if self.slopes[early] >= self.slopes[late] || one == other {
            return 0.0;
        }
        // NONE is later than every slot.
        let passes = self.next[early] < late as u32
            || (self.previous[late] != NONE && self.previous[late] > early as u32);
        if passes {
            return 0.0;
        }
        let before = self.costs[early] + self.costs[late];
        let cost = |page: u32, links: usize, slot: usize| {
            self.cost(&self.pages[page as usize], self.previous[links], self.next[links], self.times[slot])
        };
        let gain = before - cost(one, early, late) - cost(other, late, early);
        if !(gain > LEAST_GAIN * before) {
            return 0.0;
        }
        self.page_at.swap(early, late);
        self.previous.swap(early, late);
        self.next.swap(early, late);
        self.relink(early);
        self.relink(late);
        gain
    }

    /// Gives slots to a page that they serve better than those they have, trying every `stride`-th from `offset`. Returns the gain.
    pub(super) fn offer(&mut self, page: u32, stride: usize, offset: usize) -> f64 {
        let belief = &self.pages[page as usize];
        if belief.importance() == 0.0 {
            return 0.0;
        }
        let (mut before, mut gained) = (NONE, 0.0);
        loop {
            let after = if before == NONE { self.first[page as usize] } else { self.next[before as usize] };
            let start = if before == NONE { 0 } else { before as usize + 1 };
            let end = if after == NONE { self.len() } else { after as usize };
            let whole = belief.importance() * self.between(belief, before, after);
            let mut best = (0.0, 0);
            for slot in (start + (offset + stride - start % stride) % stride..end).step_by(stride) {
                let own = &self.pages[self.page_at[slot] as usize];
                let lost = own.importance() * self.between(own, self.previous[slot], self.next[slot])
                    - self.costs[slot];
                // What the page can gain at most is the whole.
                if lost >= whole {
                    continue;
                }
                let gain = whole - self.cost(belief, before, after, self.times[slot]) - lost;
                if gain > best.0 + LEAST_GAIN * whole {
                    best = (gain, slot);
                }
            }
            if best.0 > 0.0 {
                self.replace(best.1, page, before, after);
                gained += best.0;
            }
            if after == NONE {
                return gained;
            }
            before = after;
        }
    }

    /// Fetches a page, between two of its slots, in place of the one that has the slot.
    fn replace(&mut self, slot: usize, page: u32, before: u32, after: u32) {
        let (left, right) = (self.previous[slot], self.next[slot]);
        match left {
            NONE => self.first[self.page_at[slot] as usize] = right,
            left => self.next[left as usize] = right,
        }
        if right != NONE {
            self.previous[right as usize] = left;
        }
        self.page_at[slot] = page;
        (self.previous[slot], self.next[slot]) = (before, after);
        self.relink(slot);
        for neighbour in [left, right] {
            if neighbour != NONE {
                self.measure(neighbour as usize);
            }
        }
    }

    /// Tells the neighbours of a slot about it, and measures all three.
    fn relink(&mut self, slot: usize) {
        let (before, after) = (self.previous[slot], self.next[slot]);
        match before {
            NONE => self.first[self.page_at[slot] as usize] = slot as u32,
            before => {
                self.next[before as usize] = slot as u32;
                self.measure(before as usize);
            }
        }
        if after != NONE {
            self.previous[after as usize] = slot as u32;
            self.measure(after as usize);
        }
        self.measure(slot);
    }

    fn measure(&mut self, slot: usize) {
        let page = &self.pages[self.page_at[slot] as usize];
        let (before, after, time) = (self.previous[slot], self.next[slot], self.times[slot]);
        self.costs[slot] = self.cost(page, before, after, time);
        let (since, until) = self.freshness(page, before, after, time);
        self.slopes[slot] = page.importance() * (since.1 - until.1);
    }

    /// What a fetch at a time costs, between two slots of its page.
    fn cost(&self, page: &PlanPage, before: u32, after: u32, time: f64) -> f64 {
        let stale = page.stale_time(self.horizon);
        page.importance() * (self.before(page, before, time) + stale.after_fetch(self.time(after) - time))
    }

    /// Stale seconds from a slot, or the start, to a time.
    fn before(&self, page: &PlanPage, slot: u32, time: f64) -> f64 {
        let stale = page.stale_time(self.horizon);
        if slot == NONE {
            stale.after_start(time)
        } else {
            stale.after_fetch(time - self.times[slot as usize])
        }
    }

    /// Stale seconds from one slot of a page to another, without a fetch between them.
    fn between(&self, page: &PlanPage, before: u32, after: u32) -> f64 {
        self.before(page, before, self.time(after))
    }

    /// The time of a slot, or the end.
    fn time(&self, slot: u32) -> f64 {
        if slot == NONE { self.horizon } else { self.times[slot as usize] }
    }

    /// Chances that the copy is fresh and that it is stale: of the old copy just before a fetch, and of the new one at the next.
    fn freshness(&self, page: &PlanPage, before: u32, after: u32, time: f64) -> ((f64, f64), (f64, f64)) {
        let aged = |seconds: f64| {
            let stale = -(-page.rate() * seconds).exp_m1();
            (1.0 - stale, stale)
        };
        let since = match before {
            NONE if page.age() == f64::INFINITY => (0.0, 1.0),
            NONE => aged(page.age() + time),
            before => aged(time - self.times[before as usize]),
        };
        (since, aged(self.time(after) - time))
    }
}
