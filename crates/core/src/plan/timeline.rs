//! What happens when: fetches and staleness over the horizon, for pictures.

use rayon::prelude::*;

use super::problem::{PlanPage, Problem};
use super::programme::{DROPPED, Programme};

/// The horizon in equal parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// How many fetches are made in each part.
    pub fetches: Vec<u64>,
    /// The mean staleness at the end of each part.
    pub staleness: Vec<f64>,
}

impl Programme {
    /// Fetches and staleness in so many parts of the horizon.
    pub fn timeline(&self, problem: &Problem, parts: usize) -> Timeline {
        let length = problem.seconds() / parts as f64;
        let hosts = self.hosts.par_iter().zip(problem.hosts());
        let nothing = || (vec![0u64; parts], vec![0.0f64; parts]);
        let (fetches, stale) = hosts
            .fold(nothing, |(mut fetches, mut stale), (programme, host)| {
                let pages = &problem.pages()[host.pages()];
                // The chance that each copy is fresh at the end of the part before.
                let mut fresh: Vec<f64> = pages.iter().map(PlanPage::fresh_at_start).collect();
                let mut next = 0;
                let kept: Vec<f64> = pages.iter().map(|page| (-page.rate() * length).exp()).collect();
                for part in 0..parts {
                    let end = (part + 1) as f64 * length;
                    fresh.iter_mut().zip(&kept).for_each(|(fresh, kept)| *fresh *= kept);
                    while let Some(time) = programme.times.get(next).filter(|time| **time != DROPPED)
                        && (*time as f64 * 1e-9 < end || part + 1 == parts)
                    {
                        let page = programme.pages[next] as usize - host.pages().start;
                        let since = (end - *time as f64 * 1e-9).max(0.0);
                        fresh[page] = (-pages[page].rate() * since).exp();
                        fetches[part] += 1;
                        next += 1;
                    }
                    stale[part] += fresh
                        .iter()
                        .zip(pages)
                        .map(|(fresh, page)| page.importance() * (1.0 - fresh))
                        .sum::<f64>();
                }
                (fetches, stale)
            })
            .reduce(nothing, |mut all, more| {
                all.0.iter_mut().zip(more.0).for_each(|(all, more)| *all += more);
                all.1.iter_mut().zip(more.1).for_each(|(all, more)| *all += more);
                all
            });
        let staleness = stale.into_iter().map(|stale| problem.mean(stale * problem.seconds())).collect();
        Timeline { fetches, staleness }
    }
}
