//! Times for the fetches of a host, spread only as far as the host and the crawlers demand.
//!
//! Fetches begin at the best moments of their pages, as far apart as they must be. Then, a few times over: pages are exchanged between
//! the times (`improve`), and the times move, in the order that this gave, to where the fetches cost less. The cost of a fetch is convex in
//! its time; near where it is, it is about a parabola, and the lowest sum of parabolas under least distances is a weighted isotonic
//! regression. Half steps are tried where a whole one leads too far.

use super::allocate::Allocation;
use super::problem::{PlanHost, Problem};
use super::programme::HostProgramme;
use super::slots::SlotTable;

/// How often pages and times are improved in turns.
const ROUNDS: u32 = 4;
/// The share of the effort of a plan that goes into each of these rounds.
const SHARE_OF_EFFORT: u64 = 8;
/// Hosts are asked at different moments of their rhythm: fractions of the golden ratio are spread evenly.
const STAGGER: f64 = 0.618_033_988_749_894_9;

/// Times for the fetches of a host, of which crawlers allow `use_of_crawlers` of the average rate at most at any time.
pub(super) fn programme(
    problem: &Problem,
    host: &PlanHost,
    allocation: &Allocation,
    use_of_crawlers: f64,
    number: usize,
) -> HostProgramme {
    let wishes = allocation.wishes(problem, host);
    if wishes.is_empty() {
        return HostProgramme::default();
    }
    let first = host.pages().start as u32;
    let room = HostRoom::new(problem, host, wishes.len(), use_of_crawlers);
    let page_at = wishes.iter().map(|(_, page)| page - first).collect();
    let pages = &problem.pages()[host.pages()];
    let table = if let Some(even) = room.fixed {
        let start = (even * (number as f64 * STAGGER).fract()).min(room.latest);
        let times = (0..wishes.len()).map(|rank| start + rank as f64 * room.gap.max(even)).collect();
        SlotTable::new(problem, pages, times, page_at)
    } else {
        let times = room.nearest(wishes.iter().map(|(wish, _)| (*wish, 1.0)));
        let mut table = SlotTable::new(problem, pages, times, page_at);
        let effort = super::improve::effort(allocation.total()) / SHARE_OF_EFFORT;
        for _ in 0..ROUNDS {
            table.improve(effort);
            if !room.improve_times(&mut table) {
                break;
            }
        }
        table
    };
    // Rounded down: assigning them to crawlers keeps the gaps.
    let times = table.times.iter().map(|time| (*time * 1e9) as u64).collect();
    HostProgramme { times, pages: table.page_at.iter().map(|page| first + page).collect() }
}

/// Where the fetches of a host can be.
struct HostRoom {
    horizon: f64,
    /// The least time from each to the next.
    gap: f64,
    /// The latest time of the first.
    latest: f64,
    /// The time from each to the next, if there is no choice.
    fixed: Option<f64>,
}

impl HostRoom {
    fn new(problem: &Problem, host: &PlanHost, fetches: usize, use_of_crawlers: f64) -> Self {
        let horizon = problem.seconds();
        let even = horizon / fetches as f64;
        let gap = (use_of_crawlers.min(1.0) * even).max(host.gap().as_secs());
        let fixed = (gap > 0.999 * even).then_some(even);
        let latest = (horizon - (fetches - 1) as f64 * gap.max(fixed.unwrap_or(0.0))).max(0.0) * (1.0 - 1e-9);
        Self { horizon, gap, latest, fixed }
    }

    /// The times nearest to wishes with weights, in their order: the sum of weighted squares of distances is least.
    fn nearest(&self, wishes: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
        // Without the gaps they only must not go back: neighbours that would are moved to their mean.
        let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
        for (rank, (wish, weight)) in wishes.enumerate() {
            let mut block = (wish - rank as f64 * self.gap, weight, 1);
            while let Some((mean, weight, count)) = blocks.last().copied()
                && mean >= block.0
            {
                let all = weight + block.1;
                block = ((mean * weight + block.0 * block.1) / all, all, count + block.2);
                blocks.pop();
            }
            blocks.push(block);
        }
        let starts = blocks.iter().flat_map(|(mean, _, count)| std::iter::repeat_n(*mean, *count));
        let times =
            starts.enumerate().map(|(rank, start)| start.clamp(0.0, self.latest) + rank as f64 * self.gap);
        times.collect()
    }

    /// Moves fetches to where they cost less, if there is such a place. Returns whether there is.
    fn improve_times(&self, table: &mut SlotTable<'_>) -> bool {
        let (old, before) = (table.times.clone(), table.total());
        let wish = |slot: usize| {
            let (slope, curvature) = table.slope_and_curvature(slot);
            // A fetch whose cost is nearly straight goes no farther than a horizon; its slope still pulls as strongly.
            let weight = curvature.max(slope.abs() / self.horizon).max(f64::MIN_POSITIVE);
            (old[slot] - slope / weight, weight)
        };
        let target = self.nearest((0..table.len()).map(wish));
        for step in [1.0, 0.5, 0.25, 0.1] {
            let times: Vec<f64> =
                old.iter().zip(&target).map(|(old, target)| old + step * (target - old)).collect();
            table.set_times(&times);
            if table.total() < before * (1.0 - 1e-9) {
                return true;
            }
        }
        table.set_times(&old);
        false
    }
}
