//! Which crawler makes which fetch: the most overdue one whose host may be asked.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::problem::{PlanHost, Problem};
use super::programme::{DROPPED, HostProgramme, Programme};
use crate::time::Span;

/// What came of a programme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assigned {
    /// Fetches that were made.
    pub executed: u64,
    /// Fetches for which there was no time.
    pub dropped: u64,
}

/// A fetch that is made.
#[derive(Clone, Copy, Debug)]
pub struct Fetch<'a> {
    /// Nanoseconds from the start.
    pub time: u64,
    /// The number of the crawler.
    pub crawler: u32,
    problem: &'a Problem,
    pages: &'a [u32],
    which: usize,
}

impl Fetch<'_> {
    /// Which of the pages that were given it is. Looked up only if asked for: among millions that takes as long as all the rest.
    pub fn page(&self) -> usize {
        self.problem.given(self.pages[self.which] as usize)
    }
}

impl Programme {
    /// Gives the fetches to crawlers, each busy for some time with every fetch, and moves them to the moments at which they
    /// are made. Fetches of a host keep their order, are never earlier than they should be, and never closer than its
    /// gap. What does not begin before the end is dropped.
    ///
    /// `fetch` is told of each, in the order of time.
    pub fn assign(
        &mut self,
        problem: &Problem,
        crawlers: &[Span],
        mut fetch: impl FnMut(Fetch<'_>),
    ) -> Assigned {
        let horizon = problem.horizon().as_nanos();
        let mut heads: Vec<Head> = self.hosts.iter().zip(problem.hosts()).map(Head::new).collect();
        // Hosts by when they may be asked for what they want next, and those that may be now, by when they should have been.
        let mut waiting: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::with_capacity(heads.len());
        let mut ready: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::with_capacity(heads.len());
        let busy = heads.iter().enumerate().filter(|(_, head)| head.programmed != DROPPED);
        waiting.extend(busy.map(|(host, head)| Reverse((head.programmed, host as u32))));
        let mut free: BinaryHeap<Reverse<(u64, u32)>> =
            (0..crawlers.len() as u32).map(|k| Reverse((0, k))).collect();
        let (mut now, mut executed) = (0, 0);
        while let Some(mut crawler) = free.peek_mut() {
            let Reverse((idle_since, number)) = *crawler;
            // Those who wait with it may have slept: it never acts before them.
            now = now.max(idle_since);
            if ready.is_empty() {
                // Nobody: it sleeps until someone is.
                let Some(Reverse((moment, _))) = waiting.peek() else { break };
                now = now.max(*moment);
            }
            while let Some(top) = waiting.peek_mut()
                && top.0.0 <= now
            {
                let Reverse((_, host)) = PeekMut::pop(top);
                ready.push(Reverse((heads[host as usize].programmed, host)));
            }
            if now >= horizon {
                break;
            }
            let Some(Reverse((_, host))) = ready.pop() else { break };
            let (head, programme) = (&mut heads[host as usize], &mut self.hosts[host as usize]);
            programme.times[head.next] = now;
            fetch(Fetch { time: now, crawler: number, problem, pages: &programme.pages, which: head.next });
            executed += 1;
            head.next += 1;
            head.programmed = programme.times.get(head.next).copied().unwrap_or(DROPPED);
            if head.programmed != DROPPED {
                waiting.push(Reverse((head.programmed.max(now.saturating_add(head.gap)), host)));
            }
            *crawler = Reverse((now.saturating_add(crawlers[number as usize].as_nanos().max(1)), number));
        }
        let mut dropped = 0;
        for (programme, head) in self.hosts.iter_mut().zip(heads) {
            dropped += (programme.times.len() - head.next) as u64;
            programme.times[head.next..].fill(DROPPED);
        }
        Assigned { executed, dropped }
    }
}

/// What a host wants next.
struct Head {
    next: usize,
    /// When; [`DROPPED`] if it wants nothing more.
    programmed: u64,
    gap: u64,
}

impl Head {
    fn new((programme, host): (&HostProgramme, &PlanHost)) -> Self {
        let programmed = programme.times.first().copied().unwrap_or(DROPPED);
        Self { next: 0, programmed, gap: host.gap().as_nanos() }
    }
}
