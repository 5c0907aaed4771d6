//! The order in which the pages of a host lose least.
//!
//! If crawlers are busy all the time, fetches are spread evenly from the first moment to the last, though right after the start
//! and right before the end they are worth little: that is most of what separates plans from the bound. What can be chosen is whose
//! fetches are there. A fetch between its neighbours at a and b would best be in the middle; to be at u from it costs
//! w(e^{-λ(b-t)} - e^{-λ(t-a)}) per second. Where nothing is left to gain, that slope is the same for all fetches of a host
//! about the same moment. So, a few times over: take the mean slope about each moment, ask for each fetch where it would have that
//! slope, and put all in the order of the answers.

use super::allocate::Allocation;
use super::problem::{PlanHost, PlanPage, Problem};
use super::programme::HostProgramme;

/// How often fetches are put in order.
const ROUNDS: u32 = 5;
/// Slopes are known for so many moments, if there are enough fetches for that.
const MOST_BINS: usize = 24;
const FETCHES_PER_BIN: usize = 48;

/// Times for the fetches of a host, of which crawlers allow `use_of_crawlers` of the average rate at most at any time.
pub(super) fn programme(
    problem: &Problem,
    host: &PlanHost,
    allocation: &Allocation,
    use_of_crawlers: f64,
    number: usize,
) -> HostProgramme {
    let mut desk = Desk::new(problem, host, allocation);
    if desk.wishes.is_empty() {
        return HostProgramme::default();
    }
    let slots = Slots::new(problem, host, desk.wishes.len(), use_of_crawlers, number);
    slots.give(&mut desk.wishes, &mut desk.order);
    for _ in 0..ROUNDS {
        desk.wish_again();
        slots.give(&mut desk.wishes, &mut desk.order);
    }
    let first = host.pages().start as u32;
    // Rounded down; who assigns them to crawlers sees to the gaps.
    let times = desk.wishes.iter().map(|(time, _)| (*time * 1e9) as u64).collect();
    HostProgramme { times, pages: desk.wishes.iter().map(|(_, page)| first + *page).collect() }
}

/// Where fetches can be.
struct Slots {
    horizon: f64,
    /// They are so far apart at least.
    gap: f64,
    /// If there is no choice: the first.
    fixed: Option<f64>,
}

/// Hosts are asked at different moments of their rhythm: fractions of the golden ratio are spread evenly.
const STAGGER: f64 = 0.618_033_988_749_894_9;

impl Slots {
    fn new(problem: &Problem, host: &PlanHost, fetches: usize, use_of_crawlers: f64, number: usize) -> Self {
        let horizon = problem.seconds();
        let even = horizon / fetches as f64;
        let gap = (use_of_crawlers.min(1.0) * even).max(host.gap().as_secs()).min(even);
        let fixed = (gap > 0.999 * even).then(|| even * (number as f64 * STAGGER).fract());
        Self { horizon, gap, fixed }
    }

    /// Puts wishes in order and moves them, as little as possible (in squares), to where fetches can be.
    fn give(&self, wishes: &mut [(f64, u32)], order: &mut Vec<u64>) {
        // As whole numbers, a four thousand millionth of the horizon each, with the page behind: that sorts fastest. Wishes a
        // horizon too early or too late are as good as any.
        let scale = f64::from(u32::MAX) / (3.0 * self.horizon);
        order.clear();
        order.extend(
            wishes.iter().map(|(wish, page)| {
                u64::from(((wish + self.horizon) * scale) as u32) << 32 | u64::from(*page)
            }),
        );
        order.sort_unstable();
        for (wish, key) in wishes.iter_mut().zip(order) {
            *wish = ((*key >> 32) as f64 / scale - self.horizon, *key as u32);
        }
        if let Some(first) = self.fixed {
            let even = self.horizon / wishes.len() as f64;
            for (rank, (time, _)) in wishes.iter_mut().enumerate() {
                *time = first + rank as f64 * even;
            }
            return;
        }
        // Without the gaps they only must not go back: neighbours that would are moved to their mean.
        let mut blocks: Vec<(f64, usize)> = Vec::new();
        for (rank, (wish, _)) in wishes.iter().enumerate() {
            let mut block = (wish - rank as f64 * self.gap, 1);
            while let Some((mean, count)) = blocks.last().copied()
                && mean >= block.0
            {
                let all = count + block.1;
                block = ((mean * count as f64 + block.0 * block.1 as f64) / all as f64, all);
                blocks.pop();
            }
            blocks.push(block);
        }
        let latest = self.horizon - wishes.len() as f64 * self.gap;
        let mut rank = 0;
        for (mean, count) in blocks {
            let start = mean.clamp(0.0, latest.max(0.0));
            for (time, _) in &mut wishes[rank..rank + count] {
                *time = start + rank as f64 * self.gap;
                rank += 1;
            }
        }
    }
}

/// The fetches of a host, and what is needed to ask again.
struct Desk<'a> {
    pages: &'a [PlanPage],
    horizon: f64,
    /// Moments and pages (numbers at the host).
    wishes: Vec<(f64, u32)>,
    /// Room to sort them in.
    order: Vec<u64>,
    /// Where the fetches of a page begin in the lists below, and how many of them are there.
    starts: Vec<u32>,
    filled: Vec<u32>,
    /// Moments by page, and e^{-λ·} of the times to the fetch before and after.
    times: Vec<f64>,
    since: Vec<f64>,
    until: Vec<f64>,
}

impl<'a> Desk<'a> {
    fn new(problem: &'a Problem, host: &PlanHost, allocation: &Allocation) -> Self {
        let (pages, horizon) = (&problem.pages()[host.pages()], problem.seconds());
        let mut wishes = Vec::new();
        let mut starts = Vec::with_capacity(pages.len() + 1);
        for (number, (page, count)) in pages.iter().zip(&allocation.counts[host.pages()]).enumerate() {
            starts.push(wishes.len() as u32);
            let (stale, count) = (page.stale_time(horizon), u64::from(*count));
            wishes.extend((1..=count).map(|j| (stale.moment(count, j), number as u32)));
        }
        starts.push(wishes.len() as u32);
        let empty = vec![0.0; wishes.len()];
        Self {
            pages,
            horizon,
            order: Vec::new(),
            filled: vec![0; pages.len()],
            starts,
            times: empty.clone(),
            since: empty.clone(),
            until: empty,
            wishes,
        }
    }

    /// Where would each fetch rather be, given where the others are?
    fn wish_again(&mut self) {
        self.filled.fill(0);
        for (time, page) in &self.wishes {
            let filled = &mut self.filled[*page as usize];
            self.times[(self.starts[*page as usize] + *filled) as usize] = *time;
            *filled += 1;
        }
        let slopes = self.slopes();
        let mut place = 0;
        for (number, page) in self.pages.iter().enumerate() {
            let own = self.starts[number] as usize..self.starts[number + 1] as usize;
            let age = page.stale_time(self.horizon).age;
            for k in own.clone() {
                let before = if k > own.start { self.times[k - 1] } else { -age };
                let after = if k + 1 < own.end { self.times[k + 1] } else { self.horizon };
                let slope = slopes.at(self.times[k]) / page.importance();
                let wish = if before == f64::NEG_INFINITY {
                    // Never fetched: the sooner the better, the most important first.
                    -1e-3 * self.horizon * page.importance() * self.until[k]
                } else {
                    let (middle, half) = (0.5 * (before + after), 0.5 * (after - before));
                    // 2 e^{-λ·half} sinh(λu) = -slope
                    let stiffness = 2.0 * (self.since[k] * self.until[k]).sqrt();
                    let aside = if slope == 0.0 { 0.0 } else { -area_sinh(slope / stiffness) / page.rate() };
                    middle + aside.clamp(-half, half)
                };
                self.wishes[place] = (wish, number as u32);
                place += 1;
            }
        }
    }

    /// What it costs fetches about each moment to be later.
    fn slopes(&mut self) -> Slopes {
        let bins = (self.times.len() / FETCHES_PER_BIN).clamp(1, MOST_BINS);
        let mut slopes = Slopes { per_second: bins as f64 / self.horizon, means: vec![0.0; bins] };
        let mut counts = vec![0.0f64; bins];
        for (number, page) in self.pages.iter().enumerate() {
            let own = self.starts[number] as usize..self.starts[number + 1] as usize;
            for k in own.clone() {
                let time = self.times[k];
                self.since[k] = if k > own.start {
                    self.until[k - 1]
                } else {
                    page.fresh_at_start() * (-page.rate() * time).exp()
                };
                let after = if k + 1 < own.end { self.times[k + 1] } else { self.horizon };
                self.until[k] = (-page.rate() * (after - time)).exp();
                let bin = ((time * slopes.per_second) as usize).min(bins - 1);
                slopes.means[bin] += page.importance() * (self.since[k] - self.until[k]);
                counts[bin] += 1.0;
            }
        }
        for (mean, count) in slopes.means.iter_mut().zip(counts) {
            *mean /= f64::max(count, 1.0);
        }
        slopes
    }
}

/// Exact enough to put things in order, and faster than to the last digit.
fn area_sinh(x: f64) -> f64 {
    let size = x.abs();
    if size < 1e-3 { x } else { (size + (size * size + 1.0).sqrt()).ln().copysign(x) }
}

/// Means over moments, and between them along straight lines.
struct Slopes {
    per_second: f64,
    means: Vec<f64>,
}

impl Slopes {
    fn at(&self, time: f64) -> f64 {
        // A host with few fetches knows no slope: the middle is best.
        if self.means.len() < 2 {
            return 0.0;
        }
        let place = (time * self.per_second - 0.5).clamp(0.0, self.means.len() as f64 - 1.0);
        let bin = (place as usize).min(self.means.len() - 2);
        let part = place - bin as f64;
        self.means[bin] * (1.0 - part) + self.means[bin + 1] * part
    }
}
